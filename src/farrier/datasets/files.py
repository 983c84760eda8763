"""Tables from CSV and Parquet files, and the roles of their columns.

`read_table` reads a file into columns: numbers as float64 with NaN for empty cells, dates as they are stored, others as
text. `choose_columns` finds the times and the target, or, without times, the inputs and the target. `read_csv` makes a
`Dataset` of a series. `series.columns` reads columns, `series.calendar` reads times.

A cell that cannot be used raises an error of one line that says where it is and what to do. If more than one column is
possible, the user must name one. Rows without a target are left out and counted, never filled.
"""

import csv
import gzip
import importlib.util
import io
import os
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.datasets.dataset import Dataset
from farrier.datasets.limits import TooLargeError, check_columns, check_parquet, read_bytes
from farrier.model.quoting import quoted
from farrier.series.calendar import TimeAxis
from farrier.series.columns import (
    LISTED,
    Table,
    holds_numbers,
    is_number,
    list_names,
    name_columns,
    read_column,
    read_numbers,
)
from farrier.series.stamps import Column, is_stamp

MIN_ROWS = 12
"""Usable rows below which a file is refused; by judgement."""
NO_CELL = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?"})
"""The texts of cells without a value, in lower case; by judgement."""
PARQUET_READERS = {"polars": ("polars",), "pyarrow": ("pyarrow",), "pandas": ("pandas", "fastparquet")}
"""Libraries that read Parquet, in order of preference, and the packages that each needs."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The roles of the columns of a table, and its usable rows, sorted by time for a series."""

    kind: str
    """"series": one target over time; "table": one target over some inputs."""
    target: str
    time: str | None
    inputs: tuple[str, ...]
    """The columns of X: the times of a series, or all other columns of numbers of a table."""
    ignored: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray
    axis: TimeAxis | None
    """The times of a series."""
    rows: np.ndarray
    """The indices of these rows in the table."""
    left_out: int
    """The number of rows without a target."""


def read_csv(path: str | os.PathLike[str], time: str | None = None, target: str | None = None) -> Dataset:
    """The series in a file that `read_table` can read.

    `time` and `target` name two of its columns, and may be left out if only one of each is possible. Rows may be in any
    order; each time may come once. Stamps become decimal years, numbers stay as they are.
    """
    table = read_table(path)
    chosen = choose_columns(table, time, target)
    if chosen.axis is None or chosen.time is None:
        raise ValueError(
            f"time: None, and no column of {table.name!r} looks like times: choose one of {list_names(table)}"
        )
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

    The first line of text names the columns.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"path: there is no file {str(path)!r}: check the name and the folder")
    if path.is_dir():
        raise ValueError(f"path: {str(path)!r} is a folder: name one CSV or Parquet file in it")
    table = _read_parquet(path) if path.suffix.lower() in (".parquet", ".pq") else _read_text(path)
    if len(table) == 1:
        raise ValueError(
            f"path: {path.name!r} has one column, {quoted(next(iter(table)))}: give a column of times and one of "
            "values, separated by commas, semicolons or tabs"
        )
    return table


def choose_columns(table: Mapping[str, Any], time: str | None = None, target: str | None = None) -> Chosen:
    """The roles of the columns: those named by `time` and `target`, or the only possible ones.

    Times are dates, or numbers in a column with a name such as "time"; of two columns, the first that can be one. The
    target is the only other column of numbers, or the column named y. In a table without times the target is the column
    named y, or else the last.
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
        axis, inputs = None, tuple(name for name in table if name != target and holds_numbers(table[name]))
        if not inputs:
            raise ValueError(
                f"target: {quoted(target)} is the only column of numbers in {table.name!r}, and no other looks like "
                "times: add what could explain it"
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


def _usable(table: Table, target: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows that have a target, and their targets."""
    y = read_numbers(table[target], Column(target, table.rows()))
    rows = np.flatnonzero(~np.isnan(y))
    if len(y) and not len(rows):
        raise ValueError(f"target: column {quoted(target)} has no value in any of its {len(y)} rows: choose another")
    if len(rows) < MIN_ROWS:
        without = f", and {len(y) - len(rows)} without {quoted(target)}" if len(rows) < len(y) else ""
        raise ValueError(f"table: {table.name!r} has {len(rows)} usable rows{without}: give at least {MIN_ROWS}")
    return rows, y[rows]


def _read_text(path: Path) -> Table:
    try:
        lines = io.StringIO(read_bytes(path).decode("utf-8-sig"), newline="").readlines()
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
    """The most frequent of tab, semicolon and comma in the line, outside quotes."""
    return max("\t;,", key=re.sub(r'"[^"]*"', "", line).count)


def _check_header(path: Path, header: list[str]) -> None:
    check_columns(path, len(header))
    if all(is_number(cell) or is_stamp(cell) for cell in header):
        first = ", ".join(header[:LISTED])
        raise ValueError(f"path: {path.name!r} starts with numbers, {first}: add a first line of names")
    name, times = Counter(header).most_common(1)[0]
    if times > 1:
        raise ValueError(f"path: {path.name!r} names the column {quoted(name)} {times} times: rename one")


def _column(cells: Sequence[str]) -> np.ndarray | list[str | None]:
    """Numbers if all cells with a value are numbers, else text."""
    values = [None if cell.lower() in NO_CELL else cell for cell in cells]
    if all(value is None or is_number(value) for value in values):
        return np.array([np.nan if value is None else float(value) for value in values])
    return values


def _read_parquet(path: Path) -> Table:
    installed = (name for name, needs in PARQUET_READERS.items() if all(map(importlib.util.find_spec, needs)))
    backend: Any = next(installed, None)
    if backend is None:
        raise ValueError(f"path: {path.name!r} is Parquet, and nothing here reads it: pip install polars or pyarrow")
    try:
        check_parquet(path, backend)
        frame = nw.read_parquet(str(path), backend=backend)
    except TooLargeError:
        raise
    except Exception as error:  # each library has its own exceptions
        reason = str(error).split("\n")[0]
        raise ValueError(f"path: {path.name!r} cannot be read as Parquet ({reason}): save it again") from None
    if not len(frame) or not frame.columns:
        raise ValueError(f"path: {path.name!r} is empty: give columns with rows of numbers")
    return Table(path.name, {series.name: read_column(series) for series in frame.iter_columns()})


def _take(values: Any, rows: np.ndarray) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows]
