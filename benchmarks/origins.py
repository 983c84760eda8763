"""Suite `origins`: do intervals hold at other times too? Forecasts from earlier origins of the competitions' series.

The test rows of many series of one set may fall into the same years, so that one recession or boom moves them at once,
and their coverage says as much about those years as about the intervals. Here the last rows of the training part are
forecast from those before them: origin 0 is that of the competition, origin k lies k horizons earlier.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.competition_data import PARTS, SETS, Series, chosen, read_set
from benchmarks.competition_methods import farrier
from benchmarks.competitions import figures_of
from benchmarks.record import Clock, Recorder, tell

DESCRIPTION = "coverage of forecasts from earlier origins of the competitions' series"
FEWEST = 12, 3
"""Fewest rows, and seasons, before an origin; as for learning priors."""
SHOWN = ("mase", "inside_80", "inside_95", "msis")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds forecast/")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=["m1_quarterly"], metavar="SET", help="the sets")
    parser.add_argument("--part", choices=(*PARTS, "all"), default="report", help="which half of the series")
    parser.add_argument("--origins", type=int, nargs="+", default=[0, 1, 2, 3], help="horizons before the test rows")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Forecast all series of a set from each origin; one line holds the means over the series."""
    for name in arguments.sets:
        every = chosen(read_set(arguments.data_dir, name), arguments.part, None)
        for origin in arguments.origins:
            settings = {"set": name, "part": arguments.part, "origin": origin}
            if record.done(settings, 0):
                continue
            clock = Clock()
            found = [measure(name, one) for series in every if (one := earlier(series, origin, SETS[name].season))]
            figures = {key: float(np.mean([one[key] for one in found])) for key in SHOWN} | {"series": len(found)}
            record.add(settings, 0, figures, clock)
            tell(f"{name}, origin {origin}: " + ", ".join(f"{key} {value:.3g}" for key, value in figures.items()))


def earlier(series: Series, origin: int, season: int) -> Series | None:
    """The series as it was `origin` horizons earlier; None if few rows are left, or all are alike."""
    horizon, rows = len(series.ahead), np.concatenate([series.past, series.ahead])
    last = len(series.past) - origin * horizon
    if last < max(FEWEST[0], FEWEST[1] * season) or np.ptp(rows[:last]) == 0.0:
        return None
    return Series(series.name, rows[:last], rows[last : last + horizon])


def measure(name: str, series: Series) -> dict[str, float]:
    """The figures of one forecast."""
    chosen_set, past, ahead = SETS[name], series.past, series.ahead
    found = farrier(past, chosen_set.season, len(ahead), chosen_set.stamps(len(past)))
    return figures_of(found, past, ahead, chosen_set.season)
