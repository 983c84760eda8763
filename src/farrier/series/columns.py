"""Columns of a table: finds the times and the target, and reads cells as arrays.

    table = Table("frame", {"month": [...], "sales": [...]})
    name_columns(table, None, None)                  # ("month", "sales")
    read_numbers(table["sales"], Column("sales"))    # float64, NaN where a cell is empty

The user names a column, or it is the only possible one. If several are possible, the error lists them.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.data.quoting import quoted
from farrier.series.stamps import Column, is_stamp

TIME_WORDS = frozenset({"time", "date", "datetime", "timestamp", "month", "year", "ds", "day", "week", "quarter"})
"""Names of a column of times, in lower case; by judgement."""
TARGET_WORDS = frozenset({"y", "target"})
"""Names of the target, in lower case; by judgement."""
IN_PYTHON = ("frame", "table")
"""The names of tables that are no files: their columns are named by arguments, and those of files by options."""
LISTED = 12
"""The number of columns that an error lists before it counts the others; by judgement."""


@dataclass(frozen=True, eq=False)
class Table(Mapping[str, Any]):
    """Columns by name, all of one length: float64 arrays, arrays of datetime64, or lists."""

    name: str
    """The name of the file, or of the argument."""
    columns: Mapping[str, Any]
    lines: Sequence[int] | None = None
    """The line of the file of each row; None for a table without lines."""
    notes: Sequence[str] = ()
    """How the cells of a file were read, in words."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """Columns that can be read in two ways, and the error that using one raises."""
    units: Mapping[str, str] = field(default_factory=dict)
    """The currency of a column, or "%", where its cells show one."""
    joined: Mapping[str, str] = field(default_factory=dict)
    """Parts of times that were columns of their own, and the column that holds them now."""

    def __getitem__(self, name: str) -> Any:
        if name in self.doubts:
            raise ValueError(self.doubts[name])
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def option(self, name: str) -> str:
        """What names a column of this table: an argument, or an option of the command line."""
        return name if self.name in IN_PYTHON else f"--{name}"

    def rows(self) -> list[str]:
        """The names of the rows in errors."""
        if self.lines is None:
            return [f"row {i}" for i in range(len(next(iter(self.columns.values()))))]
        return [f"line {line}" for line in self.lines]


def name_columns(table: Table, time: str | None, target: str | None) -> tuple[str | None, str]:
    """The columns of times and of the target; those not given are guessed. The time is None if no column fits."""
    time = time if time is None else table.joined.get(time, time)
    for argument, name in (("time", time), ("target", target)):
        if name is not None and name not in table:
            raise ValueError(f"{argument}: there is no column {quoted(name)}: {_hint(name, table)}")
    if time is not None and time == target:
        raise ValueError(f"target: {quoted(target)} is the time as well: choose another of {list_names(table)}")
    if time is None:
        time = _guess_time(table, target)
    return time, target if target is not None else _guess_target(table, time)


def _guess_time(table: Table, target: str | None) -> str | None:
    others = [name for name in table if name != target]
    worded = [name for name in others if name.lower() in TIME_WORDS]
    found = [name for name in others if holds_stamps(table.columns[name])]
    if len(found) > 1:
        found = [name for name in found if name in worded] or found
    if not found and len(table) == 2:
        first = others[0]
        return worded[0] if worded else None if _repeats(table.columns[first]) else first
    if not found:  # "month" from 1 to 12 over and over is an input, "year" once a row is a time
        found = [name for name in worded if not _repeats(table.columns[name])]
    if len(found) > 1:
        raise ValueError(f"{table.option('time')}: {list_names(found)} all look like times: choose one of them")
    return found[0] if found else None


def _guess_target(table: Table, time: str | None) -> str:
    others = [name for name in table if name != time]
    if not others:
        raise ValueError(f"target: {table.name!r} has no column beside the time: add a column of values")
    worded = [name for name in others if name.lower() in TARGET_WORDS]
    if len(worded) == 1:
        return worded[0]
    if time is None:
        return others[-1]
    numeric = [name for name in others if holds_numbers(table.columns[name])]
    if len(numeric) > 1:
        many = about_many(table, time)
        raise ValueError(
            f"{table.option('target')}: {len(numeric)} columns hold numbers: choose one of {list_names(numeric)}; "
            f"{table.option('regressors')} names others whose future is known{many and '; ' + many}"
        )
    return numeric[0] if numeric else others[-1]


def about_many(table: Table, time: str) -> str:
    """What to do if times come more than once, but once for each value of another column; empty if there is none.

    Text comes before numbers.
    """
    cells = table.columns[time]
    if len(np.unique(cells) if isinstance(cells, np.ndarray) else set(cells)) == len(cells):
        return ""
    times = list(map(str, cells))
    for name in sorted((one for one in table if one != time), key=lambda one: holds_numbers(table.columns[one])):
        series = list(map(str, table.columns[name]))
        if 2 * len(set(series)) <= len(series) and len(set(zip(times, series, strict=True))) == len(times):
            said = f"the times of {quoted(time)} come more than once, and once for each {quoted(name)}: "
            by = f"give id={name!r}" if table.name in IN_PYTHON else f"use farrier forecast --id {quoted(name)}"
            return said + by
    return ""


def refuse_many(table: Table, time: str | None) -> None:
    """Raise ValueError for the times of many series."""
    if time is not None and (many := about_many(table, time)):
        raise ValueError(f"{table.option('id')}: {many}")


def read_column(series: Any) -> np.ndarray | list[Any]:
    """A column of a frame: numbers as float64 (missing: NaN), dates as they are stored, others as a list."""
    dtype = series.dtype
    if dtype == nw.Date or (isinstance(dtype, nw.Datetime) and dtype.time_zone is None):
        return series.to_numpy().astype("M8[us]")
    cells = zip(series.to_list(), series.is_null().to_list(), strict=True)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.array([np.nan if missing else float(value) for value, missing in cells])
    return [None if missing else value for value, missing in cells]


def read_numbers(values: Any, column: Column) -> np.ndarray:
    """The values as float64, NaN where missing. A value that is text or infinite raises ValueError."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.where(np.ma.getmaskarray(values), np.nan, values.data.astype(np.float64))
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iufb":
        bad = np.array([value is not None and not is_number(value) for value in values], dtype=bool)
        first = values[int(np.argmax(bad))] if len(bad) else None
        column.refuse(bad, f"{quoted(str(first))} is not a number such as 1234.5: correct it, or choose another column")
        values = [np.nan if value is None else float(value) for value in values]
    numbers = np.asarray(values, dtype=np.float64)
    column.refuse(np.isinf(numbers), "the cell is infinite: correct it or delete the row")
    return numbers


