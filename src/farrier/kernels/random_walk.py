"""A level that wanders: the random walk, which starts at zero in its origin and goes on in both directions."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Values
from farrier.kernels.parameters import fixed


def shared_time(s: np.ndarray, t: np.ndarray) -> np.ndarray:
    """min(|s|, |t|) of all pairs on one side of zero, and 0 of pairs on two sides, (N, M)."""
    size = np.minimum(np.abs(s)[:, None], np.abs(t)[None, :])
    return np.where(np.sign(s)[:, None] == np.sign(t)[None, :], size, 0.0)


@final
@dataclass(frozen=True, eq=False, repr=False)
class RandomWalk(Base):
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
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        cls.check_one_column(X)
        s, t = X[:, 0] - values["origin"][0], Z[:, 0] - values["origin"][0]
        return shared_time(s, t) / values["scale"][0], lambda dK: {}

    @classmethod
    def at(cls, values: Values, X: np.ndarray) -> tuple[np.ndarray, Back]:
        cls.check_one_column(X)
        return np.abs(X[:, 0] - values["origin"][0]) / values["scale"][0], lambda dk: {}

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self.replace(origin=self.origin * scale + shift, scale=self.scale * scale)
