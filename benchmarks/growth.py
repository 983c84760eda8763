"""Suite `growth`: growth that ends, broken lines, shocks that heal and changes of level, found, dated and carried on.

The series are those of growth_series.py. A kind is found if the explanation has a component of it; a date is right if
its 95 % interval holds the true row, and so are a level, the slope after a break, and the size and half-life of a
shock. In controls, which have none of these, anything found is a false finding.

Forecasts are judged on all rows ahead: the part of the values inside the 80 % interval, and the root mean square error
over that of an oracle, the true curve fitted to the rows by least squares.
"""

import argparse
from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks.growth_series import BREAKS, CONTROLS, GROWTHS, KINDS, Made, made, oracle
from benchmarks.record import Clock, Recorder, tell
from farrier import Forecaster
from farrier.series.calendar import TimeAxis

DESCRIPTION = "made series of growth that ends, breaks and shocks: found, dated, and forecast beside the true curve"
NAMES = {"saturating": "growth", "bend": "bend", "shock": "shock", "from": "step", "until": "step"}
"""The kinds of factors that are changes."""
SLACK = 0.1
"""Distance of a row from its date that is rounding. [steps]"""
TRUE = dict.fromkeys(GROWTHS, "growth") | {kind: kind for kind in BREAKS}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(20)), help="series of each kind")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit and compare; a series that is in the record is not run again."""
    everything = defaultdict[str, list[dict[str, Any]]](list)
    for kind in arguments.kinds:
        for seed in arguments.seeds:
            if record.done({"kind": kind}, seed):
                continue
            clock = Clock()
            figures = measure(made(kind, seed))
            record.add({"kind": kind}, seed, figures, clock)
            everything[kind].append(figures)
        if everything[kind]:
            tell(f"{kind}: {summary(kind, everything[kind])}")
    controls = [one for kind in CONTROLS for one in everything[kind]]
    if controls:
        print(f"false findings in {sum(bool(one['found']) for one in controls)} of {len(controls)} controls")


def measure(series: Made) -> dict[str, Any]:
    """The figures of one series."""
    forecaster = Forecaster().fit(series.y)
    ahead = forecaster.forecast(series.horizon)
    error = ahead["mean"].to_numpy() - series.future
    facts = forecaster.explain().findings.facts
    found = [(NAMES[factor.kind], one, factor) for one in facts for factor in one.factors if factor.kind in NAMES]
    figures: dict[str, Any] = {
        "found": [name for name, _, _ in found],
        "inside": float(np.mean((series.future >= ahead["low_80"]) & (series.future <= ahead["high_80"]))),
        "last_inside": bool(ahead["low_80"].iloc[-1] <= series.future[-1] <= ahead["high_80"].iloc[-1]),
        "rmse": float(np.sqrt(np.mean(error**2)) / np.ptp(series.y)),
    }
    if series.kind in GROWTHS:
        figures["oracle"] = float(np.sqrt(np.mean((oracle(series) - series.future) ** 2)) / np.ptp(series.y))
    same = [(one, factor) for name, one, factor in found if name == TRUE.get(series.kind)]
    return figures | {name: bool(value) for name, value in _right(series, *same[0]).items()} if same else figures


def _right(series: Made, facts: Any, factor: Any) -> dict[str, bool]:
    """Which numbers of a change lie in their intervals."""
    numbers, found = series.numbers or {}, {}

    def holds(estimate: Any, truth: float) -> bool:
        return estimate is not None and min(estimate.low, estimate.high) <= truth <= max(estimate.low, estimate.high)

    axis = TimeAxis.of(series.y.index.to_numpy(), "time")
    step, at = axis.spacing, factor.location
    if series.place is not None:
        found["date"] = at is not None and at.low - SLACK * step <= axis.numbers[series.place] <= at.high + SLACK * step
    if series.kind in GROWTHS:
        found["level"] = holds(facts.level, float(series.capacity or np.nan))
    if series.kind == "bend" and facts.slopes_around is not None:
        before, after = facts.slopes_around
        found |= {"before": holds(before, numbers["before"] / step), "after": holds(after, numbers["after"] / step)}
    if series.kind in ("shock", "step"):
        found["size"] = holds(facts.jump, numbers["size"])
    if series.kind == "shock" and factor.lengthscale is not None:
        length = factor.lengthscale
        found["half"] = length.low * np.log(2.0) <= numbers["half"] * step <= length.high * np.log(2.0)
    return found


def summary(kind: str, figures: list[dict[str, Any]]) -> str:
    """One line for a kind."""
    n = len(figures)
    right = [one for one in figures if TRUE.get(kind) in one["found"]]
    said = f"found {sum(bool(one['found']) for one in figures)} of {n}"
    said += f", as what it is {len(right)}" if kind in TRUE else ""
    said += f"; {np.mean([one['inside'] for one in figures]):.2f} of the values in the 80 % interval"
    if kind in GROWTHS:
        ratios = [one["rmse"] / one["oracle"] for one in figures]
        whole = np.mean([one["rmse"] for one in figures]) / np.mean([one["oracle"] for one in figures])
        said += f"; error over the oracle's {np.exp(np.mean(np.log(ratios))):.2f} (of the means {whole:.2f})"
    for name in ("date", "level", "before", "after", "size", "half"):
        known = [one[name] for one in right if name in one]
        said += f"; {name} right in {sum(known)} of {len(known)}" if known else ""
    return said
