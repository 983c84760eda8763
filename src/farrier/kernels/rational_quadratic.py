"""The rational quadratic kernel: smooth functions that vary over many lengthscales."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Dims, PerColumn, Values
from farrier.kernels.forms import Distance
from farrier.kernels.parameters import positive


@final
@dataclass(frozen=True, eq=False, repr=False)
class RationalQuadratic(Distance):
    """k(x, z) = (1 + q / 2a)^-a, a = `mixture`: smooth functions of many lengthscales.

    It is a mixture of squared exponentials, whose lengthscales are more widely spread for small a.
    """

    symbol: ClassVar[str] = "RQ"
    rank: ClassVar[int] = 5
    kind: ClassVar[str] = "smooth"
    lengthscale: PerColumn = positive()
    mixture: PerColumn = positive(shared=True, default=1.0)
    dims: Dims = None

    @classmethod
    def correlation(cls, q: np.ndarray, values: Values) -> tuple[np.ndarray, np.ndarray]:
        b = 1.0 + 0.5 * q / values["mixture"]
        R = b ** -values["mixture"]
        return R, -0.5 * R / b

    @classmethod
    def by_others(cls, q: np.ndarray, values: Values, R: np.ndarray) -> dict[str, np.ndarray]:
        b = 1.0 + 0.5 * q / values["mixture"]
        return {"mixture": R * ((b - 1.0) / b - np.log(b))}
