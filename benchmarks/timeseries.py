"""Forecasts of six series: the first nine tenths train, the last tenth is forecast as a whole.

One setting for all: `Regressor()`. The published number beside ours is the best of nine methods for each series, so a
ratio of one is as good as the best of them. Nothing was tuned on test rows: choices between variants of the search were
made on splits inside the training rows.
"""

import argparse
import csv
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.published import TIMESERIES, TIMESERIES_ROWS
from benchmarks.record import Clock, Recorder, tell
from farrier.regressor import Regressor

DESCRIPTION = "forecasts of the last tenth of six series, beside the best of nine published methods"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds timeseries/")
    parser.add_argument("--series", nargs="+", choices=TIMESERIES, default=list(TIMESERIES), metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="nothing is random: one is enough")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit and forecast each series."""
    ratios, inside, points = [], 0, 0
    for name in arguments.series:
        for seed in arguments.seeds:
            x, y = read_series(arguments.data_dir / "timeseries" / f"{name}.csv")
            rows = TIMESERIES_ROWS[name]
            clock = Clock()
            model = Regressor(random_state=seed).fit(x[:rows, None], y[:rows])
            seconds = clock.read()["wall_seconds"]
            figures = score(model, x[rows:, None], y[rows:])
            figures |= {
                "ratio": figures["rmse"] / TIMESERIES[name],
                "published": TIMESERIES[name],
                "fit_seconds": seconds,
            }
            figures |= {"scale": model.transform_, "found": " + ".join(kernel.formula() for kernel in model.pool_)}
            record.add({"series": name, "rows": rows}, seed, figures, clock)
            ratios.append(figures["ratio"])
            inside += round(figures["coverage"] * len(y[rows:]))
            points += len(y[rows:])
            tell(
                f"{name}: RMSE {figures['rmse']:.4g}, {figures['ratio']:.2f} of the best published, coverage "
                f"{figures['coverage']:.0%}, {seconds:.1f} s, {figures['scale']}: {figures['found']}"
            )
    covered = f"{inside / points:.1%} of {points} points covered"
    tell(f"median ratio {median(ratios):.2f}, largest {max(ratios):.2f}; {covered}")


def score(model: Regressor, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Error, log-likelihood, and how much of y the 95 % intervals cover."""
    mean = model.predict(X)
    low, high = model.predict_quantiles(X, (0.025, 0.975)).T
    return {
        "rmse": float(np.sqrt(np.mean((mean - y) ** 2))),
        "log_likelihood": float(np.mean(model.log_density(X, y))),
        "coverage": float(np.mean((y >= low) & (y <= high))),
    }


def read_series(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The two columns of a series."""
    with path.open() as file:
        rows = list(csv.reader(file))[1:]
    table = np.array(rows, float)
    return table[:, 0], table[:, 1]
