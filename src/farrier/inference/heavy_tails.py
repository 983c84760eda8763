"""Whether residuals have heavier tails than a normal: the Student-t that suits them best, beside the best normal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import gammaln

from farrier.inference.gaussian import LOG_2PI

ROBUST = 1.4826
"""The standard deviation of a normal over its median absolute deviation."""
SCALE_STEPS = 30
"""EM steps for the scale of a Student-t, by judgement: they converge geometrically, with a ratio near 1/2."""


@final
@dataclass(frozen=True)
class Tails:
    """The Student-t of highest density, and what it gains over the normal of highest density."""

    gain: float
    """Difference of the log densities, minus the price of one more parameter. [nats]"""
    degrees: float
    scale: float

    @classmethod
    def of(cls, residuals: np.ndarray, degrees: Sequence[float]) -> "Tails":
        """Degrees of freedom from a list, the scale by maximum likelihood; both densities have mean zero."""
        n, square = len(residuals), residuals**2 + np.finfo(float).tiny
        normal = -0.5 * n * (LOG_2PI + 1.0 + np.log(np.mean(square)))
        density, d, scale = max(_best_scale(square, d) for d in degrees)
        return cls(density - float(normal) - 0.5 * float(np.log(n)), d, scale)


def _best_scale(square: np.ndarray, d: float) -> tuple[float, float, float]:
    """The log density of residuals, given their squares, at the best scale; the degrees; and that scale."""
    s2 = float(np.mean(square))
    for _ in range(SCALE_STEPS):
        s2 = float(np.mean((d + 1.0) / (d + square / s2) * square))
    constant = gammaln(0.5 * (d + 1.0)) - gammaln(0.5 * d) - 0.5 * np.log(np.pi * d * s2)
    density = len(square) * constant - 0.5 * (d + 1.0) * np.sum(np.log1p(square / (d * s2)))
    return float(density), d, float(np.sqrt(s2))


def robust_deviation(residuals: np.ndarray) -> float:
    """The standard deviation of residuals about zero, of which outliers know nothing."""
    return max(ROBUST * float(np.median(np.abs(residuals))), np.finfo(float).tiny)
