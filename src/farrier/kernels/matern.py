"""The Matern kernels: functions with no, one or two derivatives."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Dims, PerColumn, Values
from farrier.kernels.forms import Distance
from farrier.kernels.parameters import positive

NEARLY_ZERO = 1e-14
"""Squared distance, in lengthscales, below which the derivative of the square root is set to zero.
By judgement: about the rounding error of a squared distance."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Matern12(Distance):
    """k(x, z) = exp(-r), r = sqrt(q): rough functions, continuous but not differentiable."""

    symbol: ClassVar[str] = "Mat12"
    rank: ClassVar[int] = 6
    kind: ClassVar[str] = "rough"
    lengthscale: PerColumn = positive()
    dims: Dims = None

    @classmethod
    def correlation(cls, q: np.ndarray, values: Values) -> tuple[np.ndarray, np.ndarray]:
        r = np.sqrt(q)
        R = np.exp(-r)
        return R, np.divide(-0.5 * R, r, out=np.zeros_like(r), where=q > NEARLY_ZERO)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Matern32(Distance):
    """k(x, z) = (1 + r) exp(-r), r = sqrt(3 q): functions with one derivative."""

    symbol: ClassVar[str] = "Mat32"
    rank: ClassVar[int] = 7
    kind: ClassVar[str] = "rough"
    lengthscale: PerColumn = positive()
    dims: Dims = None

    @classmethod
    def correlation(cls, q: np.ndarray, values: Values) -> tuple[np.ndarray, np.ndarray]:
        r = np.sqrt(3.0 * q)
        e = np.exp(-r)
        return (1.0 + r) * e, -1.5 * e


@final
@dataclass(frozen=True, eq=False, repr=False)
class Matern52(Distance):
    """k(x, z) = (1 + r + r^2 / 3) exp(-r), r = sqrt(5 q): functions with two derivatives."""

    symbol: ClassVar[str] = "Mat52"
    rank: ClassVar[int] = 8
    kind: ClassVar[str] = "smooth"
    lengthscale: PerColumn = positive()
    dims: Dims = None

    @classmethod
    def correlation(cls, q: np.ndarray, values: Values) -> tuple[np.ndarray, np.ndarray]:
        r = np.sqrt(5.0 * q)
        e = np.exp(-r)
        return (1.0 + r + r**2 / 3.0) * e, -5.0 / 6.0 * (1.0 + r) * e
