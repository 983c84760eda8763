"""Suite `drivers`: series with regressors whose effects are known. Does the 95 % interval hold the effect?

A series of days is the sum of one of six courses, the effects of its regressors, and noise of standard deviation one:

    flat      a level
    trend     a line, of 10 over the series
    walk      a random walk, with steps of 0.5
    damped    growth of 10 that fades, over a quarter of the series
    season    a week: working days alike, weekends lower by 4
    step      a level that rises by 5 after three fifths of the rows

Regressors are a 0/1 promotion (blocks of 3 to 5 days, about a seventh of all), whose effect is an amount, and a price
(it stays for some days, then changes), whose effect is an amount for each unit of it. Sizes are drawn, with either
sign. With a country its holidays are tried, and its public holidays are lower by 3.

    inside:  for each regressor, whether the 95 % interval that the explanation tells holds the effect; False where the
             effect is not told
    z:       the error of the effect over the standard deviation of that interval
    best:    the same error for generalised least squares that knows the course, the noise and the holidays: what
             chance alone does to the best of all estimates
    holds:   the share of the 14 days after the series inside the 95 % interval of the forecast
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.record import Clock, Recorder, key, tell
from farrier import Forecaster
from farrier.explain.facts import Estimate, Facts
from farrier.explain.findings import findings
from farrier.series.holidays import read_holidays

DESCRIPTION = "made series with a promotion and a price: whether the interval of each effect holds it"
COURSES = ("flat", "trend", "walk", "damped", "season", "step")
REGRESSORS = {"0/1": ("promo",), "continuous": ("price",), "both": ("promo", "price")}
ROWS = (60, 300, 1100, 3000)
COUNTRIES = (None, "US")
AHEAD, LEVEL = 14, 95
"""Days that are forecast; level in per cent."""
Z95 = 1.96


class Cell(NamedTuple):
    """One kind of series."""

    course: str
    regressors: str
    rows: int
    country: str | None


class Made(NamedTuple):
    """A series with its future rows, and the effects that made it."""

    frame: pd.DataFrame
    effects: dict[str, float]
    known: np.ndarray
    """What the true model has beside regressors and noise: a level, the course and the holidays, (N, F)."""
    steps: float
    """The variance of the steps of the level."""


def every_cell() -> list[Cell]:
    """The whole matrix."""
    return [Cell(*one) for one in product(COURSES, REGRESSORS, ROWS, COUNTRIES)]


def covering_cells() -> list[Cell]:
    """Cells that hold every pair of levels of two properties at least once, chosen greedily, shortest series first."""
    left = {pair for cell in every_cell() for pair in _pairs(cell)}
    chosen: list[Cell] = []
    while left:
        chosen.append(max(every_cell(), key=lambda cell: (len(left & set(_pairs(cell))), -cell.rows)))
        left -= set(_pairs(chosen[-1]))
    return chosen


def _pairs(cell: Cell) -> Iterator[tuple[Any, ...]]:
    for i in range(len(cell)):
        for j in range(i):
            yield i, j, cell[i], cell[j]


def make(cell: Cell, seed: int) -> Made:
    """A series of a cell."""
    generator, count = np.random.default_rng([5000, seed]), cell.rows + AHEAD
    days, time = pd.date_range("2015-03-02", periods=count), np.arange(count) / cell.rows
    course = {
        "flat": np.zeros(count),
        "trend": 10.0 * time,
        "walk": np.cumsum(0.5 * generator.standard_normal(count)),
        "damped": 10.0 * (1.0 - np.exp(-4.0 * time)),
        "season": -4.0 * (days.day_of_week.to_numpy() >= 5),
        "step": 5.0 * (time >= 0.6),
    }[cell.course]
    columns = {"promo": _promotion(count, generator), "price": _price(count, generator)}
    sizes = {"promo": generator.uniform(2.0, 6.0), "price": generator.uniform(0.5, 3.0)}
    effects = {name: float(sizes[name] * generator.choice([-1.0, 1.0])) for name in REGRESSORS[cell.regressors]}
    y = 100.0 + course + generator.standard_normal(count)
    for name, effect in effects.items():
        y = y + effect * columns[name]
    free = () if cell.country is None else read_holidays(cell.country, None, days[0].year, days[-1].year)
    lower = np.array([day.date() in free for day in days], float)
    wanders = cell.course == "walk"
    known = [np.ones(count), *([] if wanders or cell.course == "flat" else [course]), *([lower] if lower.any() else [])]
    frame = pd.DataFrame({"day": days, "sales": y - 3.0 * lower} | {name: columns[name] for name in effects})
    return Made(frame, effects, np.stack(known, axis=1), 0.25 if wanders else 0.0)


def best_errors(made: Made, rows: int) -> dict[str, float]:
    """The errors of generalised least squares over their standard deviations, the true model being known."""
    design = np.column_stack([made.frame[list(made.effects)].to_numpy(), made.known])[:rows]
    y, place = made.frame["sales"].to_numpy()[:rows], np.arange(1, rows + 1)
    if made.steps:
        L = np.linalg.cholesky(np.eye(rows) + made.steps * np.minimum.outer(place, place))
        design, y = np.linalg.solve(L, design), np.linalg.solve(L, y)
    spread = np.linalg.inv(design.T @ design)
    errors = (spread @ design.T @ y)[: len(made.effects)] - np.array(list(made.effects.values()))
    return {name: round(float(errors[i] / np.sqrt(spread[i, i])), 3) for i, name in enumerate(made.effects)}


def _promotion(count: int, generator: np.random.Generator) -> np.ndarray:
    """Blocks of three to five days, 15 to 40 days apart."""
    found, at = np.zeros(count), int(generator.integers(5, 15))
    while at < count:
        length = int(generator.integers(3, 6))
        found[at : at + length] = 1.0
        at += length + int(generator.integers(15, 40))
    return found


def _price(count: int, generator: np.random.Generator) -> np.ndarray:
    """A price that changes every week or so, by independent draws about ten."""
    changes = np.cumsum(generator.random(count) < 0.15)
    return np.round(10.0 + generator.standard_normal(changes[-1] + 1), 2)[changes]


def told(forecaster: Forecaster) -> dict[str, Facts]:
    """The effect of each regressor alone, as it is explained."""
    model = forecaster.model_
    found = findings(model.result_, model.context_)
    names = forecaster.fitted_.observed.layout.regressors
    alone = [(facts, {column for factor in facts.factors for column in factor.columns}) for facts in found.facts]
    return {name: facts for facts, columns in alone for name in names if columns == {name}}


def effect_of(facts: Facts | None) -> Estimate | None:
    """The amount of a 0/1 regressor, or the slope of another one; None if it has neither."""
    return None if facts is None else facts.contrast or facts.slope or facts.straight


def measure(cell: Cell, seed: int) -> dict[str, Any]:
    """The figures of one series."""
    made, names = make(cell, seed), {"time": "day", "target": "sales"}
    forecaster = Forecaster(country=cell.country, scale="identity")
    clock = Clock()
    forecaster.fit(made.frame[: cell.rows], regressors=list(made.effects), **names)
    seconds = clock.read()["cpu_seconds"]
    parts, inside, z = told(forecaster), {}, {}
    for name, truth in made.effects.items():
        found = effect_of(parts.get(name))
        inside[name] = found is not None and found.low <= truth <= found.high
        z[name] = None if found is None else round((found.value - truth) * 2 * Z95 / (found.high - found.low), 3)
    ahead = made.frame[cell.rows :].drop(columns="sales")
    found, y = forecaster.forecast(future=ahead, levels=(LEVEL,)), made.frame["sales"][cell.rows :].to_numpy()
    low, high = (found[f"{end}_{LEVEL}"].to_numpy() for end in ("low", "high"))
    return {
        "inside": inside,
        "z": z,
        "best": best_errors(made, cell.rows),
        "holds": float(np.mean((low <= y) & (y <= high))),
        "components": [row.formula for row in forecaster.components_],
        "fit_cpu_seconds": seconds,
    }


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="series of each cell, or of --random")
    parser.add_argument("--random", action="store_true", help="one cell for each seed, drawn, in place of all cells")
    parser.add_argument("--covering", action="store_true", help="few cells that hold every pair of properties")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit and compare; a series that is in the record is not run again."""
    cells = covering_cells() if arguments.covering else every_cell()
    done = record.all_done()
    found: list[dict[str, Any]] = []
    for cell, seed in _wanted(cells, arguments.seeds, drawn=arguments.random):
        settings = cell._asdict()
        if key(settings, seed) in done:
            continue
        clock = Clock()
        figures = measure(cell, seed)
        record.add(settings, seed, figures, clock, ("holidays",))
        found.append(figures)
        tell(f"{' '.join(map(str, cell))} {seed}: {figures['inside']}, {figures['fit_cpu_seconds']} s")
    if found:
        print(summary(found))


def summary(found: Sequence[dict[str, Any]]) -> str:
    """How often intervals hold the effects, and the processor time of fits."""
    inside = [one for figures in found for one in figures["inside"].values()]
    seconds = [figures["fit_cpu_seconds"] for figures in found]
    series = sum(all(figures["inside"].values()) for figures in found)
    best = [abs(z) <= Z95 for figures in found for z in figures["best"].values()]
    held = 100 * np.mean([one["holds"] for one in found])
    return (
        f"{sum(inside)} of {len(inside)} effects inside their {LEVEL} % intervals ({sum(best)} with the true model), "
        f"all of them in {series} of {len(found)} series; forecasts hold {held:.1f} %; "
        f"fits take {np.median(seconds):.2f} s of processor time (median), at most {max(seconds):.1f} s"
    )


def _wanted(cells: Sequence[Cell], seeds: Sequence[int], *, drawn: bool) -> Iterator[tuple[Cell, int]]:
    for seed in seeds:
        if drawn:
            yield cells[int(np.random.default_rng([5001, seed]).integers(len(cells)))], seed
        else:
            # noise of its own for every cell
            yield from ((cell, len(every_cell()) * seed + place) for place, cell in enumerate(cells))