def holds_numbers(values: Any) -> bool:
    """Whether at least half of the values are numbers; the others are then mistakes."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        return not np.all(np.isnan(values))
    present = [value for value in values if value is not None]
    return 0 < len(present) <= 2 * sum(map(is_number, present))


def holds_stamps(values: Any) -> bool:
    """Whether the first value is a date."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values.dtype.kind == "M"
    first = next((value for value in values if value is not None), None)
    return isinstance(first, date | np.datetime64) or (isinstance(first, str) and is_stamp(first))


def _repeats(values: Any) -> bool:
    """Whether the values are numbers of which some come more than once."""
    numbers = [value for value in values if is_number(value) and value == value]
    return holds_numbers(values) and len(set(numbers)) < len(numbers)


def is_number(value: Any) -> bool:
    """Whether a value is a number or the text of a number."""
    if isinstance(value, str) and "_" in value:  # Python reads 1_000 as a number; a CSV file means text
        return False
    if isinstance(value, np.complexfloating):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _hint(name: str, table: Table) -> str:
    lower: dict[str, str] = {column.lower(): column for column in table}
    nearest = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    return (
        f"did you mean {quoted(lower[nearest[0]])}? Choose" if nearest else "choose"
    ) + f" one of {list_names(table)}"


def list_names(columns: Iterable[str]) -> str:
    """The names of columns in an error: the first `LISTED`, and the number of others."""
    names = list(columns)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(map(quoted, names[:LISTED])) + more
