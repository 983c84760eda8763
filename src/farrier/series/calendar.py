"""A column of times as numbers: the step between times, the times that follow, and their labels.

    axis = TimeAxis.of(frame["month"], "month")     # numpy, pandas, polars, Python dates, ISO text or plain numbers
    axis.frequency, axis.spacing                    # "monthly", 1/12
    axis.future(12).stamps                          # the next twelve, of the type that came in

If steps are months or longer, the numbers are decimal years. A stamp is then the middle of its month, quarter or year:
month k of year Y is Y + (k - 1/2) / 12, so that steps are equal. If steps are shorter, the numbers are days since
1970-01-01. Stamps with a time zone are read in local time if steps are days or longer, so that midnights are one day
apart when the clocks change, and in UTC if steps are shorter. Plain numbers stay as they are.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any

import numpy as np

from farrier.data.quoting import quoted
from farrier.series.stamp_forms import Form, Number, tzinfo_of, zone_of
from farrier.series.stamps import Column, Stamps, read_stamps
from farrier.series.steps import DAY, HOUR, LONG, MINUTE, MONTHS, SECOND, Steps, chosen_step, infer_steps

CYCLES, POINTS = 2.0, 2.5
"""Fewest cycles in the data, and fewest points in a cycle, for a period of the calendar; by judgement."""
YEARS = (1000.0, 2200.0)
"""The range in which plain numbers may be years; by judgement."""
YEAR_WORDS = frozenset({"year", "years", "time", "date"})
"""Names of a column in which numbers of this range are years, whatever their steps; by judgement."""
PERIODS = {"years": (1.0,), "days": (365.2425, 7.0, 1.0, 1 / 24, 1 / 1440), "number": ()}
"""The periods of the calendar in the units of each kind of axis."""

MOST_STEPS = 100_000
"""Most steps of a forecast; by judgement: they take about half a minute."""
LARGEST = 1e150
"""Largest plain number as a time; by judgement: squares of times stay finite."""
DIGITS = 10, 17
"""Fewest and most digits of a plain number in a label; 17 digits tell any two numbers apart."""


@dataclass(frozen=True)
class FutureTimes:
    """The steps after the last time: as numbers, as stamps of the user's type, and as labels."""

    numbers: np.ndarray
    stamps: Any
    labels: list[str]


