"""The periods of a series: peaks of its periodogram, removed one at a time.

A quadratic trend is removed first, because slow changes have power at all low frequencies. Then the strongest period is
fitted with its first harmonics and removed before the next is looked for, because a cycle that is not a sine also has
peaks at its harmonics. Peaks are ranked by power and by prominence (power relative to the neighbourhood) in turn: the
yearly cycle of a drifting series has little power but a high prominence.

For rows on a regular grid, with gaps or without, the periodogram is a Fourier transform, which is fast for any length.
For irregular rows it is the Lomb-Scargle periodogram, at no more frequencies than the number of rows can resolve.

Patterns that repeat over two inputs of a table, as in a texture or a field of crops: peaks of the periodogram.

Two inputs make a lattice if the values of each lie on a regular grid. Rows at one place of it are averaged, places
without rows are zero, and a quadratic surface is removed first, because slow changes have power at all low frequencies.
The pattern repeats every 1 / f along the one input and 1 / g along the other, where the power at (f, g) and (f, -g)
together is highest: that of a hexagonal arrangement, too, repeats along both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np
from scipy.ndimage import maximum_filter, median_filter

from farrier.evaluation.grid import on_grid
from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import CentredPeriodic, SquaredExponential
from farrier.search.starting_values import LENGTHSCALES, SAME_PERIOD, SHAPES

SMALLEST_POWER, PROMINENCE, STRONG_POWER = 0.01, 6.0, 0.15
"""A peak of the periodogram: its lowest power, its lowest ratio to the median power nearby, and the power from which
the strongest one needs no prominence. [part of the variance; ratio; part of the variance; by judgement]"""

FEWEST_VALUES = 8
"""Fewest distinct values of an input that is transformed, and that has jumps and bends. [values; by judgement]"""

REPEATS = 3.0
"""Times that a cycle must repeat in the range. [cycles; by judgement]"""
FREQUENCIES_PER_PEAK = 8
"""Frequencies tried over the width of one spectral peak. [frequencies; by judgement]"""
HIGHEST_FREQUENCY = 5.0
"""Highest frequency for irregular rows, and for those on a grid with gaps: where rows are dense, short cycles can be
found. [cycles for each row on average; by judgement]"""
HARMONICS = 3
"""Harmonics, the first included, that are fitted and removed with a period. [harmonics; by judgement]"""
ROUNDING_OF_SQUARES = 1e-10
"""Relative size below which squares in the least-squares fit of waves count as rounding errors. [part of the largest
square; by judgement]"""


def find_periods(
    x: np.ndarray,
    y: np.ndarray,
    count: int,
    known: Sequence[float] = (),
) -> list[float]:
    """At most `count` periods of y(x); one that is close to a known period (a year, a week) is replaced by it.

    Empty with fewer than 8 rows, or if x spans fewer than that many median steps.
    """
    order = np.argsort(x)
    x, y = x[order], y[order]
    steps = np.diff(np.unique(x))
    if len(x) < FEWEST_VALUES or len(steps) == 0:
        return []
    spacing, extent = float(np.median(steps)), float(x[-1] - x[0])
    if extent < FEWEST_VALUES * spacing:
        return []
    left = y - _projection(_polynomial(x), y)
    frequencies, periodogram = _periodogram(x, spacing, REPEATS / extent)
    found: list[float] = []
    allowed = np.ones(len(frequencies), bool)
    for turn in range(2 * count):
        if len(found) == count:
            break
        if left.std() <= 1e-9 * max(1.0, float(np.abs(y).max())):
            break
        power = periodogram(left - left.mean()) * 2.0 / (len(x) * left.var())
        strong = STRONG_POWER if turn == 0 else np.inf
        peak = _peak(power, allowed, by_prominence=turn % 2 == 1, strong=strong)
        if peak is None:
            continue
        period, _ = _with_harmonics(x, left, _refined(frequencies, power, peak), extent)
        period = next((p for p in known if abs(p / period - 1.0) < SAME_PERIOD), period)
        found.append(period)
        # exclude all harmonics, but only the first if they are so close together that they would exclude everything
        # a cycle whose amplitude grows has sidebands: frequencies are 2.5 cycles in the range apart
        multiple = np.maximum(1.0, np.rint(frequencies * period)) if extent > 3 * 2.5 * period else 1.0
        allowed &= np.abs(frequencies - multiple / period) > 2.5 / extent
        waves = _waves(x, np.array([period]), HARMONICS)[0]
        left = left - _projection(np.hstack([_polynomial(x), waves]), left)
    return found


def _periodogram(x: np.ndarray, spacing: float, lowest: float) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """The frequencies to try, and the function that maps a series of mean zero to its power at each of them."""
    extent = float(x[-1] - x[0])
    # empty places cost a Fourier transform next to nothing; on a grid with more of them, the frequencies go too high
    grid = on_grid(x, empty=1.0 - 0.5 / HIGHEST_FREQUENCY)
    if grid is None:
        from scipy.signal import lombscargle  # slow to import, and not needed for regular grids

        highest = min(0.5 / spacing, HIGHEST_FREQUENCY * len(x) / extent)
        frequencies = np.arange(lowest, highest, 1.0 / (FREQUENCIES_PER_PEAK * extent))
        return frequencies, lambda y: lombscargle(x, y, 2.0 * np.pi * frequencies)
    places, step = grid
    size = 2 ** int(np.ceil(np.log2(FREQUENCIES_PER_PEAK * (int(places[-1]) + 1))))
    inside = slice(int(np.ceil(lowest * size * step)), size // 2)

    def power(y: np.ndarray) -> np.ndarray:
        filled = np.zeros(int(places[-1]) + 1)
        filled[places] = y
        return np.abs(np.fft.rfft(filled, size)[inside]) ** 2 / len(y)

    return np.arange(size // 2)[inside] / (size * step), power


def _peak(power: np.ndarray, allowed: np.ndarray, *, by_prominence: bool, strong: float) -> int | None:
    width = max(4 * FREQUENCIES_PER_PEAK, len(power) // 16) | 1
    background = np.maximum(median_filter(power, size=width, mode="nearest"), 1e-12)
    inside = allowed & (power >= np.roll(power, 1)) & (power >= np.roll(power, -1))
    inside &= power >= SMALLEST_POWER
    inside &= (power > PROMINENCE * background) | (power > strong)
    if not inside.any():
        return None
    return int(np.argmax(np.where(inside, power / background if by_prominence else power, -np.inf)))


def _refined(frequencies: np.ndarray, power: np.ndarray, peak: int) -> float:
    """The frequency at the top of the parabola through the peak and its two neighbours."""
    if not 0 < peak < len(power) - 1:
        return float(frequencies[peak])
    below, top, above = power[peak - 1 : peak + 2]
    bend = below - 2.0 * top + above
    shift = 0.5 * (below - above) / bend if bend < 0 else 0.0
    return float(frequencies[peak] + np.clip(shift, -0.5, 0.5) * (frequencies[1] - frequencies[0]))


def multiples_of(x: np.ndarray, y: np.ndarray, periods: Sequence[float]) -> list[float]:
    """Twice or three times each period if that fits y better by the BIC: the strongest peak may be a harmonic."""
    if not periods:
        return []
    extent, left = float(np.ptp(x)), y - _projection(_polynomial(x), y)
    found: list[float] = []
    for period in periods:
        tried: list[tuple[float, float]] = []
        for multiple in (1, 2, 3):
            waves = 2 * multiple * HARMONICS
            if multiple * period > extent / REPEATS or waves + 3 > len(x) // 3:
                break
            best, error = _with_harmonics(x, left, 1.0 / (multiple * period), extent, multiple)
            # the BIC penalises the additional waves
            tried.append((len(x) * np.log(max(error, np.finfo(float).tiny)) + (waves + 3) * np.log(len(x)), best))
        if tried and min(tried) != tried[0]:
            found.append(min(tried)[1])
    return found


def waves_gain(x: np.ndarray, y: np.ndarray, seasons: Sequence[float], period: float) -> float:
    """Half the BIC that the waves of a period gain beside a quadratic trend and the waves of the seasons. [nats]"""
    left = y - _projection(_polynomial(x), y)
    errors, sizes = [], []
    for periods in (seasons, [*seasons, period]):
        A = np.hstack([_polynomial(x), *_waves(x, np.array(periods), HARMONICS)])
        errors.append(max(float(np.sum((left - _projection(A, left)) ** 2)), np.finfo(float).tiny))
        sizes.append(A.shape[1])
    return 0.5 * (len(x) * np.log(errors[0] / errors[1]) - (sizes[1] - sizes[0]) * np.log(len(x)))


def _with_harmonics(
    x: np.ndarray, left: np.ndarray, frequency: float, extent: float, multiple: int = 1
) -> tuple[float, float]:
    """The period near a frequency that fits best with its harmonics, and the residual sum of squares.

    Harmonics determine a period more precisely than its first wave alone. A multiple of a period has proportionally
    more harmonics, so that they reach the same frequencies.
    """
    tried = frequency + np.linspace(-0.5, 0.5, 2 * FREQUENCIES_PER_PEAK + 1) / extent
    trend = np.broadcast_to(_polynomial(x), (len(tried), len(x), 3))
    A = np.concatenate([trend, _waves(x, 1.0 / tried, multiple * HARMONICS)], axis=2)
    # all least-squares problems at once; the pseudo-inverse handles waves that are linearly dependent
    explained = left @ A
    inverse = np.linalg.pinv(A.transpose(0, 2, 1) @ A, ROUNDING_OF_SQUARES, hermitian=True)
    whole = left @ left
    errors = np.maximum(whole - np.einsum("fi,fij,fj->f", explained, inverse, explained), ROUNDING_OF_SQUARES * whole)
    best = int(np.argmin(errors))
    return 1.0 / _refined(tried, -errors, best), float(errors[best])


def _polynomial(x: np.ndarray) -> np.ndarray:
    centred = (x - x.mean()) / np.ptp(x)
    return np.stack([np.ones_like(x), centred, centred**2], axis=1)


def _waves(x: np.ndarray, periods: np.ndarray, harmonics: int) -> np.ndarray:
    """Sines and cosines of each period and its harmonics at the rows, (P, N, 2 harmonics)."""
    angles = 2.0 * np.pi * x[None, :, None] / periods[:, None, None] * np.arange(1, harmonics + 1)
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=2)


def _projection(A: np.ndarray, y: np.ndarray) -> np.ndarray:
    return A @ np.linalg.lstsq(A, y, rcond=None)[0]


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
            f, g = _refined_pair(field, rows[r] / size[0], columns[c] / size[1])
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


def _refined_pair(field: np.ndarray, f: float, g: float) -> tuple[float, float]:
    """The frequencies of highest power, in cycles for each place, near given ones."""
    near = np.linspace(-0.5, 0.5, 2 * FREQUENCIES_PER_PEAK + 1)
    tried = [f + near / field.shape[0], g + near / field.shape[1]]
    waves = [
        np.exp(-2j * np.pi * np.outer(one, np.arange(length))) for one, length in zip(tried, field.shape, strict=True)
    ]
    power = np.sum([np.abs(waves[0] @ field @ other.T) ** 2 for other in (waves[1], waves[1].conj())], axis=0)
    best = np.unravel_index(np.argmax(power), power.shape)
    return float(tried[0][best[0]]), float(tried[1][best[1]])
