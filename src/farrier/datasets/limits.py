"""Limits of what a file may hold, so that a small file cannot fill the memory.

A gzipped or Excel file of a megabyte can hold a gigabyte of zeros, and a Parquet file any number of equal cells. Sizes
are checked while text is unpacked, and for Excel and Parquet before cells are read. What is within the limits but not
within the free memory is refused too, before its cells are made.
"""

import gzip
import io
import zipfile
from pathlib import Path
from typing import IO, Any

import narwhals.stable.v2 as nw

from farrier.datasets.free_memory import available_bytes, in_gigabytes

MOST_BYTES = 2**30
"""Most bytes of text, unpacked; by judgement: more rows than a fit can use."""
MOST_INFLATED = 100
"""Largest ratio of the size of text to its packed size; by judgement: gzipped tables reach about 20."""
FREE_BYTES = 16 * 2**20
"""Text up to this size, in bytes, may have any ratio; by judgement."""
MOST_COLUMNS = 10_000
"""Most columns of a table; by judgement."""
MOST_CELLS = 50_000_000
"""Most cells of a Parquet or Excel file; by judgement: they take about 10 GB while they are read."""
TEXT_GROWS = 40
"""Bytes of memory for each byte of text; measured: 38 for a long table of 3 MB with an id, a month and a number."""
CELL_BYTES = 210
"""Bytes of memory for each cell of a Parquet file; measured: 204 for the same table."""
GZIP = b"\x1f\x8b"
"""The first bytes of gzipped data."""
BLOCK = 2**20
"""Bytes read at once."""


class TooLargeError(ValueError):
    """A file that holds more than the limits above."""


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz. Too many raise TooLargeError before they are in memory."""
    with open(path, "rb") as file:
        if path.suffix.lower() == ".gz":
            data = _unpacked(path.name, file, path.stat().st_size)
        else:
            data = _read(path.name, file, MOST_BYTES, "holds")
    check_memory(path.name, TEXT_GROWS * len(data))
    return data


def read_stream(name: str, stream: IO[bytes]) -> bytes:
    """The bytes of a stream, unpacked if they are gzipped; too many raise TooLargeError."""
    data = _read(name, stream, MOST_BYTES, "holds")
    data = _unpacked(name, io.BytesIO(data), len(data)) if data.startswith(GZIP) else data
    check_memory(name, TEXT_GROWS * len(data))
    return data


def check_memory(name: str, need: int) -> None:
    """Raise TooLargeError if a file needs more bytes of memory than are free, as far as that is known."""
    free = available_bytes()
    if free is not None and need > free:
        raise TooLargeError(
            f"path: {name!r} takes about {in_gigabytes(need)} of memory while it is read, and {in_gigabytes(free)} are "
            "free: give fewer rows or columns, or use a larger machine"
        )


def _unpacked(name: str, file: IO[bytes], size: int) -> bytes:
    return _read(name, gzip.GzipFile(fileobj=file), _most_of(size), "unpacks to")


def _most_of(size: int) -> int:
    """Most bytes to which so many packed bytes may unpack."""
    return min(MOST_BYTES, max(FREE_BYTES, MOST_INFLATED * size))


def _read(name: str, file: IO[bytes] | gzip.GzipFile, most: int, holds: str) -> bytes:
    blocks, size = [], 0
    while block := file.read(BLOCK):
        size += len(block)
        if size > most:
            raise TooLargeError(f"path: {name!r} {holds} more than {most:,} bytes of text: give fewer rows")
        blocks.append(block)
    return b"".join(blocks)


def check_archive(name: str, data: bytes) -> None:
    """Raise TooLargeError if the parts of a zip archive, such as an Excel file, declare too many bytes.

    No more than the declared bytes are unpacked later.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > _most_of(len(data)):
        raise TooLargeError(f"path: {name!r} unpacks to more than {_most_of(len(data)):,} bytes: give fewer rows")


def check_columns(name: str, count: int) -> None:
    """Raise TooLargeError for too many columns."""
    if count > MOST_COLUMNS:
        raise TooLargeError(f"path: {name!r} has {count:,} columns: give at most {MOST_COLUMNS:,}")


def check_cells(name: str, count: int) -> None:
    """Raise TooLargeError for too many cells."""
    if count > MOST_CELLS:
        raise TooLargeError(f"path: {name!r} has more than {MOST_CELLS:,} cells: give fewer rows")


def check_parquet(path: Path, backend: Any) -> None:
    """Raise TooLargeError if a Parquet file declares too many columns or cells."""
    frame = nw.scan_parquet(str(path), backend=backend)
    schema = frame.collect_schema()
    columns = len(schema)
    check_columns(path.name, columns)
    rows = int(frame.select(nw.len()).collect().item())
    if rows * columns > MOST_CELLS:
        raise TooLargeError(
            f"path: {path.name!r} has {rows:,} rows of {columns:,} columns: give at most {MOST_CELLS:,} cells"
        )
    # a dictionary of one long text, used by every row, is small in the file
    texts = [nw.col(column).str.len_chars().sum() for column, kind in schema.items() if kind == nw.String]
    letters = sum(int(count or 0) for count in frame.select(*texts).collect().row(0)) if texts else 0
    if letters > MOST_BYTES:
        raise TooLargeError(f"path: {path.name!r} unpacks to more than {MOST_BYTES:,} bytes of text: give fewer rows")
    check_memory(path.name, CELL_BYTES * rows * columns + letters)
