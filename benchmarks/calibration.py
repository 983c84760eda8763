"""Suite `calibration`: do intervals hold what they promise, and are posteriors right where the model is known?

    posteriors   simulation-based calibration of weights, noise, f and forecasts (calibration_posteriors.py)
    made         coverage of 50, 80 and 95 % intervals of forecasts, by step, over made series of eight kinds
    real         the same over series of the M competitions, of the part that no prior was learned from
    tables       the same over made tables, and over random tenths of real ones
    classes      reliability of probabilities, over made classes and random tenths of real ones

A line is one simulation, series, table or set of classes. `table calibration` shows the figures and tests.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import calibration_posteriors, calibration_series, classification
from benchmarks.calibration_table import tables
from benchmarks.competition_data import SETS, chosen, read_set
from benchmarks.record import Clock, Recorder, key, tell
from benchmarks.tables import split
from benchmarks.uci import read_table
from farrier import Classifier, Forecaster, Regressor

DESCRIPTION = "coverage of intervals by step and class, reliability of probabilities, calibration of posteriors"
LEVELS = (50, 80, 95)
"""Levels of the intervals, in per cent."""
REAL_TABLES = ("yacht", "servo", "boston", "energy", "concrete")
REAL_CLASSES = ("heart", "liver", "pima")
PARTS = ("posteriors", "made", "real", "tables", "classes")


class Task(NamedTuple):
    """One line to be measured."""

    settings: dict[str, Any]
    seed: int
    measure: Callable[[], dict[str, Any]]


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, help="the folder that holds forecast/, for the real parts")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--simulations", type=int, default=200, help="of each model of `posteriors`")
    parser.add_argument(
        "--series", type=int, default=25, help="made series of each kind; real ones: four times as many"
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS)[:3], metavar="SET", help=", ".join(SETS))
    parser.add_argument("--splits", type=int, default=4, help="made and real tables of each kind")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Measure every line that is not there yet."""
    makers = {"posteriors": _posteriors, "made": _made, "real": _real, "tables": _tables, "classes": _classes}
    done = record.all_done()
    for part in arguments.parts:
        waiting = [task for task in makers[part](arguments) if key(task.settings, task.seed) not in done]
        tell(f"{part}: {len(waiting)} to measure")
        for task in waiting:
            clock = Clock()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    figures = task.measure()
                except Exception as error:  # one series does not stop the others; its line says why
                    figures = {"failure": f"{type(error).__name__}: {error}"}
            record.add(task.settings, task.seed, figures, clock)
    path = record.folder / f"{record.suite}.jsonl"
    if path.exists():
        print(tables(path))


def _posteriors(arguments: argparse.Namespace) -> Iterator[Task]:
    for kind in calibration_posteriors.KINDS:
        for seed in range(arguments.simulations):
            settings = {"part": "posteriors", "class": kind}
            yield Task(settings, seed, lambda kind=kind, seed=seed: calibration_posteriors.simulated(kind, seed))


def _made(arguments: argparse.Namespace) -> Iterator[Task]:
    months = np.datetime64("2010-01") + np.arange(calibration_series.ROWS)
    for number, (kind, make) in enumerate(calibration_series.SERIES.items()):
        for seed in range(arguments.series):

            def measure(make: Any = make, place: Any = (seed, number)) -> dict[str, Any]:
                y = make(np.random.default_rng(place))
                return forecast(months, y[: len(months)], y[len(months) :])

            yield Task({"part": "made", "class": kind}, seed, measure)


def _real(arguments: argparse.Namespace) -> Iterator[Task]:
    for name in arguments.sets:
        for series in chosen(read_set(_data(arguments), name), "report", 4 * arguments.series):

            def measure(series: Any = series, name: str = name) -> dict[str, Any]:
                return forecast(SETS[name].stamps(len(series.past)), series.past, series.ahead)

            settings = {"part": "real", "class": name, "series": series.name}
            yield Task(settings, 0, measure)


def forecast(stamps: np.ndarray, past: np.ndarray, ahead: np.ndarray) -> dict[str, Any]:
    """For each level and step, whether the value is inside its interval."""
    found = Forecaster().fit(stamps, past).forecast(len(ahead), levels=LEVELS)
    ends = {level: (np.asarray(found[f"low_{level}"]), np.asarray(found[f"high_{level}"])) for level in LEVELS}
    return {f"inside_{level}": _inside(ahead, *both) for level, both in ends.items()}


def _inside(y: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[int]:
    return ((y >= low) & (y <= high)).astype(int).tolist()


def _tables(arguments: argparse.Namespace) -> Iterator[Task]:
    for seed in range(arguments.splits):
        for kind in calibration_series.TABLES:
            made = calibration_series.table(kind, seed)
            yield Task({"part": "tables", "class": f"made: {kind}"}, seed, lambda made=made: _of_table(*made))
        for name in REAL_TABLES if arguments.data_dir else ():
            X, y = read_table(_data(arguments) / "regression" / f"{name}.csv")
            train, test = split(len(y), seed)
            rows = X[train], y[train], X[test], y[test]
            yield Task({"part": "tables", "class": name}, seed, lambda rows=rows: _of_table(*rows))


def _of_table(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray) -> dict[str, Any]:
    """For each level, which of the new rows are inside their interval."""
    model = Regressor().fit(X, y)
    ends = [0.5 + sign * level / 200.0 for level in LEVELS for sign in (-1.0, 1.0)]
    found = model.predict_quantiles(X_new, sorted(ends))
    at = {
        level: (sorted(ends).index(ends[2 * i]), sorted(ends).index(ends[2 * i + 1])) for i, level in enumerate(LEVELS)
    }
    columns = found if found.shape[0] == len(X_new) else found.T
    return {f"inside_{level}": _inside(y_new, columns[:, a], columns[:, b]) for level, (a, b) in at.items()}


def _classes(arguments: argparse.Namespace) -> Iterator[Task]:
    for seed in range(arguments.splits):
        for kind in calibration_series.CLASSES:
            made = calibration_series.classes(kind, seed)
            yield Task({"part": "classes", "class": f"made: {kind}"}, seed, lambda made=made: _of_classes(*made))
        for name in REAL_CLASSES if arguments.data_dir else ():
            X, y = classification.read(_data(arguments) / "classification" / f"{name}.csv")
            train, test = split(len(y), seed)
            rows = X[train], y[train].astype(int), X[test], y[test].astype(int)
            yield Task({"part": "classes", "class": name}, seed, lambda rows=rows: _of_classes(*rows))


def _of_classes(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray) -> dict[str, Any]:
    """The probability of class 1 for each new row, and its class."""
    model = Classifier().fit(X, y)
    chance = model.predict_proba(X_new)[:, list(model.classes_).index(1)]
    return {"chance": np.round(chance, 5).tolist(), "is_one": (y_new == 1).astype(int).tolist()}


def _data(arguments: argparse.Namespace) -> Path:
    if arguments.data_dir is None:
        raise SystemExit("--data-dir: the real parts need it: give the folder that holds forecast/.")
    return arguments.data_dir
