"""The covariance matrix of the rows, C_s = sum_i w2_si K_i, with a forward and a backward pass.

Exact inference spends most of its time here. `forward` computes C for S draws of the weights; LAPACK does the linear
algebra; `backward` maps dL/dC to the derivatives with respect to hyperparameters and squared weights.

`DenseCovariance` works for any inputs. For one input, or time and its regressors, `SeriesCovariance` uses that every
product has the form

    k_i(x, z) = v_i(x) v_i(z) rho_i(t - u) g_i(x, z),     t and u being the first inputs of x and z

It evaluates exponentials and cosines once per distinct lag (lags.py) instead of for N^2 pairs, and for all stationary
kernels together. On 512 rows of a regular grid and 24 kernels that is about ten times faster. g_i is one unless a
factor is neither rank one nor stationary. Kernels with stationary increments (random walks, damped trends) are a
function of the lag plus one of each row, and cost no more.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.linalg.blas import dger  # pyright: ignore[reportAttributeAccessIssue]

from farrier.evaluation.factors import Pull
from farrier.evaluation.grid import ListedLags, RegularLags, on_grid
from farrier.evaluation.products import Products

KEPT = 2e7
"""Most entries in the Gram matrices of all kernels that are stored for the backward pass; more are computed again.
By judgement: 160 MB."""
UPPER_ROWS = 512
"""Rows of a triangle of C that are computed at once. By judgement: 40 MB a matrix beside 10,000 rows."""
LISTED_ROWS = 1500
"""Most rows of one irregular input whose lags are listed, one index for each pair of rows. By judgement: 18 MB."""


class Covariance(ABC):
    """C of N rows. On a regular grid, empty places count as rows that are independent of all others."""

    X: np.ndarray
    """All rows, empty places included, (N, D)."""
    filled: np.ndarray
    """(N,): 1 for a row of the data, 0 for an empty place."""
    places: np.ndarray
    """The index of each row of the data among all rows, in the order of the data."""

    @abstractmethod
    def forward(self, pool: Products, numbers: np.ndarray, w2: np.ndarray) -> tuple[np.ndarray, Any]:
        """C (S, N, N) for given hyperparameters, and what `backward` needs. Empty places have zeros.

        Both are valid until the next call, which reuses their memory.
        """

    @abstractmethod
    def backward(self, saved: Any, dC: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives of L with respect to the hyperparameters and to w2, from dL/dC.

        dL/dC is lower triangular: an entry below the diagonal counts for its mirror image too. It is zero for empty
        places.
        """

    @abstractmethod
    def grams(self, pool: Products) -> np.ndarray:
        """The Gram matrix of each kernel at the n rows of the data, in their order, (m, n, n)."""

    def upper(self, pool: Products, w2: np.ndarray) -> np.ndarray:
        """C (n, n) of the rows of the data for squared weights (m,); only its upper triangle is meant."""
        return np.array(self.gather(self.forward(pool, pool.numbers, w2[None])[0][0]))

    def scatter(self, y: np.ndarray) -> np.ndarray:
        """Values of the rows of the data, with zeros at empty places."""
        out = np.zeros(len(self.X))
        out[self.places] = y
        return out

    def gather(self, C: np.ndarray) -> np.ndarray:
        """From (..., N, N) over all rows to (..., n, n) over the rows of the data, in their order."""
        if np.array_equal(self.places, np.arange(len(self.X))):
            return C
        return C[..., self.places[:, None], self.places[None, :]]


@dataclass
class _Dense:
    pool: Products
    numbers: np.ndarray
    w2: np.ndarray
    found: list[tuple[np.ndarray, Pull] | None]


