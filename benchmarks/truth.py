"""Are the words true? Made series and tables of known structure; the sentences are read by rule.

Ten kinds: a line, a season, both, relative growth, a step, weekends, a random walk, noise; a table of straight effects,
a table with a U. Of each the truth is a list of claims: names, sizes, dates, directions. A claim is

    missing  if no sentence speaks of it,
    false    if one does and is wrong: another direction or month, a number further from the truth than 1.5 times the
             half width of its interval (2.9 standard deviations: 1 in 300 by chance).

A sentence that names a structure that is not in the data is false too.

    python -m benchmarks run truth --seeds 0 1 2 3 4 5
"""

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.record import Clock, Recorder, tell
from farrier import Forecaster, Regressor

DESCRIPTION = "made series and tables of known structure: false and missing statements of the explanations"
SLACK = 1.5
"""Half widths of an interval within which the truth must lie. [ratio; see above]"""
NUMBER = r"(-?[\d,.]*\d)"
INTERVAL = rf"\({NUMBER} to {NUMBER}\)"
PATTERN, STEP, WALK = r"\bpattern\b", r"of the level|(?:higher|lower|different) level", r"wander|random walk"
"""Words that name a structure."""
MONTHS = tuple(pd.Timestamp(2000, month, 1).month_name() for month in range(1, 13))


@dataclass(frozen=True)
class Claim:
    """One thing that is true of the data."""

    about: str
    """'name', 'size', 'date' or 'direction'."""
    pattern: str
    """A regular expression that finds the sentence; without a match the claim is missing."""
    true: Callable[[tuple[str, ...]], bool] = lambda groups: True
    """Whether the groups of the match are right."""


@dataclass(frozen=True, eq=False)
class Made:
    """Data and what is true of them."""

    data: Any
    """A pandas Series, or (frame, target)."""
    claims: list[Claim]
    forbidden: tuple[str, ...] = field(default=())
    """Expressions for structures that are not there."""


def number(text: str) -> float:
    """A number as sentences write it."""
    return float(text.replace(",", ""))


def holds(truth: float) -> Callable[[tuple[str, ...]], bool]:
    """Whether a value and the ends of its interval, the last three groups, agree with the truth."""

    def check(groups: tuple[str, ...]) -> bool:
        value, low, high = map(number, groups[-3:])
        return abs(value - truth) <= SLACK * max(value - low, high - value)

    return check


def months(count: int) -> pd.DatetimeIndex:
    """Months from 2012 on."""
    return pd.date_range("2012-01-01", periods=count, freq="MS")


def days(count: int) -> pd.DatetimeIndex:
    """Days from 1 January 2024 on, a Monday."""
    return pd.date_range("2024-01-01", periods=count)


def series(index: pd.DatetimeIndex, y: np.ndarray) -> pd.Series:
    """A named series."""
    return pd.Series(y, index, name="sales")


def season(rng: np.random.Generator, size: float) -> tuple[np.ndarray, Claim, Claim]:
    """Twelve levels with a clear high and low, and the claims about them."""
    levels = rng.normal(0, 0.3 * size, 12)
    high, low = rng.choice(12, 2, replace=False)
    levels[high], levels[low] = 1.5 * size, -1.5 * size
    claims = [
        Claim("name", rf"{way}est in (\w+) \(", lambda groups, month=month: groups[0] == MONTHS[month])
        for way, month in (("high", high), ("low", low))
    ]
    return levels - levels.mean(), claims[0], claims[1]


def straight(slope: float, unit: str) -> list[Claim]:
    """The claims about a line."""
    way = "rise" if slope > 0 else "fall"
    return [
        Claim("direction", r"linear (rise|fall)", lambda groups: groups[0] == way),
        Claim("size", rf"linear (?:rise|fall) of {NUMBER} {unit} {INTERVAL}", holds(abs(slope))),
    ]


def line(rng: np.random.Generator) -> Made:
    """Months along a line."""
    slope = rng.choice([-1, 1]) * rng.uniform(4.0, 12.0)
    y = 200.0 + slope * np.arange(96) / 12.0 + 2.0 * rng.standard_normal(96)
    return Made(series(months(96), y), straight(slope, "a year"), (PATTERN, STEP))


