"""Backtests: forecasts from several past origins, and what came true, step by step ahead.

Origins lie `horizon` rows apart, the last one `horizon` rows before the end. At each of them only the rows before it
are known. Errors are compared with those of the last value, of the last season and, where the package is installed, of
statsforecast's AutoETS (auto_ets.py). All figures are means over origins or steps: absolute errors, CRPS, the scaled
interval score MSIS, and the part of the values inside the intervals.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from farrier.data.quoting import quoted
from farrier.series.calendar import TimeAxis
from farrier.series.scores import crps, crps_levels, seasonal_scale

LEVELS = (80, 95)
"""Levels of the intervals whose coverage is counted, in per cent."""
FEWEST = 8
"""Fewest rows before the first origin. [rows; by judgement]"""
FOLDS = 3
"""Origins if their number is not given and the rows suffice. [by judgement]"""
PART = 10
"""Rows for each step of a horizon that is not given. [rows; by judgement]"""
WORK_DAYS = 5
"""Rows of a week of business days."""
SCORED = 50
"""Quantiles from which CRPS is computed. [by judgement: within 1 % for a normal distribution]"""
QUANTILES = (0.5, *(0.5 + sign * level / 200.0 for level in LEVELS for sign in (-1.0, 1.0)), *crps_levels(SCORED))
"""Levels of the quantiles that a forecast gives: the median, the ends of the intervals, then those of CRPS."""

Forecast = Callable[[int, np.ndarray], np.ndarray]
"""From the number of known rows and some later rows to the QUANTILES of these, (rows, levels)."""
Peer = Callable[[np.ndarray, int, int], np.ndarray]
"""From known values, the rows of a season and a horizon to a forecast."""


@dataclass(frozen=True, eq=False)
class PastForecasts:
    """Forecasts and what came true: one row for each origin, one column for each step ahead."""

    known: np.ndarray
    """Rows before each origin."""
    season: int | None
    """Rows of a season."""
    truth: np.ndarray
    median: np.ndarray
    low_80: np.ndarray
    high_80: np.ndarray
    low_95: np.ndarray
    high_95: np.ndarray
    crps: np.ndarray
    last_value: np.ndarray
    """Forecasts by the last value."""
    last_season: np.ndarray
    """Forecasts by the last season; NaN where no whole season is known."""
    auto_ets: np.ndarray | None
    """Forecasts by statsforecast's AutoETS; None if it is not installed."""
    scales: np.ndarray
    """What interval scores are divided by, (origins, 1); NaN if the known rows repeat exactly."""

    def figures(self, over: int | tuple[int, ...]) -> dict[str, np.ndarray]:
        """All figures as means over the origins (0), over the steps (1), or over both (0, 1)."""
        outside = np.maximum(self.low_95 - self.truth, 0.0) + np.maximum(self.truth - self.high_95, 0.0)
        # the interval score of 95 % intervals: width + (2 / 0.05) (distance outside)
        score = (self.high_95 - self.low_95 + 40.0 * outside) / self.scales
        ets = {} if self.auto_ets is None else {"auto_ets_error": np.abs(self.truth - self.auto_ets)}
        each = {
            "error": np.abs(self.truth - self.median),
            "last_value_error": np.abs(self.truth - self.last_value),
            "last_season_error": np.abs(self.truth - self.last_season),
            **ets,
            "crps": self.crps,
            "msis_95": score,
            "inside_80": (self.low_80 <= self.truth) & (self.truth <= self.high_80),
            "inside_95": (self.low_95 <= self.truth) & (self.truth <= self.high_95),
        }
        return {name: np.mean(values, axis=over) for name, values in each.items()}


def season_of(axis: TimeAxis, given: Sequence[float] | None) -> tuple[int | None, float | None]:
    """The rows of the shortest season and its period: of the given periods, or of the calendar; None without any."""
    periods = [float(period) for period in given or axis.calendar_periods()]
    if not periods or not axis.spacing:
        return None, None
    period = min(periods)
    rows = WORK_DAYS * period / 7.0 if axis.frequency == "business-daily" else period / axis.spacing
    return max(1, round(rows)), period


def origins(rows: int, folds: int | None = None, horizon: int | None = None) -> list[int]:
    """How many rows are known at each origin, fewest first; the last one lies `horizon` rows before the end.

    By default a horizon is a tenth of the rows, and there are three origins, or fewer if the first one would know less
    than half of the rows. ValueError if the rows are too few.
    """
    for name, value in (("folds", folds), ("horizon", horizon)):
        if value is not None and not (isinstance(value, Real) and 1 <= value < math.inf and value == int(value)):
            raise ValueError(f"{name}: {quoted(value)}: give a whole number, 1 or more.")
    horizon = max(1, rows // PART) if horizon is None else int(horizon)
    folds = max(1, min(FOLDS, rows // 2 // horizon)) if folds is None else int(folds)
    first = rows - folds * horizon
    if first < FEWEST:
        most = max(0, (rows - FEWEST) // folds)
        raise ValueError(
            f"folds={folds}, horizon={horizon}: {rows} rows leave {max(first, 0)} before the first origin, and "
            f"{FEWEST} are needed: try a horizon of at most {most}."
            if most
            else f"folds={folds}: {rows} rows are too few: try fewer folds."
        )
    return [first + fold * horizon for fold in range(folds)]


def backtest(
    y: np.ndarray, known: Sequence[int], horizon: int, season: int | None, forecast: Forecast, auto_ets: Peer | None
) -> PastForecasts:
    """Forecast `horizon` rows from each origin; `known` rows lie before it. `season` is in rows, None without one."""
    ahead = [np.arange(count, count + horizon) for count in known]
    truth = np.stack([y[rows] for rows in ahead])
    found = np.stack([forecast(count, rows) for count, rows in zip(known, ahead, strict=True)])
    median, low_80, high_80, low_95, high_95 = np.moveaxis(found[..., : 1 + 2 * len(LEVELS)], -1, 0)
    ets = None if auto_ets is None else np.stack([auto_ets(y[:count], season or 1, horizon) for count in known])
    return PastForecasts(
        known=np.array(known),
        season=season,
        truth=truth,
        median=median,
        low_80=low_80,
        high_80=high_80,
        low_95=low_95,
        high_95=high_95,
        crps=crps(truth, found[..., 1 + 2 * len(LEVELS) :]),
        last_value=np.stack([np.full(horizon, y[count - 1]) for count in known]),
        last_season=np.stack([_last_season(y[:count], season, horizon) for count in known]),
        auto_ets=ets,
        scales=np.array([[_scale(y[:count], season)] for count in known]),
    )


def _last_season(past: np.ndarray, season: int | None, horizon: int) -> np.ndarray:
    """The last season that is known, repeated."""
    if season is None or season > len(past):
        return np.full(horizon, np.nan)
    return past[-season:][np.arange(horizon) % season]


def _scale(past: np.ndarray, season: int | None) -> float:
    """The mean step over a season, or from row to row where less than two seasons are known; NaN if it is zero."""
    rows = season if season is not None and len(past) > season else 1
    return seasonal_scale(past, rows) if np.any(past[rows:] != past[:-rows]) else np.nan
