"""Backtests: forecasts from several past origins, and what came true, step by step ahead.

Origins lie `horizon` rows apart, the last one `horizon` rows before the end. At each of them only the rows before it
are known. Errors are compared with those of the last value and of the last season, and for intervals the part of the
values that they contain is counted.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

LEVELS = (80, 95)
"""Levels of the intervals whose coverage is counted, in per cent."""
FEWEST = 8
"""Fewest rows before the first origin. [rows; by judgement]"""


class Expected(NamedTuple):
    """What was expected of some rows: the median, and the ends of the intervals of LEVELS, low before high."""

    median: np.ndarray
    ends: tuple[np.ndarray, ...]


def origins(rows: int, folds: int, horizon: int) -> list[int]:
    """How many rows are known at each origin, fewest first."""
    for name, value in (("folds", folds), ("horizon", horizon)):
        if value < 1:
            raise ValueError(f"{name}: {value}: give 1 or more.")
    first = rows - folds * horizon
    if first < FEWEST:
        most = max(0, (rows - FEWEST) // folds)
        raise ValueError(
            f"folds={folds}, horizon={horizon}: {rows} rows leave {first} before the first origin, and {FEWEST} are "
            f"needed: try a horizon of at most {most}."
            if most
            else f"folds={folds}: {rows} rows are too few: try fewer folds."
        )
    return [first + fold * horizon for fold in range(folds)]


def backtest(
    y: np.ndarray,
    known: Sequence[int],
    horizon: int,
    season: int | None,
    expect: Callable[[int, np.ndarray], Expected],
) -> dict[str, np.ndarray]:
    """One row a step ahead: mean absolute errors over the origins, and the part of values inside the intervals.

    `expect(count, rows)` forecasts some rows from the first `count`. Without a season, its column is NaN.
    """
    errors, last, seasonal = (np.empty((len(known), horizon)) for _ in range(3))
    held = [np.empty((len(known), horizon)) for _ in LEVELS]
    for fold, count in enumerate(known):
        rows = np.arange(count, count + horizon)
        found, truth = expect(count, rows), y[rows]
        errors[fold] = np.abs(truth - found.median)
        last[fold] = np.abs(truth - y[count - 1])
        usable = season is not None and season <= count
        seasonal[fold] = np.abs(truth - y[_season_before(rows, count, season or 1)]) if usable else np.nan
        for i, inside in enumerate(held):
            low, high = found.ends[2 * i : 2 * i + 2]
            inside[fold] = (low <= truth) & (truth <= high)
    columns = {"step": np.arange(1, horizon + 1), "error": errors.mean(axis=0), "last_value_error": last.mean(axis=0)}
    columns |= {"last_season_error": seasonal.mean(axis=0)}
    return columns | {f"inside_{level}": one.mean(axis=0) for level, one in zip(LEVELS, held, strict=True)}


def _season_before(rows: np.ndarray, count: int, season: int) -> np.ndarray:
    """For each row the one in the last season that is known."""
    return count - season + (rows - count) % season
