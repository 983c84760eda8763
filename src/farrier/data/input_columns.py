"""The columns of a user's table, and how each becomes inputs of the model.

    NumberInput     the number; empty cells count as the mean of the others, and a second input says where they are
    CategoryInput   a code for each level; empty cells are a level of their own, and so is what was never seen
    DateInput       the time in days, the month and the day of the week; empty cells as for a number
    LeftOut         nothing, for the reason that is given

A column is made from the cells of the fitted rows, and then encodes the cells of any rows in the same way. Cells are a
float64 array with NaN for empty ones, an array of datetime64 with NaT, or a list with None. table_inputs.py reads them.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from farrier.data.quoting import quoted
from farrier.kernels.calendar import MONTH_NAMES, WEEKDAYS

EMPTY = "missing"
"""What the level of empty cells is called, unless a level of the user's is called so (`free_name`)."""
FLAGS = ("known", EMPTY)
"""The levels of the input that says where the cells of a number are empty."""


@dataclass(frozen=True)
class InputColumn(ABC):
    """One column of the table."""

    name: str
    empty: int
    """The number of empty cells among the fitted rows."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """The names of its inputs of the model."""

    @property
    @abstractmethod
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """The names of the levels of each input; none for a number."""

    @abstractmethod
    def encode(self, cells: Any) -> list[np.ndarray]:
        """The values of its inputs, (N,) each."""

    @property
    @abstractmethod
    def role(self) -> str:
        """What it is used as, in a few words."""

    @property
    def note(self) -> str:
        """What was done with its empty cells; empty if there are none."""
        return ""


@final
@dataclass(frozen=True)
class NumberInput(InputColumn):
    """A number."""

    neutral: float
    """The value that stands for empty cells: the mean of the others."""
    flagged: bool
    """Whether a second input says where cells are empty."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.name, f"{self.name} {EMPTY}") if self.flagged else (self.name,)

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        return ((), FLAGS) if self.flagged else ((),)

    def encode(self, cells: Any) -> list[np.ndarray]:
        numbers = as_numbers(cells, self.name)
        gone = np.isnan(numbers)
        return [np.where(gone, self.neutral, numbers), *([gone.astype(np.float64)] if self.flagged else [])]

    @property
    def role(self) -> str:
        return "a number"

    @property
    def note(self) -> str:
        return _filled(self.empty, f"count as {self.neutral:.4g}, the mean", self.flagged)


