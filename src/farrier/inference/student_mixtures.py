"""One Student-t in the place of a mixture of some about the same mean.

A Student-t of scale s with nu degrees of freedom is a normal whose log precision has

    mean  psi(nu / 2) - log(nu / 2) - 2 log s       variance  psi'(nu / 2)

with the digamma function psi. The Student-t that stands for a mixture has the mean and the variance of its log
precision: where scales are uncertain, it has heavier tails.
"""

import numpy as np
from scipy.special import digamma, polygamma

LEAST_DEGREES = 2.0
"""Fewest degrees of freedom of the result: above it a Student-t has a variance."""
ROUNDS = 8
"""Steps of Newton's method: enough for nine digits from 0.1 to 20,000 degrees of freedom."""


def one_student(shares: np.ndarray, scales: np.ndarray, degrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale and degrees of freedom of the Student-t that stands for a mixture along the first axis.

    The shares add up to one along it.
    """
    half = 0.5 * degrees
    each = digamma(half) - np.log(half) - 2.0 * np.log(scales)
    mean = np.sum(shares * each, axis=0)
    variance = np.sum(shares * ((each - mean) ** 2 + polygamma(1, half)), axis=0)
    found = np.maximum(inverse_trigamma(variance), 0.5 * LEAST_DEGREES)
    return np.exp(0.5 * (digamma(found) - np.log(found) - mean)), 2.0 * found


def inverse_trigamma(x: np.ndarray) -> np.ndarray:
    """The y > 0 with psi'(y) = x, by Newton's method on 1 / psi', which is nearly a line (Smyth 2004, appendix)."""
    y = 0.5 + 1.0 / x
    for _ in range(ROUNDS):
        slope = polygamma(1, y)
        y = y + slope * (1.0 - slope / x) / polygamma(2, y)
    return y
