"""Hourly load of zone 1 of GEFCom 2012, 38,070 rows: a tenth, drawn at random, is filled in from the others.

y is standardised, so that errors are parts of its standard deviation. `--rows` takes the first rows only.
"""

import argparse
import csv
import gzip
from pathlib import Path

import numpy as np

from benchmarks.record import Recorder
from benchmarks.trials import add_options, run_methods

PERIODS = (1.0, 7.0, 365.2425)
"""What people know of load: days, weeks, years."""
KEPT = 300
"""Test rows whose predictions are kept for the picture: about four months."""
DESCRIPTION = "hourly load, a tenth of 38,070 rows filled in"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds timeseries/")
    parser.add_argument("--rows", type=int, default=None, help="the first rows only")
    add_options(parser)


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fill in with each method."""
    x, y = read(arguments.data_dir / "timeseries" / "gefcom.csv.gz")
    x, y = x[: arguments.rows], y[: arguments.rows]
    train, test = split(len(y))
    y = (y - y[train].mean()) / y[train].std()
    settings = {"zone": 1, "rows": len(y)}
    run_methods(arguments, record, settings, (x[:, None], y), (train, test), PERIODS, KEPT)


def split(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to fill in, drawn once."""
    order = np.random.default_rng(0).permutation(rows)
    return np.sort(order[rows // 10 :]), np.sort(order[: rows // 10])


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Days and the load of zone 1."""
    with gzip.open(path, "rt") as file:
        rows = list(csv.reader(file))
    columns = [rows[0].index(name) for name in ("time_days", "zone1")]
    table = np.array([[float(row[c]) for c in columns] for row in rows[1:] if row[columns[1]]])
    return table[:, 0], table[:, 1]
