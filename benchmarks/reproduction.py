"""The paper's algorithm on the paper's data, beside the printed numbers, with the course of its bound.

`paper` trains q(u) by natural gradients (on all rows where they are few), `paper-as-printed` by Adam like everything
else; `paper-tables` has the kernels of the authors' program for tables. Series are split as in the suite `timeseries`
(mauna400 after 360 of 400 rows), tables as in the authors' program (`uci.split_as_printed`). Every line holds the
error, the log-likelihood (also with the noise counted twice, as the authors' code has it), the bound along the steps,
and the largest weights. A run that is already in the lines is skipped. Fits run in this process, one after the other,
so that they share compiled programs.
"""

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import timeseries, uci
from benchmarks.published import TIMESERIES_ROWS, UCI
from benchmarks.record import Clock, Recorder, tell
from farrier.baselines import BASELINES
from farrier.paper.selection import FIRST_STAGE
from farrier.series.scores import coverage, gaussian_log_score, rmse

DESCRIPTION = "the paper's algorithm and its comparisons on the paper's data, with the course of the bound"
SERIES_ROWS = {"airline": TIMESERIES_ROWS["airline"], "mauna400": 360}
"""Rows to train on: the first nine tenths."""
TIED = ("energy", "yacht")
"""Tables with rows of equal projection, which stand in the order of the authors' program (`uci.split_as_printed`)."""
METHODS = (
    "paper",
    "paper-as-printed",
    "paper-tables",
    "no-prior-tables",
    "multisvgp",
    "softmax",
    "svgp-se",
    "gp-nkn",
)
AVERAGED = ("paper-tables", "no-prior-tables")
"""Methods whose runs are mixtures of several starts."""
SHOWN_STEPS = 120
"""Points of the course of a bound that are kept."""
SHOWN_WEIGHTS = 6
"""Largest weights that are kept."""
SHOWN_COMPONENTS = 3
"""Components that are drawn, as in the paper."""
SHOWN_INPUTS = 300
"""Inputs at which a series is decomposed."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    sets = (*SERIES_ROWS, *UCI)
    parser.add_argument(
        "--data-dir", type=Path, required=True, help="the folder that holds timeseries/ and regression/"
    )
    parser.add_argument("--sets", nargs="+", choices=sets, default=list(SERIES_ROWS), metavar="NAME")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["paper"], metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of starting values and minibatches")
    parser.add_argument("--steps", type=int, default=None, help="of training; None takes those of the method")
    parser.add_argument("--points", type=int, default=None, help="inducing points a kernel; None: as the method has")
    parser.add_argument("--rate", type=float, default=None, help="the step size of Adam; None: as the method has")
    parser.add_argument("--staged", action="store_true", help="shrunk kernels leave after a first stage (method paper)")
    parser.add_argument("--starts", type=int, default=1, help="starting values trained together, best by the bound")
    parser.add_argument(
        "--initialisation", choices=["both", "authors"], default="both", help="of the paper's 24 kernels"
    )
    parser.add_argument("--members", type=int, default=None, help="starts that are averaged (methods for tables)")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Every method on every set, for every seed."""
    for name in arguments.sets:
        X, y, train, test = rows_of(name, arguments.data_dir)
        for method in arguments.methods:
            for seed in arguments.seeds:
                settings = {"set": name, "method": method}
                given = {"steps": arguments.steps, "points": arguments.points, "rate": arguments.rate}
                given |= {"members": arguments.members} if method in AVERAGED else {}
                given |= {"initialisation": "authors"} if arguments.initialisation == "authors" else {}
                settings |= {word: value for word, value in given.items() if value is not None}
                settings |= {"ties": "as printed"} if name in TIED else {}
                settings |= {"starts": arguments.starts} if arguments.starts > 1 else {}
                settings |= {"staged": True} if arguments.staged and method == "paper" else {}
                if record.done(settings, seed):
                    continue
                clock = Clock()
                figures = measure(settings, seed, (X[train], y[train]), (X[test], y[test]))
                record.add(settings, seed, figures, clock)
                said = ", ".join(f"{word} {figures[word]:.4g}" for word in ("rmse", "log_likelihood"))
                tell(f"{settings}, seed {seed}: {said}, {figures['fit_seconds']:.0f} s")


