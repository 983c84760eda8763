"""The covariance of the rows, C_s = sum_i w2_si K_i, and how a derivative by C comes back to the numbers that made it.

This is where the time of the exact tier goes, so it runs in two halves around the linear algebra, which is LAPACK's:
`forward` gives C for S draws of the weights, `backward` takes dL/dC. `DenseCovariance` works for any inputs. On a
regular grid of one input (gaps allowed) `GridCovariance` uses that every product here is

    k_i(x, z) = v_i(x) v_i(z) rho_i(x - z)

so that exponentials and sines are taken of N lags instead of N^2 pairs, and a derivative by rho_i(lag) is the sum along
a diagonal: measured on 512 rows and 24 kernels, an order of magnitude faster.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.stride_tricks import as_strided

from farrier.kernels.slots import SlotPool

GRID_TOLERANCE = 0.1
"""How far a row may be from its place on a grid, in steps of the grid, to count as on it: calendar months are."""
GRID_EMPTY = 0.3
"""The largest part of a grid that may be empty: its rows are carried along."""
ROW_STEP = 32
"""Rows are filled up to a multiple of this (more for longer tables), so that similar lengths share one program."""


def bucket(rows: int) -> int:
    """The number of rows to which a table is filled up."""
    step = ROW_STEP
    while rows > 8 * step:
        step *= 2
    return -(-rows // step) * step


class Covariance(ABC):
    """C of N rows, filled up with rows that are independent of all others."""

    X: np.ndarray
    """The rows, filled up."""
    filled: np.ndarray
    """Which of them are real: (N,) of 1 and 0."""
    places: np.ndarray
    """Where the rows that were given stand among them, in the order in which they were given."""

    @abstractmethod
    def forward(self, pool: SlotPool, w2: np.ndarray) -> tuple[np.ndarray, Any]:
        """C (S, N, N), and what `backward` needs; rows that are not real have zeros."""

    @abstractmethod
    def backward(self, saved: Any, dC: np.ndarray) -> tuple[Any, np.ndarray]:
        """From dL/dC, symmetric and zero for rows that are not real: dL/dpool (a pool of derivatives) and dL/dw2."""

    @abstractmethod
    def grams(self, pool: SlotPool) -> np.ndarray:
        """Each kernel alone at the rows that were given, in their order, (m, n, n)."""

    def scatter(self, y: np.ndarray) -> np.ndarray:
        """Values of the given rows among all rows, with zeros between them."""
        out = np.zeros(len(self.X))
        out[self.places] = y
        return out

    def gather(self, C: np.ndarray) -> np.ndarray:
        """From (..., N, N) over all rows to (..., n, n) over the given ones, in their order."""
        return C[..., self.places[:, None], self.places[None, :]]


@dataclass
class _Saved:
    pool: SlotPool
    w2: np.ndarray
    extra: Any = None


@final
class DenseCovariance(Covariance):
    """Any inputs: each kernel is worked out for all pairs of rows."""

    def __init__(self, X: np.ndarray) -> None:
        size = bucket(len(X))
        self.X = np.concatenate([X, np.zeros((size - len(X), X.shape[1]))])
        self.filled = np.concatenate([np.ones(len(X)), np.zeros(size - len(X))])
        self.places = np.arange(len(X))
        self._pairs = np.outer(self.filled, self.filled)

    def forward(self, pool: SlotPool, w2: np.ndarray) -> tuple[np.ndarray, Any]:
        C = np.array(_weighted(pool, jnp.asarray(self.X), jnp.asarray(w2)))
        return C * self._pairs, _Saved(pool, w2)

    def backward(self, saved: _Saved, dC: np.ndarray) -> tuple[Any, np.ndarray]:
        slopes, dw2 = _weighted_back(saved.pool, jnp.asarray(self.X), jnp.asarray(saved.w2), jnp.asarray(dC))
        return slopes, np.asarray(dw2)

    def grams(self, pool: SlotPool) -> np.ndarray:
        return self.gather(np.asarray(_grams(pool, jnp.asarray(self.X))))


@final
class GridCovariance(Covariance):
    """One input on a regular grid, some places of which may be empty."""

    def __init__(self, X: np.ndarray, places: np.ndarray, spacing: float) -> None:
        size = bucket(int(places.max()) + 1)
        self.X = X.min() + spacing * np.arange(size)[:, None]
        self.X[places] = X
        self.filled = np.zeros(size)
        self.filled[places] = 1.0
        self.places = places
        self._lag = spacing * np.arange(size)
        self._points = jnp.asarray(self.X), jnp.asarray(self._lag)

    @property
    def points(self) -> tuple[Any, Any]:
        """The rows and the lags, as jax sees them."""
        return self._points

    def forward(self, pool: SlotPool, w2: np.ndarray) -> tuple[np.ndarray, Any]:
        v, rho = (np.asarray(a) for a in _profiles(pool, *self.points))
        C, saved = self.from_profiles(v, rho, is_flat(pool), w2)
        return C, _Saved(pool, w2, saved)

    def backward(self, saved: _Saved, dC: np.ndarray) -> tuple[Any, np.ndarray]:
        dv, drho, dw2 = self.to_profiles(saved.extra, dC)
        return _profiles_back(saved.pool, *self.points, jnp.asarray(dv), jnp.asarray(drho)), dw2

    def from_profiles(
        self, v: np.ndarray, rho: np.ndarray, flat: np.ndarray, w2: np.ndarray
    ) -> tuple[np.ndarray, tuple[Any, ...]]:
        """C from v_i(x) and rho_i(lag), and what the way back needs; `flat` says which kernels are stationary."""
        v = v * self.filled[None, :]
        # stationary kernels: one Toeplitz matrix for all of them
        C = np.stack([toeplitz(row) for row in w2[:, flat] @ rho[flat]]) * np.outer(self.filled, self.filled)
        others = np.flatnonzero(~flat & (w2.max(axis=0) > 0))
        P = np.empty((len(others), *C.shape[1:]))
        for place, i in enumerate(others):
            np.multiply(toeplitz(rho[i]), v[i][:, None], out=P[place])
            P[place] *= v[i][None, :]
        if len(others):
            C += (w2[:, others] @ P.reshape(len(others), -1)).reshape(C.shape)
        return C, (v, rho, flat, others, P, w2)

    def to_profiles(self, saved: tuple[Any, ...], dC: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """From dL/dC to the derivatives by v, rho and w2."""
        v, rho, flat, others, P, w2 = saved
        dv, drho, dw2 = np.zeros_like(v), np.zeros_like(rho), np.zeros_like(w2)
        sums = np.stack([diagonal_sums(G) for G in dC])
        dw2[:, flat] = sums @ rho[flat].T
        drho[flat] = w2[:, flat].T @ sums
        if len(others):
            G = dC.reshape(len(dC), -1)
            dw2[:, others] = G @ P.reshape(len(others), -1).T
            dP = (w2[:, others].T @ G).reshape(P.shape)
            for place, i in enumerate(others):
                # k = v v' rho: by v, 2 (dP * rho) v; by rho, the diagonals of v dP v'
                weighted = dP[place] * v[i][None, :]
                dv[i] = 2.0 * np.einsum("ab,ab->a", weighted, toeplitz(rho[i]))
                drho[i] = diagonal_sums(weighted * v[i][:, None])
        return dv * self.filled[None, :], drho, dw2

    def grams(self, pool: SlotPool) -> np.ndarray:
        v, rho = (np.asarray(a) for a in _profiles(pool, *self.points))
        return np.stack([self.gather(toeplitz(r) * np.outer(u, u)) for u, r in zip(v, rho, strict=True)])


def covariance_of(X: np.ndarray) -> Covariance:
    """The faster of the two for these rows."""
    if X.shape[1] == 1 and (grid := on_grid(X[:, 0])) is not None:
        return GridCovariance(X, *grid)
    return DenseCovariance(X)


def on_grid(x: np.ndarray) -> tuple[np.ndarray, float] | None:
    """The place of each row on a regular grid and the grid's spacing, or None where there is no such grid."""
    distinct = np.unique(x)
    if len(distinct) < len(x) or len(x) < 3:
        return None
    steps = np.diff(distinct)
    extent = distinct[-1] - distinct[0]
    # each step in median steps (months have 28 to 31 days), then the spacing that fits the whole range
    count = int(np.rint(steps / np.median(steps)).sum())
    if count < len(x) - 1 or len(x) < (1.0 - GRID_EMPTY) * (count + 1):
        return None
    spacing = extent / count
    places = (x - distinct[0]) / spacing
    rounded = np.rint(places)
    if np.abs(places - rounded).max() > GRID_TOLERANCE or len(np.unique(rounded)) < len(x):
        return None
    return rounded.astype(int), spacing


