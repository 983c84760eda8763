"""Tables by random tenths: Farrier beside the methods that people use for tables.

A tenth of the rows, drawn at random, is the test part; the seed of a line is that of the draw. All methods see the same
rows. Scikit-learn's methods predict a mean: their predictive distribution is a normal about it whose standard deviation
is that of their residuals in five-fold cross-validation of the training rows. EBM is measured where `interpret` is
installed, with its defaults, on one core; in the cross-validation it has fewer outer bags. A run that is already in the
JSON lines is skipped.
"""

import argparse
import resource
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import Clock, Recorder, tell
from benchmarks.table_peers import PEERS, run_peer
from benchmarks.uci import read_table
from farrier.baselines import BASELINES
from farrier.cli.compare import OURS, pack, run_apart

DESCRIPTION = "eight tables by random tenths, beside scikit-learn's methods and other Gaussian processes"
TABLES = ("yacht", "servo", "boston", "energy", "concrete", "airfoil", "wine", "kin8nm")
"""The shared regression sets, small ones first."""
GAUSSIAN_PROCESSES = ("full-gp", "gp-nkn")
"""The baselines of `farrier.baselines` that are measured too."""
METHODS = (OURS, *PEERS, *GAUSSIAN_PROCESSES)
TENTH = 0.1
"""The part of the rows that is held out."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds regression/")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), metavar="NAME")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)), help="of the splits")
    parser.add_argument("--run-limit", type=float, default=600.0, metavar="S", help="seconds for one run")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Every method on every split of every table, one split of all tables after the other."""
    for seed in arguments.seeds:
        for name in arguments.tables:
            X, y = read_table(arguments.data_dir / "regression" / f"{name}.csv")
            for method in arguments.methods:
                settings = {"table": name, "method": method}
                if record.done(settings, seed):
                    continue
                clock = Clock()
                figures = measured(method, X, y, split(len(y), seed), seed, arguments.run_limit)
                record.add(settings, seed, figures, clock, ("scikit-learn", "interpret"))
                tell(f"{name}, split {seed}, {method}: {_said(figures)}")


def split(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on, and the random tenth to test on."""
    order = np.random.default_rng(seed).permutation(rows)
    held = round(TENTH * rows)
    return np.sort(order[held:]), np.sort(order[:held])


def measured(
    method: str, X: np.ndarray, y: np.ndarray, rows: tuple[np.ndarray, np.ndarray], seed: int, limit: float
) -> dict[str, Any]:
    """The figures of one method on one split, with its seconds of the wall and of the processor."""
    train, test = rows
    if method in PEERS:
        return run_peer(method, X[train], y[train], X[test], y[test], seed)
    if method != OURS and BASELINES[method].most_rows < len(train):
        return {"left_out": f"for at most {BASELINES[method].most_rows:,} rows"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = run_apart(method, pack(X, y, train, test, ()), limit, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    figures: dict[str, Any] = {"fit_seconds": round(outcome.seconds, 2), "processor_seconds": round(used, 2)}
    if outcome.failure:
        return figures | {"failure": outcome.failure}
    figures |= {name: getattr(outcome, name) for name in ("rmse", "log_likelihood", "coverage")}
    return figures | ({"found": outcome.found} if outcome.found else {})


def _said(figures: dict[str, Any]) -> str:
    for word in ("left_out", "failure"):
        if word in figures:
            return f"{word.replace('_', ' ')}: {figures[word]}"
    return (
        f"RMSE {figures['rmse']:.4g}, log-likelihood {figures['log_likelihood']:.3g}, "
        f"coverage {100 * figures['coverage']:.0f} %, {figures['processor_seconds']:.0f} s"
    )
