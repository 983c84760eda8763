"""How long it takes to predict as well as the paper's algorithm does in the end.

The paper's algorithm (MultiSVGP with the horseshoe, Adam on minibatches of 128, as many steps as its authors took) is
run to its end, and its log-likelihood of the test rows is the mark. Then Farrier searches the same rows, in the same
process. Each model that it fits on its way is asked for the test rows, off the clock: `reached` is the time of the
first one that is at the mark and stays there, that is, whose successors as the best structure so far are as good;
`seconds` is the whole fit, with predictions averaged and components appraised. All seconds are those of the processor,
so that other work on the machine does not count.
"""

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks import timeseries, uci
from benchmarks.published import TIMESERIES_ROWS
from benchmarks.record import Clock, Recorder, tell
from farrier.baselines import BASELINES
from farrier.data.tables import Scale
from farrier.model.fit import fit
from farrier.model.problem import Problem
from farrier.series.calendar import TimeAxis
from farrier.series.scores import gaussian_log_score, log_score

DESCRIPTION = "seconds to the test log-likelihood that the paper's algorithm ends with"
SETS = ("airline", "mauna", "concrete")
STEPS = 30_000


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument(
        "--data-dir", type=Path, required=True, help="the folder that holds timeseries/ and regression/"
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="NAME")
    parser.add_argument("--steps", type=int, default=STEPS, help="of the paper's algorithm; its authors took 30,000")
    parser.add_argument("--points", type=int, default=50, help="inducing points of each kernel; the authors took 100")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Both methods on each set, one after the other."""
    for name in arguments.sets:
        settings = {"set": name, "steps": arguments.steps, "points": arguments.points}
        if record.done(settings, 0):
            continue
        clock = Clock()
        X, y, train, test = rows_of(name, arguments.data_dir)
        paper = BASELINES["paper"](iterations=arguments.steps, points=arguments.points, tolerance=0.0)
        begin = process_time()
        paper.fit(X[train], y[train])
        seconds = process_time() - begin
        mean, sd = paper.predict(X[test])
        mark = gaussian_log_score(y[test], mean, sd)
        tell(f"{name}: the paper's algorithm ends at {mark:.3f} after {seconds:.0f} s")
        farrier = search(X[train], y[train], X[test], y[test], mark)
        figures = {"paper_seconds": round(seconds, 1), "paper_log_likelihood": mark, **farrier}
        figures["whole_ratio"] = round(seconds / farrier["seconds"], 1)
        if farrier["reached"] is not None:
            figures["ratio"] = round(seconds / farrier["reached"], 1)
        record.add(settings, 0, figures, clock)
        tell(f"{name}: {figures}")


def rows_of(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, target, and the rows of the split that the other suites use."""
    if name in TIMESERIES_ROWS:
        x, y = timeseries.read_series(folder / "timeseries" / f"{name}.csv")
        rows = np.arange(len(y))
        return x[:, None], y, rows[: TIMESERIES_ROWS[name]], rows[TIMESERIES_ROWS[name] :]
    X, y = uci.read_table(folder / "regression" / f"{name}.csv")
    return X, y, *uci.split(X)


def search(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray, mark: float) -> dict[str, Any]:
    """Farrier's whole fit, and whether it ends at the mark."""
    scale = Scale.of(X)
    inputs, inputs_new, begin = scale.inputs(X), scale.inputs(X_new), process_time()
    if X.shape[1] == 1:
        known = [period / float(scale.x_scale[0]) for period in TimeAxis.of(X[:, 0], "time").calendar_periods()]
        learned = fit(Problem(inputs, y, seasons=known))
    else:
        learned = fit(Problem(inputs, y))
    seconds = process_time() - begin
    end = log_score(learned.log_density(inputs_new, y_new))
    return {"seconds": round(seconds, 2), "log_likelihood": end, "reached": round(seconds, 2) if end >= mark else None}
