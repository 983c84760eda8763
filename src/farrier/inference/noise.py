"""The noise of the rows: independent normals, whose variances are equal, in proportion to factors, or known.

A Student-t with d degrees of freedom and scale s is a normal of variance s^2 / g with g ~ Gamma(d/2, d/2). Given the
expected squared residuals E r^2 of the rows it is normal noise again, with the common variance s^2 and the factors

    1 / E g = (d + E r^2 / s^2) / (d + 1)

so that all that fits or predicts with normal noise does so with Student-t noise: a fit and the factors that its
posterior at the rows expects take turns (`alternately`), which is the EM algorithm.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar, final

import numpy as np

ROBUST_ROUNDS = 3
"""Times that a model and the expected precisions of its rows are fitted alternately. [rounds; by judgement]"""
Found = TypeVar("Found")


@final
@dataclass(frozen=True, eq=False)
class Noise:
    """The noise variance of each row over a common one, which is a parameter of the model; or known variances."""

    each: np.ndarray | None = None
    """The factor of each row, or its variance if that is known; None if all rows have the common variance."""
    known: bool = False
    """Whether variances are known: then there is no common one."""
    degrees: float | None = None
    """The degrees of freedom of a Student-t, for which the factors stand; None if the noise is Gaussian."""
    ordinary: np.ndarray | None = None
    """Which rows are not suspicious, and so set the scale of the target; None for all."""

    def relative(self, count: int) -> np.ndarray:
        """The variance of each of some number of rows over the common one; where it is known, over one."""
        return np.ones(count) if self.each is None else np.asarray(self.each, float)

    def variances(self, common: float, count: int) -> np.ndarray:
        """The variance of each row."""
        return self.relative(count) * (1.0 if self.known else common)

    def at(self, rows: np.ndarray) -> "Noise":
        """The noise of some rows."""
        each, ordinary = (None if one is None else one[rows] for one in (self.each, self.ordinary))
        return replace(self, each=each, ordinary=ordinary)

    @property
    def foreseen(self) -> "Noise":
        """The noise that a new observation of each row would have: whether it is an outlier is not known before."""
        return self if self.degrees is None else ALIKE

    def expecting(self, square: np.ndarray) -> "Noise":
        """A Student-t with the precisions that are expected, given the squared residuals over the squared scale."""
        assert self.degrees is not None
        return replace(self, each=(self.degrees + square) / (self.degrees + 1.0))


ALIKE = Noise()
"""Gaussian noise with one variance for all rows."""


def alternately(
    fit: Callable[[Noise, bool], tuple[Found, np.ndarray]], noise: Noise, rounds: int | None = None
) -> tuple[Found, Noise]:
    """The last of some fits with Student-t noise and what it expects, each given what the one before expects.

    `fit` takes the noise, and whether it is the last time. It gives what was fitted, and the expected squared residual
    of each row over the squared scale.
    """
    for _ in range((rounds or ROBUST_ROUNDS) - 1):
        noise = noise.expecting(fit(noise, False)[1])
    found, square = fit(noise, True)
    return found, noise.expecting(square)
