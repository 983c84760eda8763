"""The block-wise posterior: for a long series whose lengthscales are too short for inducing points.

A few hundred inducing points cannot represent hourly changes over years. So the rows are cut into blocks of
neighbours. Rows of different blocks are correlated only through the inducing points (collapsed.py); within a block the
covariance is exact. This is the partially independent conditional of Snelson and Ghahramani (2007):

    cov(f, f') = F'F + [same block] (k - F'F),     F_i = w_i phi_i

L is the Cholesky factor of k - F'F + s^2 I in a block. With the sums over blocks B = I + sum F L^-T L^-1 F' and
c = sum F L^-T L^-1 y, the whitened inducing variables have covariance B^-1 and mean m = B^-1 c. At a new x, with
r = k(x) - F'F(x), A = L^-1 r and g = F(x) - F L^-T A,

    E f(x) = F(x)'m + A' L^-1 (y - F'm),     Var f(x) = k(x, x) - F(x)'F(x) - A'A + g' B^-1 g

It equals the exact posterior if there is one block, or if the inducing points explain all variance. Time is linear in
the number of rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np
from scipy.linalg import solve_triangular

from farrier.evaluation.products import Products
from farrier.inference.collapsed import Features
from farrier.inference.gaussian import log_normal
from farrier.inference.inducing_points import Groups
from farrier.inference.linalg import jitter
from farrier.inference.mixtures import joint_moments, moments
from farrier.inference.without_caches import WithoutCaches

BLOCK_ROWS = 250
"""Most rows of a block. [rows; by judgement]"""


@final
@dataclass(frozen=True)
class LocalPosterior(WithoutCaches):
    """The posterior of f and of its components for S draws of the weights; X (N, 1) is in ascending order."""

    pool: Products
    weights: np.ndarray
    noise: float
    groups: Groups
    X: np.ndarray
    y: np.ndarray
    mean: np.ndarray
    """m for each draw, (S, R)."""
    covariance: np.ndarray
    """B^-1 for each draw, (S, R, R)."""
    evidence: float
    """The log marginal likelihood of y under this covariance, averaged over the draws."""

    @classmethod
    def of(
        cls, pool: Products, weights: np.ndarray, noise: float, groups: Groups, X: np.ndarray, y: np.ndarray
    ) -> "LocalPosterior":
        """The posterior given rows in any order."""
        order = np.argsort(X[:, 0], kind="stable")
        S, R = len(weights), groups.total
        empty = cls(pool, weights, noise, groups, X[order], y[order], np.zeros((S, R)), np.zeros((S, R, R)), 0.0)
        B, c = np.tile(np.eye(R), (S, 1, 1)), np.zeros((S, R))
        quadratic, log_determinant = np.zeros(S), np.zeros(S)
        for rows in empty.cuts():
            for s, block in enumerate(empty.blocks(rows)):
                B[s] += block.E.T @ block.E
                c[s] += block.E.T @ block.e
                quadratic[s] += block.e @ block.e
                log_determinant[s] += 2.0 * np.log(np.diagonal(block.L)).sum()
        covariance = np.linalg.inv(B)
        mean = np.einsum("srq,sq->sr", covariance, c)
        # |F'F + blocks| = |B| |blocks|
        quadratic -= np.einsum("sr,sr->s", c, mean)
        log_determinant += np.linalg.slogdet(B)[1]
        evidence = log_normal(np.mean(quadratic), np.mean(log_determinant), len(y))
        return cls(pool, weights, noise, groups, X[order], y[order], mean, covariance, evidence)

    @cached_property
    def _features(self) -> Features:
        return Features(self.pool, self.pool.numbers, self.groups)

    def cuts(self) -> list[slice]:
        """The rows of each block."""
        count = max(1, -(-len(self.y) // BLOCK_ROWS))
        ends = np.linspace(0, len(self.y), count + 1).astype(int)
        return [slice(first, last) for first, last in pairwise(ends)]

    def blocks(self, rows: slice) -> Iterator["_Block"]:
        """One block for each draw of the weights."""
        X, y, owner = self.X[rows], self.y[rows], self._features.owner
        phi, _ = self._features.at(X)
        K = self.pool.gram(X, X)
        for w, m in zip(self.weights, self.mean, strict=True):
            F = w[owner][:, None] * phi
            C = np.einsum("i,inx->nx", w**2, K) - F.T @ F
            C[np.diag_indices(len(C))] += self.noise + jitter(C)
            L = np.linalg.cholesky(C)
            E = solve_triangular(L, F.T, lower=True, check_finite=False)
            e = solve_triangular(L, y, lower=True, check_finite=False)
            yield _Block(F, L, E, e, e - E @ m)

    def _by_block(self, X: np.ndarray) -> Iterator[tuple[np.ndarray, slice]]:
        """For each block: the indices of the rows of X that fall into it, and the rows of the block."""
        cuts = self.cuts()
        edges = [0.5 * (self.X[cut.start, 0] + self.X[cut.start - 1, 0]) for cut in cuts[1:]]
        which = np.searchsorted(edges, X[:, 0])
        for b in np.unique(which):
            yield np.flatnonzero(which == b), cuts[b]

    def draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f(x) given each draw of the weights, (S, N) each."""
        everything = np.ones((1, len(self.pool)))
        mean, variance = self._moments(X, everything)
        return mean[:, 0], variance[:, 0]

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each component, (m, N) each; or of sums of them, rows of 0 and 1 in `sums` (J, m)."""
        mean, variance = self._moments(X, np.eye(len(self.pool)) if sums is None else sums)
        return moments(mean, variance)

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean (N,) and covariance (N, N) of f, or of the sum of some components, at all rows together."""
        chosen = np.ones(len(self.pool)) if parts is None else np.isin(np.arange(len(self.pool)), parts).astype(float)
        S, N, R = len(self.weights), len(X), self.groups.total
        mean, covariance, g = np.zeros((S, N)), np.zeros((S, N, N)), np.zeros((S, R, N))
        for places, rows in self._by_block(X):
            k = self.pool.gram(X[places], X[places])
            for s, near in enumerate(self._near(X[places], rows)):
                F_x, A = near.of(chosen)
                mean[s, places] = F_x.T @ self.mean[s] + A.T @ near.block.left
                inside = np.einsum("i,ixy->xy", chosen * self.weights[s] ** 2, k) - F_x.T @ F_x - A.T @ A
                covariance[s][np.ix_(places, places)] = inside
                g[s][:, places] = F_x - near.block.E.T @ A
        covariance += np.einsum("srn,srq,sqx->snx", g, self.covariance, g, optimize=True)
        return joint_moments(mean, covariance)

    def _moments(self, X: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of sums of components for each draw, (S, J, N) each; a sum is a row of 0 and 1."""
        mean, variance = np.empty((2, len(self.weights), len(sums), len(X)))
        for places, rows in self._by_block(X):
            k = self.pool.diag(X[places])
            for s, near in enumerate(self._near(X[places], rows)):
                # two products that all sums share in g' B^-1 g, with g = F(x) - E'A
                to_features = near.block.E @ self.covariance[s]
                to_rows = to_features @ near.block.E.T
                for j, chosen in enumerate(sums):
                    F_x, A = near.of(chosen)
                    own = chosen[self._features.owner] > 0
                    F_own = F_x[own]
                    mean[s, j, places] = F_own.T @ self.mean[s, own] + A.T @ near.block.left
                    prior = (chosen * self.weights[s] ** 2) @ k - np.sum(F_own**2, axis=0) - np.sum(A**2, axis=0)
                    known = np.sum(F_own * (self.covariance[s][np.ix_(own, own)] @ F_own), axis=0)
                    known += np.sum(A * (to_rows @ A - 2.0 * (to_features[:, own] @ F_own)), axis=0)
                    variance[s, j, places] = prior + known
        return mean, np.maximum(variance, 0.0)

    def _near(self, X: np.ndarray, rows: slice) -> Iterator["_Near"]:
        """New rows together with the block they fall into, for each draw of the weights."""
        phi, _ = self._features.at(X)
        K = self.pool.gram(self.X[rows], X)
        for w, block in zip(self.weights, self.blocks(rows), strict=True):
            yield _Near(block, w, self._features.owner, phi, K)


@dataclass(frozen=True)
class _Block:
    """A block of rows for one draw of the weights."""

    F: np.ndarray
    L: np.ndarray
    E: np.ndarray
    """L^-1 F'."""
    e: np.ndarray
    """L^-1 y."""
    left: np.ndarray
    """L^-1 (y - F'm)."""


@dataclass(frozen=True)
class _Near:
    """New rows together with the block they fall into, for one draw of the weights."""

    block: _Block
    w: np.ndarray
    owner: np.ndarray
    phi: np.ndarray
    K: np.ndarray

    def of(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F(x) and A = L^-1 (k(x) - F'F(x)) of the sum of the chosen components."""
        F_x = (self.w * chosen)[self.owner][:, None] * self.phi
        parts, own = np.flatnonzero(chosen), chosen[self.owner] > 0
        k = np.einsum("i,inx->nx", self.w[parts] ** 2, self.K[parts]) - self.block.F[own].T @ F_x[own]
        return F_x, solve_triangular(self.block.L, k, lower=True, check_finite=False)
