"""Whether a run fits in memory, before it starts.

A worker needs the libraries and, for the longest series, a number of square matrices; it keeps nothing from one series
to the next. So the workers need at most

    workers * (BASE + rows * ROW + MATRICES * 8 * n^2)        n = rows of the longest series, see `worker_bytes`

and the main process the rows of the file. Neither grows with the number of series that are finished.
"""

import os
from collections.abc import Mapping
from typing import Any

from farrier.datasets.free_memory import available_bytes, in_gigabytes
from farrier.model.tiers import EXACT_ROWS

BASE = 180 * 2**20
"""Bytes of a worker with its libraries; measured: 155 MB after a fit of 100 rows."""
ROW = 5_000
"""Bytes a row of the linear tier; by judgement, above the 2.4 to 3.5 kB of the benchmark `rows` at 10^6 and 10^5."""
MATRICES = 100
"""Square matrices of 64-bit numbers that a fit holds at most; measured on daily series: 39
for 500 rows, 41 for 1,000. Twice that is for heavy tails, which are fitted beside. By judgement."""


def worker_bytes(rows: int, settings: Mapping[str, Any]) -> int:
    """Bytes that a worker needs at most while it fits so many rows with the parameters of a `Forecaster`."""
    square = rows if settings.get("method") == "exact" else min(rows, EXACT_ROWS)
    return BASE + rows * ROW + MATRICES * 8 * square**2


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
            f"memory: {wanted} processes for series of up to {rows:,} rows need {in_gigabytes(wanted * need)}, and "
            f"{in_gigabytes(available)} are free: {what}"
        )
    return fit
