"""The times of a series: where it starts, the step between rows, and the seasons of the calendar."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from farrier.search.learned_priors import frequency_of


@final
@dataclass(frozen=True)
class Clock:
    """The first time, the step between rows, and the seasons, shortest first."""

    origin: float
    """One step before the first row: trend and walk start there."""
    step: float
    seasons: tuple[float, ...] = ()
    of_time: bool = True
    """Whether rows are known to be a series in time, as those are from which priors were learned."""

    @classmethod
    def of(cls, x: np.ndarray, seasons: Sequence[float] = (), *, of_time: bool = True) -> "Clock":
        """From the times of the rows, and seasons in the same units."""
        distinct = np.unique(x)
        step = float(np.median(np.diff(distinct)))
        return cls(float(distinct[0]) - step, step, tuple(sorted(seasons)), of_time or len(seasons) > 0)

    @property
    def unit(self) -> float:
        """What times of the priors are counted in: the shortest season, or a step."""
        return self.seasons[0] if self.seasons else self.step

    @property
    def frequency(self) -> str:
        """Which priors suit it."""
        return frequency_of(self.unit / self.step if self.seasons else None)
