"""How long a start takes: importing the Regressor, and the components of airline, beside another checkout of Farrier.

Both run in turn, each in a process of its own, and the figure is the ratio of their medians in one run. The other
checkout is any folder with its own `src`, such as a clone of the version to compare with:

    git clone . /elsewhere/farrier-0.1.0 && git -C /elsewhere/farrier-0.1.0 checkout f96f8f5
    python -m benchmarks run start --against /elsewhere/farrier-0.1.0
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.record import Clock, Recorder, tell

DESCRIPTION = "seconds to import the Regressor and to the components of airline, beside another checkout"
TASKS = {
    "import": "from farrier import Regressor",
    "airline": (
        "import farrier; air = farrier.datasets.load('airline'); str(farrier.Regressor().fit(air.X, air.y).components_)"
    ),
}
LIMIT = 120
"""Seconds that one process may take."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--against", type=Path, required=True, help="another checkout of Farrier")
    parser.add_argument("--times", type=int, default=7, help="how often each runs")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Run both checkouts in turn."""
    here = Path(__file__).parent.parent
    folders = {"this": here / "src", "other": arguments.against.resolve() / "src"}
    for task, program in TASKS.items():
        clock, seconds = Clock(), {name: [] for name in folders}
        for _ in range(arguments.times):
            for name, folder in folders.items():
                seconds[name].append(_seconds(program, folder))
        middle = {name: median(values) for name, values in seconds.items()}
        figures = {
            "this_seconds": round(middle["this"], 3),
            "other_seconds": round(middle["other"], 3),
            "ratio": round(middle["this"] / middle["other"], 3),
            "spread": [round(max(values) / min(values), 2) for values in seconds.values()],
        }
        record.add({"task": task, "times": arguments.times, "other": _commit(arguments.against)}, 0, figures, clock)
        tell(f"{task}: {middle['this']:.2f} s, the other {middle['other']:.2f} s, ratio {figures['ratio']:.2f}")


def _seconds(program: str, source: Path) -> float:
    environment = os.environ | {"PYTHONPATH": str(source)}
    begin = perf_counter()
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, timeout=LIMIT)
    return perf_counter() - begin


def _commit(folder: Path) -> str:
    words = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