def cycle(rng: np.random.Generator) -> Made:
    """Months of a season alone."""
    levels, *claims = season(rng, 8.0)
    y = 100.0 + np.tile(levels, 8) + rng.standard_normal(96)
    return Made(series(months(96), y), [Claim("name", "yearly pattern"), *claims], (STEP,))


def both(rng: np.random.Generator) -> Made:
    """Months of a season along a line."""
    levels, *claims = season(rng, 8.0)
    slope = rng.choice([-1, 1]) * rng.uniform(4.0, 12.0)
    y = 200.0 + slope * np.arange(96) / 12.0 + np.tile(levels, 8) + rng.standard_normal(96)
    return Made(series(months(96), y), [Claim("name", "yearly pattern"), *claims, *straight(slope, "a year")], (STEP,))


def growth(rng: np.random.Generator) -> Made:
    """Months that grow by a rate, with a relative season."""
    levels, *claims = season(rng, 0.1)
    rate = rng.uniform(0.06, 0.15)
    y = 100.0 * np.exp(np.log1p(rate) * np.arange(108) / 12.0 + np.tile(levels, 9) + 0.01 * rng.standard_normal(108))
    size = Claim("size", rf"Growth of {NUMBER} % a year {INTERVAL}", holds(100.0 * rate))
    return Made(series(months(108), y), [Claim("direction", r"[Gg]rowth|rise"), size, *claims], (STEP,))


def step(rng: np.random.Generator) -> Made:
    """Days with one change of the level."""
    at, jump = int(rng.integers(60, 140)), float(rng.choice([-1, 1]) * rng.uniform(2.5, 5.0))
    y = 50.0 + jump * (np.arange(200) >= at) + rng.standard_normal(200)
    first = pd.Timestamp(days(200)[at])

    def dated(groups: tuple[str, ...]) -> bool:
        value = pd.Timestamp(groups[0])
        if groups[1] is None:
            return value == first
        high = pd.Timestamp(groups[2])
        parts = groups[1].split()
        low = pd.Timestamp(" ".join([*parts, *groups[2].split()[len(parts) :]]))
        return low <= first <= high

    way = "rise" if jump > 0 else "fall"
    date = r"from (\d+ \w+ \d{4}) on(?: \((\d+[\w ]*?) to (\d+ \w+ \d{4})\))?"
    claims = [
        Claim("direction", r"[Aa] (rise|fall) of the level", lambda groups: groups[0] == way),
        Claim("size", rf"of the level, \+?{NUMBER} {INTERVAL}", holds(jump)),
        Claim("date", date, dated),
    ]
    return Made(series(days(200), y), claims, (PATTERN,))


def weekends(rng: np.random.Generator) -> Made:
    """Days whose weekends differ."""
    size = float(rng.choice([-1, 1]) * rng.uniform(4.0, 8.0))
    index = days(210)
    y = 50.0 + size * (index.day_of_week >= 5) + rng.standard_normal(210)
    way = "Lower" if size < 0 else "Higher"
    claims = [
        Claim("direction", r"(Lower|Higher) weekends", lambda groups: groups[0] == way),
        Claim("size", rf"weekends: \+?{NUMBER} {INTERVAL}", holds(size)),
    ]
    return Made(series(index, y), claims, (STEP, WALK))


def walk(rng: np.random.Generator) -> Made:
    """Days of a random walk."""
    y = 100.0 + rng.standard_normal(200).cumsum()
    claims = [
        Claim("name", WALK),
        Claim("size", rf"typically moves by about {NUMBER} a day {INTERVAL}", holds(1.0)),
    ]
    return Made(series(days(200), y), claims, (PATTERN, STEP))


def noisy(groups: tuple[str, ...]) -> bool:
    """Whether a standard deviation is about 2, or about 10 % of the level of 20."""
    return 1.7 <= number(groups[0]) * (0.2 if groups[1] else 1.0) <= 2.3


