"""Smooth and rough kernels of warped inputs: they vary slowly where an input has few rows, and fast where it has many.

    k(x, z) = k_0(w(x), w(z)),    w the power transform of Yeo and Johnson (2000) of each input

With u = (x - location) / unit and the power p

    w = ((1 + u)^p - 1) / p                     for u >= 0    (log(1 + u) for p = 0)
    w = -((1 - u)^(2 - p) - 1) / (2 - p)        for u < 0     (-log(1 - u) for p = 2)

A price, an age or a frequency often has most of its rows near zero and a long tail. A kernel with one lengthscale for
the whole range suits neither end. The power is chosen from the inputs alone and is not trained.
Lengthscales are those of w. A power of 1 leaves the input as it is.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Values
from farrier.kernels.forms import Distance
from farrier.kernels.matern import Matern12
from farrier.kernels.parameters import fixed, positive
from farrier.kernels.rational_quadratic import RationalQuadratic
from farrier.kernels.squared_exponential import SquaredExponential


def warped(x: np.ndarray, power: np.ndarray) -> np.ndarray:
    """The power transform of standardised values; x and power broadcast."""
    x, power = np.broadcast_arrays(np.asarray(x, float), np.asarray(power, float))
    up, down = np.log1p(np.maximum(x, 0.0)), np.log1p(np.maximum(-x, 0.0))
    return np.where(x >= 0.0, _grown(up, power), -_grown(down, 2.0 - power))


def _grown(logarithm: np.ndarray, power: np.ndarray) -> np.ndarray:
    """(exp(power * logarithm) - 1) / power, and its limit for a power of zero."""
    straight = power == 0.0
    return np.where(straight, logarithm, np.expm1(power * logarithm) / np.where(straight, 1.0, power))


@dataclass(frozen=True, eq=False, repr=False)
class Warped(Base):
    """A kernel `inner` of warped inputs. Each family has the fields of `inner`, and those of the transform."""

    inner: ClassVar[type[Distance]]

    if TYPE_CHECKING:

        @property
        def power(self) -> PerColumn:
            """The power of each column."""
            ...

        @property
        def location(self) -> PerColumn:
            """The value of each column that is zero before the transform."""
            ...

        @property
        def unit(self) -> PerColumn:
            """The unit of each column before the transform."""
            ...

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        return cls.inner.between(values, cls._warped(values, X), cls._warped(values, Z))

    @staticmethod
    def _warped(values: Values, X: np.ndarray) -> np.ndarray:
        return warped((X - values["location"]) / values["unit"], values["power"])

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self.replace(location=self.location * scale + shift, unit=self.unit * scale)


@final
@dataclass(frozen=True, eq=False, repr=False)
class WarpedSquaredExponential(Warped):
    """Smooth functions of warped inputs."""

    symbol: ClassVar[str] = "WarpSE"
    rank: ClassVar[int] = 14
    kind: ClassVar[str] = "smooth"
    inner: ClassVar[type[Distance]] = SquaredExponential
    lengthscale: PerColumn = positive()
    power: PerColumn = fixed(default=1.0)
    location: PerColumn = fixed(default=0.0)
    unit: PerColumn = fixed(default=1.0)
    dims: Dims = None


@final
@dataclass(frozen=True, eq=False, repr=False)
class WarpedRationalQuadratic(Warped):
    """Smooth functions of warped inputs that vary over many lengthscales."""

    symbol: ClassVar[str] = "WarpRQ"
    rank: ClassVar[int] = 15
    kind: ClassVar[str] = "smooth"
    inner: ClassVar[type[Distance]] = RationalQuadratic
    lengthscale: PerColumn = positive()
    mixture: PerColumn = positive(shared=True, default=1.0)
    power: PerColumn = fixed(default=1.0)
    location: PerColumn = fixed(default=0.0)
    unit: PerColumn = fixed(default=1.0)
    dims: Dims = None


@final
@dataclass(frozen=True, eq=False, repr=False)
class WarpedMatern12(Warped):
    """Rough functions of warped inputs."""

    symbol: ClassVar[str] = "WarpMat12"
    rank: ClassVar[int] = 16
    kind: ClassVar[str] = "rough"
    inner: ClassVar[type[Distance]] = Matern12
    lengthscale: PerColumn = positive()
    power: PerColumn = fixed(default=1.0)
    location: PerColumn = fixed(default=0.0)
    unit: PerColumn = fixed(default=1.0)
    dims: Dims = None


WARPED: dict[type[Base], type[Any]] = {
    SquaredExponential: WarpedSquaredExponential,
    RationalQuadratic: WarpedRationalQuadratic,
    Matern12: WarpedMatern12,
}
"""The family with warped inputs for each of their inner families."""