@dataclass(frozen=True, eq=False)
class TimeAxis:
    """Times in the order of the rows; none is missing and none comes twice."""

    name: str
    kind: str
    """What `numbers` are: "years" (decimal), "days" (since 1970-01-01) or "number" (in the user's unit)."""
    frequency: str
    """yearly, quarterly, monthly, weekly, business-daily, daily, hourly, minutes, seconds, regular (plain numbers on a
    grid) or irregular."""
    spacing: float
    """One step in the units of `numbers` (14.0 for every second week); the median step if irregular, 0 for one time."""
    gaps: int
    """The number of missing steps between the first and the last time; 0 if irregular."""
    numbers: np.ndarray
    _clock: np.ndarray
    """The times in which steps are counted: local time or UTC."""
    _steps: "Steps"
    _labels: list[str]
    _detail: str
    _form: Form
    _local: bool
    chosen: "Steps | None" = None
    """The step that the user has chosen for a forecast of irregular times."""

    @classmethod
    def of(cls, values: Any, name: str, rows: Sequence[str] | None = None) -> "TimeAxis":
        """The axis of a column of times; `rows` name the rows in errors (None: row 0, row 1 ...)."""
        column = Column(name, rows)
        stamps = read_stamps(values, column)
        if len(stamps.wall) == 0:
            raise ValueError(f"column {quoted(name)} holds no times: give at least one row")
        if isinstance(stamps.form, Number):
            return _of_numbers(stamps, column)
        instants = stamps.wall if stamps.utc is None else stamps.utc
        column.refuse_twice(instants, _label(stamps, _detail(stamps.wall, "irregular")))
        clock = stamps.wall if stamps.utc is None else _without_skipped_hours(stamps.wall)
        steps = infer_steps(np.sort(clock), stamps.months)
        if stamps.utc is not None and steps.frequency not in LONG:
            clock, steps = stamps.utc, infer_steps(np.sort(stamps.utc), 0)
        years, detail = steps.frequency in MONTHS, _detail(stamps.wall, steps.frequency)
        return cls(
            name=name,
            kind="years" if years else "days",
            frequency=steps.frequency,
            spacing=steps.size / 12 if years else steps.size / DAY,
            gaps=steps.gaps,
            numbers=_numbers(clock, steps.frequency),
            _clock=clock,
            _steps=steps,
            _labels=_label(stamps, detail),
            _detail=detail,
            _form=stamps.form,
            _local=clock is not stamps.utc,
        )

    @property
    def zone(self) -> tzinfo | None:
        """The time zone of the stamps, if the numbers are UTC; None if they are local time already."""
        return None if self._local else tzinfo_of(self._form)

    def labels(self) -> list[str]:
        """The times as text; text in the column stays as it was written."""
        return list(self._labels)

    def future(self, horizon: int) -> FutureTimes:
        """The next `horizon` steps after the last time, on the same calendar."""
        if horizon < 0:
            raise ValueError(f"horizon: {horizon} is not a number of steps: give 0 or more")
        if horizon > MOST_STEPS:
            raise ValueError(f"horizon: {horizon:,} steps are too many: give at most {MOST_STEPS:,}")
        if not self.spacing:
            raise ValueError(
                f"column {quoted(self.name)} holds one time only, so its spacing is unknown: give at least two"
            )
        ahead, steps = np.arange(1, horizon + 1), self.chosen or self._steps
        if isinstance(self._form, Number):
            numbers = self.numbers.max() + (self.chosen.size if self.chosen else self.spacing) * ahead
            return FutureTimes(numbers, self._form.write(numbers, self.name, local=True), _plain(numbers))
        if steps.frequency == "irregular" and steps.recurrence is None and self.chosen is None:
            self._warn()
        last, end = self._clock.max(), self._form.last
        most = min(horizon, steps.most(last, end))
        times = steps.after(last, ahead[:most])
        fits = int(np.count_nonzero(times <= end))
        if fits < horizon:
            raise ValueError(
                f"horizon: {horizon:,} steps go past the year {end.astype('M8[Y]')}, the last of this type of times: "
                f"give at most {fits:,}"
            )
        stamps = self._form.write(times, self.name, local=self._local)
        labels = _label(read_stamps(stamps, Column(self.name)), self._detail)
        return FutureTimes(_numbers(times, self.frequency), stamps, labels)

    def _warn(self) -> None:
        """Say that the dates ahead are guessed."""
        size = f"{self.spacing:.3g} days" if self.spacing >= 1.0 else f"{24.0 * self.spacing:.3g} hours"
        warnings.warn(
            f"time: the dates of {quoted(self.name)} follow no known rule, and those of the forecast are {size} apart, "
            "the median: choose a step such as 'month' (step=, or --step), or give the dates ahead.",
            stacklevel=2,
        )

    def stepped(self, step: str | float | None) -> "TimeAxis":
        """The axis whose future has the step that the user has chosen, such as "week"; only irregular times take it."""
        if step is None:
            return self
        if self.frequency != "irregular":
            raise ValueError(
                f"step={quoted(step)}: the times of {quoted(self.name)} are {self.frequency}: leave it out."
            )
        return replace(self, chosen=chosen_step(step, self._clock, plain=isinstance(self._form, Number)))

    def stepping_as(self, other: "TimeAxis") -> "TimeAxis":
        """The axis with the step that was chosen for another one, if its times are irregular too."""
        return replace(self, chosen=other.chosen if self.frequency == "irregular" else None)

    def take(self, rows: np.ndarray) -> "TimeAxis":
        """The axis with some of its times, in the order of `rows`; the steps stay the same."""
        labels = [self._labels[i] for i in rows.tolist()]
        return replace(self, numbers=self.numbers[rows], _clock=self._clock[rows], _labels=labels)

    def locate(self, values: Any) -> np.ndarray:
        """Other times as numbers of this axis: of any type, but dates if these are dates, and numbers if not."""
        stamps = read_stamps(values, Column(self.name))
        plain = isinstance(self._form, Number)
        if isinstance(stamps.form, Number) != plain:
            kinds = ("dates", "numbers") if plain else ("numbers", "dates")
            raise ValueError(
                f"column {quoted(self.name)}: {kinds[0]} where the times so far are {kinds[1]}: give {kinds[1]}"
            )
        if plain:
            return stamps.wall
        zone, other = zone_of(self._form), zone_of(stamps.form)
        if (zone != other and None not in (zone, other)) or (stamps.utc is None and not self._local):
            raise ValueError(
                f"column {quoted(self.name)}: times in the zone {zone} so far, now in {other}: give one zone"
            )
        return _numbers(stamps.wall if self._local or stamps.utc is None else stamps.utc, self.frequency)

    def years(self) -> np.ndarray:
        """The times as decimal calendar years; plain numbers as they are."""
        return decimal_years(self._clock) if self.kind == "days" else self.numbers

    def calendar_periods(self) -> list[float]:
        """Periods of the calendar that the data can show, longest first, in units of `numbers`."""
        span = float(np.ptp(self.numbers)) + self.spacing
        few = 1.005  # two common years hold two cycles of 365.2425 days
        return [
            period
            for period in PERIODS[self.kind]
            if span * few >= CYCLES * period and 0 < POINTS * self.spacing <= period
        ]


