"""Correlations as functions of a distance or an angle, element by element, with their derivatives by hand."""

from collections.abc import Callable, Mapping

import numpy as np

Numbers = Mapping[str, np.ndarray]
"""What a pool is made of, by the name of its fields."""
Slopes = dict[str, np.ndarray]
"""Derivatives by these numbers, to be added to."""
Pull = Callable[[np.ndarray, Slopes], None]
"""From a derivative by some values to those by the numbers that made them."""

NEARLY_ZERO = 1e-14
"""Squared distances, in lengthscales, below which two points are one: a root has no derivative there."""
WAVES = np.cos(2.0 * np.pi * np.arange(256) / 256) - 1.0
"""cos - 1 around a circle. Means over it are exact to rounding for shapes down to about 0.03."""


def repeating(
    angle: np.ndarray, shape: np.ndarray, centred: bool
) -> tuple[np.ndarray, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]]:
    """exp(e) with e = (cos(angle) - 1) / shape^2, or that without its mean over a circle, one where the angle is zero.

    And the way back: from a derivative by the values to those by each angle and by the shape at each.
    """
    e = (np.cos(angle) - 1.0) / shape**2
    wave = np.expm1(e)
    # the mean of exp(e) over a circle, less one
    b = np.mean(np.expm1(WAVES / shape**2), axis=-1, keepdims=True) if centred else -1.0

    def back(dR: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        by_e = dR * (wave + 1.0) / -b
        by_shape = -2.0 * by_e * e / shape
        if centred:
            slope = np.mean(WAVES * np.exp(WAVES / shape**2), axis=-1, keepdims=True) * -2.0 / shape**3
            by_shape += dR * wave * (slope / b**2)
        return -by_e * np.sin(angle) / shape**2, by_shape

    return 1.0 - wave / b, back


def squared_exponential(q: np.ndarray, mixture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """exp(-q / 2), and its derivative by q, as in all functions of FAMILIES."""
    R = np.exp(-0.5 * q)
    return R, -0.5 * R


def matern12(q: np.ndarray, mixture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """exp(-sqrt(q))."""
    r = np.sqrt(q)
    R = np.exp(-r)
    return R, np.divide(-0.5 * R, r, out=np.zeros_like(r), where=q > NEARLY_ZERO)


def matern32(q: np.ndarray, mixture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(1 + r) exp(-r) with r = sqrt(3 q)."""
    r = np.sqrt(3.0 * q)
    e = np.exp(-r)
    return (1.0 + r) * e, -1.5 * e


def matern52(q: np.ndarray, mixture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(1 + r + r^2 / 3) exp(-r) with r = sqrt(5 q)."""
    r = np.sqrt(5.0 * q)
    e = np.exp(-r)
    return (1.0 + r + r**2 / 3.0) * e, -5.0 / 6.0 * (1.0 + r) * e


def rational_quadratic(q: np.ndarray, mixture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(1 + q / 2a)^-a."""
    b = 1.0 + 0.5 * q / mixture
    R = b**-mixture
    return R, -0.5 * R / b


FAMILIES: dict[str, Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "SE": squared_exponential,
    "Mat12": matern12,
    "Mat32": matern32,
    "Mat52": matern52,
    "RQ": rational_quadratic,
}


def by_mixture(q: np.ndarray, mixture: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The derivative of `rational_quadratic` by its mixture."""
    b = 1.0 + 0.5 * q / mixture
    return R * ((b - 1.0) / b - np.log(b))
