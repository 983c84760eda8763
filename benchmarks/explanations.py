"""Suite `explanations`: how faithful and how fast explanations of the competitions' series are.

What predicts is projected onto a few components. For each series the figures are how far these are from the forecast,
on average over its steps and in parts of the half-width of its 95 % interval, how many there are, and the processor
time of the fit with its forecast and of the explanation.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.competition_data import PARTS, SETS, chosen, read_set
from benchmarks.record import Clock, Recorder, tell
from farrier import Forecaster

DESCRIPTION = "how near the explained components come to the forecast, and how long an explanation takes"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds forecast/")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help=", ".join(SETS))
    parser.add_argument("--part", choices=PARTS, default="report", help="which half of the series")
    parser.add_argument("--series", type=int, default=25, metavar="N", help="a sample of N series of each set")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Explain the series of each set; one that is in the record is not explained again."""
    for name in arguments.sets:
        found = []
        for series in chosen(read_set(arguments.data_dir, name), arguments.part, arguments.series):
            settings = {"set": name, "series": series.name}
            if record.done(settings, 0):
                continue
            clock = Clock()
            found.append(measure(series.past, SETS[name].stamps(len(series.past)), len(series.ahead)))
            record.add(settings, 0, found[-1], clock)
        if found:
            middle = {key: float(np.median([one[key] for one in found])) for key in found[0]}
            said = ", ".join(f"{key} {value:.3f}" for key, value in middle.items())
            tell(f"{name}, medians of {len(found)}: {said}")


def measure(y: np.ndarray, stamps: np.ndarray, horizon: int) -> dict[str, float]:
    """The figures of one series."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        forecaster = Forecaster().fit(stamps, y)
        forecaster.forecast(horizon)
        middle = time.process_time()
        explained = forecaster.model_.result_.explained
        end = time.process_time()
    return {
        "remainder": float(explained.remainder or 0.0),
        "components": explained.survivors,
        "rivals": len(explained.rivals),
        "fit_seconds": round(middle - begin, 3),
        "explanation_seconds": round(end - middle, 3),
    }
