"""Series of counts with many zeros: made ones of five kinds, and hours of a service that is closed at night.

poisson       a constant rate from 0.2 to 5
overdispersed a negative binomial of constant rate and size
seasonal      a Poisson whose rate follows the year, or the week
obsolete      a Poisson whose rate fades, or ends, towards zero
lumpy         a row in three to ten is above zero, and then large
"""

import csv
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

FREQUENCIES = (("W", 52, 13), ("MS", 12, 12), ("D", 7, 14))
"""Steps, the season in steps, and the horizon of made series."""
FILE = "intermittent_demand.csv.gz"
WEEK = 168
"""Hours in a week."""


@dataclass(frozen=True)
class Counts:
    """A series, and how much of its end is forecast."""

    y: np.ndarray
    index: pd.DatetimeIndex
    season: int
    horizon: int

    @property
    def past(self) -> pd.Series:
        """What a forecaster sees."""
        return pd.Series(self.y[: -self.horizon], self.index[: -self.horizon], name="sold")

    @property
    def ahead(self) -> np.ndarray:
        """What it does not see."""
        return self.y[-self.horizon :]


def made(kind: str, seed: int) -> Counts:
    """A made series; the frequency goes with the seed."""
    generator = np.random.default_rng([*map(ord, kind), seed])
    frequency, season, horizon = FREQUENCIES[seed % len(FREQUENCIES)]
    n = int(generator.integers(70, 200)) + horizon
    y = KINDS[kind](generator, n, season)
    return Counts(y.astype(float), pd.date_range("2019-01-01", periods=n, freq=frequency), season, horizon)


def _rate(generator: np.random.Generator) -> float:
    return float(np.exp(generator.uniform(np.log(0.2), np.log(5.0))))


def poisson(generator: np.random.Generator, n: int, season: int) -> np.ndarray:
    """A constant rate."""
    return generator.poisson(_rate(generator), n)


def overdispersed(generator: np.random.Generator, n: int, season: int) -> np.ndarray:
    """A negative binomial."""
    rate, size = _rate(generator), generator.uniform(0.2, 2.0)
    return generator.negative_binomial(size, size / (size + rate), n)


def seasonal(generator: np.random.Generator, n: int, season: int) -> np.ndarray:
    """A rate that goes up and down by a factor of two to five."""
    angle = 2.0 * np.pi * (np.arange(n) / season + generator.uniform())
    return generator.poisson(_rate(generator) * np.exp(generator.uniform(0.35, 0.8) * np.sin(angle)))


def obsolete(generator: np.random.Generator, n: int, season: int) -> np.ndarray:
    """A rate that falls from some row on, in a line or at once."""
    start, fade = generator.uniform(0.4, 0.8) * n, generator.choice([1.0, 0.2 * n, 0.5 * n])
    left = np.clip(1.0 - (np.arange(n) - start) / fade, generator.choice([0.0, 0.1]), 1.0)
    return generator.poisson(_rate(generator) * left)


def lumpy(generator: np.random.Generator, n: int, season: int) -> np.ndarray:
    """Seldom, and then much."""
    often, much, size = generator.uniform(0.1, 0.35), generator.uniform(3.0, 30.0), generator.uniform(1.0, 4.0)
    return (generator.random(n) < often) * (1 + generator.negative_binomial(size, size / (size + much - 1.0), n))


KINDS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "poisson": poisson,
    "overdispersed": overdispersed,
    "seasonal": seasonal,
    "obsolete": obsolete,
    "lumpy": lumpy,
}


def hours(folder: Path, weeks_before: int) -> Counts:
    """Hourly users of a service, up to so many weeks before the end of the file; the last week is forecast."""
    with gzip.open(folder / FILE, "rt") as file:
        rows = list(csv.reader(file))[1:]
    end = len(rows) - WEEK * weeks_before
    y, index = np.array([float(row[1]) for row in rows[:end]]), pd.DatetimeIndex([row[0] for row in rows[:end]])
    return Counts(y, index, 24, WEEK)
