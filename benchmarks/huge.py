"""One huge table: made rows in a Parquet file, fitted in blocks by the workers of a local Dask cluster.

The rows have eight inputs, of which three have no effect: y = 2 sin(1.5 a) + b + c^2 / 2 + sin(d) e + 0.3 noise. The
figures: seconds on the wall, processor seconds of the main process and of all workers, the largest memory of each
process, the error of the function on new rows, and how often their 95 % intervals hold. With `--kill` a worker is
killed in the middle of the fit to all rows, and the predictions must be those of the undisturbed run to the bit. With
`--kernels` these are fitted to minibatches by the paper's algorithm, instead of a search and sums over all rows.
"""

import argparse
import hashlib
import os
import resource
import signal
import tempfile
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import Clock, Recorder, tell
from farrier import out_of_core
from farrier.data.progress import Progress

DESCRIPTION = "one huge table from Parquet on a Dask cluster, also with a worker that is killed"
INPUTS = tuple("abcdefgh")
NOISE = 0.3
"""Standard deviation of the noise."""
NEW = 5000
"""New rows on which the predictions are judged."""
AT_ONCE = 250_000
"""Rows that are made and written at once, a row group."""
AFTER = 5.0
"""Seconds after the first step of the fit to all rows, when a worker is killed."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000], help="numbers of rows")
    parser.add_argument("--workers", type=int, default=2, help="worker processes")
    parser.add_argument("--kill", action="store_true", help="run again, and kill a worker in the middle")
    parser.add_argument("--kernels", nargs="+", metavar="FORMULA", help="fit these by the paper's algorithm")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="data")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit every number of rows, undisturbed and disturbed."""
    for seed in arguments.seeds:
        for rows in arguments.rows:
            for killed in (False, True) if arguments.kill else (False,):
                clock = Clock()
                own = {"kernels": arguments.kernels, "method": "stochastic"} if arguments.kernels else {}
                figures = measured(rows, seed, arguments.workers, own, killed=killed)
                settings = {"rows": rows, "inputs": len(INPUTS), "workers": arguments.workers, "killed": killed} | own
                record.add(settings, seed, figures, clock, ("dask", "distributed", "pyarrow"))
                tell(f"{settings}: {figures}")


def function(X: np.ndarray) -> np.ndarray:
    """The function without noise."""
    a, b, c, d, e, *_ = X.T
    return 2.0 * np.sin(1.5 * a) + b + 0.5 * c**2 + np.sin(d) * e


def write(path: Path, rows: int, seed: int) -> None:
    """A Parquet file of made rows, a row group at a time."""
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in (*INPUTS, "y")])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, AT_ONCE):
            generator = np.random.default_rng([seed, start])
            X = generator.normal(size=(min(AT_ONCE, rows - start), len(INPUTS)))
            y = function(X) + NOISE * generator.normal(size=len(X))
            writer.write_table(pyarrow.table({**dict(zip(INPUTS, X.T, strict=True)), "y": y}, schema))


def measured(rows: int, seed: int, workers: int, settings: dict[str, Any], *, killed: bool) -> dict[str, Any]:
    """The figures of one fit with some settings of the estimator."""
    distributed, pyarrow = import_module("distributed"), import_module("pyarrow")
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with tempfile.TemporaryDirectory() as folder, distributed.LocalCluster(**options) as cluster:
        path = Path(folder) / "rows.parquet"
        write(path, rows, seed)
        with distributed.Client(cluster) as client:
            before, clock = _used(client), Clock()
            progress = _Watch(cluster) if killed else None
            model = out_of_core.fit(path, "y", client=client, progress=progress, **settings)
            clock.stop()
            after = _used(client)
        generator = np.random.default_rng([seed, rows, 1])
        X = generator.normal(size=(NEW, len(INPUTS)))
        truth = function(X)
        mean, std = model.predict(pyarrow.table(dict(zip(INPUTS, X.T, strict=True))), return_std=True)
        inside = np.abs(truth + NOISE * generator.normal(size=NEW) - mean) < 1.96 * std
        # a worker that was killed took its processor seconds with it
        spent = [seconds - before.get(pid, (0.0, 0.0))[0] for pid, (seconds, _) in after.items()]
        return {
            "seconds": round(clock.read()["wall_seconds"], 1),
            "main_processor_seconds": round(clock.read()["cpu_seconds"], 1),
            "worker_processor_seconds": round(sum(spent), 1),
            "largest_worker_gb": round(max(memory for _, memory in after.values()), 2),
            "main_gb": round(_gigabytes(), 2),
            "rmse_of_function": round(float(np.sqrt(np.mean((mean - truth) ** 2))), 4),
            "coverage_95": round(float(inside.mean()), 4),
            "noise": round(float(np.sqrt(model.result_.fitted.noise_variance) * model.result_.fitted.scale.sd), 4),
            "components": [kernel.formula(INPUTS) for kernel in model.pool_],
            "digest": hashlib.sha256(mean.tobytes() + std.tobytes()).hexdigest()[:16],
            "load": round(os.getloadavg()[0], 1),
        }


class _Watch:
    """Kills the first worker of a cluster once, in the middle of the fit to all rows."""

    def __init__(self, cluster: Any) -> None:
        self._cluster, self._done = cluster, False

    def __call__(self, progress: Progress) -> None:
        if progress.phase in ("fitting all rows", "training") and not self._done:
            self._done = True
            pid = next(iter(self._cluster.workers.values())).pid
            threading.Timer(AFTER, os.kill, (pid, signal.SIGKILL)).start()


def _used(client: Any) -> dict[int, tuple[float, float]]:
    """Processor seconds and the largest memory of each worker, by its process."""
    return dict(client.run(_of_this_process).values())


def _of_this_process() -> tuple[int, tuple[float, float]]:
    used = os.times()
    return os.getpid(), (used.user + used.system, _gigabytes())


def _gigabytes() -> float:
    """The largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
