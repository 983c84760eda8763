"""Tables from CSV, Excel and Parquet files, and the roles of their columns.

`read_table` reads a file into columns: numbers as float64 with NaN for empty cells, dates as ISO text or as they are
stored, others as text. `choose_columns` finds the times and the target, or, without times, the inputs and the target.
`read_csv` makes a `Dataset` of a series. decoding.py, sheets.py and tables.py read text, excel.py reads Excel files.

A cell that cannot be used raises an error of one line that says where it is and what to do. If more than one column is
possible, the user must name one. Rows without a target are left out and counted, never filled.
"""

import gzip
import importlib.util
import os
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.data.quoting import quoted
from farrier.datasets.dataset import Dataset
from farrier.datasets.date_parts import join_parts
from farrier.datasets.decoding import decode
from farrier.datasets.excel import read_excel
from farrier.datasets.limits import TooLargeError, check_parquet, read_bytes, read_stream
from farrier.datasets.sheets import Sheet, sheet_of
from farrier.datasets.tables import Columns, Reading, read_cells
from farrier.series.calendar import TimeAxis
from farrier.series.columns import (
    Table,
    holds_numbers,
    list_names,
    name_columns,
    read_column,
    read_numbers,
    refuse_many,
)
from farrier.series.stamps import Column

MIN_ROWS = 12
"""Usable rows below which a file is refused; by judgement."""
STANDARD_INPUT = "-"
"""The path that stands for standard input."""
NOT_TEXT = "is not CSV text"
"""What is said of a file that holds no table."""
OTHER_SHEETS = (".xls", ".xlsb", ".ods", ".numbers")
"""Spreadsheets that nothing here reads."""
PARQUET_READERS = {"polars": ("polars",), "pyarrow": ("pyarrow",), "pandas": ("pandas", "fastparquet")}
"""Libraries that read Parquet, in order of preference, and the packages that each needs."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The roles of the columns of a table, and its usable rows, sorted by time for a series."""

    kind: str
    """"series": one target over time; "table": one target over some inputs; "classes": the same for classes."""
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
    cells: Mapping[str, Any] | None = None
    """All columns but the target of a table whose columns may be text, dates and numbers with empty cells; X has none
    of them."""
    labels: tuple[str, ...] | None = None
    """The class of each row, if the target is classes."""


