"""A table with text, dates or empty cells as inputs of the model, and what was done with each of its columns.

    table = TableInputs.of(frame, settings)      # None for a table of numbers alone
    table.encode(frame)                          # (N, D): numbers, and codes for categories
    table.coded, table.levels_of(1)              # which inputs are codes, and the names of their levels

A column of text, truth values or categories is a category. It is left out if every row, or nearly every row, has its
own value: such a column identifies rows and says nothing of others. So are whole numbers that differ in every row and
are called so, beside other columns than numbers. A number that counts the rows is an input: rows may be in an order.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from numbers import Real
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np

from farrier.data.input_columns import (
    EMPTY,
    CategoryInput,
    DateInput,
    InputColumn,
    LeftOut,
    NumberInput,
    as_numbers,
    days_of,
    distinct_count,
    free_name,
    is_number,
    level_names,
    month_of,
    weekday_of,
)
from farrier.data.quoting import quoted

FEWEST_IDENTIFIED = 12
"""Fewest rows of which a column can be said to identify each. [rows; by judgement]"""
FREE_TEXT = 0.5
"""Number of different texts above which a column is left out: fewer than two rows a level tell next to nothing. [part
of the rows; by judgement]"""
FEWEST_EMPTY = 3
"""Fewest empty cells of a number for which an effect of being empty is tried. [cells; by judgement]"""
LEAST_DAYS = 300.0
"""Range of dates from which the month is an input. [days; by judgement]"""

IDENTIFIERS = re.compile(r"(.*[\W_])?(id|uuid|guid|index|key|nr|no|row|rownames)|unnamed: \d+|", re.IGNORECASE)
"""Names of columns that identify rows; also no name at all."""
CAMEL = re.compile(r".*[a-z](Id|ID)")
"""The same where words are joined, as in PassengerId."""
NESTED = (dict, list, tuple, set, np.ndarray)
"""Types of values that are no cells."""
SAME = "the same in every row"
OWN = "every row has its own value, so it identifies rows"
NEARLY_OWN = "nearly every row has its own text"
NOTHING = "every cell is empty"


@final
@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table that is no frame, column by column: float64 with NaN, datetime64 with NaT, or a list."""

    columns: Mapping[str, Any]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return len(next(iter(self.columns.values()))), len(self.columns)


