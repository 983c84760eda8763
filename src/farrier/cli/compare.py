"""`farrier compare`: Farrier beside other methods on rows that were held out.

The usual ones are simple methods and those of other libraries (rivals.py); those of the paper run if asked for. The
last rows of a series are held out, from several origins, or random rows of a table. Each method runs in a process of
its own (trial.py), which is stopped at the time limit. A method that fails or takes too long has a row that says so.
"""

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from farrier.baselines import BASELINES
from farrier.cli import rivals
from farrier.cli.screen import live, say, table
from farrier.cli.source import Source

OURS = "farrier"
"""The name of Farrier among the methods."""
PAPER = "paper"
"""The name of all methods that the paper compares with."""
FEWEST = 2
"""Fewest rows to hold out, by judgement."""
LEGEND = """Best RMSE first. RMSE: the typical error. Log-likelihood: of a held-out value, the higher the
better. Coverage: how many of the held-out values lie in the 95 % intervals."""


@dataclass(frozen=True)
class Outcome:
    """The result of one method."""

    method: str
    seconds: float
    rmse: float = float("inf")
    log_likelihood: float = float("nan")
    coverage: float = float("nan")
    found: str = ""
    """The components, if the method has any."""
    failure: str = ""
    noise_twice: float = float("nan")
    """The log-likelihood with the noise variance counted twice, as in the code of the AAAI 2021 paper, if known."""
    predicted: dict[str, list[float]] = field(default_factory=dict)
    """The predicted `mean` of each held-out row, and the ends `low` and `high` of its 95 % interval."""


def compare(
    source: Source, methods: Sequence[str], part: float, limit: float, seed: int, *, origins: int = 1, quiet: bool
) -> None:
    """Run the methods one after the other, and print their scores, best first.

    A series is forecast from several origins, each after the rows before it. After Ctrl-C the methods that are finished
    are printed before the command ends.
    """
    chosen = source.chosen
    series = chosen.kind == "series"
    splits = rolling(len(chosen.y), part, origins) if series else [split(len(chosen.y), part, seed)]
    names = suitable(methods, len(splits[0][0]), chosen.kind)
    for train, _ in splits:
        _check_varies(chosen.y[train])
    periods = [] if chosen.axis is None else chosen.axis.calendar_periods()
    kind = "number" if chosen.axis is None else chosen.axis.kind
    packed = [pack(chosen.X, chosen.y, train, test, periods, kind) for train, test in splits]
    outcomes: list[Outcome] = []
    stopped = False
    with live(quiet=quiet) as screen:
        try:
            for i, name in enumerate(names, 1):
                screen.doing(f"fitting {name}", f"{i} of {len(names)}")
                outcomes.append(pooled([run_apart(name, rows, limit, seed) for rows in packed]))
                screen.done(_line(outcomes[-1]))
        except KeyboardInterrupt:
            stopped = True
    if not outcomes:
        raise KeyboardInterrupt
    train, test = splits[-1]
    held = "the last" if series else "drawn at random, seed " + str(seed)
    many = f", from {len(splits)} origins {len(test):,} rows apart" if len(splits) > 1 else ""
    say(f"{source.title}: fitted to {len(train):,} rows, {len(test):,} held out ({held}){many}.\n")
    table(_rows(outcomes))
    say(f"\n{LEGEND}")
    if stopped:
        raise KeyboardInterrupt


