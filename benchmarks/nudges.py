"""How firm a forecast is: the training values are changed in their ninth digit, and the error is looked at again.

A search compares structures, and where two are nearly as likely the last digits of an evaluation decide which one is
kept. Whoever compares two errors should know how much of the difference is that.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.published import TIMESERIES, TIMESERIES_ROWS
from benchmarks.record import Clock, Recorder, tell
from benchmarks.timeseries import read_series
from farrier import Regressor
from farrier.model.scores import rmse
from farrier.series.calendar import TimeAxis

DESCRIPTION = "forecasts of the last tenth of some series whose values were changed in the ninth digit"
NUDGE = 1e-9


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds timeseries/")
    some = ["airline", "call_centre", "radio"]
    parser.add_argument("--series", nargs="+", choices=TIMESERIES, default=some, metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)), help="of the changes")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit and forecast each series as often as there are seeds."""
    for name in arguments.series:
        x, y = read_series(arguments.data_dir / "timeseries" / f"{name}.csv")
        rows = TIMESERIES_ROWS[name]
        periods = TimeAxis.of(x[:rows], "time").calendar_periods()
        for seed in arguments.seeds:
            if record.done({"series": name}, seed):
                continue
            clock = Clock()
            nudged = y[:rows] * (1.0 + NUDGE * np.random.default_rng(seed).standard_normal(rows))
            mean = Regressor(periods=periods).fit(x[:rows, None], nudged).predict(x[rows:, None])
            error = rmse(y[rows:], mean)
            record.add({"series": name}, seed, {"rmse": error, "ratio": error / TIMESERIES[name]}, clock)
            tell(f"{name}, seed {seed}: RMSE {error:.4g}, {error / TIMESERIES[name]:.2f} of the best published")
