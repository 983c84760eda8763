"""A shock that heals: nothing before a place, a jump there, and from then on a return."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Slopes, Values
from farrier.kernels.forms import Profile
from farrier.kernels.parameters import ParameterPrior, positive, real
from farrier.kernels.step import PLACE

HEALING = ParameterPrior(spread=1.0, reach=2.0, typical=0.3)
"""Prior of how long it takes to heal, about the value that the rows suggest. [by judgement]"""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Shock(Profile):
    """v(x) = exp(-(x - location) / lengthscale) from the location on, and 0 before it."""

    symbol: ClassVar[str] = "Shock"
    rank: ClassVar[int] = 32
    kind: ClassVar[str] = "shock"
    location: PerColumn = real(PLACE, shared=True)
    lengthscale: PerColumn = positive(HEALING, shared=True)
    dims: Dims = None

    @classmethod
    def profile(cls, values: Values, x: np.ndarray) -> tuple[np.ndarray, Back]:
        away, length = x - values["location"], values["lengthscale"]
        v = np.where(away > 0.0, np.exp(-np.maximum(away, 0.0) / length), 0.0)

        def back(dv: np.ndarray) -> Slopes:
            by_v = dv * v
            return {"location": by_v.sum() / length, "lengthscale": by_v @ away / length**2}

        return v, back

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        now = self.parameters()
        return self.replace(location=now["location"] * scale + shift, lengthscale=now["lengthscale"] * scale)
