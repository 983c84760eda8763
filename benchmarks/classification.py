"""Two classes: heart, liver and pima, a random tenth held out for each seed; how many of its rows are told wrong.

`farrier` finds which inputs matter, alone and together. `additive-classifier` has kernels of all orders of interaction
(Duvenaud et al. 2011); `subset-classifier` gives the sets of its most important order weights under a horseshoe, as in
the AAAI 2021 paper. Three methods of scikit-learn stand beside them. A run that is already in the lines is skipped.
"""

import argparse
import csv
from pathlib import Path
from statistics import mean

import jax
import numpy as np

from benchmarks.published import CLASSIFICATION
from benchmarks.record import Clock, Recorder, tell
from benchmarks.table_peers import class_peers
from farrier import Classifier
from farrier.baselines import BASELINES
from farrier.cli.compare import OURS
from farrier.model.scores import log_score

DESCRIPTION = "classes of three medical tables, beside the paper's numbers"
PEERS = ("logistic regression", "random forest", "gradient boosting")
"""Methods of scikit-learn (table_peers.py)."""
METHODS = (OURS, "additive-classifier", "subset-classifier", *PEERS)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds classification/")
    parser.add_argument("--tables", nargs="+", choices=CLASSIFICATION, default=list(CLASSIFICATION), metavar="NAME")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)), help="which rows are held out")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit every split with every method."""
    for name in arguments.tables:
        X, y = read(arguments.data_dir / "classification" / f"{name}.csv")
        for method in arguments.methods:
            wrong = []
            for seed in arguments.seeds:
                settings = {"table": name, "method": method}
                if record.done(settings, seed):
                    continue
                order = np.random.default_rng(seed).permutation(len(y))
                test, train = order[: len(y) // 10], order[len(y) // 10 :]
                clock = Clock()
                chance, found = probability(method, X[train], y[train], X[test], seed)
                p = np.clip(np.where(y[test] == 1.0, chance, 1.0 - chance), 1e-9, 1.0)
                figures = {"error": 100.0 * float(np.mean(p < 0.5)), "log_likelihood": log_score(np.log(p))}
                figures |= {"fit_seconds": clock.read()["wall_seconds"], "found": found}
                record.add(settings, seed, figures, clock)
                wrong.append(figures["error"])
                tell(f"{name}, {method}, seed {seed}: {wrong[-1]:.1f} % wrong, {figures['fit_seconds']:.0f} s, {found}")
            if wrong:
                tell(f"{name}, {method}: {mean(wrong):.2f} % wrong over {len(wrong)} splits, {said(name)}")


def probability(method: str, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> tuple[np.ndarray, str]:
    """P(y = 1) of new rows, and what was found."""
    if method == OURS:
        model = Classifier(random_state=seed).fit(X, y)
        return model.predict_proba(X_new)[:, 1], " + ".join(kernel.formula() for kernel in model.pool_)
    if method in PEERS:
        return class_peers(seed)[method].fit(X, y).predict_proba(X_new)[:, 1], ""
    with jax.enable_x64(True):
        baseline = BASELINES[method](seed=seed).fit(X, y)
        return baseline.predict(X_new)[0], f"order {baseline.order_}"


def said(name: str) -> str:
    """The published numbers."""
    return ", ".join(f"{who} {value:g}" for who, value in CLASSIFICATION[name].items())


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and the class as 0 or 1."""
    with path.open() as file:
        table = np.array(list(csv.reader(file))[1:], float)
    return table[:, :-1], (table[:, -1] == table[:, -1].max()).astype(float)
