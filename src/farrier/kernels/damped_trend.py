"""A trend whose slope wanders about zero and is forgotten: the integral of an Ornstein-Uhlenbeck process.

    s(u) ~ stationary with covariance exp(-p |u - v|),     f(x) = integral of s from the origin to x, over scale

    k(x, z) = (2 p m - 1 + exp(-p |s|) + exp(-p |t|) - exp(-p |s - t|)) / (p scale)^2,   s = x - origin, t = z - origin

with m = min(|s|, |t|) on one side of the origin and 0 across it. Expected increments fade by exp(-p) a unit of x. As
the damping p goes to 0 it is a line through the origin; as p goes to infinity, times p / 2, it is a random walk.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Slopes, Values
from farrier.kernels.forms import Wandering
from farrier.kernels.parameters import ParameterPrior, fixed, positive

DAMPING = ParameterPrior(spread=0.8, reach=3.0, typical=0.8)
"""Spread from a trial on M1 series, the rest by judgement."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class DampedTrend(Wandering):
    """The integral of an Ornstein-Uhlenbeck slope: growth that fades; the formula stands at the top of this file.

    It is zero at its origin, as a random walk is: a constant stands beside it. Origin and scale are not trained.
    """

    symbol: ClassVar[str] = "Damp"
    rank: ClassVar[int] = 13
    kind: ClassVar[str] = "damped"
    damping: PerColumn = positive(DAMPING, shared=True)
    origin: PerColumn = fixed(default=0.0)
    scale: PerColumn = fixed(default=1.0)
    dims: Dims = None

    @classmethod
    def half_variogram(cls, values: Values, distances: np.ndarray) -> tuple[np.ndarray, Back]:
        p, scale = values["damping"][0], values["scale"][0]
        # minus one, so that a slow damping loses no digits
        faded, size = np.expm1(-p * distances), 1.0 / (p * scale) ** 2
        inner = p * distances + faded

        def back(dg: np.ndarray) -> Slopes:
            by_p = -distances * faded - 2.0 * inner / p
            return {"damping": np.atleast_1d(size * np.vdot(dg, by_p))}

        return size * inner, back

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        now = self.parameters()
        return self.replace(
            damping=now["damping"] / scale, origin=now["origin"] * scale + shift, scale=now["scale"] * scale
        )
