"""A change of the slope: nothing before a place, and a line from there on. With a line it is a broken line."""

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Values
from farrier.kernels.forms import Profile
from farrier.kernels.parameters import ParameterPrior, fixed, real

PLACE = ParameterPrior(spread=math.inf, reach=0.5, typical=0.1)
"""Prior of the location: uniform over the rows."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Bend(Profile):
    """v(x) = max(x - location, 0) / scale. `scale` is the unit of the slope and is not trained."""

    symbol: ClassVar[str] = "Bend"
    rank: ClassVar[int] = 31
    kind: ClassVar[str] = "bend"
    location: PerColumn = real(PLACE, shared=True)
    scale: PerColumn = fixed(default=1.0)
    dims: Dims = None

    @classmethod
    def profile(cls, values: Values, x: np.ndarray) -> tuple[np.ndarray, Back]:
        away, scale = x - values["location"], values["scale"]
        return np.maximum(away, 0.0) / scale, lambda dv: {"location": -dv[away > 0.0].sum() / scale}

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        now = self.parameters()
        return self.replace(location=now["location"] * scale + shift, scale=now["scale"] * scale)
