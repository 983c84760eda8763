"""Forecasts of six series: the first nine tenths train, the last tenth is forecast as a whole.

One setting for all. The published number beside ours is the best of nine methods for each series, so a ratio of one is
as good as the best of them. Nothing was tuned on test rows: choices between variants of the search were made on splits
inside the training rows.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from benchmarks.published import TIMESERIES, TIMESERIES_ROWS
from benchmarks.record import Recorder
from benchmarks.trials import add_options, run_methods
from farrier.series.calendar import TimeAxis

DESCRIPTION = "forecasts of the last tenth of six series, beside the best of nine published methods"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds timeseries/")
    parser.add_argument("--series", nargs="+", choices=TIMESERIES, default=list(TIMESERIES), metavar="NAME")
    add_options(parser)


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit and forecast each series."""
    for name in arguments.series:
        x, y = read_series(arguments.data_dir / "timeseries" / f"{name}.csv")
        rows = np.arange(len(y))
        split = rows[: TIMESERIES_ROWS[name]], rows[TIMESERIES_ROWS[name] :]
        periods = TimeAxis.of(x[split[0]], "time").calendar_periods()
        run_methods(arguments, record, {"series": name}, (x[:, None], y), split, periods, len(split[1]))


def read_series(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The two columns of a series."""
    with path.open() as file:
        rows = list(csv.reader(file))[1:]
    table = np.array(rows, float)
    return table[:, 0], table[:, 1]
