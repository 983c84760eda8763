"""How long tables take, from rows to a model that predicts: few rows of many inputs, many rows of few.

The made function has a line, a wave, a bend and a product of two inputs; all other inputs have no effect. The noise has
a standard deviation of 0.3. Each table is fitted in a process of its own, whose processor time and memory are then
those of the fit. The error is that of the mean at new rows against the function itself.
"""

import argparse
import multiprocessing
import resource
from typing import Any

import numpy as np

from benchmarks.record import Clock, Recorder, tell

DESCRIPTION = "time, memory and error of tables of 2,000 to 100,000 rows"
TABLES = ((2_000, 24), (10_000, 8), (100_000, 10))
"""Rows and inputs of the tables."""
NOISE = 0.3
"""Standard deviation of the noise; that of the function is 1.4."""
NEW_ROWS = 2_000
"""Rows that are predicted."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    shapes = [f"{rows}x{inputs}" for rows, inputs in TABLES]
    parser.add_argument("--tables", nargs="+", default=shapes, metavar="ROWSxINPUTS", help="at least four inputs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of the data")
    parser.add_argument("--run-limit", type=float, default=900.0, metavar="S", help="seconds for one table")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit every table."""
    for seed in arguments.seeds:
        for shape in arguments.tables:
            rows, inputs = (int(number) for number in shape.split("x"))
            settings, clock = {"rows": rows, "inputs": inputs}, Clock()
            figures = _apart(rows, inputs, seed, arguments.run_limit)
            record.add(settings, seed, figures, clock)
            tell(f"{rows:,} rows x {inputs} inputs: {_said(figures)}")


def truth(X: np.ndarray) -> np.ndarray:
    """The function of the first four inputs."""
    return X[:, 0] + np.sin(2.0 * X[:, 1]) + np.maximum(X[:, 2], 0.0) + 0.5 * X[:, 2] * X[:, 3]


def data(rows: int, inputs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs with a standard deviation of one, and the target."""
    inside, noise = np.random.default_rng(seed).spawn(2)
    X = inside.standard_normal((rows, inputs))
    return X, truth(X) + NOISE * noise.standard_normal(rows)


def fitted(rows: int, inputs: int, seed: int) -> dict[str, Any]:
    """The figures of one table."""
    from farrier.estimators.regressor import Regressor

    (X, y), (X_new, y_new) = data(rows, inputs, seed), data(NEW_ROWS, inputs, seed + 1)
    clock = Clock()
    model = Regressor().fit(X, y)
    used = clock.stop().read()
    mean = model.predict(X_new)
    low, high = model.predict_quantiles(X_new, (0.025, 0.975)).T
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {
        "fit_cpu_seconds": used["cpu_seconds"],
        "fit_wall_seconds": used["wall_seconds"],
        "gigabytes": round(memory, 2),
        "rmse": float(np.sqrt(np.mean((mean - truth(X_new)) ** 2))),
        "coverage": float(np.mean((y_new >= low) & (y_new <= high))),
        "tier": model.tier_,
        "found": " + ".join(str(kernel) for kernel in model.pool_[: model.result_.fitted.survivors]),
    }


def _apart(rows: int, inputs: int, seed: int, limit: float) -> dict[str, Any]:
    """The figures of one table, from a process of its own that ends after the limit."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(fitted, (rows, inputs, seed)).get(limit)
        except multiprocessing.TimeoutError:
            return {"failure": f"out of time after {limit:g} s"}


def _said(figures: dict[str, Any]) -> str:
    if "failure" in figures:
        return figures["failure"]
    return (
        f"{figures['fit_cpu_seconds']:.0f} s of processor time, {figures['gigabytes']:.1f} GB, error "
        f"{figures['rmse']:.3f}, {100 * figures['coverage']:.0f} % inside, found {figures['found']}"
    )
