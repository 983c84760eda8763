"""How the linear tier's time and memory grow with the rows of one series, and how far it is from exact inference.

Three parts. `agreement`: 2,000 rows, the same model by both tiers: the largest difference of predictions in standard
deviations of y, and the difference of the log evidence. `pass`: seconds of one log evidence with its derivative for
more and more rows, and the exponent, the slope of log seconds against log rows: one means that doubling the rows
doubles the time. `fit`: a series of ten-minute steps with a trend, a day, a week, a year and noise with memory; from
rows to a model that predicts, each in a process of its own, with the error of a forecast of one week, and how often its
intervals hold the values of that week.
"""

import argparse
import multiprocessing
import resource
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.record import Clock, Recorder, tell

DESCRIPTION = "time, memory and accuracy of the linear tier, to a million rows of one series"
STEPS = 144
"""Rows a day."""
EXACT_ROWS = 2000
"""Rows of the comparison with exact inference."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="numbers of rows")
    parser.add_argument("--parts", nargs="+", default=["agreement", "pass", "fit"], help="what is measured")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="data")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Run the chosen parts."""
    for seed in arguments.seeds:
        if "agreement" in arguments.parts:
            _agreement(seed, record)
        if "pass" in arguments.parts:
            _passes(arguments.rows, seed, record)
        for rows in arguments.rows if "fit" in arguments.parts else ():
            _fit(rows, seed, record)


def truth(days: np.ndarray) -> np.ndarray:
    """The series without noise: a trend, a day, a weekend and a year."""
    day = 2.0 * np.sin(2.0 * np.pi * days) + 0.7 * np.cos(4.0 * np.pi * days)
    return 0.002 * days + day + np.where(days % 7.0 < 2.0, -1.0, 0.0) + 3.0 * np.sin(2.0 * np.pi * days / 365.25)


