"""Series a second: many monthly series by the worker processes of the command line, by joblib and by Dask.

The series are made, with the lengths of M1's monthly series. A rate is that of the clock on the wall, and depends on
what else the machine does; `per_processor` is the number of series a processor second, which does not, where it can be
measured. Every way is warmed up first, so that starting processes and loading libraries do not count. Dask and AutoETS
of statsforecast, in one process, run where they are installed.
"""

import argparse
import os
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.record import Clock, Recorder, tell
from farrier import Forecaster, fleet
from farrier.fleet.one_series import Job, Plan
from farrier.fleet.pool import Pool
from farrier.series.auto_ets import auto_ets

DESCRIPTION = "series a second for many monthly series: workers, joblib, Dask, AutoETS"
SHORTEST, LONGEST = 48, 132
"""Rows of a series; those of M1's monthly series without the 18 that are forecast reach from 30 to 132."""
HORIZON = 18
"""Steps ahead, as in M1."""
WAYS = ("workers", "joblib", "dask", "AutoETS")
COLUMNS = {"id": "shop", "time": "month", "target": "sales"}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--series", type=int, default=2000, help="number of series")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="numbers of processes")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="data")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Measure every way with every number of processes."""
    for seed in arguments.seeds:
        rows = made(arguments.series, seed)
        for way in filter(_possible, arguments.ways):
            for workers in arguments.workers if way != "AutoETS" else [1]:
                clock = Clock()
                seconds, processor = MEASURES[way](rows, workers)
                figures = {"series": len(rows), "a_second": round(len(rows) / seconds, 3)}
                figures |= {"per_processor": round(len(rows) / processor, 3)} if processor else {}
                figures |= {"load": round(os.getloadavg()[0], 1)}
                named = {"way": way, "workers": workers}
                record.add(named, seed, figures, clock, ("joblib", "dask", "statsforecast"))
                tell(f"{way}, {workers} workers: {figures}")


Taken = tuple[float, float | None]
"""Seconds on the wall, and of processors if they are known."""
Rows = list[tuple[str, np.ndarray, np.ndarray]]
"""Names, months and values."""


def made(count: int, seed: int) -> Rows:
    """Series with a trend, a season and a random walk, of the lengths of M1's."""
    found = []
    for i in range(count):
        generator = np.random.default_rng([seed, i])
        n = int(generator.integers(SHORTEST, LONGEST + 1))
        t = np.arange(n)
        season = generator.normal(size=12)[t % 12] * generator.uniform(0.0, 15.0)
        y = 100 + generator.normal() * t + season + np.cumsum(generator.normal(size=n)) + 3 * generator.normal(size=n)
        found.append((f"s{i:05d}", (np.datetime64("1980-01", "M") + t).astype("M8[us]"), y))
    return found


def _possible(way: str) -> bool:
    return {"dask": find_spec("distributed") is not None, "AutoETS": auto_ets() is not None}.get(way, True)


def by_workers(rows: Rows, workers: int) -> Taken:
    """Seconds and processor seconds of the pool of the command line; the first series of each worker do not count."""
    plan = Plan.of(time="month", target="sales", horizon=HORIZON, levels=(80, 95), settings={})
    warm, used, ends = 2 * workers, {}, []
    with Pool(plan, workers) as pool:
        for outcome in pool.run(Job(*each) for each in [*rows[:warm], *rows]):
            assert outcome.error is None, outcome.error
            ends.append(time.perf_counter())
            if len(ends) in (warm, warm + len(rows)):
                used[len(ends)] = sum(map(_processor_seconds, pool.processes))
    return ends[-1] - ends[warm - 1], used[warm + len(rows)] - used[warm]


def by_joblib(rows: Rows, workers: int) -> Taken:
    """Seconds of a `Forecaster` and its forecast, by local processes if there are several workers."""
    forecaster = Forecaster(n_jobs=workers)
    forecaster.fit(_frame(rows[: 2 * workers]), **COLUMNS)
    seconds, processor = _timed(lambda: forecaster.fit(_frame(rows), **COLUMNS).forecast(HORIZON))
    return seconds, processor if workers == 1 else None


def by_dask(rows: Rows, workers: int) -> Taken:
    """Seconds of `farrier.fleet.forecast` on the partitions of a frame on a local cluster."""
    distributed, dask = import_module("distributed"), import_module("dask.dataframe")
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    named = {**COLUMNS, "horizon": HORIZON}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):

        def compute(some: Rows) -> None:
            parts = [dask.from_pandas(_pandas(some[i::10]), npartitions=1) for i in range(min(10, len(some)))]
            schema = fleet.forecast(_pandas(some[:1]).iloc[:0], **named)
            dask.concat(parts).map_partitions(fleet.forecast, **named, meta=schema).compute()

        compute(rows[: 2 * workers])
        seconds, _ = _timed(lambda: compute(rows))
    return seconds, None


def by_auto_ets(rows: Rows, workers: int) -> Taken:
    """Seconds of AutoETS, one series after the other."""
    forecast = auto_ets()
    assert forecast is not None
    forecast(rows[0][2], 12, HORIZON)
    return _timed(lambda: [forecast(y, 12, HORIZON) for _, _, y in rows])


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    begin, before = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin, time.process_time() - before


def _processor_seconds(pid: int) -> float:
    """The processor seconds of a process, as Linux counts them."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _columns(rows: Rows) -> dict[str, object]:
    ids = [name for name, _, y in rows for _ in range(len(y))]
    stamps, values = (np.concatenate([each[k] for each in rows]) for k in (1, 2))
    return {"shop": ids, "month": stamps, "sales": values}


def _frame(rows: Rows) -> object:
    return import_module("polars").DataFrame(_columns(rows))


def _pandas(rows: Rows) -> object:
    return import_module("pandas").DataFrame(_columns(rows))


MEASURES = {"workers": by_workers, "joblib": by_joblib, "dask": by_dask, "AutoETS": by_auto_ets}
