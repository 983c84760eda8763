"""The power transform of each input of a table, chosen from the inputs alone.

The power p maximises the likelihood of a normal distribution of the transformed input, as in Yeo and Johnson (2000):

    -n log sd(w_p(x)) + (p - 1) sum_n sign(x_n) log(1 + |x_n|)

Inputs with few distinct values, and those that are nearly symmetric, keep the power 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from farrier.kernels.algebra import Base
from farrier.kernels.warped import WARPED, warped
from farrier.search.periods import FEWEST_VALUES


@final
@dataclass(frozen=True, eq=False)
class Warps:
    """The power of each input, and the standard deviation of each input after the transform."""

    powers: np.ndarray
    sds: np.ndarray

    @classmethod
    def none(cls, inputs: int) -> "Warps":
        """No input is transformed."""
        return cls(np.ones(inputs), np.ones(inputs))

    @classmethod
    def of(cls, X: np.ndarray) -> "Warps":
        """The transforms of standardised inputs X."""
        powers = np.array([_power(x) for x in X.T])
        return cls(powers, np.where(powers == 1.0, 1.0, warped(X, powers).std(axis=0)))

    def kernel(self, family: type[Any], lengths: float | np.ndarray, dims: Sequence[int] | None = None) -> Base:
        """A kernel of some inputs (None: all), of warped ones if one of them is; lengths for standard deviation one."""
        columns = np.arange(len(self.powers)) if dims is None else np.asarray(dims, int)
        chosen = None if dims is None else tuple(int(d) for d in dims)
        powers, lengthscale = self.powers[columns], np.broadcast_to(lengths, columns.shape) * self.sds[columns]
        if len(columns) == 1:
            powers, lengthscale = powers[0], lengthscale[0]
        if np.all(powers == 1.0):
            return family(lengthscale, dims=chosen)
        return WARPED[family](lengthscale, power=powers, dims=chosen)


def _power(x: np.ndarray) -> float:
    if len(np.unique(x)) < FEWEST_VALUES:
        return 1.0
    tried = np.linspace(-2.0, 4.0, 61)
    slope = float(np.sum(np.sign(x) * np.log1p(np.abs(x))))
    heights = [-len(x) * np.log(max(warped(x, p).std(), 1e-12)) + (p - 1.0) * slope for p in tried]
    best = float(tried[int(np.argmax(heights))])
    # nearly straight is straight
    return 1.0 if abs(best - 1.0) < 0.35 else best
