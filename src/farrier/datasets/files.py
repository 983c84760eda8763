"""Tables from CSV and Parquet files, and which of their columns are what.

`read_table` reads a file into columns: numbers as float64 with NaN where a cell is empty, dates as they are stored, all
else as text. `choose_columns` finds the times and the target, or the inputs and the target where there are no times,
and `read_csv` makes a `Dataset` of the former. Times are read by `timeaxis`.

Nothing is guessed quietly. A cell that cannot be used stops the reading with one line that says where it is and what to
do about it; where more than one column could be meant, one has to be named. Rows without a target are left out and
counted, never filled.
"""

import csv
import difflib
import gzip
import importlib.util
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.datasets.dataset import Dataset
from farrier.series.calendar import TimeAxis
from farrier.series.stamps import Column, is_stamp

MIN_ROWS = 12
TIME_WORDS = frozenset({"time", "date", "datetime", "timestamp", "month", "year", "ds", "day", "week", "quarter"})
TARGET_WORDS = frozenset({"y", "target"})
NO_CELL = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?"})
"""What stands in a cell without a value, in any case."""
PARQUET_READERS = {"polars": ("polars",), "pyarrow": ("pyarrow",), "pandas": ("pandas", "fastparquet")}
LISTED = 12
"""So many columns are listed in an error, the others counted."""


@dataclass(frozen=True, eq=False)
class Table(Mapping[str, Any]):
    """Columns by name, all of one length: float64 arrays, arrays of datetime64, or lists."""

    name: str
    """Of the file."""
    columns: Mapping[str, Any]
    lines: Sequence[int] | None = None
    """The line of the file on which each row stands; None for a file without lines."""

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def rows(self) -> list[str]:
        """What each row is called in an error."""
        if self.lines is None:
            return [f"row {i}" for i in range(len(next(iter(self.columns.values()))))]
        return [f"line {line}" for line in self.lines]


@dataclass(frozen=True, eq=False)
class Chosen:
    """What the columns of a table are, and the rows that can be used, in order of time if there is one."""

    kind: str
    """"series": one target over time; "table": one target over some inputs."""
    target: str
    time: str | None
    inputs: tuple[str, ...]
    """The columns of X: that of the times alone, or the numbers beside the target."""
    ignored: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray
    axis: TimeAxis | None
    """The times of a series."""
    rows: np.ndarray
    """Which rows of the table these are."""
    left_out: int
    """How many rows have no target."""


def read_csv(path: str | os.PathLike[str], time: str | None = None, target: str | None = None) -> Dataset:
    """The series in a file that `read_table` can read.

    `time` and `target` name two of its columns, and may be left out where only one of each is possible. Rows may come
    in any order; each time may come once. Stamps become decimal years, numbers stay as they are.
    """
    table = read_table(path)
    chosen = choose_columns(table, time, target)
    if chosen.axis is None or chosen.time is None:
        raise ValueError(f"time: None, and no column of {table.name!r} looks like times: choose one of {_list(table)}")
    name = Path(table.name.removesuffix(".gz")).stem
    return Dataset(
        name=name,
        title=name,
        time=chosen.axis.years(),
        values=chosen.y,
        time_name=chosen.time,
        target_name=chosen.target,
        unit="",
        labels=tuple(chosen.axis.labels()),
        origin=table.name,
    )


