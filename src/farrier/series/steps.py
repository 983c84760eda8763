"""The step from one time to the next: found from the times, or chosen by the user, and the times that follow."""

import re
from dataclasses import dataclass, replace

import numpy as np

from farrier.data.quoting import quoted
from farrier.series.recurrences import Recurrence, recurrence_of, weekday_of

COMPLETE = 2 / 3
"""Stamps on a grid are regular if at least this share of the grid is present, else irregular; by judgement."""
MONTHS = {"yearly": 12, "quarterly": 3, "monthly": 1}
"""The length of a step in months."""
LONG = frozenset({*MONTHS, "weekly", "business-daily", "daily"})
"""The frequencies whose steps are days or longer."""
SECOND, MINUTE, HOUR, DAY = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
"""In microseconds, the unit of time in this file."""
UNITS = {"s": SECOND, "second": SECOND, "min": MINUTE, "minute": MINUTE, "h": HOUR, "hour": HOUR}
UNITS |= {"d": DAY, "day": DAY, "w": 7 * DAY, "week": 7 * DAY}
"""Units of a step that is given as text."""
MONTH_UNITS = {"month": 1, "quarter": 3, "year": 12, "y": 12}
"""Units of months, in months."""


@dataclass(frozen=True)
class Steps:
    """The step from one time to the next."""

    frequency: str
    size: float
    """The size of one step: in months for yearly, quarterly and monthly, else in microseconds."""
    gaps: int
    day: str | int | tuple[int, int] = 0
    """The day of the month of the stamps: a number, "end", "business end" or "business start", or the number and the
    weekday (Monday 0) of a day such as the third Friday, (3, 4), or the last one, (-1, 4)."""
    recurrence: Recurrence | None = None
    """The rule of times that go on otherwise than in equal steps."""

    def most(self, last: np.datetime64, end: np.datetime64) -> int:
        """At least the number of steps from `last` to `end`: months count as their shortest, 28 days."""
        step = self.size * 28 * DAY if self.frequency in MONTHS else self.size
        return max(int((end - last).astype(np.int64) / step), 0)

    def after(self, last: np.datetime64, ahead: np.ndarray) -> np.ndarray:
        """The times `ahead` steps after `last`, datetime64[us]."""
        if self.recurrence is not None:
            return self.recurrence.after(last, ahead)
        date = last.astype("M8[D]")
        if self.frequency in MONTHS:
            return _in_month(date.astype("M8[M]") + int(self.size) * ahead, self.day) + (last - date)
        if self.frequency == "business-daily":
            return np.busday_offset(date, ahead) + (last - date)
        return last + (self.size * ahead).astype("m8[us]")


def infer_steps(times: np.ndarray, months: int) -> Steps:
    """The steps of sorted times, each of which stands for `months` months (0: an instant or a day)."""
    found = _equal_steps(times, months)
    even = found.frequency in MONTHS or found.frequency == "business-daily" or len(np.unique(np.diff(times))) < 2
    return found if even else replace(found, recurrence=recurrence_of(times))


def _equal_steps(times: np.ndarray, months: int) -> Steps:
    """The same without regard to recurrences."""
    dates = times.astype("M8[D]")
    dated = len(np.unique(times - dates)) == 1
    if len(times) == 1:
        frequency = next((name for name, width in MONTHS.items() if width == months), "irregular")
        return Steps(frequency, months, 0, 1)
    if dated and (found := _infer_months(dates)):
        return found
    step = np.diff(times.astype(np.int64))
    size = int(np.gcd.reduce(step))
    gaps = int(step.sum() // size) - len(step)
    if dated and size % (7 * DAY) and np.all(np.is_busday(dates)):
        days = int(np.busday_count(dates[0], dates[-1]))
        if days < (dates[-1] - dates[0]).astype(int) and len(step) >= COMPLETE * days:
            return Steps("business-daily", DAY, days - len(step))
    if len(step) < COMPLETE * (len(step) + gaps):
        median, unit = float(np.median(step)), DAY if dated else SECOND
        return Steps("irregular", unit * round(median / unit) if median > unit else median, 0)
    if dated:
        return Steps("weekly" if size % (7 * DAY) == 0 else "daily", size, gaps)
    return Steps("hourly" if size % HOUR == 0 else "minutes" if size % MINUTE == 0 else "seconds", size, gaps)


def _infer_months(dates: np.ndarray) -> Steps | None:
    """Steps of whole months if all dates are on the same day of the month, or at its end; else None."""
    month = dates.astype("M8[M]")
    step = np.diff(month.astype(np.int64))
    if not step.all():
        return None
    of_month = (dates - month.astype("M8[D]")).astype(int)
    days: list[str | int | tuple[int, int]] = ["end", int(of_month.max()) + 1, "business end", "business start"]
    if len(np.unique(np.diff(dates))) > 1:  # every fourth Friday is no third Friday of the month
        weekday = int(weekday_of(dates[:1])[0])
        days += [(int(of_month[0]) // 7 + 1, weekday), (-1, weekday)]
    for day in days:
        if np.array_equal(_in_month(month, day), dates):
            size = int(np.gcd.reduce(step))
            frequency = next(name for name, width in MONTHS.items() if size % width == 0)
            return Steps(frequency, size, int(step.sum()) // size - len(step), day)
    return None


def _in_month(month: np.ndarray, day: str | int | tuple[int, int]) -> np.ndarray:
    """The date on a day of each month; the last day of months that are shorter."""
    first, last = month.astype("M8[D]"), (month + 1).astype("M8[D]") - 1
    match day:
        case "end":
            return last
        case "business end":
            return np.busday_offset(last, 0, roll="backward")
        case "business start":
            return np.busday_offset(first, 0, roll="forward")
        case (-1, int(weekday)):
            return last - (weekday_of(last) - weekday) % 7
        case (int(number), int(weekday)):
            return first + (weekday - weekday_of(first)) % 7 + 7 * (number - 1)
    return np.minimum(first + (int(str(day)) - 1), last)


def chosen_step(step: str | float, times: np.ndarray, *, plain: bool) -> Steps:
    """The step that a user has chosen: a number for plain numbers, else text such as "day", "2 weeks" or "15 min"."""
    if plain or isinstance(step, int | float):
        try:
            size = float(step)
        except ValueError:
            size = 0.0
        if not plain or not 0.0 < size < float("inf"):
            needed = "a number above 0" if plain else "text such as 'day', '2 weeks' or 'month'"
            raise ValueError(f"step={quoted(step)}: it is not a step of these times: give {needed}.")
        return Steps("irregular", size, 0)
    found = re.fullmatch(r"(\d{0,6}) ?([a-z]+?)s?", step.strip().lower())
    count, unit = (int(found[1] or 1), found[2]) if found else (0, "")
    if count and unit in UNITS:
        return Steps("irregular", count * UNITS[unit], 0)
    if count and unit in MONTH_UNITS:
        date = times.max().astype("M8[D]")
        day = int((date - date.astype("M8[M]").astype("M8[D]")).astype(int)) + 1
        return Steps("monthly", count * MONTH_UNITS[unit], 0, day)
    raise ValueError(
        f"step={quoted(step)}: it is not a step: give 'day', '2 weeks', '15 min', 'month', 'quarter' or 'year'."
    )
