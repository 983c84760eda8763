"""The squared exponential kernel: smooth functions that vary over one lengthscale."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Dims, PerColumn, Values
from farrier.kernels.forms import Distance
from farrier.kernels.parameters import positive


@final
@dataclass(frozen=True, eq=False, repr=False)
class SquaredExponential(Distance):
    """k(x, z) = exp(-q / 2), q = sum_d ((x_d - z_d) / l_d)^2: smooth functions that vary over a length l.

    Deviation: the paper's table of kernels lacks the minus sign.
    """

    symbol: ClassVar[str] = "SE"
    rank: ClassVar[int] = 4
    kind: ClassVar[str] = "smooth"
    lengthscale: PerColumn = positive()
    dims: Dims = None

    @classmethod
    def correlation(cls, q: np.ndarray, values: Values) -> tuple[np.ndarray, np.ndarray]:
        R = np.exp(-0.5 * q)
        return R, -0.5 * R