def read_table(path: str | os.PathLike[str]) -> Table:
    """The columns of a Parquet file, or of comma, semicolon or tab separated text, plain or gzipped (`.gz`).

    The first line of a text names the columns.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"path: there is no file {str(path)!r}: check the name and the folder")
    if path.is_dir():
        raise ValueError(f"path: {str(path)!r} is a folder: name one CSV or Parquet file in it")
    table = _read_parquet(path) if path.suffix.lower() in (".parquet", ".pq") else _read_text(path)
    if len(table) == 1:
        raise ValueError(
            f"path: {path.name!r} has one column, {next(iter(table))!r}: give a column of times and one of values, "
            "separated by commas, semicolons or tabs"
        )
    return table


def choose_columns(table: Mapping[str, Any], time: str | None = None, target: str | None = None) -> Chosen:
    """The columns that `time` and `target` name; where they are None, the only ones that it can be.

    Times are dates, or numbers in a column named like a time; with just two columns, the first that it can be. The
    target is the only other column of numbers, or the one named y. A table without times is one of inputs: its target
    is the column named y, or else the last.
    """
    if not isinstance(table, Table):
        table = Table("table", dict(table))
    time, target = name_columns(table, time, target)
    rows, y = _usable(table, target)
    called = table.rows()
    names = [called[i] for i in rows]
    if time is not None:
        axis = TimeAxis.of(_take(table[time], rows), time, names)
        order = np.argsort(axis.numbers, kind="stable")
        if np.any(order[1:] < order[:-1]):
            rows, y = rows[order], y[order]
            axis = TimeAxis.of(_take(table[time], rows), time)
        inputs, X = (time,), axis.numbers[:, None]
    else:
        axis, inputs = None, tuple(name for name in table if name != target and _holds_numbers(table[name]))
        if not inputs:
            raise ValueError(
                f"target: {target!r} is the only column of numbers in {table.name!r}, and no other looks like times: "
                "add what could explain it"
            )
        X = np.column_stack([read_numbers(table[name], Column(name, called))[rows] for name in inputs])
        for name, values in zip(inputs, X.T, strict=True):
            Column(name, names).refuse(np.isnan(values), "the cell is empty: fill it in or delete the row")
    return Chosen(
        kind="table" if axis is None else "series",
        target=target,
        time=time,
        inputs=inputs,
        ignored=tuple(name for name in table if name not in (target, *inputs)),
        X=X,
        y=y,
        axis=axis,
        rows=rows,
        left_out=len(table[target]) - len(rows),
    )


def name_columns(table: Table, time: str | None, target: str | None) -> tuple[str | None, str]:
    """The names of the times and of the target, guessed where they are None; no times: None."""
    for argument, name in (("time", time), ("target", target)):
        if name is not None and name not in table:
            raise ValueError(f"{argument}: there is no column {name!r}: {_hint(name, table)}")
    if time is not None and time == target:
        raise ValueError(f"target: {target!r} is the time as well: choose another of {_list(table)}")
    if time is None:
        time = _guess_time(table, target)
    return time, target if target is not None else _guess_target(table, time)


def _guess_time(table: Table, target: str | None) -> str | None:
    others = [name for name in table if name != target]
    worded = [name for name in others if name.lower() in TIME_WORDS]
    found = [name for name in others if _holds_stamps(table[name])]
    if len(found) > 1:
        found = [name for name in found if name in worded] or found
    if not found and len(table) == 2:
        first = others[0]
        return worded[0] if worded else None if _repeats(table[first]) else first
    if not found:  # "month" from 1 to 12 over and over is an input, "year" once a row is a time
        found = [name for name in worded if not _repeats(table[name])]
    if len(found) > 1:
        raise ValueError(f"time: None, and {_list(found)} all look like times: choose one of them")
    return found[0] if found else None


def _guess_target(table: Table, time: str | None) -> str:
    others = [name for name in table if name != time]
    worded = [name for name in others if name.lower() in TARGET_WORDS]
    if len(worded) == 1:
        return worded[0]
    if time is None:
        return others[-1]
    numeric = [name for name in others if _holds_numbers(table[name])]
    if len(numeric) > 1:
        raise ValueError(f"target: None, with {len(numeric)} columns of numbers: choose one of {_list(numeric)}")
    return numeric[0] if numeric else others[-1]


def _usable(table: Table, target: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows that have a target, and their targets."""
    y = read_numbers(table[target], Column(target, table.rows()))
    rows = np.flatnonzero(~np.isnan(y))
    if len(y) and not len(rows):
        raise ValueError(f"target: column {target!r} has no value in any of its {len(y)} rows: choose another")
    if len(rows) < MIN_ROWS:
        without = f", and {len(y) - len(rows)} without {target!r}" if len(rows) < len(y) else ""
        raise ValueError(f"table: {table.name!r} has {len(rows)} usable rows{without}: give at least {MIN_ROWS}")
    return rows, y[rows]


def _read_text(path: Path) -> Table:
    open_text = gzip.open if path.suffix == ".gz" else open
    try:
        with open_text(path, mode="rt", encoding="utf-8-sig", newline="") as file:
            lines = file.readlines()
        reader = csv.reader(lines, delimiter=_delimiter(next(filter(str.strip, lines), "")))
        cells = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row))]
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error, csv.Error) as error:
        raise ValueError(f"path: {path.name!r} is not CSV text ({error}): save it as CSV in UTF-8") from None
    if not cells:
        raise ValueError(f"path: {path.name!r} is empty: give a line of column names, then rows of numbers")
    (_, header), *rows = cells
    _check_header(path, header)
    for line, row in rows:
        if len(row) > len(header):
            raise ValueError(
                f"line {line} has {len(row)} cells where the header names {len(header)} columns: "
                "put quotes around text that contains the separator"
            )
        row.extend([""] * (len(header) - len(row)))
    columns = {name: _column([row[i] for _, row in rows]) for i, name in enumerate(header)}
    return Table(path.name, columns, [line for line, _ in rows])


