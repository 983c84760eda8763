"""Exponential smoothing by the package statsforecast, for comparison in backtests. The package is optional."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from farrier.series.backtests import Peer

PACKAGE = "statsforecast"


def auto_ets() -> Peer | None:
    """The forecasts of AutoETS with its default settings; None if the package is not installed."""
    return forecast if find_spec(PACKAGE) is not None else None


def forecast(past: np.ndarray, season: int, horizon: int) -> np.ndarray:
    """The mean forecast from known values; NaN where AutoETS finds no model, such as for very few values."""
    model: Any = import_module(f"{PACKAGE}.models").AutoETS(season_length=season)
    try:
        return np.asarray(model.forecast(y=np.asarray(past, float), h=horizon)["mean"], float)
    except Exception:  # whatever it raises: there is nothing to compare with
        return np.full(horizon, np.nan)
