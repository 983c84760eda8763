"""Extrapolation on UCI tables, by the paper's protocol.

The rows are projected on the first principal component of the inputs as they are in the file, so that the inputs with
large numbers rule it; the lowest and the highest fifteenth are the test rows (rounded down, and up). Rows of equal
projection, of which energy has many, stand in an order that was drawn once. The split is the same for every seed; what
a seed changes is said by each method. Figures are in units of y.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.published import UCI
from benchmarks.record import Recorder
from benchmarks.trials import add_options, run_methods

DESCRIPTION = "extrapolation on six UCI tables, beside the paper's numbers"
ENDS = 15
"""One row of so many is at each end."""
TIES = 9
"""Digits after which two projections are the same: the tables of designed experiments have many that are."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds regression/")
    parser.add_argument("--tables", nargs="+", choices=UCI, default=list(UCI), metavar="NAME")
    add_options(parser)


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit each table on the inner rows and predict the outer ones."""
    for name in arguments.tables:
        X, y = read_table(arguments.data_dir / "regression" / f"{name}.csv")
        run_methods(arguments, record, {"table": name, "projected": "as in the file"}, (X, y), split(X))


def split(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to test on: the two ends of the first principal component."""
    Z = X - X.mean(axis=0)
    direction = np.linalg.svd(Z, full_matrices=False)[2][0]
    # the sign of a principal component is free; here its largest entry is positive
    projection = Z @ (direction * np.sign(direction[np.argmax(np.abs(direction))]))
    drawn = np.random.default_rng(0).permutation(len(X))
    order = np.lexsort([drawn, np.round(projection / projection.std(), TIES)])
    low, high = len(X) // ENDS, -(-len(X) // ENDS)
    return np.sort(order[low : len(X) - high]), np.sort(np.concatenate([order[:low], order[len(X) - high :]]))


def split_as_printed(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same, with rows of equal projection in the order of the authors' program: scikit-learn's, then numpy's.

    Their projections differ by rounding alone, so this order is theirs up to the versions of the libraries. It matters
    for energy (19 of 103 test rows differ from those of `split`) and yacht (5 of 41); the other four sets are equal.
    """
    order = np.argsort(PCA(n_components=1).fit(X).transform(X)[:, 0])
    low, high = len(X) // ENDS, -(-len(X) // ENDS)
    return np.sort(order[low : len(X) - high]), np.sort(np.concatenate([order[:low], order[len(X) - high :]]))


def read_table(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and the target, which is the last column."""
    with path.open() as file:
        table = np.array(list(csv.reader(file))[1:], float)
    return table[:, :-1], table[:, -1]