def _delimiter(line: str) -> str:
    """Whichever of tab, semicolon and comma the line has most of, outside quotes."""
    return max("\t;,", key=re.sub(r'"[^"]*"', "", line).count)


def _check_header(path: Path, header: list[str]) -> None:
    if all(_is_number(cell) or is_stamp(cell) for cell in header):
        raise ValueError(f"path: {path.name!r} starts with numbers, {', '.join(header)}: add a first line of names")
    for name in header:
        if header.count(name) > 1:
            raise ValueError(f"path: {path.name!r} names the column {name!r} {header.count(name)} times: rename one")


def _column(cells: Sequence[str]) -> np.ndarray | list[str | None]:
    """Numbers if all cells are that have a value, else text."""
    values = [None if cell.lower() in NO_CELL else cell for cell in cells]
    if all(value is None or _is_number(value) for value in values):
        return np.array([np.nan if value is None else float(value) for value in values])
    return values


def _read_parquet(path: Path) -> Table:
    installed = (name for name, needs in PARQUET_READERS.items() if all(map(importlib.util.find_spec, needs)))
    backend: Any = next(installed, None)
    if backend is None:
        raise ValueError(f"path: {path.name!r} is Parquet, and nothing here reads it: pip install polars or pyarrow")
    try:
        frame = nw.read_parquet(str(path), backend=backend)
    except Exception as error:  # each reader has exceptions of its own
        reason = str(error).split("\n")[0]
        raise ValueError(f"path: {path.name!r} cannot be read as Parquet ({reason}): save it again") from None
    if not len(frame) or not frame.columns:
        raise ValueError(f"path: {path.name!r} is empty: give columns with rows of numbers")
    return Table(path.name, {series.name: read_column(series) for series in frame.iter_columns()})


def read_column(series: Any) -> np.ndarray | list[Any]:
    """A column of a frame: numbers as float64 (missing: NaN), dates as they are stored, all else as a list."""
    dtype = series.dtype
    if dtype == nw.Date or (isinstance(dtype, nw.Datetime) and dtype.time_zone is None):
        return series.to_numpy().astype("M8[us]")
    cells = zip(series.to_list(), series.is_null().to_list(), strict=True)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.array([np.nan if missing else float(value) for value, missing in cells])
    return [None if missing else value for value, missing in cells]


def read_numbers(values: Any, column: Column) -> np.ndarray:
    """The values as float64, NaN where they are missing; the first that is text or infinite is refused."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iufb":
        bad = np.array([value is not None and not _is_number(value) for value in values], dtype=bool)
        first = values[int(np.argmax(bad))] if len(bad) else None
        column.refuse(bad, f"{str(first)!r} is not a number such as 1234.5: correct it, or choose another column")
        values = [np.nan if value is None else float(value) for value in values]
    numbers = np.asarray(values, dtype=np.float64)
    column.refuse(np.isinf(numbers), "the cell is infinite: correct it or delete the row")
    return numbers


def _holds_numbers(values: Any) -> bool:
    """Whether there are values, and at least half of them are numbers: what is not is then a mistake."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        return not np.all(np.isnan(values))
    present = [value for value in values if value is not None]
    return 0 < len(present) <= 2 * sum(map(_is_number, present))


def _holds_stamps(values: Any) -> bool:
    """Whether the first cell that has a value is a date."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values.dtype.kind == "M"
    first = next((value for value in values if value is not None), None)
    return isinstance(first, date | np.datetime64) or (isinstance(first, str) and is_stamp(first))


def _repeats(values: Any) -> bool:
    """Whether they are numbers, and some come more than once."""
    present = [value for value in values if value is not None and value == value]
    return _holds_numbers(values) and len(set(present)) < len(present)


def _is_number(value: Any) -> bool:
    if isinstance(value, str) and "_" in value:  # Python reads 1_000 as a number; nobody else does
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _take(values: Any, rows: np.ndarray) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows]


def _hint(name: str, table: Table) -> str:
    lower: dict[str, str] = {column.lower(): column for column in table}
    nearest = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    return (f"did you mean {lower[nearest[0]]!r}? Choose" if nearest else "choose") + f" one of {_list(table)}"


def _list(columns: Iterable[str]) -> str:
    names = list(columns)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(map(repr, names[:LISTED])) + more