def toeplitz(row: np.ndarray) -> np.ndarray:
    """The symmetric matrix with `row[|a - b|]` at a, b: a view, no copy of the values."""
    n = len(row)
    both = np.concatenate([row[:0:-1], row])
    stride = both.strides[0]
    return as_strided(both[n - 1 :], (n, n), (-stride, stride), writeable=False)


def diagonal_sums(G: np.ndarray) -> np.ndarray:
    """sum of G[a, b] over all pairs with |a - b| = lag, for each lag; G is symmetric."""
    n = len(G)
    # with the columns reversed and n zeros after each row, rows that are one number shorter shift by one each: what
    # was a diagonal, b - a = n - 1 - j, becomes column j
    padded = np.zeros((n, 2 * n))
    padded[:, :n] = G[:, ::-1]
    sums = padded.ravel()[: n * (2 * n - 1)].reshape(n, 2 * n - 1).sum(axis=0)
    out = sums[n - 1 :].copy()
    out[1:] += sums[n - 2 :: -1]
    return out


def is_flat(pool: SlotPool) -> np.ndarray:
    """Which kernels are stationary: no line, no step."""
    on = [np.asarray(a).reshape(len(pool), -1).any(axis=1) for a in (pool.line_on, pool.from_on, pool.until_on)]
    return ~np.any(on, axis=0)


@eqx.filter_jit
def _weighted(pool: SlotPool, X: Any, w2: Any) -> Any:
    return pool.weighted(X, X, w2)


@eqx.filter_jit
def _grams(pool: SlotPool, X: Any) -> Any:
    return pool.gram(X, X)


@eqx.filter_jit
def _weighted_back(pool: SlotPool, X: Any, w2: Any, dC: Any) -> Any:
    numbers, rest = eqx.partition(pool, eqx.is_inexact_array)
    _, pull = jax.vjp(lambda numbers, w2: eqx.combine(numbers, rest).weighted(X, X, w2), numbers, w2)
    return pull(dC)


@eqx.filter_jit
def _profiles(pool: SlotPool, X: Any, lag: Any) -> Any:
    return profiles(pool, X, lag)


@eqx.filter_jit
def _profiles_back(pool: SlotPool, X: Any, lag: Any, dv: Any, drho: Any) -> Any:
    numbers, rest = eqx.partition(pool, eqx.is_inexact_array)
    _, pull = jax.vjp(lambda numbers: profiles(eqx.combine(numbers, rest), X, lag), numbers)
    return pull((dv, drho))[0]


def profiles(pool: SlotPool, X: Any, lag: Any) -> Any:
    """v_i(x) and rho_i(lag) of all kernels."""
    return pool.profile(X), pool.correlation(lag)
