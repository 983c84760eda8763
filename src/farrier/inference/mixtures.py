"""Moments and quantiles of mixtures. A prediction is an equal mixture over S draws of the weights.

E = mean of the means,     Var = mean of the variances + variance of the means

A value that cannot lie below a floor f is max(f, Y). Its quantiles are those of Y, at least f. For Y ~ N(m, s^2) with
d = (m - f) / s and h = phi(d) - d (1 - Phi(d)):

    E = f + s (d + h),     Var = s^2 (Phi(d) - d h - h^2)

A cap c is a floor of -Y at -c. With both, the part above the cap is taken away again: with e = (m - c) / s, w = c - f,
r(d) = d + h(d) and q(d) = (d^2 + 1) Phi(d) + d phi(d), the first two moments of min(c, max(f, Y)) - f are

    s (r(d) - r(e)),     s^2 (q(d) - q(e)) - 2 w s r(e)
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

FAR = 8.0
"""Distance of floor and cap, in standard deviations, from which they change nothing: 1e-15 of the values lie beyond."""
HALVINGS = 50
"""Bisections of the interval that contains a quantile: 2^-50 of its width is about the rounding error."""


def moments(mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of mixtures from those of their components, which are along the first axis."""
    return mean.mean(axis=0), variance.mean(axis=0) + mean.var(axis=0)


def censored_moments(mean: np.ndarray, variance: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of max(floor, Y), where Y is an equal mixture of S normals with moments (S, N)."""
    sd = np.sqrt(variance)
    d = (mean - floor) / sd
    # in terms of h nothing cancels where the floor is many standard deviations away
    h = np.exp(-0.5 * d**2) / np.sqrt(2.0 * np.pi) - d * ndtr(-d)
    each = sd * np.maximum(d + h, 0.0), variance * np.maximum(ndtr(d) - d * h - h**2, 0.0)
    above, spread = moments(*each)
    return floor + above, spread


def clipped_moments(
    mean: np.ndarray, variance: np.ndarray, floor: float | None, cap: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of Y kept between a floor and a cap, None for none, for an equal mixture (S, N) of normals."""
    if floor is None and cap is None:
        return moments(mean, variance)
    if cap is None:
        assert floor is not None
        return censored_moments(mean, variance, floor)
    if floor is None:
        mean, variance = censored_moments(-mean, variance, -cap)
        return -mean, variance
    sd = np.sqrt(variance)
    d, e = (mean - floor) / sd, (mean - cap) / sd
    first = sd * (_beyond(d) - _beyond(e))
    second = variance * (_squared_beyond(d) - _squared_beyond(e)) - 2.0 * (cap - floor) * sd * _beyond(e)
    free = (d > FAR) & (e < -FAR)
    each = np.where(free, mean - floor, first), np.where(free, variance, np.maximum(second - first**2, 0.0))
    above, spread = moments(*each)
    return floor + above, spread


def _beyond(d: np.ndarray) -> np.ndarray:
    """r(d) = E max(0, Z) for Z ~ N(d, 1)."""
    return d * ndtr(d) + np.exp(-0.5 * d**2) / np.sqrt(2.0 * np.pi)


def _squared_beyond(d: np.ndarray) -> np.ndarray:
    """q(d) = E max(0, Z)^2 for Z ~ N(d, 1)."""
    return (d**2 + 1.0) * ndtr(d) + d * np.exp(-0.5 * d**2) / np.sqrt(2.0 * np.pi)


def joint_moments(
    means: Sequence[np.ndarray] | np.ndarray, covariances: Sequence[np.ndarray] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean (N,) and covariance (N, N) of a mixture from those of its components, (S, N) and (S, N, N)."""
    mean = np.mean(means, axis=0)
    apart = np.asarray(means) - mean
    return mean, np.mean(covariances, axis=0) + apart.T @ apart / len(apart)


def quantiles(mean: np.ndarray, sd: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Quantiles (levels, N) of equal mixtures of S normals with moments (S, N), by bisection."""
    ends = mean[None] + sd[None] * ndtri(levels)[:, None, None]
    low, high = ends.min(axis=1), ends.max(axis=1)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = ndtr((middle[:, None, :] - mean[None]) / sd[None]).mean(axis=1) < levels[:, None]
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)
