"""The methods of the competitions, by name: Farrier, two naive ones, and statsforecast's where it is installed.

A method is a function of the training values, the rows of a season, the horizon and the dates of the training values.
It gives the columns of COLUMNS, one value a step ahead. A new method is one more entry of METHODS.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.stats import norm

from farrier import Forecaster

LEVELS = (80, 95)
COLUMNS = ("mean", "median", *(f"{end}_{level}" for level in LEVELS for end in ("low", "high")))
OURS = "farrier"
REFERENCE = "auto-ets"
"""The peer that errors are compared with."""
STATSFORECAST = {REFERENCE: "AutoETS", "auto-theta": "AutoTheta"}
"""Methods of the package statsforecast, and their classes there."""

Forecast = dict[str, np.ndarray]
Method = Callable[[np.ndarray, int, int, np.ndarray], Forecast]


def farrier(y: np.ndarray, season: int, horizon: int, stamps: np.ndarray) -> Forecast:
    """Ours, with the defaults; nobody tells it the season."""
    found = Forecaster().fit(stamps, y).forecast(horizon, levels=LEVELS)
    return {name: np.asarray(found[name]) for name in COLUMNS}


def naive(y: np.ndarray, season: int, horizon: int, stamps: np.ndarray) -> Forecast:
    """The last value."""
    return seasonal_naive(y, 1, horizon, stamps)


def seasonal_naive(y: np.ndarray, season: int, horizon: int, stamps: np.ndarray) -> Forecast:
    """The last season again; the variance of k seasons ahead is k times the mean square of the steps over a season."""
    ahead = np.arange(horizon)
    mean = y[-season:][ahead % season]
    sd = np.sqrt(np.mean((y[season:] - y[:-season]) ** 2) * (1 + ahead // season))
    return _gaussian(mean, sd)


def _gaussian(mean: np.ndarray, sd: np.ndarray) -> Forecast:
    found = {"mean": mean, "median": mean}
    for level in LEVELS:
        half = norm.ppf(0.5 + level / 200.0) * sd
        found |= {f"low_{level}": mean - half, f"high_{level}": mean + half}
    return found


def from_statsforecast(model: str) -> Method:
    """A method of the package statsforecast with its defaults and the season; its mean is taken as the median."""

    def forecast(y: np.ndarray, season: int, horizon: int, stamps: np.ndarray) -> Forecast:
        import statsforecast.models

        made: Any = getattr(statsforecast.models, model)(season_length=season)
        found = made.forecast(y=y, h=horizon, level=list(LEVELS))
        ends = {f"low_{level}": found[f"lo-{level}"] for level in LEVELS}
        ends |= {f"high_{level}": found[f"hi-{level}"] for level in LEVELS}
        return {"mean": found["mean"], "median": found["mean"], **ends}

    return forecast


METHODS: dict[str, Method] = {
    OURS: farrier,
    "seasonal-naive": seasonal_naive,
    "naive": naive,
    **{name: from_statsforecast(model) for name, model in STATSFORECAST.items()},
}
DEFAULT_METHODS = tuple(name for name in METHODS if name not in STATSFORECAST)


def check_installed(methods: Sequence[str]) -> None:
    """Stop with one line where a method needs a package that is not here."""
    wanting = [name for name in methods if name in STATSFORECAST]
    if wanting and find_spec("statsforecast") is None:
        raise SystemExit(f"--methods {wanting[0]}: it needs statsforecast: pip install statsforecast, or leave it out.")
