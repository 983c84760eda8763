"""Forecasts of series whose structure is known: are they better than the last year again, and do intervals hold?

Monthly series of 72 to 120 points, five structures in turn: a line and a season; growth in per cent with a season in
per cent; a random walk and a season; a season that grows; a slow cycle and a season. The last year is held out. Beside
them stand the two bundled series, with their last two years held out. A line of the record is one series.

    beats:  RMSE below that of the seasonal naive forecast (the same month a year before)
    holds:  the share of held-out points inside the 80 % and the 95 % interval, over all made series

`--long N` measures the long format instead: N made series of 60 to 120 points in one frame, `--jobs` processes.
"""

import argparse

import numpy as np
import pandas as pd

from benchmarks.record import Clock, Recorder, tell
from farrier import Forecaster, datasets
from farrier.series.scores import coverage, rmse

DESCRIPTION = "forecasts of made monthly series against the last year again, and the coverage of their intervals"
STRUCTURES = ("line + season", "growth * season", "walk + season", "growing season", "slow cycle + season")
HORIZON, LEVELS = 12, (80, 95)
BUNDLED = {"airline": 24, "co2": 24}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(20)), help="one made series each")
    parser.add_argument("--bundled", action="store_true", help="the bundled series as well")
    parser.add_argument("--long", type=int, default=0, metavar="N", help="time N series in the long format instead")
    parser.add_argument("--jobs", type=int, default=2, help="processes of the long format")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit, forecast and compare."""
    if arguments.long:
        long_format(arguments.long, arguments.jobs, record)
        return
    found = []
    for seed in arguments.seeds:
        clock = Clock()
        times, y = made(seed, 72 + 12 * (seed % 5))
        figures = measure(times, y, HORIZON)
        record.add({"series": STRUCTURES[seed % 5], "rows": len(y), "horizon": HORIZON}, seed, figures, clock)
        found.append(figures)
        say(STRUCTURES[seed % 5], figures)
    for name, horizon in BUNDLED.items() if arguments.bundled else ():
        clock, data = Clock(), datasets.load(name)
        figures = measure(np.array(data.labels, "M8[M]"), data.values, horizon)
        record.add({"series": name, "rows": len(data.values), "horizon": horizon}, 0, figures, clock)
        say(name, figures)
    beaten = sum(figures["rmse"] < figures["naive_rmse"] for figures in found)
    print(f"\nbetter than the last year again: {beaten} of {len(found)} made series")
    for level in LEVELS:
        share = np.mean([figures[f"inside_{level}"] for figures in found])
        print(f"inside the {level} % interval: {100 * share:.1f} % of {HORIZON * len(found)} points")


def made(seed: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Months and values of one of the structures."""
    generator = np.random.default_rng(1000 + seed)
    step = np.arange(rows)
    years, k = step / 12, np.arange(1, 4)[:, None]
    waves = generator.normal(size=(2, 3)) / np.arange(1, 4)
    season = waves[0] @ np.sin(2 * np.pi * k * years) + waves[1] @ np.cos(2 * np.pi * k * years)
    season, noise = season / season.std(), generator.normal(size=rows)
    match seed % 5:
        case 0:
            y = 50.0 + 4.0 * years + 3.0 * season + noise
        case 1:
            y = np.exp(4.0 + 0.08 * years + 0.15 * season + 0.04 * noise)
        case 2:
            y = 100.0 + 3.0 * season + np.cumsum(0.5 * generator.normal(size=rows)) + noise
        case 3:
            y = 30.0 - 2.0 * years + (1.0 + 0.4 * years) * season + 0.8 * noise
        case _:
            y = 20.0 + 6.0 * np.sin(2 * np.pi * years / 11.0) + 2.0 * season + 0.7 * noise
    return np.datetime64("2012-03", "M") + step, y


def measure(times: np.ndarray, y: np.ndarray, horizon: int) -> dict:
    """Figures of one series whose last rows are held out."""
    past, ahead = y[:-horizon], y[-horizon:]
    forecaster = Forecaster().fit(times[:-horizon], past)
    found = forecaster.forecast(horizon, levels=LEVELS)
    naive = np.tile(past[-12:], -(-horizon // 12))[:horizon]
    figures = {
        "rmse": rmse(ahead, found["mean"]),
        "naive_rmse": rmse(ahead, naive),
        "scale": forecaster.model_.transform_,
        "components": [row.formula for row in forecaster.components_],
        "fit_seconds": round(forecaster.model_.seconds_, 2),
    }
    for level in LEVELS:
        figures[f"inside_{level}"] = coverage(ahead, found[f"low_{level}"], found[f"high_{level}"])
    return figures


def say(name: str, figures: dict) -> None:
    """One line of progress."""
    inside = ", ".join(f"{100 * figures[f'inside_{level}']:.0f} % in {level} %" for level in LEVELS)
    tell(
        f"{name}: RMSE {figures['rmse']:.3g}, last year again {figures['naive_rmse']:.3g}; {inside}; "
        f"{' + '.join(figures['components'])} ({figures['scale']}), {figures['fit_seconds']} s"
    )


def long_format(count: int, jobs: int, record: Recorder) -> None:
    """Time many short series at once."""
    lengths = [60 + 60 * i // max(count - 1, 1) for i in range(count)]
    frames = []
    for seed, rows in enumerate(lengths):
        times, y = made(seed, rows)
        frames.append(pd.DataFrame({"unique_id": f"series {seed}", "ds": times.astype("M8[s]"), "y": y}))
    frame = pd.concat(frames, ignore_index=True)
    clock = Clock()

    def progress(now) -> None:
        if now.step % 10 == 0:
            tell(f"{now.step} of {now.steps} series")

    forecaster = Forecaster(n_jobs=jobs, progress=progress).fit(frame)
    table = forecaster.forecast(HORIZON, levels=LEVELS)
    seconds = clock.read()["wall_seconds"]
    figures = {"seconds_a_series": round(seconds / count, 2), "errors": len(forecaster.errors_), "rows": len(table)}
    record.add({"series": "long format", "count": count, "jobs": jobs, "horizon": HORIZON}, 0, figures, clock)
    print(f"{count} series in {seconds:.0f} s by {jobs} processes, {figures['errors']} without a fit")
