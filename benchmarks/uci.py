"""Extrapolation on UCI tables, by the paper's protocol.

The rows are projected on the first principal component of the standardised inputs; the lowest and the highest
fifteenth are the test rows. The split is the same for every seed; what a seed changes is said by each method. Figures
are in units of y.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from benchmarks.published import UCI
from benchmarks.record import Recorder
from benchmarks.trials import add_options, run_methods

DESCRIPTION = "extrapolation on six UCI tables, beside the paper's numbers"
FIFTEENTH = 1.0 / 15.0


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds regression/")
    parser.add_argument("--tables", nargs="+", choices=UCI, default=list(UCI), metavar="NAME")
    add_options(parser)


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit each table on the inner rows and predict the outer ones."""
    for name in arguments.tables:
        X, y = read_table(arguments.data_dir / "regression" / f"{name}.csv")
        run_methods(arguments, record, {"table": name}, (X, y), split(X))


def split(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to test on: the two ends of the first principal component."""
    varies = X.std(axis=0) > 0
    Z = (X[:, varies] - X[:, varies].mean(axis=0)) / X[:, varies].std(axis=0)
    direction = np.linalg.svd(Z, full_matrices=False)[2][0]
    order = np.argsort(Z @ direction, kind="stable")
    ends = round(FIFTEENTH * len(X))
    return np.sort(order[ends : len(X) - ends]), np.sort(np.concatenate([order[:ends], order[len(X) - ends :]]))


def read_table(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and the target, which is the last column."""
    with path.open() as file:
        table = np.array(list(csv.reader(file))[1:], float)
    return table[:, :-1], table[:, -1]
