"""Suite `progress`: how good is the time left that a fit shows?

A fit is watched, and at 10, 20 ... 90 % of its time the time left that it shows is divided by the true one. The data
are made, and of each kind there are several seeds. Processor time is measured, so that a busy machine does not matter.
"""

import argparse
import math
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from benchmarks.record import Clock, Recorder, tell
from farrier import Classifier, Forecaster, Regressor
from farrier.data.progress import Progress
from farrier.estimators import course

DESCRIPTION = "the estimated over the true time left of fits, while they run"
PARTS = np.arange(1, 10) / 10.0
"""Parts of the time of a fit at which the estimate is judged."""


def monthly(rng: np.random.Generator) -> Any:
    """A series of 120 months with a trend and a season."""
    t = np.arange(120)
    times = (np.datetime64("2010-01") + t).astype("M8[D]")
    return Forecaster(), times, 100.0 + t + 10.0 * np.sin(t * np.pi / 6.0) + 3.0 * rng.standard_normal(120)


def walk(rng: np.random.Generator) -> Any:
    """A random walk of 150 months."""
    times = (np.datetime64("2010-01") + np.arange(150)).astype("M8[D]")
    return Forecaster(), times, 100.0 + rng.standard_normal(150).cumsum()


def daily(rng: np.random.Generator) -> Any:
    """400 days with other weekends."""
    days = np.datetime64("2022-01-01") + np.arange(400)
    weekend = ~np.is_busday(days)
    return Forecaster(), days, 100.0 + 20.0 * weekend + 0.05 * np.arange(400) + 5.0 * rng.standard_normal(400)


def table(rng: np.random.Generator) -> Any:
    """A table of 200 rows and four inputs."""
    X = rng.uniform(-1.0, 1.0, (200, 4))
    return Regressor(), X, 2.0 * X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.1 * rng.standard_normal(200)


def classes(rng: np.random.Generator) -> Any:
    """Two classes of 200 rows and three inputs."""
    X = rng.uniform(-1.0, 1.0, (200, 3))
    return Classifier(), X, (2.0 * X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(200) > 0.3).astype(int)


KINDS: dict[str, Callable[[np.random.Generator], Any]] = {
    made.__name__: made for made in (monthly, walk, daily, table, classes)
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1], help="data of each kind")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Watch every fit once."""
    for kind in KINDS:
        for seed in arguments.seeds:
            if record.done({"kind": kind}, seed):
                continue
            clock = Clock()
            figures = measure(kind, seed)
            record.add({"kind": kind}, seed, figures, clock)
            shown = ["-" if ratio is None else f"{ratio:.1f}" for ratio in figures["ratios"]]
            tell(f"{kind} {seed}: {' '.join(shown)}")


def measure(kind: str, seed: int) -> dict[str, Any]:
    """The estimated over the true time left at each of the parts; None where there was no estimate."""
    model, X, y = KINDS[kind](np.random.default_rng(seed))
    seen: list[tuple[float, float]] = []

    def watch(progress: Progress) -> None:
        seen.append((process_time(), progress.left))

    usual, course.perf_counter = course.perf_counter, process_time
    try:
        begin = process_time()
        model.set_params(progress=watch).fit(X, y)
        end = process_time()
    finally:
        course.perf_counter = usual
    found = []
    for part in PARTS:
        now = begin + part * (end - begin)
        before = [(at, left) for at, left in seen if at <= now]
        at, left = before[-1] if before else (now, math.nan)
        found.append((left - (now - at)) / (end - now))
    known = [ratio for ratio in found if not math.isnan(ratio)]
    ratios = [None if math.isnan(ratio) else ratio for ratio in found]
    return {
        "ratios": ratios,
        "within": float(np.mean([0.5 <= ratio <= 2.0 for ratio in known])),
        "seconds": end - begin,
    }
