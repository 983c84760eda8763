"""Whether a run fits in memory, before it starts.

A worker needs the libraries and, for the longest series, a number of square matrices; it keeps nothing from one series
to the next. So the workers need at most

    workers * (BASE + rows * ROW + MATRICES * 8 * n^2)        n = rows of the longest series, see `worker_bytes`

and the main process the rows of the file. Neither grows with the number of series that are finished.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from farrier.search.settings import SearchSettings

BASE = 180 * 2**20
"""Bytes of a worker with its libraries; measured: 155 MB after a fit of 100 rows."""
ROW = 20_000
"""Bytes a row that do not depend on the number of rows; by judgement, above the 2 to 10 kB measured."""
MATRICES = 100
"""Square matrices of 64-bit numbers that a fit holds at most; measured on daily series: 95 in a search of 500 rows, 50
in quick fits of 500 to 2000 rows."""


def worker_bytes(rows: int, settings: Mapping[str, Any]) -> int:
    """Bytes that a worker needs at most while it fits so many rows with the parameters of a `Forecaster`."""
    exact = settings.get("search") == "quick" or settings.get("method") == "exact"
    square = rows if exact else min(rows, SearchSettings().rows.exact)
    return BASE + rows * ROW + MATRICES * 8 * square**2


def available_bytes(system: Path = Path("/")) -> int | None:
    """Bytes of memory that processes can still get: of the machine and of the control group; None if not known."""
    found = [_meminfo(system / "proc/meminfo"), *_control_groups(system / "sys/fs/cgroup")]
    return min((count for count in found if count is not None), default=None)


def check_workers(rows: int, wanted: int, settings: Mapping[str, Any], available: int | None = None) -> int:
    """The number of workers that fit; ValueError if they are fewer than `wanted`."""
    available = available_bytes() if available is None else available
    need = worker_bytes(rows, settings)
    if available is None:
        return max(wanted, os.cpu_count() or 1)
    fit = int(available // need)
    if fit < wanted:
        what = f"give --jobs {fit}"
        if fit < 1:
            long = need > 2 * BASE
            what = (
                "give fewer rows a series, or another method" if long else "end other programs, or use a larger machine"
            )
        raise ValueError(
            f"memory: {wanted} processes for series of up to {rows:,} rows need {_gigabytes(wanted * need)}, and "
            f"{_gigabytes(available)} are free: {what}"
        )
    return fit


def _meminfo(path: Path) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in path.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    return None


def _control_groups(folder: Path) -> list[int | None]:
    """What is left of the limits of control groups, version 2 and version 1."""
    first = folder / "memory"
    return [
        _left(folder / "memory.max", folder / "memory.current", folder / "memory.stat"),
        _left(first / "memory.limit_in_bytes", first / "memory.usage_in_bytes", first / "memory.stat"),
    ]


def _left(limit: Path, used: Path, stat: Path) -> int | None:
    """The limit less what is used; cached files are not counted, since the system drops them when memory is short."""
    with suppress(OSError, ValueError):  # "max" is no number
        counts = dict(line.split() for line in stat.read_text().splitlines())
        cached = int(counts.get("total_inactive_file", counts.get("inactive_file", "0")))
        return max(int(limit.read_text()) - int(used.read_text()) + cached, 0)
    return None


def _gigabytes(count: int) -> str:
    return f"{count / 2**30:.1f} GB"