@final
@dataclass(frozen=True)
class TableInputs:
    """The columns of a table, in their order."""

    columns: tuple[InputColumn, ...]

    @classmethod
    def of(cls, X: Any) -> "TableInputs | None":
        """The columns of fitted rows; None if all are numbers without empty cells: then none is left out.

        The cells of a file are a table also where some of their numbers are left out. None also for what is no table
        of cells, and for a single number: the checks of numbers then say what is wrong.
        """
        (cells, named), strict = cells_of(X), isinstance(X, Cells)
        if cells is None:
            return None
        first = next(iter(cells.values()), None)
        if len(cells) == 1 and isinstance(first, np.ndarray) and first.dtype.kind != "M":
            return None  # a curve of one number: rows without it say nothing
        if not strict and all(_plain(column) for column in cells.values()):
            return None
        found = tuple(_column(name, column, named) for name, column in cells.items())
        told = [one for one in found if strict or not _refused(one, cells[one.name])]
        if all(isinstance(one, NumberInput) and not one.empty for one in told):
            return None
        if not any(one.inputs for one in found):
            reasons = "; ".join(f"{quoted(one.name)}: {one.note}" for one in found[:3])
            raise ValueError(f"X: no column can explain anything ({reasons}): add others.")
        return cls(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs of the model."""
        own = {column.name for column in self.columns}
        pairs = ((name, column.name) for column in self.columns for name in column.inputs)
        return tuple(name if name == given else free_name(name, own) for name, given in pairs)

    @cached_property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """The names of the levels of each input; none for a number."""
        return tuple(levels for column in self.columns for levels in column.levels)

    @property
    def coded(self) -> tuple[int, ...]:
        """The inputs that are codes."""
        return tuple(d for d, levels in enumerate(self.levels) if levels)

    @property
    def categories(self) -> tuple[str, ...]:
        """The names of the inputs that are categories of the user's."""
        return tuple(column.name for column in self.columns if isinstance(column, CategoryInput))

    @property
    def dates(self) -> tuple[str, ...]:
        """The names of the inputs that are days since 1970-01-01."""
        return tuple(column.name for column in self.columns if isinstance(column, DateInput))

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The columns that are not used."""
        return tuple(one for one in self.columns if isinstance(one, LeftOut))

    def summary(self) -> str:
        """What was done with the columns, in one line."""
        kinds = ((NumberInput, "numbers"), (CategoryInput, "categories"), (DateInput, "dates"))
        named = [(word, [one.name for one in self.columns if isinstance(one, kind)]) for kind, word in kinds]
        said = [f"{word}: {_listed(names)}" for word, names in named if names]
        if self.left_out:
            said.append(f"left out: {', '.join(f'{quoted(one.name)} ({one.note})' for one in self.left_out)}")
        empty = sum(one.empty for one in self.columns if one.inputs)
        return "; ".join(said) + (f"; {empty:,} empty cell{'s' if empty > 1 else ''} kept" if empty else "")

    @cached_property
    def flags(self) -> dict[int, tuple[int, float]]:
        """The inputs that say where cells are empty: the input of that number, and the value that stands there."""
        flagged = [one for one in self.columns for _ in one.inputs]
        return {
            place + 1: (place, one.neutral)
            for place, one in enumerate(flagged)
            if isinstance(one, NumberInput | DateInput) and one.flagged and one not in flagged[:place]
        }

    def encode(self, X: Any) -> np.ndarray:
        """The inputs of the model at the rows of X, (N, D)."""
        cells, _ = cells_of(X, [column.name for column in self.columns])
        if cells is None:
            raise ValueError("X: the columns of the fitted table are missing: give a frame like the fitted one.")
        found = [values for column in self.columns for values in column.encode(cells[column.name])]
        return np.column_stack(found).astype(np.float64)


def cells_of(X: Any, names: list[str] | None = None) -> tuple[dict[str, Any] | None, bool]:
    """The cells of each column of a frame or an array with two axes, and whether the columns have names.

    None for anything else. The columns of an array are called x0, x1, ..., or by `names`.
    """
    if isinstance(X, Cells):
        return dict(X.columns), True
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return {str(series.name): _cells_of_series(series) for series in frame.iter_columns()}, True
    if not isinstance(X, np.ndarray | list | tuple) or not len(X):
        return None, False
    try:
        array = np.asarray(X) if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    except ValueError:
        return None, False
    if array.ndim != 2 or array.dtype.kind not in "OUfiub":
        return None, False
    called = names or [f"x{i}" for i in range(array.shape[1])]
    nested = array.dtype.kind == "O" and any(isinstance(cell, NESTED) for cell in array.flat)
    if len(called) != array.shape[1] or nested:
        return None, False
    return {name: _cells_of_array(name, column) for name, column in zip(called, array.T, strict=True)}, False


def _cells_of_series(series: Any) -> Any:
    dtype = series.dtype
    if dtype == nw.Date or isinstance(dtype, nw.Datetime):
        if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return series.to_numpy().astype("M8[us]")
    gone = series.is_null().to_list()
    if dtype.is_numeric() and not any(gone):
        return np.asarray(series.to_numpy(), np.float64)
    cells = [None if empty else cell for cell, empty in zip(series.to_list(), gone, strict=True)]
    if dtype.is_numeric():
        return _floats(str(series.name), cells)
    return _dates_or_cells(str(series.name), cells)


def _cells_of_array(name: str, column: np.ndarray) -> Any:
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    return _dates_or_cells(name, column.tolist())


def _floats(name: str, cells: list[Any]) -> np.ndarray:
    """Numbers as floats, NaN for empty cells."""
    try:
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    except OverflowError:
        raise ValueError(
            f"X: column {quoted(name)} holds an integer that no 64-bit float can hold: use a larger unit."
        ) from None


def _compares(cell: Any) -> bool:
    """Whether a cell can be compared with itself; tables and lazy expressions cannot."""
    try:
        bool(cell == cell)
    except (TypeError, ValueError):
        return False
    return True


def _dates_or_cells(name: str, cells: list[Any]) -> Any:
    """Numbers and dates of Python as arrays, other cells as they are, None for empty ones."""
    nested = next((cell for cell in cells if isinstance(cell, NESTED) or not _compares(cell)), None)
    if nested is not None:
        raise ValueError(f"X: column {quoted(name)} holds {quoted(nested)}, which is no cell: give numbers or text.")
    cells = [None if cell is None or cell != cell else cell for cell in cells]
    present = [cell for cell in cells if cell is not None]
    if present and all(isinstance(cell, Real) and not isinstance(cell, bool) for cell in present):
        return _floats(name, cells)
    if present and all(isinstance(cell, date) for cell in present):
        return np.array(["NaT" if cell is None else np.datetime64(cell) for cell in cells], "M8[us]")
    return cells


def _plain(column: Any) -> bool:
    """Whether a column holds numbers alone."""
    return isinstance(column, np.ndarray) and column.dtype.kind == "f" and not np.isnan(column).any()


def _refused(column: InputColumn, cells: Any) -> bool:
    """Whether a column is a constant number, which the checks of frames and arrays of numbers refuse."""
    return column.note == SAME and not column.empty and isinstance(cells, np.ndarray)


def _column(name: str, cells: Any, named: bool) -> InputColumn:
    """What a column is."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "M":
        return _date(name, cells)
    if isinstance(cells, np.ndarray):
        empty = int(np.isnan(cells).sum())
        return LeftOut(name, empty, NOTHING) if empty == len(cells) else _number(name, cells, empty, named)
    present = [cell for cell in cells if cell is not None]
    empty = len(cells) - len(present)
    if not present:
        return LeftOut(name, empty, NOTHING)
    if all(is_number(cell) for cell in present):
        return _number(name, as_numbers(cells, name), empty, named)
    count = distinct_count(cells)
    numbers = sum(map(is_number, present))
    if 2 * numbers >= len(present) and count > FREE_TEXT * len(present):
        text = next(cell for cell in present if not is_number(cell))
        raise ValueError(f"X: column {quoted(name)} holds text (such as {quoted(text)}) among numbers: correct it.")
    if count == 1 and not empty:
        return LeftOut(name, empty, SAME)
    if count == len(present) and len(present) >= FEWEST_IDENTIFIED:
        return LeftOut(name, empty, OWN)
    if count > FREE_TEXT * len(present) and len(present) >= FEWEST_IDENTIFIED:
        return LeftOut(name, empty, NEARLY_OWN)
    levels = sorted({str(level) for level in level_names(present)})
    return CategoryInput(name, empty, (*levels, *([free_name(EMPTY, levels)] if empty else [])))


def _number(name: str, numbers: np.ndarray, empty: int, named: bool) -> InputColumn:
    as_numbers(numbers, name)  # raises for infinite cells
    present = numbers[~np.isnan(numbers)]
    flagged = empty >= FEWEST_EMPTY
    if np.ptp(present) == 0 and not flagged:
        return LeftOut(name, empty, SAME)
    if named and not empty and _identifies(name, present):
        return LeftOut(name, empty, OWN)
    return NumberInput(name, empty, float(present.mean()), flagged)


def _identifies(name: str, numbers: np.ndarray) -> bool:
    """Whether a number identifies rows: whole, different in every row, and called so."""
    if len(numbers) < FEWEST_IDENTIFIED or np.any(numbers != np.rint(numbers)):
        return False
    if len(np.unique(numbers)) < len(numbers):
        return False
    return bool(IDENTIFIERS.fullmatch(name.strip()) or CAMEL.fullmatch(name.strip()))


def _date(name: str, dates: np.ndarray) -> InputColumn:
    present = dates[~np.isnat(dates)]
    empty = len(dates) - len(present)
    if not len(present):
        return LeftOut(name, empty, NOTHING)
    days = days_of(present)
    if np.ptp(days) == 0 and not empty:
        return LeftOut(name, empty, SAME)
    months = float(np.ptp(days)) >= LEAST_DAYS and len(np.unique(month_of(present))) > 1
    weekdays = len(np.unique(weekday_of(present))) > 1
    return DateInput(name, empty, float(days.mean()), empty >= FEWEST_EMPTY, months, weekdays)


def _listed(names: list[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(quoted, names[:most])) + more