@final
class DenseCovariance(Covariance):
    """Any inputs: each kernel is evaluated for all pairs of rows."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        self.filled = np.ones(len(X))
        self.places = np.arange(len(X))

    def forward(self, pool: Products, numbers: np.ndarray, w2: np.ndarray) -> tuple[np.ndarray, Any]:
        C = np.zeros((len(w2), len(self.X), len(self.X)))
        keep = len(pool) * len(self.X) ** 2 <= KEPT
        found: list[tuple[np.ndarray, Pull] | None] = []
        for i, kernel in enumerate(pool.terms):
            present = w2[:, i].any()
            one = kernel.gram(numbers, self.X, self.X) if present else None
            for C_s, weight in zip(C, w2[:, i], strict=True):
                if one is not None:
                    C_s += weight * one[0]
            found.append(one if keep else None)
        return C, _Dense(pool, numbers, w2, found)

    def backward(self, saved: _Dense, dC: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes, dw2 = saved.pool.no_slopes(), np.zeros_like(saved.w2)
        flat = dC.reshape(len(dC), -1)
        for i, kernel in enumerate(saved.pool.terms):
            if saved.w2[:, i].any():
                K, pull = saved.found[i] or kernel.gram(saved.numbers, self.X, self.X)
                dw2[:, i] = flat @ K.ravel()
                pull(np.tensordot(saved.w2[:, i], dC, 1), slopes)
        return slopes, dw2

    def grams(self, pool: Products) -> np.ndarray:
        return pool.gram(self.X, self.X)

    def upper(self, pool: Products, w2: np.ndarray) -> np.ndarray:
        # some rows at a time: for many rows one matrix is all the memory there is
        C = np.zeros((len(self.X), len(self.X)))
        for first in range(0, len(self.X), UPPER_ROWS):
            rows, others = self.X[first : first + UPPER_ROWS], self.X[first:]
            for kernel, weight in zip(pool.terms, w2, strict=True):
                if weight > 0.0:
                    C[first : first + UPPER_ROWS, first:] += weight * kernel.gram(pool.numbers, rows, others)[0]
        return C


class Workspace:
    """Arrays that are reused: allocating large arrays takes as long as the arithmetic on them."""

    def __init__(self) -> None:
        self._kept: dict[str, np.ndarray] = {}

    def of(self, name: str, *shape: int) -> np.ndarray:
        """The array of this name; its contents are arbitrary."""
        size = math.prod(shape)
        if name not in self._kept or len(self._kept[name]) < size:
            self._kept[name] = np.empty(size)
        return self._kept[name][:size].reshape(shape)


@dataclass
class _Other:
    """A product that is not a function of the distance alone, evaluated at the rows."""

    product: int
    v: np.ndarray
    pull_v: Pull
    g: np.ndarray | None
    pull_g: Pull | None


@dataclass
class _RankOne:
    """A product of profiles alone: v(x) v(z)."""

    product: int
    v: np.ndarray
    pull: Pull


@dataclass
class _Pattern:
    """A function of the distance times values g that are not trained, such as a pattern of the calendar."""

    product: int
    g: np.ndarray


@dataclass
class _Wandering:
    """A product with stationary increments: g of the distance of each row from the origin, and of each lag."""

    product: int
    at_rows: np.ndarray
    pull_rows: Pull
    at_lags: np.ndarray
    pull_lags: Pull


@dataclass
class _Series:
    pool: Products
    rho: np.ndarray
    pull: Pull
    wandering: list["_Wandering"]
    rank_one: list[_RankOne]
    patterns: list[_Pattern]
    others: list[_Other]
    P: np.ndarray
    w2: np.ndarray


@final
class SeriesCovariance(Covariance):
    """A series, whose first input is time: a regular grid, some places of which may be empty, or irregular rows."""

    def __init__(self, X: np.ndarray, places: np.ndarray, lags: RegularLags | ListedLags) -> None:
        self.X = X
        self.filled = np.zeros(len(X))
        self.filled[places] = 1.0
        self.places = places
        self._lags = lags
        self._workspace = Workspace()
        self._pairs = None if self.filled.all() else np.outer(self.filled, self.filled)
        self._kept: dict[Any, np.ndarray] = {}
        """Matrices of factors without trained hyperparameters, such as patterns of the calendar."""

    @classmethod
    def on_grid(cls, X: np.ndarray, places: np.ndarray, spacing: float) -> "SeriesCovariance":
        """Rows at these places of a regular grid that begins at the lowest row."""
        size = int(places.max()) + 1
        rows = np.zeros((size, X.shape[1]))
        rows[places] = X
        rows[:, 0] = X[:, 0].min() + spacing * np.arange(size)
        return cls(rows, places, RegularLags(spacing, size))

    @classmethod
    def anywhere(cls, X: np.ndarray) -> "SeriesCovariance":
        """Irregular rows, or a grid with many empty places."""
        return cls(X, np.arange(len(X)), ListedLags(X[:, 0]))

    def forward(self, pool: Products, numbers: np.ndarray, w2: np.ndarray) -> tuple[np.ndarray, Any]:
        rho, pull = pool.lagged(numbers, self._lags.values)
        on_lags = pool.on_lags
        wandering = [self._wandering(pool, numbers, int(i)) for i in np.flatnonzero(pool.wandering)]
        # products that are functions of the distance alone share one matrix
        N = len(self.X)
        C = self._workspace.of("C", len(w2), N, N)
        for C_s, w2_s, row in zip(C, w2, w2[:, on_lags] @ rho[on_lags], strict=True):
            if not wandering:
                C_s[...] = self._lags.spread(row)
                continue
            at_rows = sum(w2_s[one.product] * one.at_rows for one in wandering)
            at_lags = sum(w2_s[one.product] * one.at_lags for one in wandering)
            np.add(self._lags.spread(row - at_lags), at_rows, out=C_s)
            C_s += np.asarray(at_rows)[:, None]
        if self._pairs is not None:
            C *= self._pairs
        rank_one = [self._rank_one(pool, numbers, int(i)) for i in np.flatnonzero(pool.rank_one)]
        for C_s, w2_s in zip(C, w2, strict=True):
            for one in rank_one:
                # in place; BLAS is column-major, and C symmetric
                dger(w2_s[one.product], one.v, one.v, a=C_s.T, overwrite_x=0, overwrite_y=0, overwrite_a=1)
        places = np.flatnonzero(~on_lags & ~pool.wandering & ~pool.rank_one & (w2.max(axis=0) > 0))
        patterns = [self._pattern(pool, numbers, int(i)) for i in places if pool.patterned[i]]
        for C_s, w2_s in zip(C, w2, strict=True):
            for one in patterns:
                size = self._lags.spread(w2_s[one.product] * rho[one.product])
                C_s += np.multiply(size, one.g, out=self._workspace.of("M", N, N))
        places = places[~pool.patterned[places]]
        others = [self._other(pool, numbers, int(i)) for i in places]
        P = self._workspace.of("P", len(others), N, N)
        for P_i, other in zip(P, others, strict=True):
            np.multiply(self._lags.spread(rho[other.product]), other.v[:, None], out=P_i)
            P_i *= other.v
            if other.g is not None:
                P_i *= other.g
        if len(others):
            added = self._workspace.of("added", len(w2), N * N)
            C += np.matmul(w2[:, places], P.reshape(len(others), -1), out=added).reshape(C.shape)
        return C, _Series(pool, rho, pull, wandering, rank_one, patterns, others, P, w2)

    def _rank_one(self, pool: Products, numbers: np.ndarray, i: int) -> _RankOne:
        v, pull = pool.terms[i].profile(numbers, self.X)
        return _RankOne(i, v * self.filled, pull)

    def _pattern(self, pool: Products, numbers: np.ndarray, i: int) -> _Pattern:
        g, _ = pool.terms[i].beside_lags(numbers, self.X, self._kept)
        assert g is not None
        return _Pattern(i, g if self._pairs is None else g * self._pairs)

    def _wandering(self, pool: Products, numbers: np.ndarray, i: int) -> _Wandering:
        factor = pool.terms[i].wandering
        assert factor is not None
        at_rows = factor.half_variogram(numbers, factor.from_origin(numbers, self.X))
        return _Wandering(i, *at_rows, *factor.half_variogram(numbers, self._lags.values))

    def _other(self, pool: Products, numbers: np.ndarray, i: int) -> _Other:
        v, pull_v = pool.terms[i].profile(numbers, self.X)
        g, pull_g = pool.terms[i].beside_lags(numbers, self.X, self._kept)
        return _Other(i, v * self.filled, pull_v, g, pull_g)

    def backward(self, saved: _Series, dC: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rho, on_lags, w2 = saved.rho, saved.pool.on_lags, saved.w2
        others = [other.product for other in saved.others]
        drho, dw2, slopes = np.zeros_like(rho), np.zeros_like(w2), saved.pool.no_slopes()
        sums = np.array([self._lags.sums(G) for G in dC])
        dw2[:, on_lags] = sums @ rho[on_lags].T
        drho[on_lags] = w2[:, on_lags].T @ sums
        of_rows = dC.sum(axis=1) + dC.sum(axis=2) if saved.wandering else np.zeros((len(dC), 0))
        for one in saved.wandering:
            dw2[:, one.product] = of_rows @ one.at_rows - sums @ one.at_lags
            one.pull_rows(w2[:, one.product] @ of_rows, slopes)
            one.pull_lags(-w2[:, one.product] @ sums, slopes)
        for one in saved.rank_one:
            # by v it is G v + G'v, G being a triangle
            Gv = dC @ one.v
            dw2[:, one.product] = Gv @ one.v
            one.pull((w2[:, one.product] @ (Gv + one.v @ dC)) * self.filled, slopes)
        for one in saved.patterns:
            for s, G in enumerate(dC):
                of_lags = self._lags.sums(np.multiply(G, one.g, out=self._workspace.of("M", *G.shape)))
                dw2[s, one.product] = of_lags @ rho[one.product]
                drho[one.product] += w2[s, one.product] * of_lags
        if len(others):
            G = dC.reshape(len(dC), -1)
            dw2[:, others] = G @ saved.P.reshape(len(others), -1).T
            dP = np.matmul(w2[:, others].T, G, out=self._workspace.of("dP", len(others), G.shape[1]))
            for dP_i, other in zip(dP.reshape(saved.P.shape), saved.others, strict=True):
                drho[other.product] = self._pulled(dP_i, other, rho[other.product], slopes)
        saved.pull(drho, slopes)
        return slopes, dw2

    def _pulled(self, dP: np.ndarray, other: _Other, rho: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """The backward pass of k = v v' rho g: adds to `slopes` what comes through v and g, and returns the derivative
        with respect to rho. dP is overwritten.
        """
        v = other.v
        if other.pull_g is not None:
            other.pull_g(dP * self._lags.spread(rho) * np.outer(v, v), slopes)
        if other.g is not None:
            dP *= other.g
        # with M = dP * rho, the derivative by v is M v + M'v; that by rho is the sum of v dP v' over pairs of equal lag
        M = np.multiply(dP, self._lags.spread(rho), out=self._workspace.of("M", *dP.shape))
        other.pull_v((M @ v + v @ M) * self.filled, slopes)
        dP *= v
        dP *= v[:, None]
        return self._lags.sums(dP)

    def grams(self, pool: Products) -> np.ndarray:
        rho, _ = pool.lagged(pool.numbers, self._lags.values)
        out = np.empty((len(pool), len(self.places), len(self.places)))
        for i, (K, term) in enumerate(zip(out, pool.terms, strict=True)):
            if term.wandering is not None:
                one = self._wandering(pool, pool.numbers, i)
                whole = one.at_rows[:, None] + one.at_rows - self._lags.spread(one.at_lags)
                K[...] = self.gather(whole)
                continue
            K[...] = self.gather(self._lags.spread(rho[i]))
            if not term.flat:
                v = term.profile(pool.numbers, self.X[self.places])[0]
                K *= v[:, None]
                K *= v
            beside, _ = term.beside_lags(pool.numbers, self.X, self._kept)
            if beside is not None:
                K *= self.gather(beside)
        return out


def covariance_of(X: np.ndarray, *, timed: bool = False) -> Covariance:
    """The fastest representation for these rows; `timed` says that the first of several inputs is time."""
    series = (timed or X.shape[1] == 1) and len(X) <= LISTED_ROWS
    if (X.shape[1] == 1 or len(X) <= LISTED_ROWS) and (grid := on_grid(X[:, 0])) is not None:
        return SeriesCovariance.on_grid(X, *grid)
    return SeriesCovariance.anywhere(X) if series else DenseCovariance(X)
