"""Limits of what a file may hold, so that a small file cannot fill the memory.

A gzipped file of a megabyte can hold a gigabyte of zeros, and a Parquet file any number of equal cells. Sizes are
checked while text is unpacked, and for Parquet before cells are read.
"""

import gzip
from pathlib import Path
from typing import IO, Any

import narwhals.stable.v2 as nw

MOST_BYTES = 2**30
"""Most bytes of text, unpacked; by judgement: more rows than a fit can use."""
MOST_INFLATED = 100
"""Largest ratio of the size of text to its packed size; by judgement: gzipped tables reach about 20."""
FREE_BYTES = 16 * 2**20
"""Text up to this size, in bytes, may have any ratio; by judgement."""
MOST_COLUMNS = 10_000
"""Most columns of a table; by judgement."""
MOST_CELLS = 50_000_000
"""Most cells of a Parquet file; by judgement: they take about 4 GB while they are read."""
BLOCK = 2**20
"""Bytes read at once."""


class TooLargeError(ValueError):
    """A file that holds more than the limits above."""


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz. Too many raise TooLargeError before they are in memory."""
    packed = path.suffix.lower() == ".gz"
    most = MOST_BYTES
    if packed:
        most = min(MOST_BYTES, max(FREE_BYTES, MOST_INFLATED * path.stat().st_size))
    with open(path, "rb") as file:
        unpacked: IO[bytes] | gzip.GzipFile = gzip.GzipFile(fileobj=file) if packed else file
        blocks, size = [], 0
        while block := unpacked.read(BLOCK):
            size += len(block)
            if size > most:
                unpack = "unpacks to" if packed else "holds"
                raise TooLargeError(f"path: {path.name!r} {unpack} more than {most:,} bytes of text: give fewer rows")
            blocks.append(block)
    return b"".join(blocks)


def check_columns(path: Path, count: int) -> None:
    """Raise TooLargeError for too many columns."""
    if count > MOST_COLUMNS:
        raise TooLargeError(f"path: {path.name!r} has {count:,} columns: give at most {MOST_COLUMNS:,}")


def check_parquet(path: Path, backend: Any) -> None:
    """Raise TooLargeError if a Parquet file declares too many columns or cells."""
    frame = nw.scan_parquet(str(path), backend=backend)
    columns = len(frame.collect_schema().names())
    check_columns(path, columns)
    rows = int(frame.select(nw.len()).collect().item())
    if rows * columns > MOST_CELLS:
        raise TooLargeError(
            f"path: {path.name!r} has {rows:,} rows of {columns:,} columns: give at most {MOST_CELLS:,} cells"
        )