def read_csv(
    path: str | os.PathLike[str],
    time: str | None = None,
    target: str | None = None,
    *,
    date_format: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> Dataset:
    """The series in a file that `read_table` can read.

    `time` and `target` name two of its columns, and may be left out if only one of each is possible. Rows may be in any
    order; each time may come once. Stamps become decimal years, numbers stay as they are.
    """
    table = read_table(path, date_format=date_format, decimal=decimal, sheet=sheet)
    chosen = choose_columns(table, time, target)
    if chosen.axis is None or chosen.time is None:
        raise ValueError(
            f"{table.option('time')}: no column of {table.name!r} looks like times: choose one of {list_names(table)}"
        )
    name = Path(table.name.removesuffix(".gz")).stem
    return Dataset(
        name=name,
        title=name,
        time=chosen.axis.years(),
        values=chosen.y,
        time_name=chosen.time,
        target_name=chosen.target,
        unit=table.units.get(chosen.target, ""),
        labels=tuple(chosen.axis.labels()),
        origin=table.name,
    )


def read_table(
    path: str | os.PathLike[str],
    *,
    date_format: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> Table:
    """The columns of a Parquet or Excel file, or of text separated by commas, semicolons, tabs or bars.

    Text may be gzipped (`.gz`); "-" is standard input. The first line names the columns. `date_format` is the order of
    day, month and year ("dmy", "mdy", "ymd", "my", "ym") or a pattern of strptime, `decimal` "comma" or "point". Both
    are found from all rows if left out; a column that can be read in two ways cannot be used. `sheet` names the sheet
    of an Excel file. `Table.notes` says how the cells were read.
    """
    reading = Reading.of(date_format, decimal)
    name, data = _read_bytes(path)
    suffix = Path(name.removesuffix(".gz")).suffix.lower()
    if suffix in OTHER_SHEETS:
        raise ValueError(f"path: {name!r} is a spreadsheet that cannot be read: save it as .xlsx or CSV")
    excel = suffix in (".xlsx", ".xlsm") or _is_excel(data)
    if sheet is not None and not excel:
        raise ValueError(f"--sheet: {name!r} is not an Excel file: leave it out")
    if suffix in (".parquet", ".pq"):
        table = _read_parquet(Path(path), reading)
    elif excel:
        table = _table(read_excel(name, data, sheet), reading)
    else:
        text, encoding = _decode(name, data)
        table = _table(sheet_of(name, text), reading, encoding)
    if len(table) == 1:
        raise ValueError(
            f"path: {name!r} has one column, {quoted(next(iter(table)))}: give a column of times and one of values, "
            "separated by commas, semicolons or tabs"
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
    refuse_many(table, time)
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
        axis, inputs = None, tuple(name for name in table if name != target and holds_numbers(table.columns[name]))
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


def _read_bytes(path: str | os.PathLike[str]) -> tuple[str, bytes]:
    """The name of a file and its bytes, unpacked; those of Parquet are left out, since it is read by its path."""
    standard, path = str(path) == STANDARD_INPUT, Path(path)
    name = "standard input" if standard else path.name
    if not standard and not path.exists():
        raise FileNotFoundError(f"path: there is no file {str(path)!r}: check the name and the folder")
    if not standard and path.is_dir():
        raise ValueError(f"path: {str(path)!r} is a folder: name one CSV, Excel or Parquet file in it")
    if path.suffix.lower() in (".parquet", ".pq"):
        return name, b""
    try:
        return name, read_stream(name, sys.stdin.buffer) if standard else read_bytes(path)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"path: {name!r} {NOT_TEXT} ({error}): save it as CSV in UTF-8") from None


def _decode(name: str, data: bytes) -> tuple[str, str]:
    """The text of a file, and its encoding if it is not UTF-8."""
    try:
        return decode(data)
    except ValueError as error:
        raise ValueError(f"path: {name!r} {NOT_TEXT} ({error}): save it as CSV in UTF-8") from None


def _is_excel(data: bytes) -> bool:
    """Whether bytes are a zip archive that holds a workbook."""
    return data.startswith(b"PK\x03\x04") and b"xl/workbook" in data


def _table(sheet: Sheet, reading: Reading, encoding: str = "") -> Table:
    """The cells of a sheet as columns, without a last row of sums, with the parts of times joined."""
    cells = {name: [row[i] for row in sheet.rows] for i, name in enumerate(sheet.header)}
    called = [f"line {line}" for line in sheet.lines]
    found = read_cells(cells, called, reading, comma_separated=sheet.comma_separated)
    lines, notes = list(sheet.lines), [encoding] if encoding else []
    notes += found.notes + sheet.notes
    if _ends_with_sums(found):
        notes.append(f"the row of sums (line {lines.pop()}) left out")
        found.columns = {name: values[:-1] for name, values in found.columns.items()}
    joined = join_parts(found.columns)
    if joined is None:
        return Table(sheet.name, found.columns, lines, notes, found.doubts, found.units)
    notes.insert(0, f"times from {' and '.join(map(quoted, joined.parts))}")
    doubts = {joined.name if name in joined.parts else name: doubt for name, doubt in found.doubts.items()}
    parts = dict.fromkeys(joined.parts, joined.name)
    return Table(sheet.name, joined.columns, lines, notes, doubts, found.units, parts)


def _ends_with_sums(found: Columns) -> bool:
    """Whether the last row has no first cell, as the only row, and the sum of the other rows in some column."""
    first, *others = found.columns.values()
    missing = [value is None or value != value for value in first]
    if len(missing) < 3 or not missing[-1] or any(missing[:-1]):
        return False
    numbers = [values for values in others if isinstance(values, np.ndarray)]
    return any(values[-1] and np.isclose(np.nansum(values[:-1]), values[-1], rtol=1e-6) for values in numbers)


def _read_parquet(path: Path, reading: Reading) -> Table:
    installed = (name for name, needs in PARQUET_READERS.items() if all(map(importlib.util.find_spec, needs)))
    backend: Any = next(installed, None)
    if backend is None:
        raise ValueError(f"path: {path.name!r} is Parquet, and nothing here reads it: pip install polars or pyarrow")
    try:
        check_parquet(path, backend)
        frame = nw.read_parquet(str(path), backend=backend)
    except TooLargeError:
        raise
    except BaseException as error:  # each library has its own exceptions; a panic of polars is not an Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = str(error).split("\n")[0]
        raise ValueError(f"path: {path.name!r} cannot be read as Parquet ({reason}): save it again") from None
    if not len(frame) or not frame.columns:
        raise ValueError(f"path: {path.name!r} is empty: give columns with rows of numbers")
    columns = {series.name: read_column(series) for series in frame.iter_columns()}
    called = [f"row {i}" for i in range(len(frame))]
    texts: dict[str, Any] = {name: values for name, values in columns.items() if _is_text(values)}
    found = read_cells(texts, called, reading) if texts else Columns()
    return Table(path.name, columns | found.columns, None, found.notes, found.doubts, found.units)


def _is_text(values: Any) -> bool:
    return isinstance(values, list) and all(value is None or isinstance(value, str) for value in values)


def _take(values: Any, rows: np.ndarray) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows]
