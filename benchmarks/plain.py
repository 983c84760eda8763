"""Suite `plain`: series without a pattern. White noise has no component, and a random walk is called one.

Each series has 100 months, and 12 more to be forecast. For white noise the figure is whether no component was found,
for a random walk whether `RandomWalk` is the only component, and for both the coverage of the 95 % interval.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.record import Clock, Recorder, tell
from farrier import Forecaster

DESCRIPTION = "white noise, in which nothing is to be found, and random walks, which are to be called so"
ROWS, AHEAD, LEVEL = 100, 12, 95
"""Months that are seen and months that are forecast, as many as in a common monthly series; level in per cent."""


def white_noise(generator: np.random.Generator) -> np.ndarray:
    """Independent values about a level."""
    return 50.0 + generator.standard_normal(ROWS + AHEAD)


def random_walk(generator: np.random.Generator) -> np.ndarray:
    """The sum of independent steps."""
    return np.cumsum(generator.standard_normal(ROWS + AHEAD))


KINDS: dict[str, tuple[Callable[[np.random.Generator], np.ndarray], list[str]]] = {
    "white noise": (white_noise, []),
    "random walk": (random_walk, ["RW"]),
}
"""How a series is made, and the components that it has."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(20)), help="series of each kind")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit and forecast; a series that is in the record is not run again."""
    for kind in KINDS:
        found = []
        for seed in arguments.seeds:
            if record.done({"kind": kind}, seed):
                continue
            clock = Clock()
            figures = measure(kind, seed)
            record.add({"kind": kind}, seed, figures, clock)
            found.append(figures)
            told = " + ".join(figures["components"]) or "nothing"
            tell(f"{kind} {seed}: {told}, {100 * figures['inside']:.0f} % inside")
        if found:
            right, inside = sum(one["right"] for one in found), np.mean([one["inside"] for one in found])
            print(f"{kind}: right in {right} of {len(found)}; {100 * inside:.1f} % inside the {LEVEL} % interval")


def measure(kind: str, seed: int) -> dict[str, Any]:
    """The figures of one series."""
    make, components = KINDS[kind]
    y = make(np.random.default_rng(3000 + seed))
    months = np.datetime64("2010-01") + np.arange(ROWS)
    forecaster = Forecaster().fit(months, y[:ROWS])
    ahead, found = forecaster.forecast(AHEAD, levels=(LEVEL,)), [row.formula for row in forecaster.components_]
    inside = (y[ROWS:] >= ahead[f"low_{LEVEL}"]) & (y[ROWS:] <= ahead[f"high_{LEVEL}"])
    return {"right": found == components, "inside": float(inside.mean()), "components": found}
