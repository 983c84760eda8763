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
    complete: bool = False
    """Whether there are no other seasons: the rows are dated, and the calendar has no more."""

    @classmethod
    def of(cls, x: np.ndarray, seasons: Sequence[float] | None = None, *, of_time: bool = True) -> "Clock":
        """From the times of the rows, and all their seasons in the same units; None if they are not known."""
        distinct = np.unique(x)
        step = float(np.median(np.diff(distinct)))
        known = tuple(sorted(seasons or ()))
        return cls(float(distinct[0]) - step, step, known, of_time or bool(known), seasons is not None)

    @property
    def unit(self) -> float:
        """What times of the priors are counted in: the shortest season, or a step."""
        return self.seasons[0] if self.seasons else self.step

    @property
    def frequency(self) -> str:
        """Which priors suit it."""
        return frequency_of(self.unit / self.step if self.seasons else None)