def rolling(rows: int, part: float, origins: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each origin the rows before it and the rows after it, oldest first; the first knows at least half of all."""
    held = max(FEWEST, round(part * rows))
    most = max(1, min(origins, (rows - (rows + 1) // 2) // held))
    ends = [rows - k * held for k in range(most)][::-1]
    return [(np.arange(end - held), np.arange(end - held, end)) for end in ends]


def pooled(outcomes: Sequence[Outcome]) -> Outcome:
    """One method over all origins: the root of the mean squared error, means of the others; one failure is its own."""
    failed = next((one for one in outcomes if one.failure), None)
    seconds = sum(one.seconds for one in outcomes)
    if failed is not None or len(outcomes) == 1:
        return replace(failed or outcomes[0], seconds=seconds)
    return replace(
        outcomes[-1],
        seconds=seconds,
        rmse=float(np.sqrt(np.mean([one.rmse**2 for one in outcomes]))),
        log_likelihood=float(np.mean([one.log_likelihood for one in outcomes])),
        coverage=float(np.mean([one.coverage for one in outcomes])),
    )


def split(rows: int, part: float, seed: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The rows to fit and the rows to hold out: the last rows if `seed` is None, else random rows."""
    held = max(FEWEST, round(part * rows))
    order = np.arange(rows) if seed is None else np.random.default_rng(seed).permutation(rows)
    return np.sort(order[: rows - held]), np.sort(order[rows - held :])


def suitable(methods: Sequence[str], rows: int, kind: str) -> list[str]:
    """The named methods, "paper" for all of the paper's that can handle so many rows; without names the usual ones."""
    usual = [OURS, *rivals.available(kind)]
    paper = [name for name, factory in BASELINES.items() if factory.task == "regression"]
    found: list[str] = []
    for name in methods:
        if name not in (*usual, *paper, PAPER):
            known = ", ".join([*usual, PAPER, *paper])
            raise ValueError(f"--methods: there is no method {name!r}: choose among {known}")
        if name not in usual:
            import_module("farrier.paper")  # says which packages are missing
        found += [one for one in paper if BASELINES[one].most_rows >= rows] if name == PAPER else [name]
    return list(dict.fromkeys(found)) or usual


def _check_varies(y: np.ndarray) -> None:
    if np.ptp(y) == 0:
        raise ValueError(f"--test: the target is {y[0]:g} in every row to fit: hold out fewer rows")


def pack(
    X: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    periods: Sequence[float],
    kind: str = "number",
) -> bytes:
    """The rows in bytes for another process, without inputs that are constant; `kind` says what the times are."""
    varies, file = np.ptp(X[train], axis=0) > 0, io.BytesIO()
    fitted, held = X[train][:, varies], X[test][:, varies]
    np.savez(file, X=fitted, y=y[train], X_new=held, y_new=y[test], periods=periods, kind=kind)
    return file.getvalue()


def run_apart(name: str, packed: bytes, limit: float, seed: int) -> Outcome:
    """Run one method on packed rows in a process of its own, with `limit` seconds."""
    begin = perf_counter()
    command = [sys.executable, "-m", "farrier.cli.trial", name, str(seed), str(limit)]
    try:
        done = subprocess.run(command, input=packed, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(name, perf_counter() - begin, failure=f"out of time after {limit:g} s")
    try:
        scores: dict[str, Any] = json.loads(done.stdout.decode().strip().splitlines()[-1])
    except (ValueError, IndexError):
        ended = f"its process ended with code {done.returncode}"
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return Outcome(name, perf_counter() - begin, failure=said[-1] if said and done.returncode == 1 else ended)
    return Outcome(name, **scores)


def _line(outcome: Outcome) -> str:
    said = f"failed: {outcome.failure}" if outcome.failure else f"RMSE {outcome.rmse:.4g}"
    return f"{outcome.method}: {said} ({outcome.seconds:.0f} s)"


def _rows(outcomes: Sequence[Outcome]) -> list[dict[str, str]]:
    best = min(outcome.rmse for outcome in outcomes)
    places = max(0, 2 - int(np.floor(np.log10(best)))) if np.isfinite(best) and best > 0 else 3
    rows = []
    for one in sorted(outcomes, key=lambda one: (bool(one.failure), one.rmse)):
        numbers = ("",) * 3
        if not one.failure:
            numbers = f"{one.rmse:.{places}f}", f"{one.log_likelihood:.2f}", f"{100 * one.coverage:.0f} %"
        rows.append(
            dict(zip(("method", "RMSE", "log-likelihood", "95 % coverage"), (one.method, *numbers), strict=True))
            | {"seconds": f"{one.seconds:.0f}", "": one.failure[:60] or _about(one.method)}
        )
    return rows


def _about(name: str) -> str:
    known = {OURS: "the structure found by Farrier", **rivals.SERIES, **rivals.TABLES}
    return known[name] if name in known else BASELINES[name].description
