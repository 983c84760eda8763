"""Forecasts of the series of competitions: M1, half of M3 and of Tourism, samples of M4 weekly and hourly.

Each method sees the training rows and forecasts all test rows at once. MASE is told for the median (the headline) and
for the mean forecast; MASE and MSIS are scaled by the seasonal naive error inside the training rows (of the weekly set
the last 520). A line is one series and one method; a run that was stopped goes on where it was.

Series fall into two parts by a hash of their names: "learn" for learning priors, "report" for figures. `table` tells
them apart.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from benchmarks.competition_data import PARTS, SETS, Series, chosen, read_set
from benchmarks.competition_methods import COLUMNS, DEFAULT_METHODS, METHODS, STATSFORECAST, check_installed
from benchmarks.competition_table import tables
from benchmarks.record import Clock, Recorder, key, tell
from farrier.series.scores import coverage, mase, msis, smape

DESCRIPTION = "forecasts of the series of the M and Tourism competitions beside naive ones and statsforecast's"


class Task(NamedTuple):
    """One series of a set, for one method."""

    set: str
    series: Series
    method: str

    @property
    def settings(self) -> dict[str, Any]:
        """What names its line."""
        return {"set": self.set, "series": self.series.name, "method": self.method}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds forecast/")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help=", ".join(SETS))
    parser.add_argument("--part", choices=(*PARTS, "all"), default="report", help="which half of the series")
    parser.add_argument("--series", type=int, default=None, metavar="N", help="a sample of N series of each set")
    methods = ", ".join(METHODS)
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(DEFAULT_METHODS), metavar="NAME", help=methods
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes, with one BLAS thread each")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Forecast each series by each method that has no line for it yet."""
    check_installed(arguments.methods)
    done = record.all_done()
    tasks = [task for task in _tasks(arguments) if key(task.settings, 0) not in done]
    tell(f"{len(tasks)} forecasts to make")
    for count, (task, figures, clock) in enumerate(_results(tasks, arguments.jobs), 1):
        packages = ("statsforecast",) if task.method in STATSFORECAST else ()
        record.add(task.settings, 0, figures, clock, packages)
        seconds = clock.read()["cpu_seconds"]
        tell(f"{count} of {len(tasks)}: {' '.join(task.settings.values())}: {_said(figures)}, {seconds:.1f} s")
    path = record.folder / f"{record.suite}.jsonl"
    if path.exists():
        print(tables(path))


def _tasks(arguments: argparse.Namespace) -> Iterator[Task]:
    for name in arguments.sets:
        for series in chosen(read_set(arguments.data_dir, name), arguments.part, arguments.series):
            yield from (Task(name, series, method) for method in arguments.methods)


def _results(tasks: list[Task], jobs: int) -> Iterator[tuple[Task, dict[str, Any], Clock]]:
    """What each task gives, as soon as it is there; one job runs in this process."""
    if jobs == 1:
        for task in tasks:
            with threadpool_limits(limits=1, user_api="blas"):
                found = measure(task)
            yield found
        return
    with parallel_config(backend="loky", inner_max_num_threads=1):
        options: Any = {"n_jobs": jobs, "batch_size": 1, "return_as": "generator_unordered"}
        found: Any = Parallel(**options)(delayed(measure)(task) for task in tasks)
        yield from found


def measure(task: Task) -> tuple[Task, dict[str, Any], Clock]:
    """The figures of one forecast and its time; an error of one series does not stop the others."""
    chosen_set = SETS[task.set]
    past, ahead = task.series.past, task.series.ahead
    clock = Clock()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = METHODS[task.method](past, chosen_set.season, len(ahead), chosen_set.stamps(len(past)))
        clock.stop()
        figures = figures_of(found, past, ahead, chosen_set.season)
    except Exception as error:
        figures = {"failure": f"{type(error).__name__}: {error}"}
    return task, figures, clock.stop()


def figures_of(found: dict[str, np.ndarray], past: np.ndarray, ahead: np.ndarray, season: int) -> dict[str, float]:
    """The figures of one series; a forecast that is not finite is an error."""
    bad = [name for name in COLUMNS if not np.all(np.isfinite(found[name]))]
    if bad:
        raise ValueError(f"the forecast's {bad[0]} is not finite.")
    return {
        "mase": mase(ahead, found["median"], past, season),
        "mase_of_mean": mase(ahead, found["mean"], past, season),
        "smape": smape(ahead, found["median"]),
        "inside_80": coverage(ahead, found["low_80"], found["high_80"]),
        "inside_95": coverage(ahead, found["low_95"], found["high_95"]),
        "msis": msis(ahead, found["low_95"], found["high_95"], past, season, level=95.0),
    }


def _said(figures: dict[str, Any]) -> str:
    return figures.get("failure") or f"MASE {figures['mase']:.3f}, MSIS {figures['msis']:.1f}"
