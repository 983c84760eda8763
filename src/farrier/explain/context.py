"""What is known about the data besides the numbers: names, units, times; and the line that describes the rows.

A `Context` holds what the user said. A `Setting` completes it from the data: the axes of all inputs, the target, the
order and the labels of the rows. Without a context, a single input is read as time if its numbers look like years.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from farrier.data.table_inputs import TableInputs
from farrier.explain.facts import Axis, Estimate, Target
from farrier.explain.numbers import count, is_time, length, moment, preposition
from farrier.explain.parts import in_degrees
from farrier.model.result import Result
from farrier.model.target_scale import TargetScale
from farrier.series.calendar import TimeAxis, distinct_digits

SCALES = {"identity": "additive", "log": "multiplicative"}
"""How components combine under each transform; any other transform is "transformed"."""
WEEKDAYS = "business-daily"
"""The frequency of series without weekends."""
STEPS = {
    "yearly": ("year", 1.0, 30 * 365.0),
    "quarterly": ("quarter", 0.25, 10 * 365.0),
    "monthly": ("month", 1 / 12, 10 * 365.0),
    "weekly": ("week", 7.0, 365.0),
    "daily": ("day", 1.0, 365.0),
    WEEKDAYS: ("business day", 1.0, 365.0),
    "hourly": ("hour", 1 / 24, 30.0),
    "minutes": ("minute", 1 / 1440, 30.0),
    "seconds": ("second", 1 / 86400, 0.0),
}
"""For each frequency: its step in words, its step in units of the axis, and a range in days whose dates are written
as finely as this step needs."""
WHOLE = 0.01
"""Distance of a step from a whole number of units below which it is one, in units. [by judgement]"""
QUARTERS = ("first", "second", "third", "fourth")
QUARTER_BEGINS = 0.05
"""Tolerance for the beginning of a quarter in decimal years, in quarters, by judgement."""
DIGITS = 12, 17
"""Fewest and most digits to which the input of a series is rounded; by judgement: 64-bit numbers have 16 to 17."""
AHEAD = 6
"""Rows for each step of a forecast whose length is not given, by judgement."""
MOST_AHEAD = 120
"""Most steps of a forecast whose length is not given, by judgement."""


@dataclass(frozen=True, eq=False)
class Context:
    """What the user said about the data."""

    title: str = ""
    target_name: str = "y"
    target_unit: str = ""
    axis: TimeAxis | None = None
    """The times of the rows, in the order of fitting."""
    labels: Sequence[str] | None = None
    """The labels of the rows, in the same order."""
    later: np.ndarray | None = None
    """All inputs of the next steps, (steps, D), in the user's units: the future of a series with regressors."""
    command: str = ""
    """The command that made the report; empty if it was not made by the command line."""
    steps: int | None = None
    """Steps of the forecast that is shown beside the explanation; None if that is not known."""


