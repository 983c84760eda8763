"""The step kernels: a component that is active after a changepoint, or before it.

A changepoint from k2 to k1 is the sum of two products, Step * k1 + (1 - Step) * k2, so it needs no operator of its own.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import expit

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Slopes, Values
from farrier.kernels.forms import Profile
from farrier.kernels.parameters import ParameterPrior, positive, real

PLACE = ParameterPrior(spread=math.inf, reach=0.5, typical=0.03)
"""Prior of the location of a changepoint: uniform over the rows."""
WIDTH = ParameterPrior(spread=0.7, reach=1.5, typical=0.5)
"""Prior of the width of a changepoint, which data hardly determine."""


@dataclass(frozen=True, eq=False, repr=False)
class _Sigmoid(Profile):
    """v(x) = s(sign (x - location) / width) with the logistic function s."""

    sign: ClassVar[float]

    @classmethod
    def profile(cls, values: Values, x: np.ndarray) -> tuple[np.ndarray, Back]:
        width = values["width"]
        away = cls.sign * (x - values["location"]) / width
        v = expit(away)

        def back(dv: np.ndarray) -> Slopes:
            by_away = dv * v * (1.0 - v)
            return {"location": -(cls.sign * by_away.sum() / width), "width": -(by_away @ away / width)}

        return v, back

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        now = self.parameters()
        return self.replace(location=now["location"] * scale + shift, width=now["width"] * scale)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Step(_Sigmoid):
    """v(x) = sigmoid((x - location) / width): active after the location. `1 - Step(...)` is active before it."""

    symbol: ClassVar[str] = "Step"
    rank: ClassVar[int] = 1
    kind: ClassVar[str] = "from"
    sign: ClassVar[float] = 1.0
    location: PerColumn = real(PLACE, shared=True)
    width: PerColumn = positive(WIDTH, shared=True)
    dims: Dims = None

    def __rsub__(self, one: int | float) -> "StepUntil":
        return StepUntil(self.location, self.width, self.dims) if one == 1 else NotImplemented


@final
@dataclass(frozen=True, eq=False, repr=False)
class StepUntil(_Sigmoid):
    """v(x) = 1 - sigmoid((x - location) / width): active before the location."""

    symbol: ClassVar[str] = "(1 - Step)"
    rank: ClassVar[int] = 2
    kind: ClassVar[str] = "until"
    sign: ClassVar[float] = -1.0
    location: PerColumn = real(PLACE, shared=True)
    width: PerColumn = positive(WIDTH, shared=True)
    dims: Dims = None
