"""Moments and quantiles of mixtures. A prediction is an equal mixture over S draws of the weights.

E = mean of the means,     Var = mean of the variances + variance of the means

A value that cannot lie below a floor f nor above a cap c is min(c, max(f, Y)). Its quantiles are those of Y, moved into
this range. For Y ~ N(m, s^2) with d = (m - f) / s, r(d) = d Phi(d) + phi(d) and q(d) = (d^2 + 1) Phi(d) + d phi(d), the
first two moments of max(f, Y) - f are s r(d) and s^2 q(d). A cap takes the part above it away again: with w = c - f and
e = (m - c) / s, those of min(c, max(f, Y)) - f are

    s (r(d) - r(e)),     s^2 (q(d) - q(e)) - 2 w s r(e)
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr, ndtri

FAR = 8.0
"""Distance of floor and cap, in standard deviations, from which they change nothing: 1e-15 of the values lie beyond."""
HALVINGS = 50
"""Most evaluations in the search for a quantile: 2^-50 of the interval at the start is about the rounding error."""
EPSILON = float(np.finfo(np.float64).eps)
"""Relative rounding error of a number."""
AT_ONCE = 2_000_000
"""Numbers of a distribution function that are computed at once. By judgement: 16 MB."""

Above = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""A function of numbers, of their first and of their second index in a matrix, all (E,)."""


def moments(mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of mixtures from those of their components, which are along the first axis."""
    return mean.mean(axis=0), variance.mean(axis=0) + mean.var(axis=0)


def clipped_moments(
    mean: np.ndarray, variance: np.ndarray, floor: float | None, cap: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of Y kept between a floor and a cap, None for none, for an equal mixture (S, N) of normals."""
    if floor is None and cap is None:
        return moments(mean, variance)
    if floor is None:
        mean, variance = clipped_moments(-mean, variance, None if cap is None else -cap, None)
        return -mean, variance
    sd = np.sqrt(variance)
    d = (mean - floor) / sd
    first, second, free = sd * _beyond(d), variance * _squared_beyond(d), d > FAR
    if cap is not None:
        e = (mean - cap) / sd
        first = first - sd * _beyond(e)
        second = second - variance * _squared_beyond(e) - 2.0 * (cap - floor) * sd * _beyond(e)
        free &= e < -FAR
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
    """Quantiles (levels, N) of equal mixtures of S normals with moments (S, N), some rows at a time."""
    blocks = row_blocks(mean.shape[1], len(mean) * len(levels))
    found = [_quantiles(mean[:, rows], sd[:, rows], levels) for rows in blocks]
    return np.concatenate([np.zeros((len(levels), 0)), *found], axis=1)


def row_blocks(rows: int, width: int) -> list[np.ndarray]:
    """The rows in blocks that take at most `AT_ONCE` numbers, if each row takes `width`."""
    size = max(1, AT_ONCE // max(width, 1))
    return [np.arange(first, min(first + size, rows)) for first in range(0, rows, size)]


def _quantiles(mean: np.ndarray, sd: np.ndarray, levels: np.ndarray) -> np.ndarray:
    def above(x: np.ndarray, level: np.ndarray, row: np.ndarray) -> np.ndarray:
        return ndtr((x - mean[:, row]) / sd[:, row]).mean(axis=0) - levels[level]

    return crossing(above, *lowest_and_highest(mean, sd, levels))


def lowest_and_highest(mean: np.ndarray, sd: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest quantile of S normals with moments (S, N), (levels, N) each."""
    each = mean[None] + sd[None] * ndtri(levels)[:, None, None]
    return each.min(axis=1), each.max(axis=1)


def crossing(function: Above, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where a rising function crosses zero between `low` and `high`, for each entry of a matrix (Chandrupatla 1997).

    The function takes numbers with their places, and only those that are not yet found. Each step interpolates by the
    inverse quadratic through the last three numbers, or halves the interval where the function is far from one.
    """
    found, places = low.ravel().copy(), np.arange(low.size)
    # the latest number, and one on the other side of zero
    one, other = low.ravel(), high.ravel()
    f_one, f_other = (function(x, *np.divmod(places, low.shape[1])) for x in (one, other))
    t = np.full(low.size, 0.5)
    least = 4.0 * EPSILON * np.maximum(np.abs(one), np.abs(other))
    for _ in range(HALVINGS):
        x = one + t * (other - one)
        f = function(x, *np.divmod(places, low.shape[1]))
        same = np.sign(f) == np.sign(f_one)
        before, f_before = np.where(same, one, other), np.where(same, f_one, f_other)
        other, f_other = np.where(same, other, one), np.where(same, f_other, f_one)
        one, f_one = x, f
        found[places] = np.where(np.abs(f_one) <= np.abs(f_other), one, other)
        going = (np.abs(other - one) > least) & (f_one != 0.0) & (f_one != f_other)
        if not going.any():
            break
        one, other, before, f_one, f_other, f_before, least = (
            each[going] for each in (one, other, before, f_one, f_other, f_before, least)
        )
        places = places[going]
        t = _step(one, other, before, f_one, f_other, f_before)
        nearest = np.minimum(0.5 * least / np.abs(other - one), 0.5)
        t = np.clip(t, nearest, 1.0 - nearest)
    return found.reshape(low.shape)


def _step(a: np.ndarray, b: np.ndarray, c: np.ndarray, fa: np.ndarray, fb: np.ndarray, fc: np.ndarray) -> np.ndarray:
    """How far from a to b the next number lies, as a part of the way."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        smooth = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi)
        inverse = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return np.where(smooth & np.isfinite(inverse), inverse, 0.5)
