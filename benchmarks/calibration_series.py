"""Made series, tables and classes whose truth is known, for the suite `calibration`.

Series have 96 months and 12 more ahead, of eight kinds; the parameters of each series are drawn. Tables have four
inputs, of which three matter, and 100 rows to learn from; their kinds are a sum, an interaction and a noise that has
heavy tails. Classes are drawn with known probabilities.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

ROWS, AHEAD = 96, 12
"""Months that are seen and that are forecast."""
YEAR = 2.0 * np.pi * np.arange(ROWS + AHEAD) / 12.0
"""The angle of each month."""
LEARNED, TESTED, INPUTS = 100, 200, 4
"""Rows to learn from, rows to test on, and inputs of a made table."""

Generator = np.random.Generator


def _noise(g: Generator) -> np.ndarray:
    return g.standard_normal(ROWS + AHEAD)


def _season(g: Generator) -> np.ndarray:
    """A yearly pattern of three harmonics."""
    sizes = g.standard_normal((2, 3)) * g.uniform(1.0, 3.0) / np.array([1.0, 2.0, 3.0])
    return sum(a * np.sin(k * YEAR) + b * np.cos(k * YEAR) for k, (a, b) in enumerate(sizes.T, 1))


def _walk(g: Generator, size: float) -> np.ndarray:
    return np.cumsum(size * _noise(g))


def white_noise(g: Generator) -> np.ndarray:
    """A level and independent values."""
    return 50.0 + _noise(g)


def random_walk(g: Generator) -> np.ndarray:
    """The sum of independent steps, with a drift."""
    return 50.0 + _walk(g, 1.0) + g.normal(0.0, 0.2) * np.arange(ROWS + AHEAD)


def local_level(g: Generator) -> np.ndarray:
    """A random walk with noise."""
    return 50.0 + _walk(g, np.exp(g.normal(-1.0, 0.5))) + _noise(g)


def line(g: Generator) -> np.ndarray:
    """A straight line with noise."""
    return 50.0 + g.normal(0.0, 0.2) * np.arange(ROWS + AHEAD) + _noise(g)


def autoregression(g: Generator) -> np.ndarray:
    """An autoregression of order one about a level."""
    phi, y = g.uniform(0.3, 0.9), _noise(g)
    for t in range(1, len(y)):
        y[t] += phi * y[t - 1]
    return 50.0 + y


def seasonal(g: Generator) -> np.ndarray:
    """A fixed yearly pattern, a line and noise."""
    return line(g) + _season(g)


def moving_season(g: Generator) -> np.ndarray:
    """A yearly pattern whose size wanders, a local level and noise."""
    return local_level(g) + np.exp(_walk(g, 0.03)) * _season(g)


def growing_season(g: Generator) -> np.ndarray:
    """exp of growth, a yearly pattern and noise: all in proportion to the level."""
    log = g.uniform(0.0, 0.01) * np.arange(ROWS + AHEAD) + _walk(g, 0.01) + 0.1 * _season(g) + 0.03 * _noise(g)
    return 100.0 * np.exp(log)


SERIES: dict[str, Callable[[Generator], np.ndarray]] = {
    "white noise": white_noise,
    "random walk": random_walk,
    "local level": local_level,
    "line": line,
    "autoregression": autoregression,
    "seasonal": seasonal,
    "moving season": moving_season,
    "growing season": growing_season,
}
"""How a series of each kind is made."""


class Table(NamedTuple):
    """Rows to learn from and rows to test on."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray


def _effects(X: np.ndarray, kind: str) -> np.ndarray:
    both = X[:, 1] * X[:, 2] if kind == "interaction" else X[:, 1] + 0.5 * X[:, 2] ** 2
    return np.sin(2.0 * X[:, 0]) + both


TABLES = ("sum", "interaction", "heavy tails")
CLASSES = ("sum", "interaction")
"""Kinds of made tables, and of made classes."""


def table(kind: str, seed: int) -> Table:
    """A made table: independent normal inputs, noise with standard deviation 0.5, or Student's t with 3 degrees."""
    g = np.random.default_rng([seed, TABLES.index(kind)])
    X = g.standard_normal((LEARNED + TESTED, INPUTS))
    noise = 0.3 * g.standard_t(3.0, len(X)) if kind == "heavy tails" else 0.5 * g.standard_normal(len(X))
    y = _effects(X, kind) + noise
    return Table(X[:LEARNED], y[:LEARNED], X[LEARNED:], y[LEARNED:])


def classes(kind: str, seed: int) -> Table:
    """Two classes with log odds of twice the effects; twice as many rows as a table."""
    g = np.random.default_rng([seed, 10 + CLASSES.index(kind)])
    X = g.standard_normal((2 * LEARNED + TESTED, INPUTS))
    y = (g.uniform(size=len(X)) < expit(2.0 * _effects(X, kind))).astype(int)
    return Table(X[: 2 * LEARNED], y[: 2 * LEARNED], X[2 * LEARNED :], y[2 * LEARNED :])
