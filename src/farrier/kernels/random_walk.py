"""A level that wanders: the random walk, which starts at zero in its origin and goes on in both directions."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Values
from farrier.kernels.forms import Wandering
from farrier.kernels.parameters import fixed


@final
@dataclass(frozen=True, eq=False, repr=False)
class RandomWalk(Wandering):
    """k(x, z) = min(|x - origin|, |z - origin|) / scale on one side of the origin, 0 across it.

    Its increments are independent with variance one over a distance of `scale`. The best forecast is the last value.
    It is zero at its origin: beside it stands a constant, or whatever else gives the first row its level.
    Origin and scale say from where and in which unit the walk is counted; they are not trained.
    """

    symbol: ClassVar[str] = "RW"
    rank: ClassVar[int] = 12
    kind: ClassVar[str] = "walk"
    origin: PerColumn = fixed(default=0.0)
    scale: PerColumn = fixed(default=1.0)
    dims: Dims = None

    @classmethod
    def half_variogram(cls, values: Values, distances: np.ndarray) -> tuple[np.ndarray, Back]:
        return 0.5 / values["scale"][0] * distances, lambda dg: {}

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self.replace(origin=self.origin * scale + shift, scale=self.scale * scale)
