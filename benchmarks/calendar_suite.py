"""Series that follow the calendar, whose truth is known: are patterns named, and are forecasts as good as can be?

Five kinds, made of a level, a pattern of the calendar and noise of standard deviation one:

    weekends     504 hours: a daily cycle, and weekends lower by 6
    gaps         200 days: a slow rise, a pattern of the week, three weeks missing
    month ends   260 business days: a pattern of the week, and the last working day of a month higher by 6
    holidays     420 days: weekends lower by 4, German holidays lower by 6; the forecast holds Christmas
    promotion    250 days: a pattern of the week, and promotions of a week at known dates, higher by 5, one still ahead

The yardstick is least squares on the columns that made the series: the forecast of the true model. A line of the record
is one series.

    ratio:  RMSE of the median over that of the true model, on rows that were held out
    holds:  the share of these rows inside the 95 % interval
    named:  whether the sentences say the words of the pattern, and no step is told
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.record import Clock, Recorder, tell
from farrier import Forecaster
from farrier.series.holidays import read_holidays
from farrier.series.scores import coverage, rmse

DESCRIPTION = "made series of hours, days and business days with weekends, holidays, month ends, promotions, gaps"
LEVEL = 95


@dataclass(frozen=True, eq=False)
class Made:
    """A series, the columns it was made of, and what a forecaster is told."""

    index: pd.DatetimeIndex
    columns: np.ndarray
    """The true features, (N, F)."""
    effects: np.ndarray
    horizon: int
    words: tuple[str, ...]
    """What an explanation must say."""
    missing: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    """Rows that nobody sees."""
    told: dict[str, Any] = field(default_factory=dict)
    """Parameters of the `Forecaster`."""


def weekends(generator: np.random.Generator) -> Made:
    """Hours of three weeks and four days."""
    index = pd.date_range("2024-03-01", periods=504 + 96, freq="h")
    angle = 2 * np.pi * index.hour.to_numpy() / 24
    columns = np.stack([np.sin(angle), np.cos(angle), index.day_of_week >= 5], axis=1)
    return Made(index, columns, np.array([*generator.normal(0, 3, 2), -6.0]), 96, ("daily", "weekends"))


def gaps(generator: np.random.Generator) -> Made:
    """Days of seven months, three weeks of which are missing."""
    index = pd.date_range("2024-01-01", periods=200 + 28)
    columns = np.column_stack([np.arange(len(index)) / 100, week(index)])
    lost = np.concatenate([np.arange(at, at + 7) for at in (40, 90, 150)])
    return Made(index, columns, np.array([3.0, *generator.normal(0, 3, 7)]), 28, ("weekly pattern",), lost)


def month_ends(generator: np.random.Generator) -> Made:
    """Business days of a year."""
    index = pd.bdate_range("2023-01-02", periods=260 + 44)
    last = (index + pd.offsets.BDay()).month != index.month
    columns = np.column_stack([week(index)[:, :5], last])
    effects = np.array([*generator.normal(0, 2, 5), 6.0])
    return Made(index, columns, effects, 44, ("month end", "last working day"))


def holidays(generator: np.random.Generator) -> Made:
    """Days of fourteen months, up to the end of November."""
    index = pd.date_range("2022-10-03", periods=420 + 40)
    free = read_holidays("DE", None, 2022, 2024)
    columns = np.stack([index.day_of_week >= 5, [day.date() in free for day in index]], axis=1)
    effects = np.array([-4.0, -6.0]) * generator.uniform(0.8, 1.2, 2)
    return Made(index, columns, effects, 40, ("weekends", "olidays"), told={"country": "DE"})


def promotion(generator: np.random.Generator) -> Made:
    """Days of eight months with four promotions, the last of them ahead."""
    index = pd.date_range("2024-02-01", periods=250 + 28)
    starts = np.array([20, 95, 180, 258]) + generator.integers(-3, 4, 4)
    days = np.concatenate([np.arange(at, at + 7) for at in starts])
    columns = np.column_stack([week(index), np.isin(np.arange(len(index)), days)])
    told = {"holidays": {index[day].date(): "promotion" for day in days}}
    effects = np.array([*generator.normal(0, 2, 7), 5.0])
    return Made(index, columns, effects, 28, ("weekly pattern", "promotion"), told=told)


KINDS: dict[str, Callable[[np.random.Generator], Made]] = {
    "weekends": weekends,
    "gaps": gaps,
    "month ends": month_ends,
    "holidays": holidays,
    "promotion": promotion,
}


def week(index: pd.DatetimeIndex) -> np.ndarray:
    """One column for each day of the week."""
    return (index.day_of_week.to_numpy()[:, None] == np.arange(7)).astype(float)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)), help="series of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit, forecast and compare; a series that is in the record is not run again."""
    for kind in arguments.kinds:
        found = []
        for seed in arguments.seeds:
            settings = {"kind": kind}
            if record.done(settings, seed):
                continue
            clock = Clock()
            figures = measure(kind, seed)
            record.add(settings, seed, figures, clock, ("holidays",))
            found.append(figures)
            tell(
                f"{kind} {seed}: ratio {figures['ratio']:.3f}, {100 * figures['inside']:.0f} % inside, "
                f"named {figures['named']}, {' + '.join(figures['components'])} ({figures['fit_seconds']} s)"
            )
        if found:
            ratio, inside = (np.array([one[key] for one in found]) for key in ("ratio", "inside"))
            named = sum(one["named"] for one in found)
            print(
                f"{kind}: median ratio {np.median(ratio):.3f}, worst {ratio.max():.3f}; {100 * inside.mean():.1f} % "
                f"inside the {LEVEL} % interval; named in {named} of {len(found)}"
            )


def measure(kind: str, seed: int) -> dict[str, Any]:
    """The figures of one series."""
    generator = np.random.default_rng(2000 + seed)
    made = KINDS[kind](generator)
    y = 50.0 + made.columns @ made.effects + generator.standard_normal(len(made.index))
    rows = len(y) - made.horizon
    seen = np.setdiff1d(np.arange(rows), made.missing)
    forecaster = Forecaster(**made.told).fit(pd.Series(y[seen], made.index[seen], name="sales"))
    found, ahead = forecaster.forecast(made.horizon, levels=(LEVEL,)), y[rows:]
    said = str(forecaster.explain()).replace("\n", " ").replace("   ", " ")
    components = [row.formula for row in forecaster.components_]
    error, best = rmse(ahead, found["median"].to_numpy()), rmse(ahead, true_forecast(made, y, seen))
    low, high = (found[f"{end}_{LEVEL}"].to_numpy() for end in ("low", "high"))
    return {
        "ratio": error / best,
        "rmse": error,
        "true_rmse": best,
        "inside": coverage(ahead, low, high),
        "named": bool(all(word in said for word in made.words) and not any("Step" in one for one in components)),
        "components": components,
        "scale": forecaster.model_.transform_,
        "fit_seconds": round(forecaster.model_.seconds_, 2),
    }


def true_forecast(made: Made, y: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Least squares on the columns that made the series."""
    design = np.column_stack([np.ones(len(y)), made.columns])
    coefficients = np.linalg.lstsq(design[seen], y[seen], rcond=None)[0]
    return design[len(y) - made.horizon :] @ coefficients
