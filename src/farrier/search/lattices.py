"""Patterns that repeat over two inputs of a table, as in a texture or a field of crops: peaks of the periodogram.

Two inputs make a lattice if the values of each lie on a regular grid. Rows at one place of it are averaged, places
without rows are zero, and a quadratic surface is removed first, because slow changes have power at all low frequencies.
The pattern repeats every 1 / f along the one input and 1 / g along the other, where the power at (f, g) and (f, -g)
together is highest: that of a hexagonal arrangement, too, repeats along both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np
from scipy.ndimage import maximum_filter

from farrier.evaluation.grid import on_grid
from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import CentredPeriodic, SquaredExponential
from farrier.search.periods import (
    FEWEST_VALUES,
    FREQUENCIES_PER_PEAK,
    HIGHEST_FREQUENCY,
    PROMINENCE,
    REPEATS,
    ROUNDING_OF_SQUARES,
    SMALLEST_POWER,
)
from farrier.search.starting_values import LENGTHSCALES, SHAPES


@final
@dataclass(frozen=True)
class Lattice:
    """Two inputs, and the period along each."""

    inputs: tuple[int, int]
    periods: tuple[float, float]

    ranges: tuple[float, float]
    """The range of each input."""

    def kernels(self) -> list[Kernel]:
        """A pattern that repeats exactly, one with shorter details, and one whose shape drifts over the inputs."""
        strict = [CentredPeriodic(np.array(self.periods), np.full(2, shape), dims=self.inputs) for shape in SHAPES]
        drift = SquaredExponential(LENGTHSCALES[0] * np.array(self.ranges), dims=self.inputs)
        return [*strict, strict[0] * drift]


def find_lattices(X: np.ndarray, y: np.ndarray, columns: Sequence[int]) -> tuple[Lattice, ...]:
    """The lattice of each pair of the given columns whose periodogram has a peak."""
    grids = {d: _places(X[:, d]) for d in columns}
    return tuple(
        Lattice((d, e), periods, (float(np.ptp(X[:, d])), float(np.ptp(X[:, e]))))
        for d, e in combinations(columns, 2)
        if (one := grids[d]) is not None and (two := grids[e]) is not None
        if (periods := _periods(one, two, y)) is not None
    )


def _places(x: np.ndarray) -> tuple[np.ndarray, float] | None:
    """The place of each row on the grid of all values, and its spacing; None without a grid or with few values."""
    values, inverse = np.unique(x, return_inverse=True)
    grid = on_grid(values) if len(values) > FEWEST_VALUES else None
    return None if grid is None else (grid[0][inverse], grid[1])


def _periods(one: tuple[np.ndarray, float], two: tuple[np.ndarray, float], y: np.ndarray) -> tuple[float, float] | None:
    """The periods along both inputs; None if nothing repeats, or rows are too few for the frequencies of the grids."""
    (i, first), (j, second) = one, two
    if (i.max() + 1) * (j.max() + 1) > 2.0 * HIGHEST_FREQUENCY * len(y):
        return None
    field = _field(i, j, y)
    left, size = float(np.sum(field**2)), [2 * length for length in field.shape]
    if left <= ROUNDING_OF_SQUARES * float(y @ y):
        return None
    power = np.abs(np.fft.fft2(field, size)) ** 2 / (left * len(y))
    # waves that rise along both inputs, and waves that rise along one and fall along the other
    rows, columns = (np.arange(1, length // 2) for length in size)
    both = power[np.ix_(rows, columns)] + power[np.ix_(rows, -columns)]
    slow = (rows < 2 * REPEATS)[:, None] | (columns < 2 * REPEATS)[None, :]
    peaks = np.argwhere((both == maximum_filter(both, size=3)) & (2.0 * both > SMALLEST_POWER) & ~slow)
    for r, c in peaks[np.argsort(-both[tuple(peaks.T)])]:
        if both[r, c] > PROMINENCE * np.median(_around(both, r, c, FREQUENCIES_PER_PEAK)):
            f, g = _refined(field, rows[r] / size[0], columns[c] / size[1])
            return first / f, second / g
    return None


def _around(power: np.ndarray, row: int, column: int, width: int) -> np.ndarray:
    """The power near a frequency."""
    return power[max(row - width, 0) : row + width + 1, max(column - width, 0) : column + width + 1]


def _field(i: np.ndarray, j: np.ndarray, y: np.ndarray) -> np.ndarray:
    """y at the places of two grids, less a quadratic surface; zero where there are no rows."""
    u, v = i / i.max() - 0.5, j / j.max() - 0.5
    A = np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=1)
    left = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    sums, counts = np.zeros((2, i.max() + 1, j.max() + 1))
    np.add.at(sums, (i, j), left)
    np.add.at(counts, (i, j), 1.0)
    return sums / np.maximum(counts, 1.0)


def _refined(field: np.ndarray, f: float, g: float) -> tuple[float, float]:
    """The frequencies of highest power, in cycles for each place, near given ones."""
    near = np.linspace(-0.5, 0.5, 2 * FREQUENCIES_PER_PEAK + 1)
    tried = [f + near / field.shape[0], g + near / field.shape[1]]
    waves = [
        np.exp(-2j * np.pi * np.outer(one, np.arange(length))) for one, length in zip(tried, field.shape, strict=True)
    ]
    power = np.sum([np.abs(waves[0] @ field @ other.T) ** 2 for other in (waves[1], waves[1].conj())], axis=0)
    best = np.unravel_index(np.argmax(power), power.shape)
    return float(tried[0][best[0]]), float(tried[1][best[1]])
