"""One round of the calendar: the level of a repeating pattern in each month or quarter, day of the week, hour of day.

Most patterns repeat exactly. One that drifts or grows is shown as it was last: over the last full round of the data.
Levels are relative to the mean of that round. Times of zones are local.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from farrier.explain.facts import Axis, Estimate, Factor
from farrier.explain.numbers import DAYS_A_MONTH, HOUR, calendar_name, in_days
from farrier.explain.parts import given
from farrier.kernels.calendar import MONTH_NAMES, WEEKDAYS

SPACING = 1.3
"""Longest spacing of the rows, over the length of one level, for a profile; by judgement."""
EARLY = 1e-6
"""What is added to a time before its level is taken, in units of the axis, so that a rounded midnight is not the day
before. [by judgement: half a minute of a year, a tenth of a second of a day]"""


@dataclass(frozen=True)
class Parts:
    """The parts of a round of the calendar."""

    names: tuple[str, ...]
    level: Callable[[np.ndarray, str], np.ndarray]
    """The level at times on an axis of a kind ('years' or 'days')."""
    length: float
    """The length of one level. [days]"""


def _month(x: np.ndarray, kind: str) -> np.ndarray:
    if kind == "years":
        # months of equal length, as people write decimal years; 1 March is 1.94 months
        return np.floor((x % 1.0) * 12.0 + 0.07).astype(int) % 12
    return (x + EARLY).astype("M8[D]").astype("M8[M]").astype(int) % 12


def _quarter(x: np.ndarray, kind: str) -> np.ndarray:
    return _month(x, kind) // 3


def _weekday(x: np.ndarray, kind: str) -> np.ndarray:
    return (np.floor(x + EARLY).astype(int) + 3) % 7


def _hour(x: np.ndarray, kind: str) -> np.ndarray:
    return np.floor(((x + EARLY) % 1.0) * 24.0).astype(int) % 24


ROUNDS = {
    "yearly": (Parts(MONTH_NAMES, _month, DAYS_A_MONTH), Parts(("Q1", "Q2", "Q3", "Q4"), _quarter, 3 * DAYS_A_MONTH)),
    "weekly": (Parts(WEEKDAYS, _weekday, 1.0),),
    "daily": (Parts(tuple(f"{hour:02d}:00" for hour in range(24)), _hour, HOUR),),
}
"""The parts of the rounds, finest first, by the name of their period."""


CALENDAR = {"month": "yearly", "weekday": "weekly", "weekend": "weekly"}
"""The rounds of patterns of the calendar, by their kind."""


def round_of(factors: Sequence[Factor], axis: Axis) -> str:
    """The round that a component goes through: "yearly", "weekly", "daily"; empty if none."""
    kinds = [factor.kind for factor in factors if factor.kind != "constant"]
    if kinds and set(kinds) <= set(CALENDAR) and len({CALENDAR[kind] for kind in kinds}) == 1:
        return CALENDAR[kinds[0]]
    if set(kinds) & {*CALENDAR, "from", "until"}:
        return ""
    periodic = [factor for factor in factors if factor.kind == "periodic"]
    period = given(periodic[0].period) if len(periodic) == 1 else None
    if period is None or periodic[0].columns != (axis.name,) or axis.spacing <= 0.0:
        return ""
    name = calendar_name(period, axis)
    if name not in ROUNDS or (name != "yearly" and axis.kind != "days"):
        return ""
    return name if _parts(name, axis) is not None else ""


def _parts(name: str, axis: Axis) -> Parts | None:
    """The finest parts of a round that rows of this spacing fill; None if there are none."""
    return next((one for one in ROUNDS[name] if axis.spacing * in_days(axis) <= SPACING * one.length), None)


def profile_of(
    name: str, axis: Axis, x: np.ndarray, mean: np.ndarray, sd: np.ndarray, say: Callable[[float], float]
) -> list[tuple[str, Estimate]]:
    """The level of each part of a round with its 95 % interval, from the last full rounds of a curve.

    `x` are the times of the rows, `mean` and `sd` the curve on the scale of the model; `say` converts a size to words.
    """
    found = _parts(name, axis)
    if found is None:
        return []
    period = found.length * len(found.names) / in_days(axis)
    every = found.level(x, axis.kind)
    last = _last(every, x, period)
    level, here = every[last], mean[last]
    there = np.unique(level)
    if len(there) < len(found.names) // 2:
        return []
    base = np.mean([here[level == one].mean() for one in there])
    levels = []
    for one in there:
        middle, spread = here[level == one].mean() - base, 1.96 * sd[last][level == one].mean()
        levels.append(
            (found.names[one], Estimate(*(say(float(v)) for v in (middle, middle - spread, middle + spread))))
        )
    return levels


def _last(level: np.ndarray, x: np.ndarray, period: float) -> np.ndarray:
    """Which rows are of the last round; of a sample of rows, of so many rounds that more would add no level."""

    def window(rounds: int) -> np.ndarray:
        return x > x.max() - rounds * period * (1.0 - 1e-6)

    rounds = 1
    while len(np.unique(level[window(2 * rounds)])) > len(np.unique(level[window(rounds)])):
        rounds *= 2
    return window(rounds)
