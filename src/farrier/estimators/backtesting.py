"""Backtests of a series: a model is fitted at each past origin to the rows before it (series/backtests.py)."""

from typing import Any

import numpy as np

from farrier.estimators.fitted_series import TimeRegressor, dated
from farrier.estimators.regressor import Regressor
from farrier.estimators.watching import Folds, Show
from farrier.explain.backtest import Backtest
from farrier.series.auto_ets import auto_ets
from farrier.series.backtests import QUANTILES, backtest, origins, season_of
from farrier.series.observed import Observed

REFIT = 0.15
"""The time of a fit whose structure is known, in parts of one that searches for it; by judgement."""


def backtest_of(
    observed: Observed,
    settings: dict[str, Any],
    folds: int | None,
    horizon: int | None,
    *,
    search_again: bool,
    progress: Show | None = None,
) -> Backtest:
    """Forecasts of a series from past origins, by models with the settings of a `Regressor`.

    A regressor that has one value in all rows before the first origin, such as a promotion that begins later, is left
    out: nothing was known about its effect.
    """
    axis, rows = observed.axis, observed.check().present
    y, known = observed.y[rows], origins(len(rows), folds, horizon)
    whole, observed = observed, observed.with_regressors(np.ptp(observed.extra[rows[: known[0]]], axis=0) > 0)
    ahead = len(rows) - known[-1]
    season, period = season_of(axis, settings.get("periods"))
    model: Regressor | None = None
    others = [1.0 if search_again or observed.weights is not None else REFIT] * (len(known) - 1)
    folds_done = Folds(progress, "forecasting from past origins", [1.0, *others])

    def inputs(chosen: np.ndarray) -> Any:
        return observed.inputs(axis.numbers[rows[chosen]], observed.extra[rows[chosen]])

    def forecast(count: int, later: np.ndarray) -> np.ndarray:
        nonlocal model
        folds_done.start(known.index(count))
        past = np.arange(count)
        if model is None or search_again or observed.weights is not None:
            known_axis = axis.take(rows[:count])
            made: dict[str, Any] = dated(settings | {"progress": folds_done}, known_axis, known_axis)
            weights = None if observed.weights is None else observed.weights[rows[past]]
            model = TimeRegressor(**made).fit(inputs(past), y[past], weights)
        else:
            model = model.refit(inputs(past), y[past])
        return model.predict_quantiles(inputs(later), QUANTILES)

    return Backtest(whole, backtest(y, known, ahead, season, forecast, auto_ets()), period, search_again)
