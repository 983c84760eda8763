"""Forecasts of public series beside the forecasters that people use: ARIMA, exponential smoothing, Theta, naive ones.

The series come with statsmodels and pmdarima: the economy of the United States and of Denmark, interest and inflation,
rivers, sunspots, the sea, beer, wine, wool, a heart, the lynx. Of a long one the last 360 values are taken. Each is cut
twice: the first 80 % and the first 90 % train, the tenth after them is forecast as a whole. ARIMA is pmdarima's
`auto_arima`; the form of exponential smoothing (errors, trend, damping, season) is chosen by AICc.

What these series taught was how wrong lynx and sunspots were (search/enriching.py and evidence.py); the numbers
of both come from other series.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.record import Clock, Recorder, read, tell, version_of
from farrier import Forecaster
from farrier.series.scores import coverage, rmse

DESCRIPTION = "forecasts of public series beside auto-ARIMA, exponential smoothing, Theta and naive ones"
OURS = "farrier"
CUTS = (0.8, 0.9)
AHEAD = 0.1
LONGEST, SHORTEST = 360, 45
ECONOMY = ("realgdp", "realcons", "realinv", "realgovt", "realdpi", "cpi", "m1", "tbilrate", "unemp", "pop", "infl")
ASSORTED = {"ausbeer": 4, "austres": 4, "heartrate": 1, "lynx": 1, "wineind": 12, "woolyrnq": 4, "sunspots": 12}
"""pmdarima's series, and how many values are a year, or one where nothing is."""

Forecast = tuple[np.ndarray, np.ndarray | None, np.ndarray | None]
"""The mean, and the ends of the 95 % interval where there is one."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Forecast each series by each method."""
    warnings.simplefilter("ignore")
    for (name, (y, season)), cut, method in product(series().items(), CUTS, arguments.methods):
        settings = {"series": name, "cut": cut, "method": method}
        if record.done(settings, 0):
            continue
        clock = Clock()
        first, last = round(cut * len(y)), round((cut + AHEAD) * len(y))
        mean, low, high = METHODS[method](y[:first], season, last - first)
        ahead = y[first:last]
        figures = {"rmse": rmse(ahead, mean)}
        if low is not None and high is not None:
            figures["coverage"] = coverage(ahead, low, high)
        record.add(settings, 0, figures, clock, packages=("statsmodels", "pmdarima"))
        tell(f"{name} at {cut:.0%}, {method}: {figures}")
    print(summary(record.folder / f"{record.suite}.jsonl"))


def series() -> dict[str, tuple[np.ndarray, int]]:
    """All series by name, each with the length of its season."""
    import pmdarima.datasets
    from statsmodels import datasets

    found: dict[str, tuple[Any, int]] = {}
    economy = datasets.macrodata.load_pandas().data
    found |= {f"united states: {name}": (economy[name], 4) for name in ECONOMY}
    rates = datasets.interest_inflation.load_pandas().data
    found |= {f"germany: {name}": (rates[name], 4) for name in ("Dp", "R")}
    denmark = datasets.danish_data.load_pandas().data
    found |= {f"denmark: {name}": (denmark[name], 4) for name in ("lrm", "lry", "lpy", "ibo", "ide")}
    found["nile"] = datasets.nile.load_pandas().data["volume"], 1
    found["sunspots by year"] = datasets.sunspots.load_pandas().data["SUNACTIVITY"], 1
    found["sea"] = datasets.elnino.load_pandas().data.iloc[:, 1:].to_numpy().ravel(), 12
    found |= {name: (getattr(pmdarima.datasets, f"load_{name}")(), season) for name, season in ASSORTED.items()}
    clean = {name: (np.asarray(y, float).ravel(), season) for name, (y, season) in found.items()}
    clean = {name: (y[np.isfinite(y)][-LONGEST:], season) for name, (y, season) in clean.items()}
    return {name: (y, season) for name, (y, season) in clean.items() if len(y) >= SHORTEST}


def farrier(y: np.ndarray, season: int, horizon: int) -> Forecast:
    """Ours, with the defaults; a value without a season is one of a year."""
    months = np.datetime64("1900-01", "M") + 12 // season * np.arange(len(y))
    ahead = Forecaster().fit(months, y).forecast(horizon, levels=(95,))
    return ahead["mean"], ahead["low_95"], ahead["high_95"]


