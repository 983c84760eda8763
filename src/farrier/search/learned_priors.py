"""Priors of the structural models, learned from many series: one log-normal for each parameter and frequency.

There are four models. Growth fades to a line, or to nothing. The components add up to y, or to its logarithm. Growth
by a constant amount goes on longer than growth by a constant factor.

`learned_priors.csv` beside this file is the table, and its first lines say which command made it from which series.
Sizes are standard deviations of what a component adds, y having standard deviation one; times are counted in seasons
(years of monthly data, days of hourly data), or in steps where there is no season.

The times of a series: where it starts, the step between rows, and the seasons of the calendar.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

TABLE = Path(__file__).with_name("learned_priors.csv")
STEPS = {"quarterly": 4, "monthly": 12, "weekly": 52, "daily": 7, "hourly": 24}
"""Steps in a season, by frequency: those of the calendar."""
PARAMETERS = (
    "line",
    "trend",
    "damping",
    "walk",
    "season",
    "shape",
    "drift",
    "levels",
    "levels_drift",
    "ar",
    "ar_length",
    "level",
    "noise",
)
"""What a structural model has priors for: sizes of its components, and the hyperparameters that follow them."""
GROWTHS = ("line", "nothing")
"""What growth fades to; one structural model for each."""
SCALES = ("identity", "log")
"""The scales of the target for which priors were learned; others have those of the identity."""


class LogNormal(NamedTuple):
    """The mean and the standard deviation of a logarithm."""

    mean: float
    sd: float


Priors = dict[str, LogNormal]


def frequency_of(steps: float | None) -> str:
    """The frequency with so many steps in a season; None stands for no season."""
    if steps is None:
        return "yearly"
    # a year has 52.18 weeks, and steps are counted
    return next((name for name, usual in STEPS.items() if round(steps) == usual), "other")


@cache
def _table() -> dict[tuple[str, str, str], Priors]:
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found: dict[tuple[str, str, str], Priors] = {}
    for row in csv.DictReader(lines):
        priors = found.setdefault((row["growth"], row["scale"], row["frequency"]), {})
        priors[row["parameter"]] = LogNormal(float(row["mean"]), float(row["sd"]))
    return found


def priors_for(frequency: str, growth: str = "line", scale: str = "identity") -> Priors:
    """The priors of a frequency on a scale of the target; of a frequency that was not learned, those of "other"."""
    kind = growth, scale if scale in SCALES else SCALES[0]
    return dict(_table().get((*kind, frequency), _table()[*kind, "other"]))


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
