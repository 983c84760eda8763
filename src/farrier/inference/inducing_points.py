"""Inducing points, chosen from the rows for each kernel, as many as the kernel needs; and the features of a kernel.

A kernel of rank one (a line, a step) needs one point, a cycle about twenty, a smooth function about as many as the
range has lengthscales. The points are the pivots of a pivoted Cholesky factor: each is the row with the largest
variance given the points before it. The choice ends when at most a small part of the trace is unexplained. A kernel of
rank r is exact after r points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import solve_triangular

from farrier.evaluation.factors import Term
from farrier.evaluation.products import Products
from farrier.inference.linalg import cholesky
from farrier.kernels.registry import CODES


@final
@dataclass(frozen=True)
class PointLimits:
    """Limits for the inducing points of all kernels together; the first points of each greedy choice are kept."""

    together: int = 900
    """Most inducing points of all kernels together: time is cubic in their number. [points; by judgement]"""
    products: float = 6e9
    """Largest product of the rows and the square of all points, the cost of one evaluation: some seconds.
    [multiplications; by judgement]"""
    rows: int = 800
    """Rows among which inducing points are chosen. [rows; by judgement]"""


@dataclass(frozen=True)
class Groups:
    """The inducing points Z (m, M, D) of each kernel, padded to the largest group; `sizes` are the true numbers."""

    Z: np.ndarray
    sizes: tuple[int, ...]


def choose(pool: Products, X: np.ndarray, tolerance: float, most: int, limits: PointLimits = PointLimits()) -> Groups:
    """At most `most` points for each kernel, which leave at most the part `tolerance` of its trace unexplained."""
    some, levels = _representative_rows(X, limits.rows), _a_row_of_each_level(pool, X)
    rows = X[np.union1d(some, levels) if len(levels) else some]
    chosen = [pivots(term.gram(pool.numbers, rows, rows)[0], tolerance, most) for term in pool.terms]
    together = min(limits.together, int(np.sqrt(limits.products / len(X))))
    largest = _largest_common_size([len(one) for one in chosen], together)
    chosen = [one[:largest] for one in chosen]
    sizes = tuple(len(one) for one in chosen)
    widest = max(sizes)
    Z = np.stack([rows[np.concatenate([one, np.repeat(one[:1], widest - len(one))])] for one in chosen])
    return Groups(Z, sizes)


def _a_row_of_each_level(pool: Products, X: np.ndarray) -> np.ndarray:
    """A row of each level of the categories among the kernels: a level without a point would learn nothing."""
    coded = {int(f.columns[0]) for factors in pool.factors for f in factors if issubclass(f.family, CODES)}
    first = [np.unique(X[:, d], return_index=True)[1] for d in sorted(coded)]
    return np.concatenate([np.zeros(0, int), *first])


def _largest_common_size(sizes: Sequence[int], total: int) -> int:
    """The largest group size with which all groups together have at most `total` points."""
    return max((c for c in range(1, max(sizes) + 1) if sum(min(size, c) for size in sizes) <= total), default=1)


def pivots(K: np.ndarray, tolerance: float, most: int) -> np.ndarray:
    """The pivots of a Cholesky factor of K, in their order."""
    left = np.array(np.diagonal(K))
    total = left.sum()
    factor = np.zeros((min(most, len(K)), len(K)))
    taken: list[int] = []
    while len(taken) < len(factor) and (not taken or left.sum() > tolerance * total):
        pivot = int(np.argmax(left))
        if left[pivot] <= 1e-10 * max(total / len(K), 1e-300):
            break
        row = (K[pivot] - factor[: len(taken), pivot] @ factor[: len(taken)]) / np.sqrt(left[pivot])
        factor[len(taken)] = row
        left = np.maximum(left - row**2, 0.0)
        left[pivot] = 0.0
        taken.append(pivot)
    return np.array(taken or [0])


def _representative_rows(X: np.ndarray, count: int) -> np.ndarray:
    """At most `count` rows: evenly spaced in order for one input, random with a fixed seed for several."""
    if len(X) <= count:
        return np.arange(len(X))
    if X.shape[1] == 1:
        return np.argsort(X[:, 0])[np.linspace(0, len(X) - 1, count).astype(int)]
    return np.sort(np.random.default_rng(0).choice(len(X), count, replace=False))


@final
class Group:
    """The features phi(x) = L^-1 k(Z, x) of one product, with L L' = k(Z, Z)."""

    def __init__(self, term: Term, Z: np.ndarray, numbers: np.ndarray) -> None:
        self._term, self._Z, self._numbers = term, Z, numbers
        K, self._pull_K = term.gram(numbers, Z, Z)
        self._L = cholesky(K)
        self.factor_slopes = np.zeros_like(self._L)
        """Derivatives with respect to L that `pull` has accumulated."""

    def phi(self, X: np.ndarray) -> np.ndarray:
        """The features, (M, N)."""
        k, _ = self._term.gram(self._numbers, self._Z, X)
        return solve_triangular(self._L, k, lower=True, check_finite=False)

    def left(self, X: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """The variance k(x, x) - |phi(x)|^2 that the features do not explain, (N,)."""
        return np.maximum(self._term.diag(self._numbers, X)[0] - np.sum(phi**2, axis=0), 0.0)

    def residual(self, X: np.ndarray) -> np.ndarray:
        """The covariance that the features do not explain between rows, (N, N)."""
        phi = self.phi(X)
        return self._term.gram(self._numbers, X, X)[0] - phi.T @ phi

    def pull(self, X: np.ndarray, phi: np.ndarray, dphi: np.ndarray, dk: np.ndarray, slopes: np.ndarray) -> None:
        """The backward pass from phi and from k(x, x); `pull_factor` ends it."""
        dK = solve_triangular(self._L, dphi, lower=True, trans=1, check_finite=False)
        self._term.gram(self._numbers, self._Z, X)[1](dK, slopes)
        self._term.diag(self._numbers, X)[1](dk, slopes)
        # phi = L^-1 k, hence dL -= L^-T dphi phi'
        self.factor_slopes -= dK @ phi.T

    def pull_factor(self, slopes: np.ndarray) -> None:
        """The backward pass from L, with the derivatives that `pull` has accumulated."""
        L = self._L
        # L L' = K: dK is L^-T half_tril(L' dL) L^-1, symmetrised
        inner = np.tril(L.T @ np.tril(self.factor_slopes))
        inner[np.diag_indices(len(L))] *= 0.5
        dK = solve_triangular(L, solve_triangular(L, inner.T, lower=True, trans=1).T, lower=True, trans=1)
        self._pull_K(0.5 * (dK + dK.T), slopes)


@final
class Features:
    """The features phi_i(x) = L_i^-1 k_i(Z_i, x) of all kernels, stacked.

    `owner` gives the kernel of each feature, `own` the features of each kernel.
    """

    def __init__(self, pool: Products, numbers: np.ndarray, groups: Groups) -> None:
        self.pool, self.numbers = pool, numbers
        self.owner = np.repeat(np.arange(len(groups.sizes)), groups.sizes)
        self.own = [np.flatnonzero(self.owner == i) for i in range(len(groups.sizes))]
        each = zip(pool.terms, groups.Z, groups.sizes, strict=True)
        self.groups = [Group(term, Z[:size], numbers) for term, Z, size in each]

    def at(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """phi (R, N), and the variance of each kernel that the inducing points do not explain, (m, N)."""
        phi, left = np.empty((len(self.owner), len(X))), np.empty((len(self.groups), len(X)))
        for i, (group, own) in enumerate(zip(self.groups, self.own, strict=True)):
            phi[own] = group.phi(X)
            left[i] = group.left(X, phi[own])
        return phi, left
