"""A Markov process on blocks of rows, as a function of its states at the borders of the blocks.

s is the state at the left border of a block of length g, and the state at the right border is A s + E x, x ~ N(0, I).
Inside the block, at distance h from the left border,

    f = a(h)'s + b(h)'x + r(h),     a(h) = A(h)'o,     b(h) = E^-1 A(g - h) Q(h) o

o is the observation vector. r is what is left between the borders, a bridge that is zero at both; it is independent of
s and x, and of the bridges of other blocks. So blocks are independent given the states, whatever their length.
"""

from typing import NamedTuple

import numpy as np

from farrier.kernels.markov import MarkovForm

ROUNDING = 1e-13
"""Added to the diagonal of a correlation matrix before it is factorised: about a thousand rounding errors."""


class Bridged(NamedTuple):
    """A process on K blocks of M rows each: a, b (K, M, d), the covariance of r (K, M, M), A and E (K, d, d)."""

    a: np.ndarray
    b: np.ndarray
    bridge: np.ndarray
    A: np.ndarray
    E: np.ndarray


def bridged(form: MarkovForm, h: np.ndarray, gap: np.ndarray) -> Bridged:
    """The process at distances h (K, M) from the left borders of blocks of lengths `gap` (K,)."""
    a, b, A, E = loadings(form, h, gap)
    return Bridged(a, b, after(form, h, h, a, a) - b @ np.swapaxes(b, 1, 2), A, E)


def loadings(form: MarkovForm, h: np.ndarray, gap: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """a, b (K, M, d), A and E (K, d, d) of `Bridged`."""
    o, d = form.observation, len(form.observation)
    (A_h, Q_h), (A, Q) = (form.steps(one.ravel()) for one in (h, gap))
    rest, _ = form.steps(np.maximum(gap[:, None] - h, 0.0).ravel())
    a = (o @ A_h).reshape(*h.shape, d)
    E, scale = factor(Q)
    towards = (rest @ (Q_h @ o)[..., None])[..., 0].reshape(*h.shape, d)
    inverse = np.linalg.inv(np.where(scale[:, :, None] > 0, E / np.maximum(scale, 1e-300)[:, :, None], np.eye(d)))
    scale = scale[:, None]
    b = np.einsum("kij,knj->kni", inverse, np.divide(towards, scale, where=scale > 0, out=np.zeros_like(towards)))
    return a, b, A, E


def factor(Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower E with E E' = Q for each of K covariances, zero where Q is, and the standard deviations (K, d)."""
    scale = np.sqrt(np.maximum(np.diagonal(Q, axis1=-2, axis2=-1), 0.0))
    if Q.shape[-1] == 1:
        return scale[..., None], scale
    both = scale[..., :, None] * scale[..., None, :]
    R = np.divide(Q, both, where=both > 0, out=np.zeros_like(Q))
    place = np.arange(Q.shape[-1])
    R[..., place, place] = 1.0 + ROUNDING
    return scale[..., :, None] * np.linalg.cholesky(R), scale


def after(form: MarkovForm, h: np.ndarray, g: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The covariance of values at distances h (K, M) and g (K, P) given the state at the left border."""
    apart = h[:, :, None] - g[:, None, :]
    if form.correlation is not None:
        return form.correlation(np.abs(apart)) - (a @ form.initial) @ np.swapaxes(b, 1, 2)
    assert form.since is not None
    return form.since(np.minimum(h[:, :, None], g[:, None, :]), np.abs(apart))
