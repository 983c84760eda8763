"""The fit of a table that is read in blocks."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

from farrier.data.progress import Progress
from farrier.data.quoting import quoted
from farrier.data.table_inputs import Cells, TableInputs
from farrier.data.tables import frame_of
from farrier.estimators.large_tables import LargeTableMixin, Reading
from farrier.estimators.regressor import Regressor
from farrier.model.target_scale import TargetScale
from farrier.out_of_core.blocks import DaskBlock
from farrier.out_of_core.memory import SAMPLED_ROWS, check_processes, minibatch_bytes
from farrier.out_of_core.rows import EncodedRows, Survey
from farrier.out_of_core.runners import runner_for
from farrier.out_of_core.sources import Source, open_rows

BLOCK_ROWS = 65_536
"""Rows of one block, which is one task of a worker. [rows; by judgement]"""

Model = TypeVar("Model", bound=LargeTableMixin)


def fit(
    data: Any,
    target: str | None = None,
    *,
    y: Any = None,
    client: Any = None,
    jobs: int = 1,
    progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> Regressor:
    """Fit a `Regressor` to a table that need not fit in memory.

    Parameters
    ----------
    data : str, Path, numpy.memmap, Dask array or Dask frame
        A Parquet or Arrow file or a folder of them, which every worker must be able to read, or an array.
    target : str
        The column to explain, for a file or a frame. All others are inputs.
    y : array, default=None
        The target, if `data` is an array.
    client : dask.distributed.Client, default=None
        The cluster that works on the blocks. Its workers may die. None takes the active client if `data` is Dask's.
    jobs : int, default=1
        Processes on this machine, if there is no client.
    progress : callable, default=None
        Called with a ``farrier.data.progress.Progress`` during the fit.
    **settings
        Parameters of `Regressor`, such as scale="log", or method="stochastic" for the paper's algorithm.

    Returns
    -------
    A fitted `Regressor`. Its `result_` holds a random sample of the rows, which explanations and reports show.
    """
    return fit_estimator(Regressor(**settings, progress=progress), data, target=target, y=y, client=client, jobs=jobs)


def fit_estimator(
    model: Model, data: Any, *, target: str | None = None, y: Any = None, client: Any = None, jobs: int = 1
) -> Model:
    """Fit an estimator to a table that is read in blocks; the arguments are those of `fit`."""
    if model.method == "stochastic":
        import_module("farrier.paper")  # says which packages are missing, before any row is read
    source = open_rows(data, target, y, rows=BLOCK_ROWS)
    if source.target is None:
        raise ValueError("target: name the column to explain, target='...', or give y.")
    if client is None:
        main = minibatch_bytes(source) if model.method == "stochastic" else 0
        check_processes(source, effective_n_jobs(jobs), main=main)
    runner = runner_for(source, client, jobs)
    survey = Survey.of(source, runner, SAMPLED_ROWS)

    def blocks(reading: Reading, scale: TargetScale) -> EncodedRows:
        return EncodedRows(source, runner, reading, scale, survey.count)

    named = f", target={source.target!r}" if source.named else ", y=y"
    shown = quoted(source.name) if isinstance(data, str | Path) else "X"
    model.fit_sample(survey, _frame(survey, source), blocks, f"farrier.out_of_core.fit({shown}{named})")
    return model.describe(target_name=source.target) if source.named else model


def _frame(survey: Survey, source: Source) -> Any:
    """The inputs of the sample as predictions will get them: an array, or a frame whose columns have names."""
    if source.named and TableInputs.of(Cells(survey.cells)) is not None:
        return Cells(survey.cells)
    if not source.named:
        return np.column_stack(list(survey.cells.values()))
    library = "pandas" if isinstance(source.blocks[0], DaskBlock) else "pyarrow"
    return frame_of(dict(survey.cells), library)
