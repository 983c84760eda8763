"""The white noise kernel: one independent value for each distinct input, shared by repeated rows."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, Values
from farrier.kernels.forms import Stationary


@final
@dataclass(frozen=True, eq=False, repr=False)
class White(Stationary):
    """k(x, z) = 1 where x = z and 0 elsewhere."""

    symbol: ClassVar[str] = "WN"
    rank: ClassVar[int] = 11
    kind: ClassVar[str] = "noise"
    dims: Dims = None

    @classmethod
    def of_lags(cls, values: Values, lags: np.ndarray) -> tuple[np.ndarray, Back]:
        return (lags == 0.0).astype(float)[None, :], lambda dR: {}

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        return np.all(X[:, None, :] == Z[None, :, :], axis=-1).astype(float), lambda dK: {}

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self