@dataclass(frozen=True, eq=False)
class Setting:
    """The inputs, the target and the rows, as explanations need them."""

    kind: str
    """"series", "table" or "classes"."""
    title: str
    axes: dict[str, Axis]
    target: Target
    scale: TargetScale
    """The scale on which components add up."""
    order: np.ndarray
    """The indices of the rows in order of time; of a table in the order of fitting."""
    labels: list[str]
    """The labels of the rows, in the order of fitting; empty for a table."""
    time: TimeAxis | None
    table: TableInputs | None = None
    """What was done with each column; None if all are numbers without empty cells."""
    later: np.ndarray | None = None
    """All inputs of the next steps of a series with regressors, in the user's units; None if not known."""
    command: str = ""
    """The command that made the report, if one did."""
    sampled_from: int | None = None
    """The rows that were fitted, if what is shown is a sample of them."""
    steps: int | None = None
    """Steps of the forecast that is shown beside the explanation; None if that is not known."""

    @classmethod
    def of(cls, result: Result, context: Context | None = None) -> "Setting":
        """The setting of a result, completed by what the user said."""
        context = context or Context()
        rows, columns, classes = result.rows, result.columns, result.classes
        coded = [bool(result.levels_of(d)) for d in range(len(columns))]
        time = context.axis if context.axis is not None else None if any(coded) else _time_of(rows, columns[0])
        if classes is not None:
            named = context.target_name != Context.target_name
            target = Target(f"{context.target_name} = {classes[1]}" if named else classes[1], scale="odds")
        else:
            target = _target(result, context)
        series = time is not None and classes is None
        ends = zip(columns, rows.min(axis=0), rows.max(axis=0), strict=True)
        dates = () if result.table is None else result.table.dates
        kinds = [
            "category" if code else "days" if name in dates else "number"
            for name, code in zip(columns, coded, strict=True)
        ]
        axes = {
            name: Axis(name, float(low), float(high), kind) for (name, low, high), kind in zip(ends, kinds, strict=True)
        }
        if series and time is not None:
            axes[columns[0]] = axis_of(time, columns[0])
        labels = (
            [] if not series or time is None else list(context.labels or labels_of(time, time.numbers, time.labels()))
        )
        return cls(
            kind="classes" if classes is not None else "series" if series else "table",
            title=context.title,
            axes=axes,
            target=target,
            scale=result.explained.component_scale,
            order=np.argsort(rows[:, 0], kind="stable") if series else np.arange(len(rows)),
            labels=labels,
            time=time if series else None,
            table=result.table,
            later=context.later,
            command=context.command,
            sampled_from=result.sampled_from,
            steps=context.steps,
        )

    @property
    def count(self) -> int:
        """The number of rows that were fitted."""
        return len(self.order) if self.sampled_from is None else self.sampled_from

    def size(self, t: float) -> float:
        """A size on the scale of the components in words: in units of y, or relative where components multiply."""
        if self.target.scale == "multiplicative":
            return float(np.expm1(t))
        if self.target.typical is None:
            return t
        return t * float(np.exp(-self.scale.transform.log_slope(np.array(self.target.typical))))

    def added(self, t: float) -> float:
        """What a value on that scale adds to y, in words: in units of y where it is typical, or relative."""
        if self.target.typical is None:
            return self.size(t)
        return float(self.scale.transform.inverse(np.array(self.scale.mean + t))) - self.target.typical

    @property
    def axis(self) -> Axis:
        """The axis of the first input."""
        return next(iter(self.axes.values()))

    def horizon(self, asked: int | None) -> int:
        """Steps to forecast: by default those shown, or a sixth of the rows if times are evenly spaced, else none."""
        asked = self.steps if asked is None else asked
        if self.time is None or not self.time.spacing:
            return 0
        even = is_time(self.axis) and self.time.frequency != "irregular"
        steps = asked if asked is not None else min(len(self.order) // AHEAD, MOST_AHEAD) if even else 0
        # regressors are known only as far as they are given
        return steps if len(self.axes) == 1 else min(steps, 0 if self.later is None else len(self.later))

    def ahead(self, steps: int) -> tuple[np.ndarray, list[str]]:
        """The inputs of the next steps in the user's units, (steps, D), and their labels."""
        assert self.time is not None
        found = self.time.future(steps)
        inputs = found.numbers[:, None] if self.later is None else self.later[:steps]
        return inputs, labels_of(self.time, found.numbers, found.labels)

    def moment(self, x: float) -> str:
        """A time of the series in words, as fine as its steps: 'July 1962', '3 April 2024 at 15:00'."""
        if self.time is not None and self.time.frequency == "quarterly":
            return quarter_of(x)
        return moment(x, self._fine_axis)

    def when(self, x: float) -> str:
        """The same with its preposition: 'in July 1962', 'on 3 April 2024 at 15:00', 'at 12'."""
        return f"{preposition(self._fine_axis) if is_time(self.axis) else 'at'} {self.moment(x)}"

    @property
    def _fine_axis(self) -> Axis:
        """The axis of a series with a range whose dates are written as finely as its steps need."""
        reach = STEPS.get(self.time.frequency, ("", 0.0, 0.0))[2] if self.time is not None else 0.0
        word = self.time is not None and self.time.frequency in STEPS
        fine = reach / (365.2425 if self.axis.kind == "years" else 1.0)
        return replace(self.axis, low=0.0, high=fine) if word else self.axis

    def sentence(self) -> str:
        """The rows in one line: '144 rows from January 1949 to December 1960, one a month, no gaps.'"""
        rows = f"{self.count:,} rows"
        if self.sampled_from is not None:
            rows += f", of which a random sample of {len(self.order):,} is shown"
        if self.table is not None:
            return f"{rows}, {_columns(self.table)}."
        if self.time is None:
            return f"{rows}, {count(len(self.axes))} input{'s' if len(self.axes) > 1 else ''}, nothing missing."
        frequency, axis = self.time.frequency, self.axis
        word, units = step_of(self.time)
        first, last = self.moment(axis.low), self.moment(axis.high)
        if word:
            article = "an" if word == "hour" else "a"
            said = f"one {article} {word}" if units == 1 else f"one every {count(units)} {word}s"
        else:
            said = "unevenly spaced" if frequency == "irregular" else f"one every {say_length(axis.spacing, axis)}"
        gaps = "" if frequency == "irregular" else f", {f'{self.time.gaps:,} missing' if self.time.gaps else 'no gaps'}"
        name = "" if is_time(axis) else f" of {axis.name}"
        return f"{rows} from {first} to {last}{name}, {said}{gaps}."


def _target(result: Result, context: Context) -> Target:
    """The target of numbers. A size in degrees is reported in degrees at a typical level, never in per cent."""
    name, unit, components = context.target_name, context.target_unit, result.explained.component_scale
    scale = SCALES.get(components.transform.name, "transformed")
    if scale == "multiplicative" and in_degrees(name, unit):
        scale = "transformed"
    typical = float(components.inverse(np.zeros(1))[0]) if scale == "transformed" else None
    return Target(name, unit, scale, typical, result.explained.counts)


def _columns(table: TableInputs) -> str:
    """'seven of nine columns used, 14 cells empty'."""
    every, used = len(table.columns), len(table.columns) - len(table.left_out)
    empty = sum(column.empty for column in table.columns if column.inputs)
    said = f"all {count(every)} columns" if used == every else f"{count(used)} of {count(every)} columns"
    said = "one column" if every == 1 else "both columns" if used == every == 2 else said
    missing = "nothing missing" if not empty else f"{empty:,} cell{'s' if empty > 1 else ''} empty"
    return f"{said} used, {missing}"


def step_of(time: TimeAxis) -> tuple[str, int]:
    """The unit of a step of the calendar and their number in one step, ("minute", 10); ("", 1) where there is none."""
    word, size, _ = STEPS.get(time.frequency, ("", time.spacing, 0.0))
    units = time.spacing / size if size > 0 else 1.0
    return (word, round(units)) if round(units) >= 1 and abs(units - round(units)) < WHOLE else ("", 1)


def steps_in_words(time: TimeAxis, steps: int) -> str:
    """So many steps: '12 months', '144 steps of ten minutes', 'one hour', '30 steps'."""
    word, units = step_of(time)
    many = "one" if steps == 1 else str(steps)
    said = f"{many} {word if word and units == 1 else 'step'}{'' if steps == 1 else 's'}"
    return said if units == 1 else f"{said} of {count(units)} {word}s"


def axis_of(time: TimeAxis, name: str) -> Axis:
    """The axis of a column of times."""
    low, high = float(time.numbers.min()), float(time.numbers.max())
    return Axis(
        name=name,
        low=low,
        high=high,
        kind=time.kind,
        spacing=time.spacing,
        timed=True,
        weekdays=time.frequency == WEEKDAYS,
    )


def quarter_of(year: float) -> str:
    """The quarter that holds a decimal year: 'the first quarter of 1959'."""
    whole, part = divmod(int(np.floor(4.0 * year + QUARTER_BEGINS)), 4)
    return f"the {QUARTERS[part]} quarter of {whole}"


def say_length(x: float, axis: Axis) -> str:
    """A length along an axis in words, without decimals if it is a whole number of units: 'one month', '3 months'."""
    said = length(Estimate(x, x, x), axis)
    if not is_time(axis):
        return said
    said = re.sub(r"\.0 ", " ", said)
    return re.sub(r"^1 (\w+)s$", r"one \1", said)


def labels_of(time: TimeAxis, numbers: np.ndarray, plain: list[str]) -> list[str]:
    """Labels of times: `plain`, or for decimal years the months or quarters they stand for."""
    width = {"yearly": 1, "quarterly": 4, "monthly": 12}.get(time.frequency)
    if width is None or not all(_is_decimal(label) for label in time.labels()[:12]):
        return plain
    # a decimal year stands for the beginning or for the middle of its step
    beginning = np.median((time.numbers * width + 0.25) % 1.0) < 0.5
    place = numbers * width + 1e-6
    return [_step_label(int(step), width) for step in (np.round(place) if beginning else np.floor(place))]


def _step_label(step: int, width: int) -> str:
    year, part = divmod(step, width)
    return f"{year:04d}" + {1: "", 4: f"Q{part + 1}", 12: f"-{part + 1:02d}"}[width]


def _is_decimal(label: str) -> bool:
    return label.replace(".", "", 1).isdigit()


def _time_of(rows: np.ndarray, name: str) -> TimeAxis | None:
    """A single input as time; None for several inputs, or if a value comes twice."""
    if rows.shape[1] > 1 or len(np.unique(rows)) < len(rows):
        return None
    # standardising and back has changed the last digits
    digits = distinct_digits(rows[:, 0], *DIGITS)
    return TimeAxis.of(np.array([float(f"{x:.{digits}g}") for x in rows[:, 0]]), name)
