"""Fleets that are ended: `farrier forecast --out FOLDER/` with a worker or the main process killed at random times.

Each run is ended once, by KILL of a worker, or by KILL, TERM or INT of the main process, after a random time within the
run, and then continued. Counted are the runs after which a series was lost or doubled, had other numbers, or a process
was left (tests/fuzz/fleets.py). Only processes that this suite has started are ended.
"""

import argparse
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from tests.fleet.series import csv_of
from tests.fuzz import fleets
from tests.fuzz.outcomes import FailureError

from benchmarks.record import Clock, Recorder, tell

DESCRIPTION = "fleets whose workers or main process are killed at random times, then continued"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--times", type=int, default=20, help="runs for each way to end one")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="moments")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """End every run once."""
    for seed in arguments.seeds:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            data = folder / "shops.csv"
            data.write_text(csv_of(fleets.NAMES))
            begin = time.monotonic()
            expected = fleets.undisturbed(data, folder / "expected")
            whole = time.monotonic() - begin
            for kind in fleets.KINDS:
                clock, wrong = Clock(), Counter[str]()
                for i in range(arguments.times):
                    wait = float(np.random.default_rng([seed, i]).uniform(0.0, whole))
                    try:
                        fleets.disturbed(data, folder / f"{kind}-{i}".replace(" ", "-"), kind, wait, expected)
                    except FailureError as error:
                        wrong[str(error.args[0])] += 1
                        tell(f"{kind} after {wait:.2f} s: {error}")
                figures = {"runs": arguments.times, "wrong": dict(wrong), "load": round(os.getloadavg()[0], 1)}
                record.add({"ended": kind, "times": arguments.times}, seed, figures, clock)
                tell(f"{kind}: {figures}")
