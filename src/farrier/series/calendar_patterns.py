"""The calendar patterns that the rows of a time axis can show, as kernels in the units of its numbers.

    calendar_patterns(axis, {date(2024, 12, 25): "Christmas"})     # (DayOfWeek(...), Weekend(...), ...)

Days are those of local time. Where the numbers of an axis are UTC, the kernels know every change of the clock, from
`BEFORE` the first row to `AHEAD` after the last one. A pattern is offered if the rows show enough of it. For steps
shorter than a day there are also daily cycles that differ between kinds of days.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.kernels.calendar import CalendarPattern
from farrier.kernels.registry import (
    AnyHoliday,
    CentredPeriodic,
    DayOff,
    DayOfMonth,
    DayOfWeek,
    Holiday,
    LastWorkday,
    LocalDay,
    MonthEnd,
    MonthOfYear,
    Weekend,
)
from farrier.series.calendar import TimeAxis
from farrier.series.holidays import days_of

EPOCH = date(1970, 1, 1)
"""The day from which times are counted."""
BEFORE, AHEAD = 366, 3660
"""How long before the first row and after the last one holidays and changes of the clock are known. [days; by
judgement: forecasts of steps of days or less do not reach further]"""
WIDEST_STEP = 3.0
"""The widest step at which rows show a pattern of days. [days; by judgement]"""
REPEATS = 2
"""Times that each level of a week, a month or a year must have been seen, and that an event must. [days; by
judgement]"""
SEEN = 0.9
"""Part of the levels of a pattern that must have been seen `REPEATS` times: 29 to 31 are rare days of a month, and
business days have no weekend. [of the levels in the rows; by judgement]"""
SHAPE = 0.7
"""Starting lengthscale of the daily cycles within a day. [radians; by judgement]"""


def year_range(axis: TimeAxis) -> tuple[int, int]:
    """The first and the last year whose holidays can matter."""
    ends = np.array([axis.numbers.min() - BEFORE, axis.numbers.max() + AHEAD])
    # within the years that a date can have
    first, last = np.clip(ends, (date.min - EPOCH).days, (date.max - EPOCH).days)
    return (EPOCH + timedelta(days=float(first))).year, (EPOCH + timedelta(days=float(last))).year


def shows_days(axis: TimeAxis) -> bool:
    """Whether the rows are fine enough for patterns of days, and span two weeks or more."""
    fine = axis.kind == "days" and 0.0 < axis.spacing <= WIDEST_STEP
    return fine and float(np.ptp(axis.numbers)) + axis.spacing >= REPEATS * 7


def calendar_patterns(axis: TimeAxis, holidays: Mapping[date, str] = {}) -> tuple[Kernel, ...]:
    """The patterns that the rows can show; none for plain numbers and for steps of a week or longer."""
    if not shows_days(axis):
        return ()
    clock = clock_of(axis)
    days, called, titles = days_of(holidays)
    week, kinds = DayOfWeek(**clock), Weekend(**clock)
    tried: list[CalendarPattern] = [week, kinds, MonthEnd(**clock), LastWorkday(**clock), DayOfMonth(**clock)]
    tried.append(MonthOfYear(**clock))
    if len(days):
        tried.append(Holiday(**clock, holidays=days, called=called, titles=titles))
        tried += [AnyHoliday(**clock, holidays=days), DayOff(**clock, holidays=days)]
    found = _distinct([one for one in tried if _shown(one, axis.numbers)], axis.numbers)
    if axis.spacing >= 0.5:
        return tuple(found)
    cycle = LocalDay(**clock, lengthscale=SHAPE) if len(clock["changes"]) else CentredPeriodic(1.0, SHAPE)
    cycles: list[Kernel] = [cycle] if isinstance(cycle, LocalDay) else []
    # the hour of the week is among the seasons, but on a clock that is changed
    modulating = (Weekend, DayOff) if axis.zone is None else (DayOfWeek, Weekend, DayOff)
    return (*found, *cycles, *(cycle * one for one in found if isinstance(one, modulating)))


def clock_of(axis: TimeAxis) -> dict[str, Any]:
    """The clock of calendar kernels on this axis: none of its own if the numbers are local time."""
    zone = axis.zone
    if zone is None:
        return {"changes": (), "offsets": ()}
    first, last = (
        datetime(1970, 1, 1) + timedelta(days=float(end)) for end in (axis.numbers.min(), axis.numbers.max())
    )
    changes, offsets = offset_changes(zone, first - timedelta(days=BEFORE), last + timedelta(days=AHEAD))
    return {"changes": changes, "offsets": offsets}


def offset_changes(zone: tzinfo, first: datetime, last: datetime) -> tuple[list[float], list[float]]:
    """The times in UTC at which a zone changes its offset, in days since 1970-01-01, and the offsets around them."""

    def offset(moment: datetime) -> timedelta:
        return moment.replace(tzinfo=UTC).astimezone(zone).utcoffset() or timedelta()

    changes, offsets, now = [], [offset(first)], first
    while now < last:
        later = now + timedelta(days=1)
        if offset(later) != offsets[-1]:
            low, high = now, later
            while high - low > timedelta(seconds=1):
                middle = low + (high - low) / 2
                low, high = (middle, high) if offset(middle) == offsets[-1] else (low, middle)
            # zones change at whole seconds
            moment = (high + timedelta(microseconds=500_000)).replace(microsecond=0)
            changes.append((moment - datetime(1970, 1, 1)) / timedelta(days=1))
            offsets.append(offset(later))
        now = later
    return changes, [one / timedelta(days=1) for one in offsets]


def _shown(pattern: CalendarPattern, x: np.ndarray) -> bool:
    """Whether the rows show two levels or more, often enough."""
    level, day = pattern.levels_at(x), np.floor(x)
    # a day counts once; days in a row that share a level, such as a weekend or a month, count once as well
    order = np.argsort(x, kind="stable")
    level, day = level[order], day[order]
    starts = np.ones(len(level), bool)
    starts[1:] = (level[1:] != level[:-1]) | (day[1:] - day[:-1] > 6)
    there, runs = np.unique(level[starts], return_counts=True)
    if pattern.shares is None:
        return bool(np.sum(runs[there > 0]) >= REPEATS and 0 in there)
    return len(there) > 1 and float(np.mean(runs >= REPEATS)) >= SEEN


def _distinct(patterns: Sequence[CalendarPattern], x: np.ndarray) -> list[CalendarPattern]:
    """Without patterns that are the same as one before at all rows: days off of business days are holidays."""
    found: list[CalendarPattern] = []
    seen: list[np.ndarray] = []
    for one in patterns:
        level = one.levels_at(x)
        if not any(_same_partition(level, other) for other in seen):
            found.append(one)
            seen.append(level)
    return found


def _same_partition(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two labellings divide the rows in the same way."""
    pairs = len({*zip(one.tolist(), other.tolist(), strict=True)})
    return pairs == len(np.unique(one)) == len(np.unique(other))
