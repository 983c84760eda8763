"""A Markov process on blocks of rows, as a function of its states at the borders, and inference in a chain of states.

s is the state at the left border of a block of length g, and the state at the right border is A s + E x, x ~ N(0, I).
Inside the block, at distance h from the left border,

    f = a(h)'s + b(h)'x + r(h),     a(h) = A(h)'o,     b(h) = E^-1 A(g - h) Q(h) o

o is the observation vector. r is what is left between the borders, a bridge that is zero at both; it is independent of
s and x, and of the bridges of other blocks. So blocks are independent given the states, whatever their length.

Forward and backward passes are linear in the blocks. With x = (s, e), e ~ N(0, I) the noise of the step, the next state
is T x. The rows of a block enter only through its information about x,

    M = Z'C^-1 Z,     m = Z'C^-1 D

for data D of r columns: the features of the rows, and y. Every column is filtered as if it were data, so that the
result is D'V^-1 D for the covariance V of the rows without features. `forward` holds factors of covariances, which may
be singular, and inverts none of them. `backward` gives the likelihood of all later rows as a function of the state.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs  # pyright: ignore[reportAttributeAccessIssue]

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


def from_origin(form: MarkovForm, x: float) -> np.ndarray:
    """The length of the step from the start of a process to x, (1,); zero where it may start anywhere."""
    return np.array([0.0 if form.origin is None else max(x - form.origin, 0.0)])


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


class Filtered(NamedTuple):
    """The forward pass over B blocks."""

    quadratic: np.ndarray
    """D'V^-1 D less the sum of D'C^-1 D over the blocks, (r, r)."""
    log_determinant: float
    """log|V| less the sum of log|C|."""
    mean: np.ndarray
    """The mean of each state given the blocks before it, for each column, (B, d, r)."""
    factor: np.ndarray
    """F with F F' its covariance, (B, d, d)."""


class Smoothed(NamedTuple):
    """The posterior of x in every block given all blocks, if the features have no weight."""

    mean: np.ndarray
    """For each column of data, (B, 2d, r)."""
    covariance: np.ndarray
    """(B, 2d, 2d)."""
    later: np.ndarray
    """Information of later blocks about the state after the block: its matrix, (B, d, d)."""
    towards: np.ndarray
    """... and its vector for each column, (B, d, r)."""


def forward(F: np.ndarray, T: np.ndarray, M: np.ndarray, m: np.ndarray) -> Filtered:
    """From a factor of the first state's covariance (d, d), steps T (B or 1, d, 2d), M (B, 2d, 2d), m (B, 2d, r)."""
    count, d, r = len(M), len(F), m.shape[2]
    means, factors = np.zeros((count, d, r)), np.zeros((count, d, d))
    if d == 0:
        return Filtered(np.zeros((r, r)), 0.0, means, factors)
    quadratic, log_determinant, mean = np.zeros((r, r)), 0.0, np.zeros((d, r))
    eye, wide = np.eye(2 * d), np.zeros((2 * d, 2 * d))
    wide[d:, d:] = np.eye(d)
    for b in range(count):
        means[b], factors[b] = mean, F
        wide[:d, :d] = F
        step, information = T[b if len(T) > 1 else 0], M[b]
        seen = information[:, :d] @ mean
        left = m[b] - seen
        K, failed = dpotrf(eye + wide.T @ information @ wide, lower=1, overwrite_a=1)
        if failed:
            raise ArithmeticError("The covariance of the rows is not positive definite: check X for extreme values.")
        w, _ = dtrtrs(K, wide.T @ left, lower=1)
        # (D - Z mean)'C^-1 (D - Z mean), without what the block says about x
        both = mean.T @ m[b][:d]
        quadratic += mean.T @ seen[:d] - both - both.T - w.T @ w
        log_determinant += 2.0 * float(np.log(np.diagonal(K)).sum())
        back, _ = dtrtrs(K, w, lower=1, trans=1)
        across, _ = dtrtrs(K, wide.T @ step.T, lower=1)
        mean = step[:, :d] @ mean + step @ (wide @ back)
        F = np.asarray(np.linalg.qr(across, mode="r")).T
    return Filtered(quadratic, log_determinant, means, factors)


def backward(found: Filtered, T: np.ndarray, M: np.ndarray, m: np.ndarray) -> Smoothed:
    """The posterior of x in every block; arguments as in `forward`."""
    count, d, r = found.mean.shape
    if d == 0:
        return Smoothed(found.mean, found.factor, found.factor, found.mean)
    later, towards = np.zeros((count, d, d)), np.zeros((count, d, r))
    N, g = np.array(M), np.array(m)
    for b in range(count - 1, -1, -1):
        step = T[b if len(T) > 1 else 0]
        if b < count - 1:
            N[b] += step.T @ later[b] @ step
            g[b] += step.T @ towards[b]
        if b > 0:
            inner = np.eye(d) + N[b, d:, d:]
            solved = np.linalg.solve(inner, np.concatenate([N[b, d:, :d], g[b, d:]], axis=1))
            later[b - 1] = N[b, :d, :d] - N[b, :d, d:] @ solved[:, :d]
            towards[b - 1] = g[b, :d] - N[b, :d, d:] @ solved[:, d:]
    wide = np.zeros((count, 2 * d, 2 * d))
    wide[:, :d, :d], wide[:, d:, d:] = found.factor, np.eye(d)
    turned = np.swapaxes(wide, 1, 2)
    inner = np.eye(2 * d) + turned @ N @ wide
    covariance = wide @ np.linalg.solve(inner, turned)
    mean = np.concatenate([found.mean, np.zeros_like(found.mean)], axis=1)
    mean += covariance @ (g - N[:, :, :d] @ found.mean)
    return Smoothed(mean, 0.5 * (covariance + np.swapaxes(covariance, 1, 2)), later, towards)
