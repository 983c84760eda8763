"""Fleets that are ended: `farrier forecast --out FOLDER/` with a worker or the main process killed at random times.

Each run is ended once, by KILL of a worker, or by KILL, TERM or INT of the main process, after a random time within the
run, and then continued. Counted are the runs after which a series was lost or doubled, had other numbers, or a process
was left (tests/fuzz/fleets.py). Only processes that this suite has started are ended.
"""

import argparse
import os
import tempfile
from pathlib import Path

from tests.fuzz import fleets

from benchmarks.record import Clock, Recorder, tell

DESCRIPTION = "fleets whose workers or main process are killed at random times, then continued"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--times", type=int, default=20, help="runs for each way to end one")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="moments")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """End every run once."""
    for seed in arguments.seeds:
        clock, count = Clock(), len(fleets.KINDS) * arguments.times
        with tempfile.TemporaryDirectory() as folder:
            tally = fleets.run(count, seed, Path(folder))
        figures = {"runs": count, "outcomes": dict(tally.counts), "wrong": len(tally.failures)}
        record.add({"times": arguments.times}, seed, figures | {"load": round(os.getloadavg()[0], 1)}, clock)
        tell(f"{figures}")
        for line in tally.failures:
            tell(line)
