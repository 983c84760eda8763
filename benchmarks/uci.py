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
from benchmarks.record import Clock, Recorder, tell
from benchmarks.timeseries import score
from farrier.regressor import Regressor

DESCRIPTION = "extrapolation on six UCI tables, beside the paper's numbers"
FIFTEENTH = 1.0 / 15.0


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds regression/")
    parser.add_argument("--tables", nargs="+", choices=UCI, default=list(UCI), metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="Farrier is not random: one is enough")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit each table on the inner rows and predict the outer ones."""
    for name in arguments.tables:
        X, y = read_table(arguments.data_dir / "regression" / f"{name}.csv")
        train, test = split(X)
        varies = np.ptp(X[train], axis=0) > 0
        for seed in arguments.seeds:
            clock = Clock()
            model = Regressor(random_state=seed).fit(X[train][:, varies], y[train])
            seconds = clock.read()["wall_seconds"]
            figures = score(model, X[test][:, varies], y[test])
            figures |= {"fit_seconds": seconds, "tier": model.tier_, "scale": model.transform_}
            figures |= {f"published {who}": list(numbers) for who, numbers in UCI[name].items()}
            figures |= {"paper_rmse": UCI[name]["paper"][0], "paper_log_likelihood": UCI[name]["paper"][1]}
            figures["found"] = " + ".join(kernel.formula() for kernel in model.pool_)
            record.add({"table": name, "rows": len(train)}, seed, figures, clock)
            tell(
                f"{name}: RMSE {figures['rmse']:.3g} (paper {UCI[name]['paper'][0]:g}), log-likelihood "
                f"{figures['log_likelihood']:.3g} ({UCI[name]['paper'][1]:g}), {seconds:.0f} s, {figures['found']}"
            )


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
