"""Counts with many zeros: the pinball loss of forecasts, next to Croston's methods and AutoETS.

A line of the record is one series. `loss` has for each method twice the sum over the quantiles at 0.1, 0.2 ... 0.9 of
the pinball loss, averaged over the quantiles and summed over the steps; WQL is the sum of these over the sum of the
values, over all series of a kind. Points without a distribution (Croston, SBA, TSB) have two: conformal intervals, and
a negative binomial around the point with the variance of the past. "past" is the quantiles of all past
values.

    inside:  the share of the values within the 80 % interval    limit:  its 97.5 % quantile over the largest past value
    zeros:   the probability of a zero, and the share of zeros that came true
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy.stats import nbinom, poisson

from benchmarks.intermittent_data import KINDS, Counts, hours, made
from benchmarks.record import Clock, Recorder, read, tell
from farrier import Forecaster

DESCRIPTION = "series of counts with many zeros, next to Croston, SBA, TSB and AutoETS"
LEVELS = np.arange(1, 10) / 10.0
HOURS = "hours"
"""The kind that is a file."""
OWN = "Farrier"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(20)), help="series of each kind")
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS, HOURS], default=list(KINDS), metavar="KIND")
    parser.add_argument("--peers", metavar="PYTHON", help="the Python of an environment with statsforecast")
    parser.add_argument("--real", type=Path, metavar="FOLDER", help=f"where the file of the kind {HOURS!r} is")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit, forecast and compare; a series that is in the record is not run again."""
    peers = arguments.peers or (sys.executable if find_spec("statsforecast") else None)
    for kind in arguments.kinds:
        seeds = [seed for seed in arguments.seeds if not record.done({"kind": kind}, seed)]
        each = [hours(arguments.real, seed) if kind == HOURS else made(kind, seed) for seed in seeds]
        others = by_peers(each, peers) if peers is not None and each else [{} for _ in each]
        for seed, one, other in zip(seeds, each, others, strict=True):
            clock = Clock()
            figures = measure(one, other)
            record.add({"kind": kind}, seed, figures, clock)
            tell(f"{kind} {seed}: {figures['likelihood']}, {_said(figures['loss'])} ({figures['fit_seconds']} s)")
    path = record.folder / f"{record.suite}.jsonl"
    if path.exists():
        print(tables(path))


def measure(one: Counts, others: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The figures of one series."""
    start = perf_counter()
    forecaster = Forecaster().fit(one.past)
    seconds = perf_counter() - start
    wanted = [*LEVELS, 0.975]
    table = forecaster.predict_quantiles(one.horizon, wanted)
    found = np.stack([table[f"quantile_{level:g}"] for level in wanted])
    past, ahead = one.past.to_numpy(), one.ahead
    quantiles = {OWN: found[:-1], "past": np.repeat(np.quantile(past, LEVELS)[:, None], one.horizon, axis=1)}
    for name, other in others.items():
        quantiles[name] = np.asarray(other["quantiles"])
        if name != "AutoETS":
            quantiles[f"{name}, counts"] = _around(np.asarray(other["point"]), past)
    # the share of the levels up to 0.975 that are zero
    grid = np.linspace(0.0125, 0.9875, 40)
    at = forecaster.predict_quantiles(one.horizon, grid.tolist())
    zeros = float(np.mean(np.stack([at[f"quantile_{level:g}"] for level in grid]) < 0.5))
    return {
        "loss": {name: loss(ahead, q) for name, q in quantiles.items()},
        "total": float(ahead.sum()),
        "past": float(past.mean()) * one.horizon,
        "inside": float(np.mean((found[0] <= ahead) & (ahead <= found[8]))),
        "limit": float(found[-1].max() / past.max()),
        "zeros": [zeros, float(np.mean(ahead == 0.0))],
        "likelihood": forecaster.model_.likelihood_,
        "fit_seconds": round(seconds, 2),
    }


def loss(y: np.ndarray, quantiles: np.ndarray) -> float:
    """Twice the pinball loss, averaged over the levels and summed over the steps."""
    away = y - quantiles
    return float(2.0 * np.sum(np.maximum(LEVELS[:, None] * away, (LEVELS[:, None] - 1.0) * away)) / len(LEVELS))


def by_peers(each: Sequence[Counts], python: str) -> list[dict[str, dict[str, Any]]]:
    """The forecasts of the peers, made by another Python."""
    asked = [{"y": one.past.tolist(), "horizon": one.horizon, "season": one.season} for one in each]
    words = [python, str(Path(__file__).with_name("intermittent_peers.py"))]
    done = subprocess.run(words, input=json.dumps(asked), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def tables(path: Path) -> str:
    """WQL by kind and method, as Markdown."""
    lines = read(path)
    kinds = list(dict.fromkeys(line["settings"]["kind"] for line in lines))
    names = list(dict.fromkeys(name for line in lines for name in line["figures"]["loss"]))
    rows = ["| method | " + " | ".join(kinds) + " |", "|---|" + "---:|" * len(kinds)]
    own = {kind: [line["figures"] for line in lines if line["settings"]["kind"] == kind] for kind in kinds}
    for name in names:
        cells = []
        for kind in kinds:
            some = [one for one in own[kind] if name in one["loss"]]
            total = sum(one["total"] for one in some)
            cells.append(f"{sum(one['loss'][name] for one in some) / total:.3f}" if some and total else "")
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    for name, key in (
        ("inside 80 %", "inside"),
        ("97.5 % limit over the largest", "limit"),
        ("seconds", "fit_seconds"),
    ):
        rows.append(f"| {name} | " + " | ".join(f"{np.mean([one[key] for one in own[k]]):.2f}" for k in kinds) + " |")
    shares = [np.mean([one["zeros"] for one in own[kind]], axis=0) for kind in kinds]
    rows.append("| zeros forecast, true | " + " | ".join(f"{a:.2f}, {b:.2f}" for a, b in shares) + " |")
    return "\n".join(rows)


def _around(point: np.ndarray, past: np.ndarray) -> np.ndarray:
    """The quantiles of a negative binomial around point forecasts, with the ratio of variance to mean of the past."""
    mean, ratio = np.maximum(point, 1e-6), float(past.var() / max(past.mean(), 1e-6))
    if ratio <= 1.0:
        return np.stack([poisson.ppf(level, mean) for level in LEVELS])
    return np.stack([nbinom.ppf(level, mean / (ratio - 1.0), 1.0 / ratio) for level in LEVELS])


def _said(losses: dict[str, float]) -> str:
    best = min((name for name in losses if name != OWN), key=lambda name: losses[name])
    return f"loss {losses[OWN]:.2f}, of {best} {losses[best]:.2f}"