def arima(y: np.ndarray, season: int, horizon: int) -> Forecast:
    """auto_arima with its defaults, and the season."""
    from pmdarima import auto_arima

    model = auto_arima(y, m=season, seasonal=season > 1, suppress_warnings=True, error_action="ignore")
    mean, ends = model.predict(horizon, return_conf_int=True, alpha=0.05)
    return np.asarray(mean), ends[:, 0], ends[:, 1]


def smoothing(y: np.ndarray, season: int, horizon: int) -> Forecast:
    """Exponential smoothing of the form that AICc prefers."""
    fits = [fitted for fitted in _smoothings(y, season) if np.isfinite(fitted.aicc)]
    best = min(fits, key=lambda fitted: fitted.aicc)
    frame = best.get_prediction(start=len(y), end=len(y) + horizon - 1, rng=0).summary_frame(alpha=0.05)
    return frame["mean"].to_numpy(), frame["pi_lower"].to_numpy(), frame["pi_upper"].to_numpy()


def _smoothings(y: np.ndarray, season: int) -> Iterator[Any]:
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    kinds = ("add", "mul") if y.min() > 0 else ("add",)
    seasons = (None, *kinds) if season > 1 else (None,)
    for error, (trend, damped), kind in product(kinds, ((None, False), ("add", False), ("add", True)), seasons):
        model = ETSModel(
            pd.Series(y), error, trend, damped_trend=damped, seasonal=kind, seasonal_periods=season if kind else None
        )
        try:
            yield model.fit(disp=False, maxiter=200)
        except (ValueError, ZeroDivisionError, np.linalg.LinAlgError):
            continue  # this form does not fit these values


def theta(y: np.ndarray, season: int, horizon: int) -> Forecast:
    """statsmodels' Theta."""
    from statsmodels.tsa.forecasting.theta import ThetaModel

    fitted = ThetaModel(y, period=season if season > 1 else None, deseasonalize=season > 1).fit()
    ends = fitted.prediction_intervals(horizon, alpha=0.05).to_numpy()
    return np.asarray(fitted.forecast(horizon)), ends[:, 0], ends[:, 1]


def naive(y: np.ndarray, season: int, horizon: int) -> Forecast:
    """The last value."""
    return np.full(horizon, y[-1]), None, None


def seasonal_naive(y: np.ndarray, season: int, horizon: int) -> Forecast:
    """The last season again."""
    return y[-season:][np.arange(horizon) % season], None, None


METHODS: dict[str, Callable[[np.ndarray, int, int], Forecast]] = {
    OURS: farrier,
    "auto-arima": arima,
    "exponential smoothing": smoothing,
    "theta": theta,
    "seasonal naive": seasonal_naive,
    "naive": naive,
}


def summary(path: Path) -> str:
    """Markdown: the error of each method over ours, how often ours is smaller, coverage, seconds."""
    found: dict[str, dict[tuple[str, float], dict[str, Any]]] = {}
    lines: dict[str, list[dict[str, Any]]] = {}
    for line in read(path):
        settings = line["settings"]
        lines.setdefault(settings["method"], []).append(line)
        figures = {**line["figures"], "seconds": line["wall_seconds"]}
        found.setdefault(settings["method"], {})[settings["series"], settings["cut"]] = figures
    rows = [
        "| method | error over farrier's, geometric mean | median | farrier's is smaller | 95 % interval holds "
        "| seconds a series | version |",
        "|---|---|---|---|---|---|---|",
    ]
    for method, forecasts in found.items():
        both = [case for case in forecasts if case in found.get(OURS, {})]
        pairs = np.array([[forecasts[case]["rmse"], found[OURS][case]["rmse"]] for case in both])
        ratio = pairs[:, 0] / pairs[:, 1]
        # a forecast without error has no logarithm: it counts as a hundredth
        mean = np.exp(np.mean(np.log(np.maximum(ratio, 0.01))))
        covered = [one["coverage"] for one in forecasts.values() if "coverage" in one]
        smaller = "" if method == OURS else f"{100.0 * np.mean(ratio > 1.0):.0f} % of {len(both)}"
        rows.append(
            f"| {method} | {mean:.2f} | {np.median(ratio):.2f} | {smaller} | "
            f"{f'{100.0 * np.mean(covered):.0f} %' if covered else ''} | "
            f"{np.median([one['seconds'] for one in forecasts.values()]):.1f} | {version_of(lines[method])} |"
        )
    return "\n".join(rows)
