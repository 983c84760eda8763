"""Predictions of a table that is read in blocks."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from farrier.estimators.large_tables import Reading
from farrier.estimators.regressor import Regressor
from farrier.inference.linalg import one_thread
from farrier.model.fitted import Fitted
from farrier.out_of_core.blocks import Block
from farrier.out_of_core.fitting import BLOCK_ROWS
from farrier.out_of_core.rows import inputs_of
from farrier.out_of_core.runners import runner_for
from farrier.out_of_core.sources import open_rows

PIECE = 4096
"""Rows that are predicted at once, so that memory stays small. [rows; by judgement]"""


def predict(model: Regressor, data: Any, *, client: Any = None, jobs: int = 1) -> Iterator[dict[str, np.ndarray]]:
    """Predict the rows of a table, block after block, in the order of the rows.

    `data`, `client` and `jobs` are those of `fit`; columns that the model does not know are passed over. Each block
    is a dictionary with the arrays `mean`, `std`, `low_95` and `high_95`, of a new observation.
    """
    result = model.result_
    source = open_rows(data, rows=BLOCK_ROWS)
    known = result.given_columns if result.table is None else tuple(column.name for column in result.table.columns)
    missing = [name for name in known if name not in source.columns]
    if missing and source.named:
        raise ValueError(f"data: {source.name} has no column {missing[0]!r}, which the model needs: add it.")
    if not source.named and len(source.columns) != len(known):
        raise ValueError(f"data: {len(source.columns)} columns, and the model has {len(known)}: give those of the fit.")
    names = known if source.named else source.columns
    reading = Reading(result.table, result.scale, result.order)
    return runner_for(source, client, jobs).map(_predicted, source.blocks, names, known, reading, result.fitted)


def _predicted(
    block: Block,
    cells: dict[str, Any],
    names: tuple[str, ...],
    known: tuple[str, ...],
    reading: Reading,
    fitted: Fitted,
) -> dict[str, np.ndarray]:
    inputs = inputs_of({own: cells[name] for own, name in zip(known, names, strict=True)}, None, reading)
    pieces = []
    with one_thread():
        for start in range(0, len(inputs), PIECE):
            some = inputs[start : start + PIECE]
            mean, std = fitted.moments(some)
            pieces.append(np.stack([mean, std, *fitted.quantiles(some, (0.025, 0.975))]))
    return dict(zip(("mean", "std", "low_95", "high_95"), np.concatenate(pieces, axis=1), strict=True))
