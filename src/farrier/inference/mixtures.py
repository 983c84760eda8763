"""Moments and quantiles of mixtures. A prediction is an equal mixture over S draws of the weights.

E = mean of the means,     Var = mean of the variances + variance of the means

A value that cannot lie below a floor f is max(f, Y). Its quantiles are those of Y, at least f. For Y ~ N(m, s^2) with
d = (m - f) / s and h = phi(d) - d (1 - Phi(d)):

    E = f + s (d + h),     Var = s^2 (Phi(d) - d h - h^2)
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

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
