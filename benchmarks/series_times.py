"""How long series take, from rows to a forecast: about 100 months, 520 weeks, some 700 to 1,000 hours.

Series of the competitions' part "learn" are fitted and forecast, without and with the explanation, in a process of
their own with one BLAS thread; a first fit, which loads modules, does not count. AutoETS of statsforecast does the same
in the same run where it is installed. The figure is the median processor time of a series. With `--against` another
checkout of Farrier fits in turn, so that the ratio is of one run.

    python -m benchmarks run series-times --data-dir DATA --against /elsewhere/farrier
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.competition_data import SETS, Series, chosen, read_set
from benchmarks.record import Clock, Recorder, tell
from farrier.series.auto_ets import auto_ets

DESCRIPTION = "processor time of fits, explanations and AutoETS: months, weeks and hours, beside another checkout"
ROWS = {"m1_monthly": (95, 115), "m4_weekly": (520, 520), "m4_hourly": (600, 1000)}
"""Fewest and most rows of the series that are fitted, by set."""
ETS = "AutoETS"
WORK = ("fit and forecast", "with the explanation", ETS)
LIMIT = 900
"""Seconds that one process may take."""
PROGRAM = """
import json, sys, time, warnings
import numpy as np
from farrier import Forecaster
from farrier.series.auto_ets import forecast
warnings.simplefilter("ignore")
given = json.load(sys.stdin)
def fit(stamps, y):
    begin = time.process_time()
    if given["work"] == "AutoETS":
        forecast(np.array(y), given["season"], given["horizon"])
        return time.process_time() - begin
    forecaster = Forecaster().fit(np.array(stamps, "M8[h]"), np.array(y))
    forecaster.forecast(given["horizon"], levels=(80, 95))
    if given["work"] == "with the explanation":
        forecaster.components_
    return time.process_time() - begin
fit(given["stamps"][0][:60], given["rows"][0][:60])
print(json.dumps([fit(*one) for one in zip(given["stamps"], given["rows"])]))
"""
"""What a process runs: `stdin` has the series, `stdout` the seconds of each."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds forecast/")
    parser.add_argument("--sets", nargs="+", choices=ROWS, default=list(ROWS), metavar="SET", help=", ".join(ROWS))
    parser.add_argument("--work", nargs="+", choices=WORK, default=list(WORK), metavar="NAME", help=", ".join(WORK))
    parser.add_argument("--series", type=int, default=8, metavar="N", help="series of each set")
    parser.add_argument("--against", type=Path, help="another checkout of Farrier")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Time every work on the series of every set, here and in the other checkout in turn."""
    folders = {"this": Path(__file__).parent.parent / "src"}
    if arguments.against is not None:
        folders["other"] = arguments.against.resolve() / "src"
    for name in arguments.sets:
        series = suitable(read_set(arguments.data_dir, name), *ROWS[name])[: arguments.series]
        for work in arguments.work:
            if work == ETS and auto_ets() is None:
                tell("AutoETS is not timed: statsforecast is not installed")
                continue
            clock = Clock()
            chosen_folders = {"this": folders["this"]} if work == ETS else folders
            seconds = {which: timed(series, name, work, source) for which, source in chosen_folders.items()}
            figures = {"series": len(series), "rows": median(len(one.past) for one in series)}
            figures |= {f"{which}_cpu_seconds": round(median(values), 3) for which, values in seconds.items()}
            if "other" in seconds:
                figures["ratio"] = round(figures["this_cpu_seconds"] / figures["other_cpu_seconds"], 3)
            record.add({"set": name, "work": work}, 0, figures, clock)
            tell(f"{name}, {work}: {', '.join(f'{key} {value}' for key, value in figures.items())}")


def suitable(series: list[Series], fewest: int, most: int) -> list[Series]:
    """The series of the part learn with so many rows."""
    return [one for one in chosen(series, "learn", None) if fewest <= len(one.past) <= most]


def timed(series: list[Series], name: str, work: str, source: Path) -> list[float]:
    """The processor seconds of each series, in a process that imports Farrier from a folder."""
    stamps = [SETS[name].stamps(len(one.past)).astype("M8[h]").astype(str).tolist() for one in series]
    given: dict[str, Any] = {"work": work, "horizon": len(series[0].ahead), "season": SETS[name].season}
    given["stamps"] = stamps
    given["rows"] = [one.past.tolist() for one in series]
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(given),
        env=os.environ | threads | {"PYTHONPATH": str(source)},
        check=True,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    return json.loads(done.stdout.splitlines()[-1])
