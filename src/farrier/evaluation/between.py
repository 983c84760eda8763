"""The covariance of rows with other rows, such as those of a forecast: C_s = sum_i w2_si K_i(X, Z).

Predictions average over dozens of draws of the hyperparameters, each with a matrix of its own. Where all rows of a
series lie on one regular grid, functions of the distance are evaluated once for each lag, as in covariance.py.
"""

from typing import Any, Protocol, final

import numpy as np

from farrier.evaluation.factors import Factor
from farrier.evaluation.grid import SAME, on_grid
from farrier.evaluation.products import Products


class Between(Protocol):
    """The covariances of two given sets of rows."""

    def __call__(self, pool: Products, w2: np.ndarray) -> np.ndarray:
        """C (S, N, M) for squared weights (S, m)."""
        ...


def between(X: np.ndarray, Z: np.ndarray) -> Between:
    """The fastest way for these rows."""
    lags = _lags(X[:, 0], Z[:, 0])
    return DenseBetween(X, Z) if lags is None else SeriesBetween(X, Z, *lags)


@final
class DenseBetween:
    """Any rows: each kernel is evaluated for all pairs."""

    def __init__(self, X: np.ndarray, Z: np.ndarray) -> None:
        self._X, self._Z = X, Z

    def __call__(self, pool: Products, w2: np.ndarray) -> np.ndarray:
        C = np.zeros((len(w2), len(self._X), len(self._Z)))
        for i in np.flatnonzero(w2.any(axis=0)):
            K, _ = pool.terms[i].gram(pool.numbers, self._X, self._Z)
            for C_s, weight in zip(C, w2[:, i], strict=True):
                C_s += weight * K
        return C


@final
class SeriesBetween:
    """The first input on a regular grid: `which` is the index of the distance of each pair among all distances."""

    def __init__(self, X: np.ndarray, Z: np.ndarray, distances: np.ndarray, which: np.ndarray) -> None:
        self._X, self._Z = X, Z
        self._distances, self._which = distances, which
        self._kept: dict[Any, np.ndarray] = {}
        """Values of factors without trained hyperparameters, such as patterns of the calendar."""

    def __call__(self, pool: Products, w2: np.ndarray) -> np.ndarray:
        rho, _ = pool.lagged(pool.numbers, self._distances)
        of_lags = w2[:, pool.on_lags] @ rho[pool.on_lags]
        of_rows = [np.zeros((len(w2), len(rows))) for rows in (self._X, self._Z)]
        for i in np.flatnonzero(pool.wandering):
            factor = pool.terms[i].wandering
            assert factor is not None
            of_lags -= np.outer(w2[:, i], factor.half_variogram(pool.numbers, self._distances)[0])
            for sums, rows in zip(of_rows, (self._X, self._Z), strict=True):
                away = factor.from_origin(pool.numbers, rows)
                sums += np.outer(w2[:, i], factor.half_variogram(pool.numbers, away)[0])
        C = of_lags[:, self._which]
        C += of_rows[0][:, :, None]
        C += of_rows[1][:, None, :]
        for i in np.flatnonzero(~pool.on_lags & ~pool.wandering & w2.any(axis=0)):
            K = self._other(pool, int(i), rho[i])
            for C_s, weight in zip(C, w2[:, i], strict=True):
                C_s += weight * K
        return C

    def _other(self, pool: Products, i: int, rho: np.ndarray) -> np.ndarray:
        """A product that is not a function of the distance alone."""
        term = pool.terms[i]
        K = rho[self._which]
        if not term.flat:
            K *= np.outer(*(term.profile(pool.numbers, rows)[0] for rows in (self._X, self._Z)))
        for factor in term.unlagged:
            K *= self._values(factor, pool.numbers)
        return K

    def _values(self, factor: Factor, numbers: np.ndarray) -> np.ndarray:
        """A factor that is not a function of the distance."""
        if factor.identity is None:
            return factor.between(numbers, self._X, self._Z)[0]
        if factor.identity not in self._kept:
            self._kept[factor.identity] = factor.between(numbers, self._X, self._Z)[0]
        return self._kept[factor.identity]


def _lags(x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """All distances on the grid of x, and the index of the distance of each pair; None if not all rows are on it."""
    grid = on_grid(x)
    if grid is None or not len(z):
        return None
    first, (_, spacing) = x.min(), grid
    places = [(one - first) / spacing for one in (x, z)]
    extent = max(np.abs(one).max() for one in places)
    if any(np.abs(one - np.rint(one)).max() > SAME * extent for one in places):
        return None
    which = np.abs(np.rint(places[0])[:, None] - np.rint(places[1])[None, :]).astype(int)
    # far from the rows there are more lags than pairs
    return (spacing * np.arange(which.max() + 1), which) if which.max() < which.size else None
