"""Categories: functions of a code alone, with one independent effect for each level.

    k(x, z) = 1 if x and z have the same code, else 0

is the covariance of exchangeable levels: each effect is normal with mean zero, and all have the variance of the
component's weight, so that levels with few rows are shrunk towards the mean of all. A code that was never seen is
independent of all others: its effect has mean zero and the full variance. Times another kernel, each level has its own
function of the other input.

Codes are whole numbers, (x - origin) / step after rounding. Nothing is trained. The family has no formula in jax: the
stochastic tier refuses it.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Values
from farrier.kernels.parameters import fixed


@final
@dataclass(frozen=True, eq=False, repr=False)
class Category(Base):
    """One effect for each level of a category, given by its code."""

    symbol: ClassVar[str] = "Cat"
    rank: ClassVar[int] = 40
    kind: ClassVar[str] = "category"
    origin: PerColumn = fixed(default=0.0)
    """x at the code 0."""
    step: PerColumn = fixed(default=1.0)
    """The distance between neighbouring codes."""
    dims: Dims = None

    @classmethod
    def codes(cls, values: Values, X: np.ndarray) -> np.ndarray:
        """The code of each row of X (N, 1)."""
        cls.check_one_column(X)
        return np.rint((X[:, 0] - values["origin"][0]) / values["step"][0])

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        left, right = cls.codes(values, X), cls.codes(values, Z)
        return (left[:, None] == right[None, :]).astype(np.float64), lambda dK: {}

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self.replace(origin=self.origin * scale + shift, step=self.step * scale)
