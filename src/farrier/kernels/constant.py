"""The constant kernel: an unknown level."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, Values
from farrier.kernels.forms import Profile


@final
@dataclass(frozen=True, eq=False, repr=False)
class Constant(Profile):
    """k(x, z) = 1: an unknown level."""

    symbol: ClassVar[str] = "1"
    rank: ClassVar[int] = 0
    kind: ClassVar[str] = "constant"
    stationary: ClassVar[bool] = True
    dims: Dims = None

    @classmethod
    def profile(cls, values: Values, x: np.ndarray) -> tuple[np.ndarray, Back]:
        return np.ones(len(x)), lambda dv: {}

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        return np.ones((len(X), len(Z))), lambda dK: {}

    @classmethod
    def at(cls, values: Values, X: np.ndarray) -> tuple[np.ndarray, Back]:
        return np.ones(len(X)), lambda dk: {}

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self
