"""Whether a fit in blocks fits in memory, before it starts.

A process needs its libraries, some copies of a block, and matrices of the size of the inducing points. The main process
has the sample too. So each needs at most

    BASE + 8 columns (COPIES * rows of a block + COPIES * rows of the sample) + MATRICES * 8 * points^2

which does not grow with the rows of the table. Blocks of wide tables have fewer rows. For minibatches the main process
also has the compiled programs of jax and the rows that are mixed.
"""

from farrier.datasets.free_memory import available_bytes, in_gigabytes
from farrier.model.block_fits import BLOCK_POINT_LIMITS
from farrier.out_of_core.sources import BLOCK_BYTES, Source

SAMPLED_ROWS = 20_000
"""Rows drawn at random: the search, the inducing points and the first fit use them, and reports show them. [rows; by
judgement]"""

BASE = 400 * 2**20
"""Bytes of a process with its libraries, Dask among them; measured: 0.33 to 0.42 GB with a million rows of 8 inputs."""
COPIES = 8
"""Copies of a block, or of the sample, that are made while it is read and encoded; by judgement."""
MATRICES = 40
"""Square matrices of the size of all inducing points that a fit holds; by judgement."""


HELD = 262_144
"""Rows of narrow tables that are mixed at once for minibatches. [rows; by judgement: a thousand minibatches]"""
COMPILED = 700 * 2**20
"""Bytes of jax, its compiled programs and the matrices of a minibatch; measured: 0.84 and 0.92 GB in all for the main
process with 10^6 rows of 8 inputs and 3 kernels, 1.1 GB with 600,000 rows of 3 inputs and the paper's kernels."""


def held_rows(columns: int) -> int:
    """Rows that are mixed at once for minibatches, for a number of inputs; wide tables have fewer."""
    return max(min(HELD, BLOCK_BYTES // (8 * (columns + 1))), 1)


def minibatch_bytes(source: Source) -> int:
    """Bytes that minibatches add to the main process."""
    columns = len(source.columns)
    return COMPILED + 8 * columns * COPIES // 2 * min(held_rows(columns), source.count)


def process_bytes(source: Source) -> int:
    """Bytes that each process needs at most."""
    rows = max(block.count for block in source.blocks) + min(SAMPLED_ROWS, source.count)
    return BASE + 8 * len(source.columns) * COPIES * rows + MATRICES * 8 * BLOCK_POINT_LIMITS.together**2


def check_processes(source: Source, processes: int, available: int | None = None, main: int = 0) -> None:
    """Raise ValueError if the processes of this machine need more memory than is free, as far as that is known.

    `main` are the bytes that the main process needs beside that.
    """
    available = available_bytes() if available is None else available
    need = processes * process_bytes(source) + main
    if available is not None and need > available:
        fit = max(available - main, 0) // process_bytes(source)
        what = f"give jobs={fit}" if fit else "give blocks of fewer rows, fewer columns, or use a larger machine"
        raise ValueError(
            f"memory: {processes} processes for blocks of {source.name} need {in_gigabytes(need)}, and "
            f"{in_gigabytes(available)} are free: {what}."
        )
