"""The linear kernel: a line that is zero at its location."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Slopes, Values
from farrier.kernels.forms import Profile
from farrier.kernels.parameters import ParameterPrior, fixed, real

ZERO = ParameterPrior(spread=1.0, reach=4.0, typical=1.0)
"""Prior of the place where the line is zero, in standard deviations of the input."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Linear(Profile):
    """k(x, z) = sum_d (x_d - location_d) (z_d - location_d) / scale_d^2: a line that is zero at the location.

    `scale` is the unit of the slope. It is not trained, because the weight of the component sets the amplitude. With
    `scale=None` the line is divided by its root mean square over standardised inputs, sqrt(1 + location^2). Kernels are
    fitted in this form: the weight of a product is then the amplitude of what it adds, wherever its line is zero, and
    no product escapes shrinkage by moving its location far away.
    """

    symbol: ClassVar[str] = "Lin"
    rank: ClassVar[int] = 3
    kind: ClassVar[str] = "linear"
    location: PerColumn = real(ZERO)
    scale: PerColumn = fixed(default=1.0)
    dims: Dims = None

    @classmethod
    def profile(cls, values: Values, x: np.ndarray) -> tuple[np.ndarray, Back]:
        c, scale = values["location"], values.get("scale")
        away = x - c
        if scale is not None:
            return away / scale, lambda dv: {"location": -dv.sum() / scale}
        size = 1.0 + c**2

        def back(dv: np.ndarray) -> Slopes:
            return {"location": -(dv.sum() + (dv @ away) * c / size) / np.sqrt(size)}

        return away / np.sqrt(size), back

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        c = values["location"]
        a, by_c = cls._precision(values)
        x, z = X - c, Z - c

        def back(dK: np.ndarray) -> Slopes:
            by_place = -a * (dK.sum(axis=0) @ z + dK.sum(axis=1) @ x)
            return {"location": by_place + by_c * np.sum(x * (dK @ z), axis=0)}

        return (x * a) @ z.T, back

    @classmethod
    def at(cls, values: Values, X: np.ndarray) -> tuple[np.ndarray, Back]:
        a, by_c = cls._precision(values)
        x = X - values["location"]
        return x**2 @ a, lambda dk: {"location": -2.0 * a * (dk @ x) + by_c * (dk @ x**2)}

    @staticmethod
    def _precision(values: Values) -> tuple[np.ndarray, np.ndarray]:
        """1 / scale^2 for each column, and its derivative with respect to the location."""
        c, scale = values["location"], values.get("scale")
        if scale is not None:
            return scale**-2.0, np.zeros_like(c)
        a = 1.0 / (1.0 + c**2)
        return a, -2.0 * c * a**2

    def for_fitting(self) -> Base:
        return self.replace(scale=None)

    def after_fitting(self) -> Base:
        return self.replace(scale=np.sqrt(1.0 + self.location**2)) if self.scale is None else self

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        written = self.after_fitting().parameters()
        return self.replace(location=written["location"] * scale + shift, scale=written["scale"] * scale)
