"""Against kernels that are learned without a formula: the fixed splits of the black-box quantile kernels' authors.

Two series, two tables and three textures with a rectangle missing; inputs and targets are scaled as their authors
scaled them. The figures are the root mean square error and the mean negative log-likelihood.
"""

import argparse
import csv
import gzip
from pathlib import Path

import numpy as np

from benchmarks.published import IMPLICIT
from benchmarks.record import Recorder
from benchmarks.trials import add_options, run_methods

DESCRIPTION = "series, tables and textures of the black-box quantile kernels' paper"
FILES = {
    "CO2": "bbq_splits/co2.csv",
    "Passenger": "bbq_splits/airline.csv",
    "Concrete": "bbq_splits/concrete.csv",
    "Noise": "bbq_splits/airfoil.csv",
    "Rubber": "texture/rubber.csv",
    "Pores": "texture/pores.csv",
    "Tread": "texture/tread.csv",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds bbq_splits/ and texture/")
    parser.add_argument("--tables", nargs="+", choices=IMPLICIT, default=list(IMPLICIT), metavar="NAME")
    add_options(parser)


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit each set with each method."""
    for name in arguments.tables:
        X, y, is_train = read(arguments.data_dir / FILES[name])
        run_methods(arguments, record, {"set": name}, (X, y), (np.flatnonzero(is_train), np.flatnonzero(~is_train)))


def read(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, the target, and which rows are for training."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        rows = list(csv.reader(file))[1:]
    table = np.array([row[1:] for row in rows], float)
    return table[:, :-1], table[:, -1], np.array([row[0] == "train" for row in rows])
