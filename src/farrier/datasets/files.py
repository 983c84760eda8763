"""A series from a CSV file: a column of times, a column of numbers, and a clear word when one of them is not.

Times are numbers, or ISO stamps that become decimal years. A month is its middle, year + (month - 1/2) / 12,
so that monthly series are evenly spaced; a day without an hour is its midnight; a stamp with an offset is
taken to UTC. Numbers stay as they are, and so a bare year such as 1949 is 1949.0.

Nothing is guessed quietly. A cell that cannot be used stops the reading with one line that says where it is
and what to do about it, and a table of more than two columns has to be told which two to take.
"""

import calendar
import csv
import gzip
import math
import os
import re
import zlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np

from farrier.datasets.dataset import Dataset

SMALLEST = 3
TIME_WORDS = frozenset({"time", "date", "datetime", "timestamp", "month", "year", "ds", "day", "week", "quarter"})


def read_csv(path: str | os.PathLike[str], time: str | None = None, target: str | None = None) -> Dataset:
    """The series in a file of comma, semicolon or tab separated columns, plain or gzipped (`.gz`).

    The first line names the columns. `time` and `target` choose two of them, and may be left out where there
    are only two. Rows may come in any order; each time may come once.
    """
    path = Path(path)
    header, rows = _table(path)
    time, target = _choose(header, time, target)
    stamps = [(line, row[header.index(time)]) for line, row in rows]
    numbers = [(line, row[header.index(target)]) for line, row in rows]

    numeric = bool(stamps) and _is(_number, stamps[0][1])
    times = _column(time, stamps, _number if numeric else decimal_year)
    values = _column(target, numbers, _number)
    if len(rows) < SMALLEST:
        raise ValueError(f"path: {path.name!r} has too few rows, {len(rows)}: give at least {SMALLEST}")
    order = np.argsort(times, kind="stable")
    for i, j in pairwise(order):
        if times[i] == times[j]:
            (line, _), (again, stamp) = stamps[i], stamps[j]
            raise ValueError(
                f"column {time!r}, lines {line} and {again}: {stamp!r} is one time twice: "
                "keep one of the rows, or average them"
            )
    name = path.name.removesuffix(".gz")
    return Dataset(
        name=Path(name).stem,
        title=Path(name).stem,
        time=times[order],
        values=values[order],
        time_name=time,
        target_name=target,
        unit="",
        labels=tuple(stamps[i][1] for i in order),
        origin=path.name,
    )


def decimal_year(stamp: str) -> float:
    """An ISO stamp as a number of years; ValueError where it is none."""
    if re.fullmatch(r"\d{4}-\d{2}", stamp):
        month = datetime.strptime(stamp, "%Y-%m")
        return month.year + (month.month - 0.5) / 12
    instant = datetime.fromisoformat(stamp)
    if instant.tzinfo is not None:
        instant = instant.astimezone(UTC).replace(tzinfo=None)
    elapsed = instant - datetime(instant.year, 1, 1)
    return instant.year + elapsed.total_seconds() / (86400 * (366 if calendar.isleap(instant.year) else 365))


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and each row that is not blank with the number of its line."""
    if not path.exists():
        raise FileNotFoundError(f"path: there is no file {str(path)!r}: check the name and the folder")
    if path.is_dir():
        raise ValueError(f"path: {str(path)!r} is a folder: name one CSV file in it")
    open_text = gzip.open if path.suffix == ".gz" else open
    try:
        with open_text(path, mode="rt", encoding="utf-8-sig", newline="") as file:
            lines = file.readlines()
        reader = csv.reader(lines, delimiter=_delimiter(next(filter(str.strip, lines), "")))
        table = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row))]
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error, csv.Error) as error:
        raise ValueError(f"path: {path.name!r} is not CSV text ({error}): save it as CSV in UTF-8") from None
    if not table:
        raise ValueError(f"path: {path.name!r} is empty: give a line of column names, then rows of numbers")
    (_, header), *rows = table
    _check_header(path, header)
    for line, row in rows:
        if len(row) > len(header):
            raise ValueError(
                f"line {line} has {len(row)} cells where the header names {len(header)} columns: "
                "put quotes around text that contains the separator"
            )
        row.extend([""] * (len(header) - len(row)))
    return header, rows


def _delimiter(line: str) -> str:
    """Whichever of tab, semicolon and comma the line has most of, outside quotes."""
    return max("\t;,", key=re.sub(r'"[^"]*"', "", line).count)


def _check_header(path: Path, header: list[str]) -> None:
    if len(header) < 2:
        raise ValueError(
            f"path: {path.name!r} has one column, {header[0]!r}: give a column of times and one of values, "
            "separated by commas, semicolons or tabs"
        )
    if all(_is(_number, cell) or _is(decimal_year, cell) for cell in header):
        raise ValueError(f"path: {path.name!r} starts with numbers, {', '.join(header)}: add a first line of names")
    for name in header:
        if header.count(name) > 1:
            raise ValueError(f"path: {path.name!r} names the column {name!r} {header.count(name)} times: rename one")


def _choose(header: list[str], time: str | None, target: str | None) -> tuple[str, str]:
    """The columns of the times and of the values."""
    choices = ", ".join(map(repr, header))
    for argument, name in (("time", time), ("target", target)):
        if name is not None and name not in header:
            raise ValueError(f"{argument}: there is no column {name!r}: choose one of {choices}")
        if name is None and len(header) > 2:
            raise ValueError(f"{argument}: None, with {len(header)} columns: choose one of {choices}")
    if time is not None and time == target:
        raise ValueError(f"target: {target!r} is the time as well: choose another of {choices}")
    first, second = header[:2]
    if time is None and target is None:
        says_otherwise = second.lower() in TIME_WORDS and first.lower() not in TIME_WORDS
        return (second, first) if says_otherwise else (first, second)
    if time is None:
        time = first if target == second else second
    if target is None:
        target = first if time == second else second
    return time, target


def _column(name: str, cells: Sequence[tuple[int, str]], read: Callable[[str], float]) -> np.ndarray:
    """The cells as finite numbers, or an error that says which of them is none."""
    numbers = np.empty(len(cells))
    for i, (line, cell) in enumerate(cells):
        if not cell:
            raise ValueError(f"column {name!r}, line {line}: the cell is empty: fill it in or delete the row")
        try:
            numbers[i] = read(cell)
        except ValueError:
            wanted = "a number such as 1234.5" if read is _number else "a date such as 2024-03 or 2024-03-15 18:30"
            raise ValueError(f"column {name!r}, line {line}: {cell!r} is not {wanted}: correct it") from None
        if not math.isfinite(numbers[i]):
            raise ValueError(f"column {name!r}, line {line}: {cell!r} is not finite: correct it or delete the row")
    return numbers


def _number(cell: str) -> float:
    if "_" in cell:  # Python reads 1_000 as a number; nobody else does
        raise ValueError
    return float(cell)


def _is(read: Callable[[str], float], cell: str) -> bool:
    try:
        read(cell)
    except ValueError:
        return False
    return True