def data(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Days and values, with noise of standard deviation 0.3 and an AR(1) process of 0.25.

    Each kind of noise has its own generator, so that fewer rows are the first of more.
    """
    from scipy.signal import lfilter

    (shocks, noise), days = np.random.default_rng(seed).spawn(2), np.arange(rows) / STEPS
    memory = lfilter([0.06], [1.0, -0.97], shocks.standard_normal(rows))
    return days, truth(days) + np.asarray(memory) + 0.3 * noise.standard_normal(rows)


def _models(x_scale: float, start: float) -> dict[str, tuple[list[Any], list[float]]]:
    """Kernels and weights by name, for days that were divided by `x_scale` and start at `start`."""
    from farrier.kernels.registry import (
        CentredPeriodic,
        DampedTrend,
        Linear,
        Matern12,
        RandomWalk,
        SquaredExponential,
    )

    day = CentredPeriodic(1.0 / x_scale, 1.0)
    return {
        "trend, day, week, memory": (
            [Linear(0.0), day, CentredPeriodic(7.0 / x_scale, 0.5), Matern12(0.2 / x_scale)],
            [0.5, 0.8, 0.4, 0.2],
        ),
        "curve, day that drifts smoothly, memory": (
            [SquaredExponential(3.0 / x_scale), SquaredExponential(8.0 / x_scale) * day, Matern12(0.2 / x_scale)],
            [0.5, 0.8, 0.2],
        ),
        "damped trend, walk, day that moves": (
            [DampedTrend(0.3 * x_scale, start, 0.5), RandomWalk(start, 1.0), Matern12(20.0 / x_scale) * day],
            [0.5, 0.3, 0.8],
        ),
    }


def _agreement(seed: int, record: Recorder) -> None:
    """The same models by both tiers, at rows, between them and beyond them; irregular rows."""
    from farrier.evaluation.products import Products
    from farrier.inference.linear_posterior import LinearPosterior
    from farrier.inference.posteriors import GaussianPosterior

    days, y = data(EXACT_ROWS * 5 // 4, seed)
    kept = np.sort(np.random.default_rng(seed).permutation(len(y))[:EXACT_ROWS])
    scale = days[kept].std()
    x, y = ((days[kept] - days[kept].mean()) / scale)[:, None], y[kept]
    y, noise = (y - y.mean()) / y.std(), 0.02
    new = np.linspace(x.min(), x.max() + 0.3, 1500)[:, None]
    for name, (kernels, sizes) in _models(scale, float(x.min())).items():
        clock, pool, weights = Clock(), Products.of(kernels, 1), np.array([sizes])
        given = (pool, weights, np.full(len(y), noise), x, y)
        found, exact = LinearPosterior(*given), GaussianPosterior(*given)
        (mean, variance), (exact_mean, exact_variance) = found.draws(new), exact.draws(new)
        parts, exact_parts = found.components(new)[0], exact.components(new)[0]
        figures = {
            "mean": float(np.abs(mean - exact_mean).max()),
            "sd": float(np.abs(np.sqrt(variance) - np.sqrt(exact_variance)).max()),
            "component": float(np.abs(parts - exact_parts).max()),
        }
        record.add({"what": "agreement", "rows": EXACT_ROWS, "model": name}, seed, figures, clock)
        tell(f"{name}: {', '.join(f'{key} {value:.2g}' for key, value in figures.items())}")


def _passes(counts: Sequence[int], seed: int, record: Recorder) -> None:
    """Seconds of processor time of one log evidence, and of one with its derivative."""
    from farrier.inference.linear import LinearObjective
    from farrier.kernels.registry import CentredPeriodic, Constant, Linear, Matern12
    from farrier.search.beliefs import Beliefs
    from farrier.search.structure import Part

    seconds = []
    for rows in counts:
        days, y = data(rows, seed)
        scale = days.std()
        kernels = [
            *(Linear(0.0), Constant(), Matern12(0.2 / scale)),
            *(CentredPeriodic(period / scale, 1.0) for period in (1.0, 7.0, 365.25)),
        ]
        model = Beliefs().model([Part(kernel, kernel, 0.5) for kernel in kernels], 0.1, 1)
        x, z = ((days - days.mean()) / scale)[:, None], (y - y.mean()) / y.std()
        objective = LinearObjective.of(model, x, z)
        objective.value(objective.start())
        clock = Clock()
        objective.value(objective.start())
        seconds.append(clock.stop().read()["cpu_seconds"])
        record.add({"what": "pass", "rows": rows}, seed, {"seconds": seconds[-1]}, clock)
        tell(f"{rows:,} rows: {seconds[-1]:.2f} s of processor time for one log evidence")
    if len(counts) > 1:
        exponent = float(np.polyfit(np.log(counts), np.log(seconds), 1)[0])
        record.add({"what": "exponent of a pass", "from": counts[0]}, seed, {"exponent": exponent}, Clock())
        tell(f"exponent {exponent:.3f}: doubling the rows multiplies the time by {2**exponent:.2f}")


def _fit(rows: int, seed: int, record: Recorder) -> None:
    """From rows to a forecast, in a process of its own, whose memory is then that of the fit."""
    clock = Clock()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        figures = pool.apply(_fitted, (rows, seed))
    record.add({"what": "fit", "rows": rows}, seed, figures, clock)
    tell(
        f"fit of {rows:,} rows: {figures['cpu_seconds']:.0f} s of processor time, {figures['gigabytes']:.1f} GB, "
        f"error of the forecast {figures['rmse']:.3f}, found {figures['found']}"
    )


def _fitted(rows: int, seed: int) -> dict[str, Any]:
    from farrier.estimators.regressor import Regressor

    # the same rows as without the week that follows them
    days, y = data(rows + 7 * STEPS, seed)
    (days, ahead), (y, later) = np.split(days, [rows]), np.split(y, [rows])
    clock = Clock()
    model = Regressor(periods=[1.0, 7.0, 365.25], likelihood="gaussian").fit(days[:, None], y)
    mean, sd = model.predict(ahead[:, None], return_std=True)
    away = np.abs(later - mean) / sd
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {
        **clock.read(),
        "gigabytes": round(memory, 2),
        "rmse": float(np.sqrt(np.mean((mean - truth(ahead)) ** 2))),
        "predicted_sd": float(sd.mean()),
        "coverage_80": float(np.mean(away < 1.2816)),
        "coverage_95": float(np.mean(away < 1.96)),
        "tier": model.tier_,
        "found": " + ".join(str(kernel) for kernel in model.pool_[: model.result_.fitted.survivors]),
    }
