"""The methods that `farrier compare` runs beside Farrier: simple ones, and those of other libraries.

Each gives a mean and a standard deviation at the rows that were held out. The last value and the last season are the
yardsticks of forecasts: what is not better than them is not worth its name. AutoETS, AutoARIMA and Theta are those of
statsforecast, if it is installed, and so is Prophet; gradient boosting, for tables, is scikit-learn's.
"""

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

SERIES = {
    "last-value": "the last value",
    "last-season": "the value of one season before",
    "auto-ets": "exponential smoothing, by statsforecast",
    "auto-arima": "ARIMA, by statsforecast",
    "theta": "the Theta method, by statsforecast",
    "prophet": "Prophet, with its own settings",
}
"""Methods for series, and what they are."""
TABLES = {"boosting": "gradient boosting, by scikit-learn"}
"""Methods for tables."""
STATSFORECAST = {"auto-ets": "AutoETS", "auto-arima": "AutoARIMA", "theta": "AutoTheta"}
"""The class of each method in `statsforecast.models`."""
FOLDS = 5
"""Folds from whose residuals the deviation of boosting comes. [by judgement]"""
Z95 = 1.959964
"""The 97.5 % quantile of the standard normal distribution."""


def available(kind: str) -> list[str]:
    """The methods for a series or a table that can run here."""
    if kind != "series":
        return list(TABLES)
    needed = {**dict.fromkeys(STATSFORECAST, "statsforecast"), "prophet": "prophet"}
    return [name for name in SERIES if name not in needed or importlib.util.find_spec(needed[name]) is not None]


def predict(
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    X_new: np.ndarray,
    periods: Sequence[float],
    seed: int,
    kind: str = "number",
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of y at the rows X_new, which for a series are the next ones.

    `kind` says what the times are: "years", "days" (since 1970-01-01) or "number".
    """
    if name == "boosting":
        return _boosted(X, y, X_new, seed)
    if name == "prophet":
        return _prophet(dates_of(X[:, 0], kind), y, dates_of(X_new[:, 0], kind))
    season = season_of(X[:, 0], periods)
    ahead = np.arange(1, len(X_new) + 1)
    if name in STATSFORECAST:
        return _statsforecast(name, y, len(X_new), season)
    back = 1 if name == "last-value" else season
    rounds = np.ceil(ahead / back)
    mean = y[len(y) - back + (ahead - 1) % back]
    spread = float(np.sqrt(np.mean((y[back:] - y[:-back]) ** 2)))
    return mean, np.sqrt(rounds) * max(spread, np.finfo(float).tiny)


def season_of(x: np.ndarray, periods: Sequence[float]) -> int:
    """The longest of the periods that comes at least twice among evenly spaced rows, in steps; 1 if none does."""
    spacing = float(np.median(np.diff(np.sort(x))))
    steps = [round(period / spacing) for period in periods if spacing > 0]
    return max((step for step in steps if 2 <= step <= len(x) // 2), default=1)


def dates_of(x: np.ndarray, kind: str) -> np.ndarray:
    """Times of a series as dates: decimal years as the months in which they lie, days to the second."""
    if kind == "number":
        raise ValueError("prophet needs dates, and these times are plain numbers: leave it out")
    if kind == "years":
        return (np.floor(np.round(12.0 * x, 6)).astype(np.int64) - 12 * 1970).astype("M8[M]").astype("M8[ns]")
    return np.round(86_400.0 * x).astype(np.int64).astype("M8[s]").astype("M8[ns]")


def _prophet(past: np.ndarray, y: np.ndarray, ahead: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pandas: Any = importlib.import_module("pandas")
    model: Any = importlib.import_module("prophet").Prophet(interval_width=0.95)
    found = model.fit(pandas.DataFrame({"ds": past, "y": y})).predict(pandas.DataFrame({"ds": ahead}))
    return found["yhat"].to_numpy(), (found["yhat_upper"] - found["yhat_lower"]).to_numpy() / (2.0 * Z95)


def _statsforecast(name: str, y: np.ndarray, horizon: int, season: int) -> tuple[np.ndarray, np.ndarray]:
    models: Any = importlib.import_module("statsforecast.models")
    made = getattr(models, STATSFORECAST[name])(season_length=season)
    found = made.forecast(y=np.ascontiguousarray(y, np.float64), h=horizon, level=[95])
    return np.asarray(found["mean"]), np.asarray(found["hi-95"] - found["lo-95"]) / (2.0 * Z95)


def _boosted(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import cross_val_predict

    model = HistGradientBoostingRegressor(random_state=seed)
    left_out = cross_val_predict(model, X, y, cv=min(FOLDS, len(y)))
    mean = model.fit(X, y).predict(X_new)
    return mean, np.full(len(X_new), max(float(np.std(y - left_out)), np.finfo(float).tiny))
