"""Priors of the structural models, learned from many series: one log-normal for each parameter and frequency.

There are two models, told apart by what growth fades to: a line, or nothing.

`learned_priors.csv` beside this file is the table, and its first lines say which command made it from which series.
Sizes are standard deviations of what a component adds, y having standard deviation one; times are counted in seasons
(years of monthly data, days of hourly data), or in steps where there is no season.
"""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_name("learned_priors.csv")
STEPS = {"quarterly": 4, "monthly": 12, "weekly": 52, "daily": 7, "hourly": 24}
"""Steps in a season, by frequency: those of the calendar."""
PARAMETERS = ("line", "trend", "damping", "walk", "season", "shape", "drift", "ar", "ar_length", "level", "noise")
"""What a structural model has priors for: sizes of its components, and the hyperparameters that follow them."""
GROWTHS = ("line", "nothing")
"""What growth fades to; one structural model for each."""


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
def _table() -> dict[tuple[str, str], Priors]:
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found: dict[tuple[str, str], Priors] = {}
    for row in csv.DictReader(lines):
        priors = found.setdefault((row["growth"], row["frequency"]), {})
        priors[row["parameter"]] = LogNormal(float(row["mean"]), float(row["sd"]))
    return found


def priors_for(frequency: str, growth: str = "line") -> Priors:
    """The priors of a frequency; of one that was not learned, those of "other"."""
    return dict(_table().get((growth, frequency), _table()[growth, "other"]))
