"""Every method on the same rows: each run in a process of its own, with a time limit, and never twice.

What a method is given is what `farrier compare` gives it. A run that is already in the JSON lines is skipped, so a
suite that was stopped goes on where it was; one that failed, or took too long, is tried again.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.record import Clock, Recorder, tell
from farrier.baselines import BASELINES
from farrier.cli.compare import OURS, pack, run_apart

METHODS = (OURS, *(name for name, factory in BASELINES.items() if factory.task == "regression"))


def add_options(parser: argparse.ArgumentParser, seeds: Sequence[int] = (0,)) -> None:
    """Which methods, how often, and for how long."""
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=[OURS], metavar="NAME", help=", ".join(METHODS)
    )
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=list(seeds), help="of the methods; farrier is not random: it runs once"
    )
    parser.add_argument("--run-limit", type=float, default=600.0, metavar="S", help="seconds for one run")


def run_methods(
    arguments: argparse.Namespace,
    record: Recorder,
    settings: dict[str, Any],
    data: tuple[np.ndarray, np.ndarray],
    split: tuple[np.ndarray, np.ndarray],
    periods: Sequence[float] = (),
    kept: int = 0,
) -> None:
    """The chosen methods on the rows of one split; `settings` say which rows these are.

    The predictions of the last `kept` test rows are written too, for pictures.
    """
    packed = pack(*data, *split, periods)
    rows = len(split[0])
    for method in arguments.methods:
        for seed in arguments.seeds[: 1 if method == OURS else None]:
            named = {**settings, "method": method}
            if record.done(named, seed):
                continue
            clock = Clock()
            if method != OURS and BASELINES[method].most_rows < rows:
                figures: dict[str, Any] = {"left_out": f"for at most {BASELINES[method].most_rows:,} rows"}
            else:
                outcome = run_apart(method, packed, arguments.run_limit, seed)
                figures = {"fit_seconds": round(outcome.seconds, 2)}
                if outcome.failure:
                    figures["failure"] = outcome.failure
                else:
                    figures |= {name: getattr(outcome, name) for name in ("rmse", "log_likelihood", "coverage")}
                    figures |= {"found": outcome.found} if outcome.found else {}
                    if np.isfinite(outcome.noise_twice):
                        figures["noise_twice"] = outcome.noise_twice
                    if kept:
                        figures["predicted"] = {name: values[-kept:] for name, values in outcome.predicted.items()}
            record.add(named, seed, figures, clock)
            tell(f"{', '.join(str(value) for value in settings.values())}, {method}, seed {seed}: {_said(figures)}")


def _said(figures: dict[str, Any]) -> str:
    for word in ("left_out", "failure"):
        if word in figures:
            return f"{word.replace('_', ' ')}: {figures[word]}"
    return (
        f"RMSE {figures['rmse']:.4g}, log-likelihood {figures['log_likelihood']:.3g}, "
        f"coverage {100 * figures['coverage']:.0f} %, {figures['fit_seconds']:.0f} s"
    )
