"""Cells of a file as columns of numbers and dates, with what was understood and what is in doubt.

    found = read_cells({"day": ["15.03.2024", ...], "sales": ["1,5", ...]}, rows, reading)
    found.columns["sales"]     # float64
    found.notes                # ["dates as day.month.year", "decimal comma"]
    found.doubts               # columns that can be read in two ways, and the error that using one raises

A column is dates, else numbers, if at least half of its cells are. Cells that do not fit stay text, so that they are
refused by their line where the column is used.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from farrier.data.quoting import quoted
from farrier.datasets.date_format import DateFormat, read_dates
from farrier.datasets.date_parsing import parse
from farrier.datasets.number_format import Amount, Evidence, read_amount, refuse_signs, to_float
from farrier.series.columns import is_number

DECIMALS = {"comma": ",", ",": ",", "point": ".", "dot": ".", ".": "."}
"""The values of `decimal`, and the marks they stand for."""
MARKS = {",": "comma", ".": "point"}
"""The names of decimal marks."""

_GROUP = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")


@dataclass(frozen=True)
class Reading:
    """How the user wants a file to be read; None leaves it to the cells."""

    dates: DateFormat | None = None
    decimal: str | None = None

    @classmethod
    def of(cls, date_format: str | None, decimal: str | None) -> "Reading":
        """From the options as they are given."""
        if decimal is not None and decimal not in DECIMALS:
            raise ValueError(f"--decimal: {quoted(decimal)} is no decimal mark: give comma or point")
        return cls(DateFormat.of(date_format), None if decimal is None else DECIMALS[decimal])


@dataclass
class Columns:
    """Columns by name, and how they were read."""

    columns: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    doubts: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Numbers:
    """A column of numbers before the decimal mark is known."""

    values: list[Any]
    """Numbers, amounts, None, and text that is neither."""
    evidence: Evidence
    whole: bool
    """Whether no cell is text."""

    @property
    def amounts(self) -> list[Amount | None]:
        """The cells that are amounts, and None for the others."""
        return [value if isinstance(value, Amount) else None for value in self.values]


def read_cells(
    cells: Mapping[str, Sequence[Any]], rows: Sequence[str], reading: Reading, *, comma_separated: bool = False
) -> Columns:
    """The columns of cells: text without outer spaces, numbers, or None. `rows` name the rows in errors."""
    found = Columns()
    numbers: dict[str, _Numbers] = {}
    ways = []
    for name, column in cells.items():
        if comma_separated and reading == Reading() and (quick := _plain_numbers(column)) is not None:
            found.columns[name] = None
            numbers[name] = quick
            continue
        texts = [cell if cell is None else str(cell) for cell in column]
        dates = read_dates(name, texts, rows, reading.dates)
        if dates is not None:
            found.columns[name] = dates.cells
            ways.append(dates.words)
            if dates.doubt:
                found.doubts[name] = dates.doubt
            continue
        read = _numbers(column)
        if read is None or not (read.whole or any(read.amounts)):
            found.columns[name] = texts
        else:
            found.columns[name] = None  # keeps the order of the columns
            numbers[name] = read
    ways = list(dict.fromkeys(filter(None, ways)))
    if reading.dates is not None and not ways:
        raise ValueError(f"--date-format: no column has dates written as {reading.dates.text}: correct or leave it out")
    found.notes += [f"dates as {way}" for way in ways]
    pointed = any("." in way for way in ways)  # where dates have points, numbers rarely do
    _settle(found, numbers, rows, reading.decimal, comma_separated=comma_separated and not pointed)
    return found


def _plain_numbers(column: Sequence[str | None]) -> _Numbers | None:
    """A column of text that Python reads as numbers, and that cannot be dates; None for others. For speed."""
    first = next((cell for cell in column if cell is not None), None)
    if first is None or parse(first) is not None or not is_number(first):
        return None
    try:
        values = [np.nan if cell is None else float(cell) for cell in column]
    except ValueError:
        return None
    if any(cell is not None and "_" in cell for cell in column):
        return None
    pointed = [(i, cell) for i, cell in enumerate(column) if cell is not None and "." in cell]
    row = next((i for i, cell in pointed if not _GROUP.fullmatch(cell)), None)
    if pointed and row is None:  # all may be thousands
        return None
    return _Numbers(values, Evidence({} if row is None else {".": row}), True)


def _numbers(column: Sequence[Any]) -> _Numbers | None:
    """The numbers of a column; None if fewer than half of its cells are numbers."""
    values: list[Any] = []
    evidence = Evidence()
    count = present = 0
    for i, cell in enumerate(column):
        value: Any = cell
        if isinstance(cell, str):
            if is_number(cell) and "." not in cell:
                value = float(cell)
                if value:
                    evidence.whole.add(cell.lstrip("+-"))
            else:
                value = read_amount(cell) or (float(cell) if is_number(cell) else cell)
                if isinstance(value, Amount):
                    evidence.add(value, i)
        values.append(value)
        present += cell is not None
        count += isinstance(value, int | float | Amount)
    return _Numbers(values, evidence, count == present) if 2 * count >= present else None


def _settle(
    found: Columns, numbers: Mapping[str, _Numbers], rows: Sequence[str], wanted: str | None, *, comma_separated: bool
) -> None:
    """Fill in the columns of numbers, with the decimal mark that is wanted, or that the cells show."""
    elsewhere = {mark for one in numbers.values() for mark in one.evidence.decided}
    marks, groups, told = set(), set(), False
    for name, one in numbers.items():
        evidence, amounts = one.evidence, one.amounts
        if not any(amounts):
            found.columns[name] = _array(one.values)
            continue
        mark = wanted or evidence.settle(elsewhere, comma_separated)
        doubt = refuse_signs(one.values, rows)
        doubt = doubt and f"column {quoted(name)}: {doubt}"
        if mark is None:
            doubt, mark = doubt or _two_ways(name, one, rows), next(iter(evidence.decided), ".")
        elif wanted and any(other != wanted for other in evidence.decided):
            row = next(row for other, row in evidence.decided.items() if other != wanted)
            doubt = f"column {quoted(name)}, {rows[row]}: a number does not fit --decimal {MARKS[wanted]}: correct it"
        if doubt:
            found.doubts[name] = doubt
        values = [_value(value, mark) for value in one.values]
        found.columns[name] = _array(values) if one.whole else values
        signs = {amount.currency or "%" * amount.percent for amount in amounts if amount} - {""}
        if len(signs) == 1:
            found.units[name] = signs.pop()
        if mark in {*evidence.decided, *evidence.undecided}:
            marks.add(mark)
            told = told or not evidence.decided
        if any(amount and _other(mark) in amount.digits for amount in amounts):
            groups.add(_other(mark))
    if "," in marks or (marks and (groups or told)):
        found.notes.append(" and ".join(f"decimal {MARKS[mark]}" for mark in sorted(marks)))
    if groups:
        found.notes.append(" and ".join(f"thousands {MARKS[mark]}s" for mark in sorted(groups)))


def _two_ways(name: str, one: _Numbers, rows: Sequence[str]) -> str:
    """Why the decimal mark is in doubt."""
    evidence = one.evidence
    shown = evidence.decided if len(evidence.decided) > 1 else evidence.undecided
    places = list(shown.values())
    if len(shown) > 1:
        first, other = (one.values[place].digits for place in places[:2])
        return (
            f"column {quoted(name)}: {first} in {rows[places[0]]} and {other} in {rows[places[1]]} have different "
            "decimal marks: write all numbers alike"
        )
    amount = one.values[places[0]]
    sign, as_comma, as_point = "-" * amount.negative, to_float(amount, ","), to_float(amount, ".")
    return (
        f"column {quoted(name)}, {rows[places[0]]}: {sign}{amount.digits} may be {as_point:.10g} or {as_comma:.10g}: "
        "give --decimal point or --decimal comma"
    )


def _value(value: Any, mark: str) -> Any:
    if not isinstance(value, Amount):
        return value
    number = to_float(value, mark)
    return to_float(value, _other(mark)) if number is None else number


def _array(values: Sequence[Any]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _other(mark: str) -> str:
    return "." if mark == "," else ","