def decimal_years(times: np.ndarray) -> np.ndarray:
    """Instants (datetime64) as decimal years; midnight of the first of January is a whole number."""
    year = times.astype("M8[Y]")
    start, end = year.astype("M8[us]"), (year + 1).astype("M8[us]")
    return 1970 + year.astype(np.int64) + (times.astype("M8[us]") - start) / (end - start)


def _without_skipped_hours(wall: np.ndarray) -> np.ndarray:
    """Daily stamps with the hour of all others where that hour did not exist because the clocks went forward."""
    date = wall.astype("M8[D]")
    time, count = np.unique(wall - date, return_counts=True)
    usual = time[np.argmax(count)]
    moved = wall - date - usual
    slight = (moved >= 0) & (moved <= np.timedelta64(HOUR, "us"))
    rare = count.max() >= 0.9 * len(wall)
    return date + usual if rare and slight.all() and len(np.unique(date)) == len(date) else wall


def _numbers(times: np.ndarray, frequency: str) -> np.ndarray:
    if frequency not in MONTHS:
        return times.astype(np.int64) / DAY
    width = MONTHS[frequency]
    month = times.astype("M8[M]").astype(np.int64) + 12 * 1970
    return (month // width + 0.5) * width / 12


def _detail(times: np.ndarray, frequency: str) -> str:
    """The finest unit in a label: a unit of datetime64, or "quarter"."""
    if frequency in LONG:
        return {"yearly": "Y", "quarterly": "quarter", "monthly": "M"}.get(frequency, "D")
    sizes = {"D": DAY, "m": MINUTE, "s": SECOND, "ms": SECOND // 1000, "us": 1}
    coarsest = {"irregular": "D", "seconds": "s"}.get(frequency, "m")
    within = times.astype(np.int64)
    return next(unit for unit, size in sizes.items() if size <= sizes[coarsest] and not np.any(within % size))


def _label(stamps: Stamps, detail: str) -> list[str]:
    if stamps.texts is not None:
        return list(stamps.texts)
    if detail == "quarter":
        quarter = stamps.wall.astype("M8[M]").astype(np.int64) // 3
        return [f"{1970 + q // 4:04d}Q{q % 4 + 1}" for q in quarter.tolist()]
    return [text.replace("T", " ") for text in stamps.wall.astype(f"M8[{detail}]").astype(str).tolist()]


def _plain(numbers: np.ndarray) -> list[str]:
    """Numbers as text, whole ones in full, others with as many digits as tell them apart."""
    digits = distinct_digits(numbers, *DIGITS)
    return [f"{x:.0f}" if x.is_integer() and abs(x) < 1e15 else f"{x:.{digits}g}" for x in numbers.tolist()]


def distinct_digits(numbers: np.ndarray, fewest: int, most: int) -> int:
    """Digits that leave the numbers apart: those of the largest over the smallest step, and two more."""
    step = np.diff(np.unique(numbers))
    if not len(step):
        return fewest
    needed = np.log10(np.abs(numbers).max()) - np.log10(step.min()) + 3.0
    return int(min(max(needed, fewest), most))


def _of_numbers(stamps: Stamps, column: Column) -> TimeAxis:
    numbers = stamps.wall
    column.refuse(~np.isfinite(numbers), "the time is not finite: correct it or delete the row")
    column.refuse(np.abs(numbers) > LARGEST, f"the time is beyond {LARGEST:g}: use a larger unit")
    labels = _plain(numbers)
    column.refuse_twice(numbers, labels)
    step = np.diff(np.sort(numbers))
    median = float(np.median(step)) if len(step) else 0.0
    in_range = YEARS[0] <= numbers.min() and numbers.max() <= YEARS[1]
    calendar = [width for width in (1.0, 1 / 4, 1 / 12) if abs(median - width) < 0.05 * width]
    years = in_range and (bool(calendar) or column.name.lower() in YEAR_WORDS)
    spacing, gaps, frequency = median, 0, "irregular"
    # decimal years are often written with two decimals
    for width, slack in [(width, 0.011) for width in (1.0, 1 / 4, 1 / 12) if years] or [(median, 0.01 * median)]:
        # 2^53: larger counts are no longer exact
        count = np.round(step / width) if width and step.max() < width * 2.0**53 else np.zeros(0)
        if len(count) and count.all() and np.all(np.abs(step - count * width) <= slack):
            size = int(np.gcd.reduce(count.astype(np.int64)))
            spacing = size * width if years else float(step.sum() / count.sum())
            gaps = int(count.sum()) // size - len(count)
            frequency = {1.0: "yearly", 1 / 4: "quarterly", 1 / 12: "monthly"}[width] if years else "regular"
            break
    return TimeAxis(
        name=column.name,
        kind="years" if years else "number",
        frequency=frequency,
        spacing=spacing,
        gaps=gaps,
        numbers=numbers,
        _clock=numbers,
        _steps=Steps(frequency, spacing, gaps),
        _labels=labels,
        _detail="",
        _form=stamps.form,
        _local=True,
    )