def rows_of(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, target, rows to train on and rows to test on."""
    if name in SERIES_ROWS:
        x, y = timeseries.read_series(folder / "timeseries" / f"{name}.csv")
        rows = np.arange(len(y))
        return x[:, None], y, rows[: SERIES_ROWS[name]], rows[SERIES_ROWS[name] :]
    X, y = uci.read_table(folder / "regression" / f"{name}.csv")
    return X, y, *uci.split_as_printed(X)


def measure(
    settings: dict[str, Any], seed: int, known: tuple[np.ndarray, np.ndarray], new: tuple[np.ndarray, np.ndarray]
) -> dict[str, Any]:
    """The figures of one run."""
    words = {"steps": "iterations", "rate": "learning_rate"}
    passed = ("steps", "points", "starts", "rate", "members", "initialisation")
    chosen = {words.get(word, word): settings[word] for word in passed if word in settings}
    chosen |= {"selection": FIRST_STAGE} if settings.get("staged") else {}
    model = BASELINES[settings["method"]](seed=seed, **chosen).fit(*known)
    mean, sd = model.predict(new[0])
    figures: dict[str, Any] = {
        "rmse": rmse(new[1], mean),
        "log_likelihood": gaussian_log_score(new[1], mean, sd),
        "coverage": coverage(new[1], mean - 1.96 * sd, mean + 1.96 * sd),
        "fit_seconds": round(model.seconds, 1),
        "rows": len(known[1]),
    }
    if (noise := model.noise_variance_) is not None:
        figures["noise_twice"] = gaussian_log_score(new[1], mean, np.hypot(sd, noise**0.5))
    if settings["method"] == "gp-nkn":
        return figures
    if settings["set"] in SERIES_ROWS:
        figures["decomposition"] = decomposition(model, np.concatenate([known[0], new[0]]))
    steps, bounds = course(model.history_.starts)
    largest = np.argsort(-model.weights_)[:SHOWN_WEIGHTS]
    return figures | {
        "bound": model.elbo_,
        "steps": steps,
        "bounds": bounds,
        "weights": {f"{i} {model.pool_[i]}": float(f"{model.weights_[i]:.4g}") for i in largest},
    }


def decomposition(model: Any, X: np.ndarray) -> dict[str, Any]:
    """The forecast and the components whose means vary most, at evenly spaced inputs, for the picture."""
    x = np.linspace(X.min(), X.max(), SHOWN_INPUTS)[:, None]
    mean, sd = model.predict(x)
    means, sds = model.components(x)
    largest = np.argsort(-means.std(axis=1))[:SHOWN_COMPONENTS]

    def digits(values: np.ndarray) -> list[float]:
        return [float(f"{value:.5g}") for value in values]

    parts = [
        {
            "kernel": model.pool_[i],
            "weight": float(f"{model.weights_[i]:.3g}"),
            "mean": digits(means[i]),
            "sd": digits(sds[i]),
        }
        for i in largest
    ]
    return {"x": [round(float(value), 4) for value in x[:, 0]], "mean": digits(mean), "sd": digits(sd), "parts": parts}


def course(bounds: np.ndarray) -> tuple[list[int], list[list[float | None]]]:
    """The bounds of all starts along the steps, as means over stretches of equal length; None for one that failed."""
    ends = np.unique(np.linspace(0, bounds.shape[1], SHOWN_STEPS + 1).astype(int))
    means = np.stack([bounds[:, low:high].mean(axis=1) for low, high in pairwise(ends)], axis=1)
    rounded = [[float(f"{value:.6g}") if np.isfinite(value) else None for value in one] for one in means]
    return [int(end) for end in ends[1:]], rounded