def noise(rng: np.random.Generator) -> Made:
    """Days of noise alone."""
    claims = [
        Claim("name", "No component stands out"),
        Claim("size", rf"standard deviation of about {NUMBER}( %)?", noisy),
    ]
    return Made(series(days(200), 20.0 + 2.0 * rng.standard_normal(200)), claims, (PATTERN, STEP, WALK))


def table(rng: np.random.Generator) -> Made:
    """Two straight effects, and an input without any."""
    frame = pd.DataFrame({"area": rng.uniform(20, 120, 150), "age": rng.uniform(0, 50, 150), "code": rng.random(150)})
    first, second = rng.uniform(2.0, 4.0), -rng.uniform(3.0, 6.0)
    frame["rent"] = 100.0 + first * frame.area + second * frame.age + 10.0 * rng.standard_normal(150)
    claims = []
    for name, slope in (("area", first), ("age", second)):
        way, unit = "rise" if slope > 0 else "fall", rf"per unit of {name}"
        claims += [
            Claim("name", rf"effect of [^.:]*\b{name}\b"),
            Claim(
                "size",
                rf"(?:{way} of |{name} [+-]|straight line, [+-]){NUMBER} (?:{unit}|per unit) {INTERVAL}",
                holds_either(abs(slope)),
            ),
        ]
    return Made((frame, "rent"), claims, (r"effect of [^.:]*\bcode\b",))


def holds_either(truth: float) -> Callable[[tuple[str, ...]], bool]:
    """The same for a size that is told with or without its sign."""
    return lambda groups: holds(truth)(groups) or holds(-truth)((f"-{groups[-3]}", *groups[-2:]))


def curved(rng: np.random.Generator) -> Made:
    """A U, a straight effect, and an input without any."""
    frame = pd.DataFrame({"age": rng.uniform(0, 100, 150), "area": rng.uniform(20, 120, 150), "code": rng.random(150)})
    lowest = rng.uniform(35.0, 65.0)
    frame["rent"] = 0.05 * (frame.age - lowest) ** 2 + 2.0 * frame.area + 8.0 * rng.standard_normal(150)
    claims = [
        Claim("direction", r"effect of age.{0,160}?U-shaped"),
        Claim("size", rf"lowest near {NUMBER}", lambda groups: abs(number(groups[0]) - lowest) <= 6.0),
        Claim("name", r"effect of [^.:]*\barea\b"),
    ]
    return Made((frame, "rent"), claims, (r"effect of [^.:]*\bcode\b",))


KINDS: dict[str, Callable[[np.random.Generator], Made]] = {
    made.__name__: made for made in (line, cycle, both, growth, step, weekends, walk, noise, table, curved)
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(6)), help="data of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Explain, read and count; data that are in the record are not explained again."""
    for kind in arguments.kinds:
        for seed in arguments.seeds:
            if record.done({"kind": kind}, seed):
                continue
            clock = Clock()
            figures = measure(kind, seed)
            record.add({"kind": kind}, seed, figures, clock)
            tell(f"{kind} {seed}: {figures['claims']} claims, false {figures['false']}, missing {figures['missing']}")


def measure(kind: str, seed: int) -> dict[str, Any]:
    """The figures of one explanation."""
    made = KINDS[kind](np.random.default_rng(7000 + seed))
    if isinstance(made.data, tuple):
        frame, target = made.data
        model: Any = Regressor().fit(frame.drop(columns=target), frame[target]).describe(target_name=target)
    else:
        model = Forecaster().fit(made.data)
    return {**read(str(model.explain()), made), "text": str(model.explain())}


def read(text: str, made: Made) -> dict[str, Any]:
    """The claims that are false and missing in a text."""
    plain = " ".join(text.split())
    false, missing = [], []
    for claim in made.claims:
        found = re.search(claim.pattern, plain)
        if found is None:
            missing.append(claim.about)
        elif not claim.true(found.groups()):
            false.append(f"{claim.about}: {found[0]}")
    false += [f"invented: {found[0]}" for words in made.forbidden if (found := re.search(words, plain))]
    return {"claims": len(made.claims), "false": false, "missing": missing}
