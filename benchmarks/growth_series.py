"""Made series in time of known course: growth that ends, broken lines, shocks that heal, changes of level; and controls
that have none of these: random walks with drift, lines, and seasons on a level.

All follow from their seed. Frequencies take turns: monthly, daily, yearly; every second series that is not yearly has a
season.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import pandas as pd
from scipy.optimize import curve_fit

GROWTHS = ("logistic", "gompertz")
BREAKS = ("bend", "shock", "step")
CONTROLS = ("walk", "line", "season")
KINDS = (*GROWTHS, *BREAKS, *CONTROLS)
FREQUENCIES = ("monthly", "daily", "yearly")
OFFSETS = {"monthly": "MS", "daily": "D", "yearly": "YS"}
SEASONS = {"monthly": 12, "daily": 7}
"""The season of each frequency, in rows."""
ROWS = {"monthly": (60, 144), "daily": (150, 300), "yearly": (30, 60)}
"""Fewest and most rows of each frequency."""

Curve = Callable[..., np.ndarray]


@final
@dataclass(frozen=True, eq=False)
class Made:
    """A made series."""

    kind: str
    seed: int
    frequency: str
    y: pd.Series
    """The rows that are fitted."""
    future: np.ndarray
    """The values of the rows behind them: of months a year, else a fifth of the rows."""
    expected: np.ndarray
    """These without noise."""
    season: int | None
    """In rows; None without a season."""
    place: int | None = None
    """Of a break: its first row."""
    capacity: float | None = None
    """Of growth: the level that it approaches, without season and noise."""
    numbers: dict[str, float] | None = None
    """Of a break: its size, slopes and half-life."""

    @property
    def horizon(self) -> int:
        """Rows ahead."""
        return len(self.future)


def logistic(t: np.ndarray, capacity: float, middle: float, width: float) -> np.ndarray:
    """Growth that is fastest at half of its capacity."""
    return capacity / (1.0 + np.exp(-np.clip((t - middle) / width, -500, 500)))


def gompertz(t: np.ndarray, capacity: float, middle: float, width: float) -> np.ndarray:
    """Growth that is fastest at 37 % of its capacity."""
    return capacity * np.exp(-np.exp(-np.clip((t - middle) / width, -50, 500)))


CURVES: dict[str, Curve] = {"logistic": logistic, "gompertz": gompertz}
INVERSES = {
    "logistic": lambda part: np.log(part / (1.0 - part)),
    "gompertz": lambda part: -np.log(-np.log(part)),
}
"""How many widths behind its middle growth has reached a part of its capacity."""


def made(kind: str, seed: int) -> Made:
    """The series of a kind with this seed."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    frequency = FREQUENCIES[seed % 3]
    n = int(rng.integers(*ROWS[frequency]))
    ahead = 12 if frequency == "monthly" else n // 5
    season = SEASONS.get(frequency) if (seed // 3) % 2 or kind == "season" else None
    t = np.arange(n + ahead, dtype=float)
    if kind in GROWTHS:
        return _growth(kind, seed, frequency, n, t, season, rng)
    sd, numbers, place = 1.0, {}, None
    mean = np.zeros(len(t))
    if kind in BREAKS:
        place = int(rng.integers(int(0.3 * n), int(0.8 * n)))
        mean, numbers = _break(kind, t, n, place, rng)
    elif kind == "line":
        mean = rng.normal(0.0, 15.0) * t / n
    if season is not None:
        mean = mean + _seasonal(t, season, 3.0 * sd, rng)
    if kind == "walk":
        mean = np.cumsum(rng.normal(rng.normal(0.0, 0.3), 1.0, len(t)))
        sd = float(rng.choice([0.0, 0.5, 1.0]))
    values = 100.0 + mean + rng.normal(0.0, sd, len(t)) if sd else 100.0 + mean
    return Made(
        kind, seed, frequency, _dated(values[:n], frequency), values[n:], 100.0 + mean[n:], season, place, None, numbers
    )


def _growth(
    kind: str, seed: int, frequency: str, n: int, t: np.ndarray, season: int | None, rng: np.random.Generator
) -> Made:
    reached, begun = rng.uniform(0.55, 0.95), rng.uniform(0.02, 0.15)
    capacity, noise = float(10.0 ** rng.uniform(1.5, 4.5)), rng.uniform(0.01, 0.05)
    last, first = INVERSES[kind](reached), INVERSES[kind](begun)
    width = (n - 1) / (last - first)
    mean = CURVES[kind](t, capacity, (n - 1) - last * width, width)
    # every fourth falls
    low = capacity * rng.uniform(0.1, 0.5)
    level = capacity
    if seed % 4 == 3:
        mean, level = low + capacity - mean, low
    if season is not None:
        mean = mean + _seasonal(t, season, 0.08 * capacity, rng)
    values = mean + rng.normal(0.0, noise * capacity, len(t))
    y = _dated(values[:n], frequency)
    return Made(
        kind, seed, frequency, y, values[n:], mean[n:], season, None, level, {"reached": reached, "noise": noise}
    )


def _break(
    kind: str, t: np.ndarray, n: int, place: int, rng: np.random.Generator
) -> tuple[np.ndarray, dict[str, float]]:
    """A course of noise of standard deviation one, with its numbers."""
    sign, after = rng.choice([-1.0, 1.0]), np.maximum(t - place, 0.0)
    if kind == "bend":
        before = rng.normal(0.0, 8.0) / n
        change = sign * rng.uniform(8.0, 20.0) / (n - place)
        # the break lies between the row before it and its own
        return before * t + change * np.maximum(t - place + 0.5, 0.0), {"before": before, "after": before + change}
    if kind == "shock":
        size, half = sign * rng.uniform(8.0, 15.0), rng.uniform(4.0, 0.12 * n + 5.0)
        return np.where(t >= place, size * 0.5 ** (after / half), 0.0), {"size": size, "half": half}
    size = sign * rng.uniform(4.0, 8.0)
    return np.where(t >= place, size, 0.0), {"size": size}


def _seasonal(t: np.ndarray, season: int, size: float, rng: np.random.Generator) -> np.ndarray:
    """Two harmonics."""
    angles = 2.0 * np.pi * t[:, None] * np.arange(1, 3) / season
    a, b = rng.normal(0.0, 0.5 * size, (2, 2))
    return np.cos(angles) @ a + np.sin(angles) @ b


def _dated(values: np.ndarray, frequency: str) -> pd.Series:
    first = {"monthly": "2012-01-01", "daily": "2022-03-01", "yearly": "1960-01-01"}[frequency]
    return pd.Series(values, index=pd.date_range(first, periods=len(values), freq=OFFSETS[frequency]), name="sales")


def oracle(one: Made) -> np.ndarray:
    """The forecast of the true curve, with the true harmonics of its season, fitted by least squares."""
    y, n = one.y.to_numpy(), len(one.y)
    t = np.arange(n + one.horizon, dtype=float)
    angles = np.zeros((len(t), 0)) if one.season is None else 2.0 * np.pi * t[:, None] * np.arange(1, 3) / one.season
    waves = np.hstack([np.cos(angles), np.sin(angles)])
    falls, size = y[-1] < y[0], float(np.ptp(y))

    def curve(rows: np.ndarray, capacity: float, middle: float, width: float, low: float, *sizes: float) -> np.ndarray:
        s = CURVES[one.kind](rows, 1.0, middle, np.exp(width))
        grown = low + capacity * (1.0 - s) if falls else capacity * s
        return grown + waves[rows.astype(int)] @ np.array(sizes)

    best, least = np.full(one.horizon, y.mean()), np.inf
    for place in (0.3, 0.6, 0.9):
        start = [1.2 * size, place * n, np.log(0.15 * n), float(y.min()), *np.zeros(waves.shape[1])]
        try:
            found, _ = curve_fit(curve, t[:n], y, start, maxfev=20000)
        except RuntimeError:
            continue
        error = float(np.sum((curve(t[:n], *found) - y) ** 2))
        if error < least:
            best, least = curve(t[n:], *found), error
    return best
