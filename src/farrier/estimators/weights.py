"""`sample_weight`: how much each row counts.

A row of weight w has 1 / w times the noise variance of a row of weight one, as the mean of w observations would have.
Only the ratios of weights count: their mean is set to one. New observations have weight one.
"""

from typing import Any

import numpy as np

from farrier.data.quoting import quoted
from farrier.estimators.arguments import refuse_masks
from farrier.model.tiers import EXACT_ROWS, EXACT_TABLE_ROWS


def factors_of(sample_weight: Any, rows: int) -> np.ndarray | None:
    """The noise variance of each row over that of a row of mean weight; None if all rows weigh the same."""
    if sample_weight is None:
        return None
    refuse_masks(sample_weight, "sample_weight")
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"sample_weight: {quoted(sample_weight)} are not numbers: give one a row.") from None
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, and there are {rows} rows: give one weight a row.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0.0)))
    if len(bad):
        raise ValueError(
            f"sample_weight: row {bad[0]} has {weights[bad[0]]:g}: give numbers above zero, or leave it out."
        )
    return None if np.ptp(weights) == 0.0 else weights.mean() / weights


def check_weights(estimator: Any, rows: int, inputs: int, *, searched: bool) -> None:
    """Raise ValueError for what weights are not possible with; `searched` says that the rows are a searched table."""
    for name, possible in (("likelihood", ("auto", "gaussian")), ("method", ("auto", "exact", "collapsed"))):
        value = getattr(estimator, name)
        if value not in possible:
            raise ValueError(
                f"sample_weight needs {name}={possible[-1]!r}, got {quoted(value)}: leave the weights out."
            )
    most = EXACT_ROWS if inputs == 1 else EXACT_TABLE_ROWS
    if rows > most and estimator.method == "auto" and (inputs == 1 or searched):
        raise ValueError(
            f"sample_weight: {rows:,} rows are too many for method='auto': give at most {most:,}, or "
            "method='collapsed'."
        )
