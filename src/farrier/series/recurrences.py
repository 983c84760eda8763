"""Times that recur by a rule though their steps differ: opening hours and days, half months, every third working day.

`recurrence_of(times)` finds the rule that leaves out hardly any time between the first and the last one. `after` gives
the times that follow. A day of the month, and a weekday of the month such as the third Friday, are found by steps.py.
"""

from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

PRESENT = 0.9
"""Smallest part of the times of a rule that must be there; by judgement."""
ROUNDS = 2
"""Times that a rule must have repeated before it is used; by judgement."""
DAY_US = 86_400_000_000
"""A day. [microseconds]"""
WEEK = 7
"""Days of a week."""


@final
@dataclass(frozen=True)
class Openings:
    """The same times of day on the same days of each week, such as 9 to 16 o'clock on working days."""

    weekdays: tuple[int, ...]
    """Monday 0."""
    times: tuple[int, ...]
    """The times of day, rising. [microseconds]"""

    def between(self, first: np.datetime64, days: int) -> np.ndarray:
        """All times on so many days from the date of `first` on."""
        dates = first.astype("M8[D]") + np.arange(days)
        dates = dates[np.isin(weekday_of(dates), self.weekdays)]
        return (dates.astype("M8[us]")[:, None] + np.array(self.times, "m8[us]")[None, :]).ravel()

    def after(self, last: np.datetime64, ahead: np.ndarray) -> np.ndarray:
        """The times `ahead` openings after `last`."""
        most = int(ahead.max(initial=0))
        weeks = most // (len(self.weekdays) * len(self.times)) + 2
        found = self.between(last, WEEK * weeks)
        return found[found > last][ahead - 1]


@final
@dataclass(frozen=True)
class HalfMonths:
    """Two days of each month; a month that is shorter than the second has its end instead."""

    days: tuple[int, int]

    def of(self, half: np.ndarray) -> np.ndarray:
        """The dates of half months, counted from January 1970 on."""
        month = (half // 2).astype("M8[M]")
        end = (month + 1).astype("M8[D]") - 1
        return np.minimum(month.astype("M8[D]") + (np.array(self.days)[half % 2] - 1), end)

    def count(self, dates: np.ndarray) -> np.ndarray:
        """The number of the half month of each date."""
        month = dates.astype("M8[M]")
        return 2 * month.astype(np.int64) + (dates != month.astype("M8[D]") + (self.days[0] - 1))

    def after(self, last: np.datetime64, ahead: np.ndarray) -> np.ndarray:
        """The times `ahead` half months after `last`."""
        date = last.astype("M8[D]")
        return self.of(self.count(date[None]) + ahead) + (last - date)


@final
@dataclass(frozen=True)
class WorkingDays:
    """Every so many working days."""

    every: int

    def after(self, last: np.datetime64, ahead: np.ndarray) -> np.ndarray:
        """The times `ahead` steps after `last`."""
        date = last.astype("M8[D]")
        return np.busday_offset(date, self.every * ahead) + (last - date)


Recurrence: TypeAlias = Openings | HalfMonths | WorkingDays
"""A rule by which times recur."""


def recurrence_of(times: np.ndarray) -> Recurrence | None:
    """The rule of sorted times, datetime64[us], whose steps differ; None if none is certain."""
    dates = times.astype("M8[D]")
    dated = len(np.unique(times - dates)) == 1
    return (dated and (_half_months(dates) or _working_days(dates))) or _openings(times, dates)


def weekday_of(dates: np.ndarray) -> np.ndarray:
    """The day of the week, Monday 0."""
    return (dates.astype("M8[D]").astype(np.int64) + 3) % WEEK  # 1970-01-01 was a Thursday


def _half_months(dates: np.ndarray) -> HalfMonths | None:
    of_month = (dates - dates.astype("M8[M]").astype("M8[D]")).astype(np.int64) + 1
    low = int(of_month.min())
    rest = of_month[of_month != low]
    if len(dates) < 2 * ROUNDS or len(rest) < ROUNDS:
        return None
    # 15 and month end; the end of February may come before the 30th
    for high in (31, int(rest.max())):
        found = HalfMonths((low, high))
        half = found.count(dates)
        if np.all(np.diff(half) == 1) and np.array_equal(found.of(half), dates):
            return found
    return None


def _working_days(dates: np.ndarray) -> WorkingDays | None:
    steps = np.busday_count(dates[:-1], dates[1:])
    same = len(steps) >= 2 * ROUNDS and np.all(np.is_busday(dates)) and np.ptp(steps) == 0 and steps[0] > 1
    return WorkingDays(int(steps[0])) if same else None


def _openings(times: np.ndarray, dates: np.ndarray) -> Openings | None:
    clock = np.unique((times - dates).astype(np.int64))
    days = int((dates[-1] - dates[0]).astype(int)) + 1
    every, seen = weekday_of(dates[0] + np.arange(days)), np.unique(weekday_of(dates))
    rounds = np.bincount(every, minlength=WEEK)
    # one day without times may be closed by chance; a night is closed every day
    needed = ROUNDS if len(clock) == 1 else 1
    closed = np.setdiff1d(np.flatnonzero(rounds >= needed), seen)
    found = Openings(tuple(np.setdiff1d(np.arange(WEEK), closed).tolist()), tuple(clock.tolist()))
    if np.ptp(np.diff(clock, append=clock[0] + DAY_US)) == 0 and not len(closed):
        return None  # a grid
    fewest = (days - 2 * WEEK) // WEEK * len(found.weekdays) * len(found.times)
    if len(times) < max(ROUNDS * len(clock), PRESENT * fewest) or rounds.min() < needed:
        return None
    expected = found.between(times[0], days)
    expected = expected[(expected >= times[0]) & (expected <= times[-1])]
    return found if len(times) >= PRESENT * len(expected) else None
