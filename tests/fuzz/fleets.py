"""Fleets: `farrier forecast --out FOLDER/` whose workers or main process are ended at random moments, then continued.

Afterwards every series has its forecast once, with the numbers of an undisturbed run to the bit, and no process is
left. Every series is a part of its own here, so that the end comes between parts as often as between series.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

from tests.fleet.series import csv_of
from tests.fuzz.outcomes import FailureError, Tally, judged

KINDS = ("worker KILL", "KILL", "TERM", "INT")
"""Which process is ended, and how; without a word it is the main process."""
CODES = {"KILL": -signal.SIGKILL, "TERM": 143, "INT": 130}
"""Exit codes of the main process; 0 too if it was done before."""
OUTSIDE = {"KILL": -signal.SIGKILL, "TERM": -signal.SIGTERM, "INT": -signal.SIGINT}
"""Exit codes of a main process that the signal reaches before it works, or after, when Python is shutting down."""
NAMES = [f"s{i}" for i in range(5)]
TOKEN = "FARRIER_FLEET_TOKEN"
"""The environment variable by which the processes of a run are known."""
VANISH = 10.0
"""Seconds within which workers must have ended after the main process."""
MAIN = "from farrier.fleet import parts; parts.SECONDS = 0; from farrier.cli.app import main; main()"
"""The command line, with a part for every series."""


def run(count: int, seed: int, folder: Path) -> Tally:
    """Disturb `count` runs, the kinds in turn."""
    tally = Tally("fleets")
    data = folder / "shops.csv"
    data.write_text(csv_of(NAMES))
    begin = time.monotonic()
    expected = undisturbed(data, folder / "expected")
    whole = time.monotonic() - begin
    for i in range(count):
        random = np.random.default_rng([seed, i])
        kind, wait = KINDS[i % len(KINDS)], float(random.uniform(0.0, 1.2 * whole))
        place = folder / str(i)
        outcome, about = judged(lambda a=place, b=kind, c=wait: disturbed(data, a, b, c, expected))
        tally.add(outcome, f"seed {seed}, number {i}, {kind} after {wait:.2f} s: {about}")
    return tally


def undisturbed(data: Path, folder: Path) -> pl.DataFrame:
    """The forecasts of a run that nobody ends."""
    _finish(data, folder, secrets.token_hex(8))
    return forecasts(folder)


def disturbed(data: Path, folder: Path, kind: str, wait: float, expected: pl.DataFrame) -> None:
    """End one process after `wait` seconds, continue the run if it has ended, and compare what is there."""
    token = secrets.token_hex(8)
    with open(folder.with_suffix(".log"), "wb") as log:
        process = _started(data, folder, token, log)
        try:
            _wait(process, wait)
            if kind == "worker KILL":
                for pid in processes(token) - {process.pid}:
                    os.kill(pid, signal.SIGKILL)
                    break
                code = process.wait()
                _fail_if(code != 0, "exit code", f"{code}: {_said(folder)}")
            else:
                done = process.poll() is not None
                process.send_signal(signal.Signals[f"SIG{kind}"])
                code = process.wait()
                allowed = {0} if done else {0, CODES[kind], OUTSIDE[kind]}
                # Python itself shows an interrupt that comes before the command line is reached
                allowed |= {1} if kind == "INT" and not folder.exists() else set()
                _fail_if(code not in allowed, "exit code", f"{code}: {_said(folder)}")
        finally:
            process.kill()
            process.wait()
    end = time.monotonic() + VANISH
    while (left := processes(token)) and time.monotonic() < end:
        time.sleep(0.02)
    _fail_if(bool(left), "orphan", f"{len(left)} processes")
    _finish(data, folder, token)
    found = forecasts(folder)
    names = found["shop"].to_list()
    _fail_if(set(names) != set(NAMES), "lost series", str(set(NAMES) - set(names)))
    _fail_if(len(found) != len(expected), "duplicate", str(names))
    _fail_if(not found.equals(expected), "other numbers", "")
    hidden = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    _fail_if(bool(hidden), "draft left", str(hidden))


def forecasts(folder: Path) -> pl.DataFrame:
    """All forecasts in a folder, sorted."""
    return pl.concat([pl.read_parquet(path) for path in folder.glob("part-*.parquet")]).sort("shop", "month")


def processes(token: str) -> set[int]:
    """The ids of the processes with this token in their environment."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{TOKEN}={token}".encode() in path.read_bytes().split(b"\0"):
                found.add(int(path.parent.name))
        except OSError:  # it has ended, or is another user's
            continue
    return found


def _started(data: Path, folder: Path, token: str, log: object) -> "subprocess.Popen[bytes]":
    options = ("--id", "shop", "--horizon", "2", "--levels", "80", "--jobs", "2", "--out", f"{folder}/")
    command = [sys.executable, "-c", MAIN, "forecast", str(data), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, env={**os.environ, TOKEN: token})


def _finish(data: Path, folder: Path, token: str) -> None:
    with open(folder.with_suffix(".log"), "ab") as log:
        code = _started(data, folder, token, log).wait()
    _fail_if(code != 0, "exit code", f"{code} at the end: {_said(folder)}")


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _said(folder: Path) -> str:
    return folder.with_suffix(".log").read_text(errors="replace")[-300:]


def _fail_if(wrong: bool, outcome: str, about: str) -> None:
    if wrong:
        raise FailureError(outcome, about)
