"""Tables that can be read in blocks: Parquet and Arrow files, folders of them, memory maps, Dask arrays and frames."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, final

import numpy as np

from farrier.data.quoting import quoted
from farrier.out_of_core.blocks import TARGET, ArrayBlock, ArrowBlock, Block, DaskBlock, Mapped, ParquetBlock
from farrier.series.columns import list_names

PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather")
"""The endings of the files that are read in blocks."""
BLOCK = 65_536
"""Rows of a block if nothing else is said, as `blocks.rows` of the settings of the search."""
BLOCK_BYTES = 64 * 2**20
"""Most bytes of the cells of a block, as numbers: blocks of wide tables have fewer rows. [bytes; by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class Source:
    """All rows of a table, in blocks."""

    name: str
    columns: tuple[str, ...]
    """The columns of X."""
    target: str | None
    blocks: tuple[Block, ...]
    named: bool = True
    """Whether the columns have names of their own."""

    @property
    def count(self) -> int:
        """The number of rows, with those that have no target."""
        return sum(block.count for block in self.blocks)

    def with_target(self, name: str) -> "Source":
        """The same table with one of its columns as the target."""
        return replace(self, target=name, columns=tuple(one for one in self.columns if one != name))


def is_dask(value: Any) -> bool:
    """Whether a value is an array or a frame of Dask."""
    return type(value).__module__.partition(".")[0] in ("dask", "dask_expr")


def open_rows(data: Any, target: str | None = None, y: Any = None, *, rows: int = BLOCK) -> Source:
    """A table as blocks of about so many rows.

    `data` is the path of a file or a folder, or a Dask frame, whose column `target` is the target, or an array with `y`
    beside it. Without a target the rows can only be predicted.
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, str | Path):
        if y is not None:
            raise ValueError("y: a file holds its target: name its column, target='...', and leave y out.")
        return _files(Path(data), target, rows)
    if is_dask(data):
        return _dask(data, target, y)
    return _arrays(data, y, rows)


def _files(path: Path, target: str | None, rows: int) -> Source:
    paths = [path]
    if path.is_dir():
        # files and folders whose names begin with an underscore or a point are passed over, as by pandas and Spark
        found = (one for one in sorted(path.rglob("*")) if one.suffix.lower() in PARQUET + ARROW)
        paths = [one for one in found if not any(n.startswith(("_", ".")) for n in one.relative_to(path).parts)]
    if not paths or not all(one.is_file() and one.suffix.lower() in PARQUET + ARROW for one in paths):
        what = "is a folder without Parquet or Arrow files" if path.is_dir() else "is no Parquet or Arrow file"
        raise ValueError(f"data: {quoted(str(path))} {what}: give such a file, or a folder of them.")
    if find_spec("pyarrow") is None:
        raise ValueError("data: Parquet and Arrow files are read in blocks by pyarrow: pip install 'farrier[parquet]'.")
    blocks: list[Block] = []
    names: tuple[str, ...] | None = None
    for one in paths:
        columns, found = (_parquet if one.suffix.lower() in PARQUET else _arrow)(one, len(blocks), rows)
        if names is not None and columns != names:
            raise ValueError(f"data: {quoted(str(one))} has other columns than the files before it: give files alike.")
        names = columns
        blocks += found
    assert names is not None
    return _source(path.name, names, target, blocks)


def _source(
    name: str, names: tuple[str, ...], target: str | None, blocks: Sequence[Block], named: bool = True
) -> Source:
    if target is not None and target not in names:
        raise ValueError(f"target: there is no column {quoted(target)}: choose one of {list_names(names)}.")
    if not blocks:
        raise ValueError(f"data: {quoted(name)} has no rows: give some.")
    return Source(name, tuple(one for one in names if one != target), target, tuple(blocks), named)


def _parquet(path: Path, first: int, rows: int) -> tuple[tuple[str, ...], list[Block]]:
    """The columns of a Parquet file, and its blocks, counted from `first`."""
    try:
        with import_module("pyarrow.parquet").ParquetFile(path) as file:
            columns = tuple(file.schema_arrow.names)
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    except (OSError, ValueError) as error:
        raise ValueError(f"data: {quoted(str(path))} cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    places = _pieces(sizes, rows, len(columns))
    return columns, [ParquetBlock(first + i, str(path.resolve()), *place) for i, place in enumerate(places)]


def _arrow(path: Path, first: int, rows: int) -> tuple[tuple[str, ...], list[Block]]:
    """The same for an Arrow file."""
    pyarrow = import_module("pyarrow")
    try:
        with pyarrow.memory_map(str(path)) as file:
            reader = import_module("pyarrow.ipc").open_file(file)
            columns = tuple(reader.schema.names)
            sizes = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
    except (OSError, ValueError) as error:
        raise ValueError(f"data: {quoted(str(path))} cannot be read as Arrow: {str(error).splitlines()[0]}") from None
    places = _pieces(sizes, rows, len(columns))
    return columns, [ArrowBlock(first + i, str(path.resolve()), *place) for i, place in enumerate(places)]


def _pieces(sizes: list[int], rows: int, columns: int) -> Iterator[tuple[int, int, int]]:
    """Groups of rows, cut into pieces of about equal size: group, first row, number of rows."""
    rows = max(min(rows, BLOCK_BYTES // (8 * max(columns, 1))), 1)
    for group, size in enumerate(sizes):
        ends = np.linspace(0, size, max(-(-size // rows), 1) + 1).astype(int).tolist()
        yield from ((group, low, high - low) for low, high in pairwise(ends) if high > low)


def _arrays(X: Any, y: Any, rows: int) -> Source:
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        raise ValueError(f"data: {type(X).__name__} is not read in blocks: give a file, an array or a Dask array.")
    if y is not None and (not isinstance(y, np.ndarray) or y.shape != (len(X),) or y.dtype.kind not in "fiub"):
        raise ValueError(f"y: give an array of {len(X):,} numbers, one for each row of X.")
    blocks = [
        ArrayBlock(i, _piece(X, start, count), None if y is None else _piece(y, start, count), start, count)
        for i, (_, start, count) in enumerate(_pieces([len(X)], rows, X.shape[1]))
    ]
    names = tuple(f"x{i}" for i in range(X.shape[1]))
    return _source("X", (*names, *(() if y is None else (TARGET,))), None if y is None else TARGET, blocks, named=False)


def _piece(array: np.ndarray, start: int, count: int) -> Mapped | np.ndarray:
    """The place of a memory map, or the rows of another array; views of a map do not know their place."""
    if isinstance(array, np.memmap) and array.filename is not None and type(array.base).__name__ == "mmap":
        fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        return Mapped(str(array.filename), array.dtype.str, array.shape, int(array.offset), fortran)
    return array[start : start + count]


def _dask(data: Any, target: str | None, y: Any) -> Source:
    if isinstance(getattr(data, "chunks", None), tuple):
        return _dask_arrays(data, y)
    if y is not None:
        raise ValueError("y: a Dask frame holds its target: name its column, target='...', and leave y out.")
    parts = data.to_delayed()
    counts = import_module("dask").compute(*(import_module("dask").delayed(len)(part) for part in parts))
    blocks: list[Block] = [
        DaskBlock(i, (part,), int(count)) for i, (part, count) in enumerate(zip(parts, counts, strict=True)) if count
    ]
    return _source("the Dask frame", tuple(map(str, data.columns)), target, blocks)


def _dask_arrays(X: Any, y: Any) -> Source:
    if X.ndim != 2 or any(np.isnan(size) for size in X.chunks[0]):
        raise ValueError("X: its chunks have no known sizes, or it has not two axes: call X.compute_chunk_sizes().")
    X = X.rechunk({1: -1})
    parts: list[tuple[Any, ...]] = [(one,) for one in X.to_delayed().ravel()]
    if y is not None:
        if not is_dask(y):
            y = import_module("dask.array").from_array(np.asarray(y), chunks=(X.chunks[0],))
        if y.shape != (X.shape[0],):
            raise ValueError(f"y: give {X.shape[0]:,} numbers, one for each row of X.")
        aligned = y.rechunk({0: X.chunks[0]}).to_delayed().ravel()
        parts = [(*part, one) for part, one in zip(parts, aligned, strict=True)]
    blocks: list[Block] = [
        DaskBlock(i, part, int(size)) for i, (part, size) in enumerate(zip(parts, X.chunks[0], strict=True)) if size
    ]
    names = tuple(f"x{i}" for i in range(X.shape[1]))
    return _source(
        "the Dask array", (*names, *(() if y is None else (TARGET,))), None if y is None else TARGET, blocks, False
    )
