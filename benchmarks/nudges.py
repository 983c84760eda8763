"""How firm a forecast is: it may hang neither on units and the order of rows nor on the ninth digit of y.

A fit compares scales of y, and what its rows show. Where two are nearly as likely, the last digits of an evaluation
could decide which one is kept. Each series is forecast as it is, and with each change; the difference of the medians is
counted in standard deviations of the forecast.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from benchmarks.competition_data import SETS, chosen, read_set
from benchmarks.record import Clock, Recorder, tell
from farrier import Forecaster

DESCRIPTION = "forecasts of series in other units, in another order of rows, and with another ninth digit"
LIMIT = 0.02
"""Standard deviations by which a forecast may move."""
UNIT = 453.59237
"""Another unit of y; a pound in grams is no power of two or ten."""
Rows = tuple[np.ndarray, np.ndarray]
LEVELS = 0.5, 0.1, 0.9


def in_other_units(times: np.ndarray, y: np.ndarray, generator: np.random.Generator) -> Rows:
    """The rows with y in another unit."""
    return times, UNIT * y


def in_another_order(times: np.ndarray, y: np.ndarray, generator: np.random.Generator) -> Rows:
    """The rows in random order."""
    order = generator.permutation(len(y))
    return times[order], y[order]


def with_another_ninth_digit(times: np.ndarray, y: np.ndarray, generator: np.random.Generator) -> Rows:
    """The rows with values changed by parts of 1e-9."""
    return times, y * (1.0 + 1e-9 * generator.standard_normal(len(y)))


CHANGES: dict[str, tuple[Callable[[np.ndarray, np.ndarray, np.random.Generator], Rows], float]] = {
    "units": (in_other_units, UNIT),
    "order": (in_another_order, 1.0),
    "ninth digit": (with_another_ninth_digit, 1.0),
}
"""How rows are changed, and by what that multiplies a forecast."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds forecast/")
    some = ["m1_yearly", "m1_quarterly", "m1_monthly"]
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=some, metavar="SET")
    parser.add_argument("--series", type=int, default=10, metavar="N", help="a sample of N series of each set")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Forecast each series as it is and with each change; what is in the record is not run again."""
    found: dict[str, list[float]] = {name: [] for name in CHANGES}
    for name in arguments.sets:
        times = SETS[name].stamps
        for series in chosen(read_set(arguments.data_dir, name), "report", arguments.series):
            settings = {"set": name, "series": series.name}
            if record.done(settings, 0):
                continue
            clock = Clock()
            stamps = np.asarray(times(len(series.past)))
            figures = measure(stamps, series.past, len(series.ahead))
            record.add(settings, 0, figures, clock)
            for change, apart in figures.items():
                found[change].append(apart)
            tell(f"{name} {series.name}: " + ", ".join(f"{key} {apart:.2g}" for key, apart in figures.items()))
    for change, apart in found.items():
        if apart:
            inside = sum(one <= LIMIT for one in apart)
            print(f"{change}: within {LIMIT} sd for {inside} of {len(apart)} series, at most {max(apart):.2g} sd")


def measure(times: np.ndarray, y: np.ndarray, horizon: int) -> dict[str, float]:
    """How far each change moves the median of a forecast, at most, in standard deviations."""
    middle, low, high = forecast(times, y, horizon)
    sd = (high - low) / float(ndtri(LEVELS[2]) - ndtri(LEVELS[1]))
    apart = {}
    for change, (changed, factor) in CHANGES.items():
        again, _, _ = forecast(*changed(times, y, np.random.default_rng(0)), horizon)
        apart[change] = float(np.max(np.abs(again / factor - middle) / sd))
    return apart


def forecast(times: np.ndarray, y: np.ndarray, horizon: int) -> np.ndarray:
    """The quantiles of the next values, (levels, horizon)."""
    found = Forecaster().fit(times, y).predict_quantiles(horizon, LEVELS)
    return np.array([found[f"quantile_{level}"] for level in LEVELS])