@final
@dataclass(frozen=True)
class CategoryInput(InputColumn):
    """One of several levels."""

    names: tuple[str, ...]
    """The levels, in the order of their codes; the last is that of empty cells, if there were any."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        return (self.names,)

    def encode(self, cells: Any) -> list[np.ndarray]:
        written: Sequence[str | None] = [*self.names[:-1], None] if self.empty else self.names
        code = {name: float(i) for i, name in enumerate(written)}
        return [np.array([code.get(name, float(len(code))) for name in level_names(cells)])]

    @property
    def role(self) -> str:
        return f"a category of {len(self.names)} levels"

    @property
    def note(self) -> str:
        if not self.empty:
            return ""
        return f"{_cells(self.empty)} {'is a level of its own' if self.empty == 1 else 'are a level of their own'}"


@final
@dataclass(frozen=True)
class DateInput(InputColumn):
    """A date, as time and as parts of the calendar."""

    neutral: float
    """The time that stands for empty cells: the mean of the others. [days since 1970-01-01]"""
    flagged: bool
    """Whether an input says where cells are empty."""
    months: bool
    """Whether the month is an input: the dates cover most of a year."""
    weekdays: bool
    """Whether the day of the week is an input: the dates have several."""

    @property
    def _parts(self) -> list[tuple[str, tuple[str, ...]]]:
        parts: list[tuple[str, tuple[str, ...]]] = [(f"{self.name} {EMPTY}", FLAGS)] if self.flagged else []
        parts += [(f"{self.name} (month)", (*MONTH_NAMES, EMPTY))] if self.months else []
        return parts + ([(f"{self.name} (day of the week)", (*WEEKDAYS, EMPTY))] if self.weekdays else [])

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.name, *(name for name, _ in self._parts))

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        return ((), *(levels for _, levels in self._parts))

    def encode(self, cells: Any) -> list[np.ndarray]:
        dates = as_dates(cells, self.name)
        gone = np.isnat(dates)
        found = [np.where(gone, self.neutral, days_of(dates))]
        found += [gone.astype(np.float64)] if self.flagged else []
        if self.months:
            found.append(np.where(gone, len(MONTH_NAMES), month_of(dates)))
        if self.weekdays:
            found.append(np.where(gone, len(WEEKDAYS), weekday_of(dates)))
        return found

    @property
    def role(self) -> str:
        parts = ["time", *(["month"] if self.months else []), *(["day of the week"] if self.weekdays else [])]
        return f"a date: {' and '.join([', '.join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)}"

    @property
    def note(self) -> str:
        return _filled(self.empty, "count as the mean date", self.flagged)


@final
@dataclass(frozen=True)
class LeftOut(InputColumn):
    """A column that is not used."""

    reason: str

    @property
    def inputs(self) -> tuple[str, ...]:
        return ()

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        return ()

    def encode(self, cells: Any) -> list[np.ndarray]:
        return []

    @property
    def role(self) -> str:
        return "left out"

    @property
    def note(self) -> str:
        return self.reason


def as_numbers(cells: Any, name: str) -> np.ndarray:
    """Cells as float64, NaN for empty ones; ValueError for text, dates and infinite numbers."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "M":
        raise ValueError(f"X: column {quoted(name)} holds dates where numbers were fitted: give numbers.")
    try:
        whole = isinstance(cells, np.ndarray)
        numbers = (
            cells.astype(np.float64) if whole else np.array([np.nan if cell is None else float(cell) for cell in cells])
        )
    except (TypeError, ValueError):
        text = next(cell for cell in cells if cell is not None and not is_number(cell))
        raise ValueError(
            f"X: column {quoted(name)} holds text (such as {quoted(text)}) where numbers were fitted: correct it."
        ) from None
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise ValueError(f"X: column {quoted(name)} contains inf at row {row}: leave it empty, or correct it.")
    return numbers


def as_dates(cells: Any, name: str) -> np.ndarray:
    """Cells as datetime64; ValueError for anything but dates and empty cells."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "M":
        return cells.astype("M8[us]")
    if all(cell is None or cell != cell for cell in cells):
        return np.full(len(cells), "NaT", "M8[us]")
    raise ValueError(f"X: column {quoted(name)} holds no dates, and dates were fitted: give dates.")


def level_names(cells: Any) -> list[str | None]:
    """The level of each cell as text; None for an empty cell, since any text may be a level."""
    return [None if cell is None or cell != cell else _written(cell) for cell in cells]


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, in as many brackets as none of the `taken` has."""
    return free_name(f"({name})", taken) if name in taken else name


def is_number(cell: Any) -> bool:
    """Whether a cell is a number, or the text of one; truth values are none."""
    if isinstance(cell, bool | np.bool_ | np.complexfloating) or (isinstance(cell, str) and "_" in cell):
        return False
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def days_of(dates: np.ndarray) -> np.ndarray:
    """Days since 1970-01-01, with parts of days; NaN for NaT."""
    days = (dates - np.datetime64(0, "us")) / np.timedelta64(1, "D")
    return np.where(np.isnat(dates), np.nan, days)


def month_of(dates: np.ndarray) -> np.ndarray:
    """The month, January 0."""
    return dates.astype("M8[M]").astype(np.int64) % 12


def weekday_of(dates: np.ndarray) -> np.ndarray:
    """The day of the week, Monday 0."""
    return (dates.astype("M8[D]").astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday


def _written(cell: Any) -> str:
    if isinstance(cell, float | np.floating) and math.isfinite(cell):
        return f"{cell:g}"
    return str(cell)


def _cells(count: int) -> str:
    return "one empty cell" if count == 1 else f"{count:,} empty cells"


def _filled(count: int, how: str, flagged: bool) -> str:
    if not count:
        return ""
    verb = how.replace("count", "counts", 1) if count == 1 else how
    return f"{_cells(count)} {verb}{', and an effect of being empty is tried' if flagged else ''}"


def distinct_count(cells: Sequence[Any]) -> int:
    """The number of different levels among the cells that are not empty."""
    return len({*level_names(cells)} - {None})
