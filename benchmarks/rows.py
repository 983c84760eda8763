"""How the collapsed tier's time grows with the rows: four components of one input, fitted to n, 2n, 4n ... rows.

The exponent is the slope of log seconds against log rows, the compiling left out by a fit before: one means that
doubling the rows doubles the time.
"""

import argparse

import numpy as np

from benchmarks.record import Clock, Recorder, tell
from farrier.inference.collapsed import CollapsedObjective
from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential
from farrier.model.tiers import collapsed_fit, objective_of
from farrier.search.settings import SearchSettings
from farrier.search.structure import Part, horseshoe_model

DESCRIPTION = "seconds of the collapsed tier for n, 2n, 4n ... rows of one input and four components"
KERNELS = (
    Linear(0.0),
    SquaredExponential(0.6),
    CentredPeriodic(0.5, 1.0),
    SquaredExponential(1.5) * CentredPeriodic(0.13, 1.0),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--rows", type=int, nargs="+", default=[5000, 10000, 20000, 40000], help="numbers of rows")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="data")
    parser.add_argument("--evaluations", type=int, default=5, help="timed evaluations of the bound and its derivative")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Time the bound and its derivative, then one whole fit of the largest but one."""
    for seed in arguments.seeds:
        seconds = []
        for rows in arguments.rows:
            X, z = data(rows, seed)
            model = horseshoe_model([Part(kernel, kernel, 0.5) for kernel in KERNELS], 0.1, 1)
            settings = SearchSettings()
            objective = objective_of("collapsed", model, X, z, settings.fits.final_draws, settings)
            assert isinstance(objective, CollapsedObjective)
            objective.terms(objective.start())
            times = []
            clock = Clock()
            for _ in range(arguments.evaluations):
                one = Clock()
                objective.terms(objective.start())
                times.append(one.read()["wall_seconds"])
            seconds.append(float(np.median(times)))
            figures = {"seconds": seconds[-1], "inducing": objective.groups.total}
            record.add({"rows": rows, "what": "bound and derivative"}, seed, figures, clock)
            tell(f"{rows} rows: {seconds[-1]:.3f} s, {objective.groups.total} inducing variables")
        exponent = float(np.polyfit(np.log(arguments.rows), np.log(seconds), 1)[0])
        tell(f"exponent {exponent:.3f}: doubling the rows multiplies the time by {2**exponent:.2f}")
        rows = 20000
        X, z = data(rows, seed)
        clock = Clock()
        collapsed_fit(
            [Part(kernel, kernel, 0.5) for kernel in KERNELS], 0.1, X, z, lambda what, bound: None, SearchSettings()
        )
        figures = {"seconds": clock.read()["wall_seconds"], "exponent": exponent}
        record.add({"rows": rows, "what": "whole fit"}, seed, figures, clock)
        tell(f"whole fit of {rows} rows: {figures['seconds']:.1f} s")


def data(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A trend, a slow curve, a cycle and a drifting cycle, with noise; standardised."""
    generator = np.random.default_rng(seed)
    x = np.sort(generator.uniform(-1.7, 1.7, rows))
    y = 0.5 * x + np.sin(2.3 * x) + 0.5 * np.sin(2 * np.pi * x / 0.5) + 0.3 * x * np.sin(2 * np.pi * x / 0.13)
    y = y + 0.2 * generator.normal(size=rows)
    return x[:, None], (y - y.mean()) / y.std()
