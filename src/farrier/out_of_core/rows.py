"""From the cells of a block to rows on the scale of the model, and the first look at all blocks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, final

import numpy as np

from farrier.data.quoting import quoted
from farrier.data.table_inputs import Cells
from farrier.estimators.large_tables import Reading
from farrier.model.target_scale import TargetScale
from farrier.out_of_core.blocks import Block
from farrier.out_of_core.runners import Runner
from farrier.out_of_core.sources import Source


@final
@dataclass(frozen=True, eq=False)
class Survey:
    """The first look at all rows."""

    count: int
    """Rows with a target."""
    cells: dict[str, Any]
    """The columns of a random sample of these rows, and at the end the rows with the lowest and the highest target."""
    y: np.ndarray
    """Their targets."""

    @classmethod
    def of(cls, source: Source, runner: Runner, sample: int) -> "Survey":
        """One map over the blocks; each gives its part of the sample, and its rows of extreme targets."""
        part = min(sample / source.count, 1.0)
        found = list(runner.map(_look, source.blocks, source.columns, source.target, part))
        count, every = sum(one[0] for one in found), [one for one in found if one[0]]
        if not count:
            raise ValueError(f"target: {quoted(source.target)} is empty in every row: choose another.")
        low, high = min(every, key=lambda one: one[4][0]), max(every, key=lambda one: one[4][1])
        cells = {
            name: _joined([*(one[1][name] for one in every), low[3][name][:1], high[3][name][1:]])
            for name in source.columns
        }
        return cls(count, cells, np.concatenate([*(one[2] for one in every), [low[4][0], high[4][1]]]))


def _look(
    block: Block, cells: dict[str, Any], columns: tuple[str, ...], target: str, part: float
) -> tuple[int, dict[str, Any], np.ndarray, dict[str, Any], np.ndarray]:
    """The number of rows of a block that have a target, some of them, and those with the lowest and highest target."""
    y, rows = usable(cells[target], target)
    if not len(rows):
        return 0, {}, y, {}, y
    generator = np.random.default_rng([0, block.number])
    some = rows[generator.random(len(rows)) < part]
    ends = rows[[int(np.argmin(y[rows])), int(np.argmax(y[rows]))]]
    sample, extreme = ({name: _taken(cells[name], which) for name in columns} for which in (some, ends))
    return len(rows), sample, y[some], extreme, y[ends]


def usable(cells: Any, target: str) -> tuple[np.ndarray, np.ndarray]:
    """The targets of a block as numbers, and its rows that have one; ValueError if they are no finite numbers."""
    if not isinstance(cells, np.ndarray) or cells.dtype.kind != "f":
        shown = next((cell for cell in cells if cell is not None), None)
        raise ValueError(f"target: {quoted(target)} holds {quoted(str(shown))}, which is no number: choose another.")
    if np.isinf(cells).any():
        raise ValueError(f"target: {quoted(target)} has infinite values: leave out their rows.")
    return cells, np.flatnonzero(~np.isnan(cells))


@final
@dataclass(frozen=True, eq=False)
class EncodedRows:
    """All rows that have a target, on the scale of the model, in blocks (inference/collapsed.py)."""

    source: Source
    runner: Runner
    reading: Reading
    scale: TargetScale
    count: int

    def map(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """function(X, z, *arguments) for every block, in their order."""
        more = self.source.target, self.reading, self.scale, function, arguments
        return self.runner.map(_on_rows, self.source.blocks, *more)

    def minibatches(self, seed: int) -> Any:
        """The rows in random order for the paper's algorithm, a paper.batches.RowSource."""
        return import_module("farrier.out_of_core.minibatches").Minibatches(self, seed)


def _on_rows(
    block: Block,
    cells: dict[str, Any],
    target: str,
    reading: Reading,
    scale: TargetScale,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> Any:
    y, rows = usable(cells.pop(target), target)
    return function(inputs_of(cells, rows, reading), scale.forward(y[rows]), *arguments)


def inputs_of(cells: dict[str, Any], rows: np.ndarray | None, reading: Reading) -> np.ndarray:
    """Rows of a block on the scale of the model; ValueError for a cell that is no number where one belongs."""
    if rows is not None:
        cells = {name: _taken(column, rows) for name, column in cells.items()}
    if reading.table is not None:
        return reading.inputs(reading.table.encode(Cells(cells)))
    for name, column in cells.items():
        if not isinstance(column, np.ndarray) or column.dtype.kind != "f" or not np.isfinite(column).all():
            raise ValueError(
                f"X: column {quoted(name)} has cells that are empty or no finite numbers, and none in the sample that "
                "was searched: correct them, or leave their rows out."
            )
    return reading.inputs(np.column_stack(list(cells.values())))


def _taken(column: Any, rows: np.ndarray) -> Any:
    return column[rows] if isinstance(column, np.ndarray) else [column[i] for i in rows]


def _joined(pieces: list[Any]) -> Any:
    if all(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate(pieces)
    return [cell for piece in pieces for cell in piece]
