"""Two classes: heart, liver and pima, a random tenth held out for each seed; how many of its rows are told wrong.

`farrier` finds which inputs matter, alone and together. `additive-classifier` has kernels of all orders of interaction
(Duvenaud et al. 2011); `subset-classifier` gives the sets of its most important order weights under a horseshoe, as in
the AAAI 2021 paper, on all rows and without inducing points. Three methods of scikit-learn stand beside them. A run
that is already in the lines is skipped.

`sets-classifier` and `free-sets-classifier` are the paper's two columns by the paper's algorithm. The order is the
printed one. The paper says that the rows are split at random; its authors' program draws one split for all ten runs
(scikit-learn's `train_test_split`, random state 123). These two methods are run by the program, where the split is
fixed and the seed is that of the starting values and minibatches, and with `--random-splits` by the text, where the
seed draws the split too.
"""

import argparse
import csv
from pathlib import Path
from statistics import mean
from typing import Any

import jax
import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.published import CLASSIFICATION, CLASSIFICATION_ORDERS
from benchmarks.record import Clock, Recorder, tell
from benchmarks.table_peers import class_peers
from farrier import Classifier
from farrier.baselines import BASELINES
from farrier.cli.compare import OURS
from farrier.series.scores import log_score

DESCRIPTION = "classes of three medical tables, beside the paper's numbers"
AS_PRINTED = ("sets-classifier", "free-sets-classifier")
"""Methods that are run by the protocol of the authors' program, one split and the printed order."""
PRINTED_SPLIT = 123
"""The random state of the one split of the authors' program."""
PEERS = ("logistic regression", "random forest", "gradient boosting")
"""Methods of scikit-learn (table_peers.py)."""
METHODS = (OURS, "additive-classifier", "subset-classifier", *AS_PRINTED, *PEERS)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds classification/")
    parser.add_argument("--tables", nargs="+", choices=CLASSIFICATION, default=list(CLASSIFICATION), metavar="NAME")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)), help="which rows are held out")
    parser.add_argument(
        "--random-splits", action="store_true", help="other test rows for each seed, also for the paper's two columns"
    )


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit every split with every method."""
    for name in arguments.tables:
        X, y = read(arguments.data_dir / "classification" / f"{name}.csv")
        for method in arguments.methods:
            wrong = []
            for seed in arguments.seeds:
                settings = {"table": name, "method": method}
                settings |= {"order": CLASSIFICATION_ORDERS[name]} if method in AS_PRINTED else {}
                fixed = method in AS_PRINTED and not arguments.random_splits
                settings |= {"split": "random"} if method in AS_PRINTED and not fixed else {}
                if record.done(settings, seed):
                    continue
                train, test = printed_split(len(y)) if fixed else random_split(len(y), seed)
                clock = Clock()
                chance, found = probability(settings, X[train], y[train], X[test], seed)
                p = np.clip(np.where(y[test] == 1.0, chance, 1.0 - chance), 1e-9, 1.0)
                figures = {"error": 100.0 * float(np.mean(p < 0.5)), "log_likelihood": log_score(np.log(p))}
                figures |= {"fit_seconds": clock.read()["wall_seconds"], "found": found}
                record.add(settings, seed, figures, clock)
                wrong.append(figures["error"])
                tell(f"{name}, {method}, seed {seed}: {wrong[-1]:.1f} % wrong, {figures['fit_seconds']:.0f} s, {found}")
            if wrong:
                tell(f"{name}, {method}: {mean(wrong):.2f} % wrong over {len(wrong)} splits, {said(name)}")


def printed_split(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to test on in the authors' program."""
    train, test = train_test_split(np.arange(rows), test_size=0.1, random_state=PRINTED_SPLIT)
    return np.asarray(train), np.asarray(test)


def random_split(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on, and a random tenth to test on."""
    order = np.random.default_rng(seed).permutation(rows)
    return order[rows // 10 :], order[: rows // 10]


def probability(
    settings: dict[str, Any], X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int
) -> tuple[np.ndarray, str]:
    """P(y = 1) of new rows, and what was found."""
    method = settings["method"]
    if method == OURS:
        model = Classifier(random_state=seed).fit(X, y)
        return model.predict_proba(X_new)[:, 1], " + ".join(kernel.formula() for kernel in model.pool_)
    if method in PEERS:
        return class_peers(seed)[method].fit(X, y).predict_proba(X_new)[:, 1], ""
    with jax.enable_x64(True):
        chosen = {"order": settings["order"]} if method in AS_PRINTED else {}
        baseline = BASELINES[method](seed=seed, **chosen).fit(X, y)
        return baseline.predict(X_new)[0], f"order {baseline.order_}"


def said(name: str) -> str:
    """The published numbers."""
    return ", ".join(f"{who} {value:g}" for who, value in CLASSIFICATION[name].items())


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and the class as 0 or 1."""
    with path.open() as file:
        table = np.array(list(csv.reader(file))[1:], float)
    return table[:, :-1], (table[:, -1] == table[:, -1].max()).astype(float)
