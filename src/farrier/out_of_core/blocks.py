"""Blocks of rows: where they are, and how they are read. A block is small, and can be sent to another process.

`cells()` gives the columns of its rows: float64 with NaN for empty cells, datetime64 with NaT, or a list. The columns
of an array are called x0, x1, ..., and its target `y`.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, final

import numpy as np

from farrier.data.table_inputs import cells_of

TARGET = "y"
"""The name of the target of arrays."""
AT_ONCE = 16_384
"""Rows that are read at once from a row group of Parquet, which may be larger than memory. [rows; by judgement]"""


class Block(Protocol):
    """A block of rows."""

    @property
    def number(self) -> int:
        """Its place among all blocks."""
        ...

    @property
    def count(self) -> int:
        """The number of its rows."""
        ...

    def cells(self) -> dict[str, Any]:
        """The columns of its rows."""
        ...


@final
@dataclass(frozen=True)
class ParquetBlock:
    """Rows of one row group of a Parquet file."""

    number: int
    path: str
    group: int
    start: int
    count: int

    def cells(self) -> dict[str, Any]:
        """The columns of its rows."""
        pyarrow = import_module("pyarrow")
        with import_module("pyarrow.parquet").ParquetFile(self.path) as file:
            found, place = [], 0
            for batch in file.iter_batches(min(AT_ONCE, self.count), row_groups=[self.group], use_threads=False):
                low, high = max(self.start - place, 0), min(self.start + self.count - place, len(batch))
                if low < high:
                    found.append(batch.slice(low, high - low))
                place += len(batch)
                if place >= self.start + self.count:
                    break
        return arrow_cells(pyarrow.Table.from_batches(found))


@final
@dataclass(frozen=True)
class ArrowBlock:
    """Rows of one record batch of an Arrow (Feather) file."""

    number: int
    path: str
    batch: int
    start: int
    count: int

    def cells(self) -> dict[str, Any]:
        """The columns of its rows."""
        pyarrow = import_module("pyarrow")
        with pyarrow.memory_map(self.path) as file:
            batch = import_module("pyarrow.ipc").open_file(file).get_batch(self.batch)
            return arrow_cells(pyarrow.Table.from_batches([batch.slice(self.start, self.count)]))


@final
@dataclass(frozen=True)
class Mapped:
    """An array in a file, as `numpy.memmap` has it."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    fortran: bool

    def rows(self, start: int, count: int) -> np.ndarray:
        """Some of its rows."""
        order = "F" if self.fortran else "C"
        whole = np.memmap(self.path, self.dtype, "r", self.offset, self.shape, order)
        return np.array(whole[start : start + count])


@final
@dataclass(frozen=True, eq=False)
class ArrayBlock:
    """Rows of arrays: memory maps are opened where the block is read, other arrays are held."""

    number: int
    X: Mapped | np.ndarray
    y: Mapped | np.ndarray | None
    start: int
    count: int

    def cells(self) -> dict[str, Any]:
        """The columns of its rows."""
        return array_cells(self._rows(self.X), None if self.y is None else self._rows(self.y))

    def _rows(self, array: Mapped | np.ndarray) -> np.ndarray:
        if isinstance(array, Mapped):
            return array.rows(self.start, self.count)
        # a held array has the rows of this block alone
        return array


@final
@dataclass(frozen=True, eq=False)
class DaskBlock:
    """A chunk of Dask arrays, or a partition of a Dask frame, that is computed each time it is read."""

    number: int
    parts: tuple[Any, ...]
    """Delayed values: X and y, or one frame."""
    count: int

    def cells(self) -> dict[str, Any]:
        """The columns of its rows, computed in this process."""
        return self.of(*import_module("dask").compute(*self.parts, scheduler="synchronous"))

    @staticmethod
    def of(*parts: Any) -> dict[str, Any]:
        """The columns of computed parts."""
        if isinstance(parts[0], np.ndarray):
            return array_cells(*parts)
        found, _ = cells_of(parts[0])
        assert found is not None
        return found


def arrow_cells(table: Any) -> dict[str, Any]:
    """The cells of the columns of an Arrow table."""
    types, found = import_module("pyarrow.types"), {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if types.is_decimal(column.type):
            column = column.cast("float64")
        if types.is_integer(column.type) or types.is_floating(column.type):
            found[name] = column.to_numpy(zero_copy_only=False).astype(np.float64)
        else:
            cells, _ = cells_of(table.select([name]))
            assert cells is not None
            found[name] = cells[name]
    return found


def array_cells(X: np.ndarray, y: np.ndarray | None = None) -> dict[str, Any]:
    """The columns of a block of an array; ValueError if it is no array of numbers."""
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X: an array of {X.dtype} with {X.ndim} axes is no table of numbers: give rows and columns.")
    found: dict[str, Any] = {f"x{i}": column.astype(np.float64) for i, column in enumerate(X.T)}
    return found if y is None else found | {TARGET: np.asarray(y, np.float64)}
