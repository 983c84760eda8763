"""Tables whose columns are numbers, text and dates, with empty cells: which column is the target, and all others.

`choose_table` is for tables that are not a series: no column looks like times, or the times come more than once, or the
target is text. A target of text is classes. Rows without a target are left out and counted. What each column becomes is
decided by farrier.data.table_inputs.
"""

from typing import Any

import numpy as np

from farrier.data.quoting import quoted
from farrier.datasets.files import MIN_ROWS, Chosen
from farrier.series.columns import Table, holds_numbers, holds_stamps, list_names, name_columns, read_numbers
from farrier.series.stamps import Column

MOST_CLASSES = 20
"""Most classes of a target; by judgement: with more, a column of text is no class."""


def choose_table(table: Table, time: str | None, target: str | None, *, classes: bool = False) -> Chosen | None:
    """The target and all other columns of a table; None if it is a series.

    `classes` says that the target is classes though its cells are numbers.
    """
    if time is not None:
        return None
    try:
        time, target = name_columns(table, None, target)
    except ValueError:
        if target is None or target not in table:
            raise
        time = None  # several columns of dates are inputs
    found = {cell for cell in table.columns[target] if cell is not None and cell == cell}
    labelled = classes or not holds_numbers(table.columns[target])
    if not found or (labelled and len(found) == 1 and time is not None):
        return None  # a series whose values are no numbers
    others = [name for name in table if name != target]
    if not others or (not labelled and time is not None and (len(others) == 1 or not _repeats(table[time]))):
        return None
    rows, y, labels = _labels(table, target) if labelled else _numbers(table, target)
    if len(rows) < MIN_ROWS:
        without = len(table[target]) - len(rows)
        more = f", and {without} without {quoted(target)}" if without else ""
        raise ValueError(f"table: {table.name!r} has {len(rows)} usable rows{more}: give at least {MIN_ROWS}")
    return Chosen(
        kind="classes" if labelled else "table",
        target=target,
        time=None,
        inputs=(),
        ignored=(),
        X=np.empty((len(rows), 0)),
        y=y,
        axis=None,
        rows=rows,
        left_out=len(table[target]) - len(rows),
        cells={name: _cells(table, name, rows) for name in others},
        labels=labels,
    )


def _numbers(table: Table, target: str) -> tuple[np.ndarray, np.ndarray, None]:
    """The rows with a target, and their targets."""
    y = read_numbers(table[target], Column(target, table.rows()))
    rows = np.flatnonzero(~np.isnan(y))
    return rows, y[rows], None


def _labels(table: Table, target: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """The rows with a target, and their classes as text."""
    cells = list(table[target])
    rows = np.array([i for i, cell in enumerate(cells) if cell is not None and cell == cell], dtype=int)
    labels = tuple(_label(cells[i]) for i in rows)
    found = sorted(set(labels))
    if len(found) < 2:
        raise ValueError(
            f"target: column {quoted(target)} is {quoted(found[0])} in every row: there is nothing to explain"
        )
    if len(found) > MOST_CLASSES:
        raise ValueError(
            f"target: column {quoted(target)} holds {len(found)} different texts, and at most {MOST_CLASSES} can be "
            f"classes: choose one of {list_names(table)}"
        )
    return rows, np.array([found.index(label) for label in labels], dtype=np.float64), labels


def _label(cell: Any) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _cells(table: Table, name: str, rows: np.ndarray) -> Any:
    """The cells of a column: an array of numbers or dates, or a list of text."""
    values = table[name]
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return values[rows]
    if holds_numbers(values):
        return read_numbers(values, Column(name, table.rows()))[rows]
    if holds_stamps(values):
        try:
            return np.array(["NaT" if values[i] is None else str(values[i]) for i in rows], "M8[us]")
        except ValueError:
            pass  # not all are dates: they are text
    return [values[i] for i in rows]


def _repeats(times: Any) -> bool:
    """Whether a time comes more than once."""
    present = [time for time in times if time is not None and time == time]
    return len(set(present)) < len(present)
