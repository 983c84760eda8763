"""The collapsed evidence lower bound (Titsias 2009) for Gaussian noise: time is linear in the number of rows.

Each kernel has its own group of inducing variables u_i = g_i(Z_i). With L_i L_i' = k_i(Z_i, Z_i), the features are
phi_i(x) = L_i^-1 k_i(Z_i, x), and Phi_w(x) stacks all w_i phi_i(x). At the optimal q(u), which is correlated across
groups, the bound for given weights is

    L(w) = log N(y; 0, Phi_w' Phi_w + D) - sum_n,i w_i^2 (k_i(x_n, x_n) - |phi_i(x_n)|^2) / (2 d_n) <= log N(y; 0, C)

Over the draws of the weights, L = E_q(w) L(w) - KL(q(w) || p(w)) + log p(u), as for exact inference (exact.py). The
rows enter only through the sums

    A = sum_n phi phi' / d_n,   b = sum_n phi y_n / d_n,   t_i = sum_n (k_i(x_n, x_n) - |phi_i(x_n)|^2) / d_n

They are accumulated over blocks of rows, once for all draws, so memory does not grow with the number of rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpotrf  # pyright: ignore[reportAttributeAccessIssue]

from farrier.evaluation.products import Products
from farrier.inference.gaussian import log_normal
from farrier.inference.inducing_points import Groups, PointLimits, choose
from farrier.inference.linalg import cholesky
from farrier.inference.mixtures import joint_moments, moments
from farrier.inference.parameter_vector import ExactModel, Parametrised, Terms
from farrier.inference.weight_priors import quasi_normal
from farrier.inference.without_caches import WithoutCaches

BLOCK = 1024
"""Rows that are processed at once. [rows; by judgement]"""


class Statistics(NamedTuple):
    """The sums over rows: A, b and t as defined at the top of this file, sum_n y_n^2 / d_n, and log|D|."""

    A: np.ndarray
    b: np.ndarray
    t: np.ndarray
    yy: float
    log_d: float


class EvidenceSlopes(NamedTuple):
    """The derivatives of L(w) with respect to the statistics, the squared weights and the noise variance."""

    A: np.ndarray
    b: np.ndarray
    t: np.ndarray
    w2: np.ndarray
    noise: float


class Solved(NamedTuple):
    """L(w) for one draw of the squared weights, with intermediate results for its derivative."""

    value: float
    v: np.ndarray
    """w / s for each inducing variable."""
    m: np.ndarray
    """B^-1 b, with B = I + W A W / s^2."""
    L: np.ndarray
    """The Cholesky factor of B."""
    trace: float


def collapsed_value(stats: Statistics, w2: np.ndarray, owner: np.ndarray, noise: float, rows: int) -> Solved | None:
    """L(w) for one draw of the squared weights; row precisions are relative to 1 / noise.

    None if a value is not finite or B is not positive definite.
    """
    v = np.sqrt(w2[owner] / noise)
    if not np.isfinite(v).all():
        return None
    B = np.eye(len(v)) + v[:, None] * stats.A * v[None, :]
    L, failed = dpotrf(B.T, lower=1, overwrite_a=0)
    if failed:
        return None
    b = v * stats.b / np.sqrt(noise)
    m = cho_solve((L, True), b)
    trace = float(w2 @ stats.t) / noise
    log_determinant = 2.0 * np.log(np.diagonal(L)).sum()
    fit = stats.yy / noise - m @ b
    value = log_normal(fit, log_determinant + rows * np.log(noise) + stats.log_d, rows) - 0.5 * trace
    return Solved(value, v, m, L, trace)


def collapsed_evidence(
    stats: Statistics, w2: np.ndarray, owner: np.ndarray, noise: float, rows: int
) -> tuple[float, EvidenceSlopes] | None:
    """L(w) and its derivatives; None as in `collapsed_value`."""
    found = collapsed_value(stats, w2, owner, noise, rows)
    if found is None:
        return None
    v, m = found.v, found.m
    inverse = cho_solve((found.L, True), np.eye(len(v)))
    by_B = -0.5 * (np.outer(m, m) + inverse)
    by_v = 2.0 * (by_B * stats.A) @ v + m * stats.b / np.sqrt(noise)
    # v = sqrt(w2 / s^2); the weights of absent kernels are zero, where the square root has no derivative
    by_log_v = np.bincount(owner, by_v * v, minlength=len(w2))
    by_w2 = np.divide(0.5 * by_log_v, w2, out=np.zeros_like(w2), where=w2 > 0) - 0.5 * stats.t / noise
    explained = m @ (v * stats.b / np.sqrt(noise))
    by_noise = 0.5 * (stats.yy / noise + found.trace - rows - explained - by_log_v.sum()) / noise
    return found.value, EvidenceSlopes(
        v[:, None] * by_B * v[None, :], m * v / np.sqrt(noise), -0.5 * w2 / noise, by_w2, float(by_noise)
    )


def block_statistics(features: "Features", X: np.ndarray, y: np.ndarray, precision: np.ndarray) -> Statistics:
    """The sums over some rows."""
    R, m = len(features.owner), len(features.own)
    A, b, t, yy, log_d = np.zeros((R, R)), np.zeros(R), np.zeros(m), 0.0, 0.0
    for rows in _slices(len(X)):
        phi, left = features.at(X[rows])
        scaled = phi * precision[rows][None, :]
        A += scaled @ phi.T
        b += scaled @ y[rows]
        t += left @ precision[rows]
        yy += float(precision[rows] @ y[rows] ** 2)
        log_d -= float(np.log(precision[rows]).sum())
    return Statistics(A, b, t, yy, log_d)


def block_slopes(
    features: "Features", X: np.ndarray, y: np.ndarray, precision: np.ndarray, by: tuple[np.ndarray, ...]
) -> np.ndarray:
    """The backward pass from the statistics A, b and t of some rows to the hyperparameters.

    `by` are the derivatives with respect to the statistics. Those with respect to the Cholesky factors are accumulated
    in the features, for `pull_factors`.
    """
    dA, db, dt = by
    slopes, both = features.pool.no_slopes(), dA + dA.T
    for rows in _slices(len(X)):
        phi, _ = features.at(X[rows])
        # A = phi D phi', b = phi D y, t_i = sum D (k - |phi_i|^2)
        dphi = both @ phi + np.outer(db, y[rows]) - 2.0 * dt[features.owner][:, None] * phi
        dphi *= precision[rows][None, :]
        features.pull(X[rows], phi, dphi, dt[:, None] * precision[rows][None, :], slopes)
    return slopes


def _slices(rows: int) -> Iterator[slice]:
    return (slice(first, first + BLOCK) for first in range(0, rows, BLOCK))


class CollapsedBound(Parametrised, ABC):
    """The collapsed bound of a model, as a function of the vector of unbounded parameters; rows may be anywhere."""

    groups: Groups

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of rows."""

    @abstractmethod
    def statistics(self, features: "Features") -> Statistics:
        """The sums over all rows."""

    @abstractmethod
    def slopes(self, features: "Features", by: tuple[np.ndarray, ...]) -> np.ndarray:
        """The derivative with respect to the hyperparameters, given that with respect to the statistics."""

    def value(self, numbers: np.ndarray) -> Terms:
        """The terms of the bound without derivatives; cheap enough for many draws."""
        made = self.parameters.make(numbers)
        features = Features(self.parameters.pool, made.numbers, self.groups)
        stats = self.statistics(features)
        noise = made.noise if self.template.rows is None else 1.0
        found = [collapsed_value(stats, w2, features.owner, noise, self.count) for w2 in made.weighed.w2]
        values = [-np.inf if one is None else one.value for one in found]
        return Terms.of(float(np.mean(values)), made)

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms of the bound, and its derivative."""
        made = self.parameters.make(numbers)
        common = self.template.rows is None
        features = Features(self.parameters.pool, made.numbers, self.groups)
        stats = self.statistics(features)
        found = [
            collapsed_evidence(stats, w2, features.owner, made.noise if common else 1.0, self.count)
            for w2 in made.weighed.w2
        ]
        values = [one[0] for one in found if one]
        if len(values) < len(found) or not np.isfinite(values).all():
            return Terms.of(-np.inf, made), np.zeros_like(numbers)
        each = [one[1] for one in found if one]
        by = tuple(np.mean([getattr(one, name) for one in each], axis=0) for name in ("A", "b", "t"))
        dw2 = np.stack([one.w2 for one in each]) / len(each)
        dnoise = float(np.mean([one.noise for one in each])) if common else 0.0
        slopes = self.slopes(features, by)
        return Terms.of(float(np.mean(values)), made), self.parameters.gradient(made, slopes, dw2, dnoise)


@dataclass
class CollapsedObjective(CollapsedBound):
    """The collapsed bound given rows in memory."""

    template: ExactModel
    groups: Groups
    X: np.ndarray
    y: np.ndarray
    draws: np.ndarray

    @classmethod
    def of(
        cls,
        template: ExactModel,
        X: np.ndarray,
        y: np.ndarray,
        draws: int,
        tolerance: float,
        most: int,
        limits: PointLimits = PointLimits(),
    ) -> "CollapsedObjective":
        """The bound with inducing points chosen for the kernels of the template."""
        groups = choose(template.pool, X, tolerance, most, limits)
        return cls(template, groups, X, y, quasi_normal(draws, template.prior.noise_size))

    @property
    def count(self) -> int:
        return len(self.y)

    def statistics(self, features: "Features") -> Statistics:
        return block_statistics(features, self.X, self.y, self._precision())

    def slopes(self, features: "Features", by: tuple[np.ndarray, ...]) -> np.ndarray:
        slopes = block_slopes(features, self.X, self.y, self._precision(), by)
        features.pull_factors(slopes)
        return slopes

    def _precision(self) -> np.ndarray:
        noise = self.template.factors if self.template.rows is None else self.template.rows
        return np.ones(len(self.y)) if noise is None else 1.0 / np.asarray(noise)


class Features:
    """phi_i(x) = L_i^-1 k_i(Z_i, x) of all kernels, stacked.

    `owner` gives the kernel of each feature, `own` the features of each kernel. `factor_slopes` are the derivatives
    with respect to the Cholesky factors that `pull` has accumulated.
    """

    def __init__(self, pool: Products, numbers: np.ndarray, groups: Groups) -> None:
        self.pool, self.numbers = pool, numbers
        self.owner = np.repeat(np.arange(len(groups.sizes)), groups.sizes)
        self._Z = [Z[:size] for Z, size in zip(groups.Z, groups.sizes, strict=True)]
        self.own = [np.flatnonzero(self.owner == i) for i in range(len(self._Z))]
        self._K = [kernel.gram(numbers, Z, Z) for kernel, Z in zip(pool.terms, self._Z, strict=True)]
        self._L = [cholesky(K) for K, _ in self._K]
        self.factor_slopes = [np.zeros_like(L) for L in self._L]

    def at(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """phi (R, N), and the variance of each kernel that the inducing points do not explain, (m, N)."""
        phi, left = np.empty((len(self.owner), len(X))), np.empty((len(self._Z), len(X)))
        for i, (kernel, own) in enumerate(zip(self.pool.terms, self.own, strict=True)):
            k, _ = kernel.gram(self.numbers, self._Z[i], X)
            phi[own] = solve_triangular(self._L[i], k, lower=True, check_finite=False)
            left[i] = np.maximum(kernel.diag(self.numbers, X)[0] - np.sum(phi[own] ** 2, axis=0), 0.0)
        return phi, left

    def pull(self, X: np.ndarray, phi: np.ndarray, dphi: np.ndarray, dleft: np.ndarray, slopes: np.ndarray) -> None:
        """The backward pass from phi and k(x, x); derivatives by the Cholesky factors are kept for `pull_factors`."""
        for i, (kernel, own) in enumerate(zip(self.pool.terms, self.own, strict=True)):
            dk = solve_triangular(self._L[i], dphi[own], lower=True, trans=1, check_finite=False)
            kernel.gram(self.numbers, self._Z[i], X)[1](dk, slopes)
            kernel.diag(self.numbers, X)[1](dleft[i], slopes)
            # phi = L^-1 k, hence dL -= L^-T dphi phi'
            self.factor_slopes[i] -= dk @ phi[own].T

    def pull_factors(self, slopes: np.ndarray) -> None:
        """The backward pass from the Cholesky factors, with the derivatives that `pull` has accumulated."""
        for (_, pull), L, dL in zip(self._K, self._L, self.factor_slopes, strict=True):
            # L L' = K: dK is L^-T half_tril(L' dL) L^-1, symmetrised
            inner = np.tril(L.T @ np.tril(dL))
            inner[np.diag_indices(len(L))] *= 0.5
            dK = solve_triangular(L, solve_triangular(L, inner.T, lower=True, trans=1).T, lower=True, trans=1)
            pull(0.5 * (dK + dK.T), slopes)
            dL[...] = 0.0


@final
@dataclass(frozen=True)
class CollapsedPosterior(WithoutCaches):
    """The posterior of f and of its components at the optimal q(u), for S draws of the weights."""

    pool: Products
    weights: np.ndarray
    noise: float
    groups: Groups
    A: np.ndarray
    b: np.ndarray

    @classmethod
    def of(cls, objective: CollapsedBound, model: ExactModel, weights: np.ndarray) -> "CollapsedPosterior":
        """The posterior given the rows of an objective."""
        stats = objective.statistics(_features(model.pool, objective.groups))
        noise = float(model.noise) if model.rows is None else 1.0
        return cls(model.pool, weights, noise, objective.groups, stats.A, stats.b)

    @cached_property
    def _stacked(self) -> Features:
        return _features(self.pool, self.groups)

    @cached_property
    def _solved(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Mean S W b / s^2 and covariance S = (I + W A W / s^2)^-1 of the whitened inducing variables, by draw."""
        found = []
        for w in self.weights:
            v = w[self._stacked.owner]
            covariance = np.linalg.inv(np.eye(len(v)) + v[:, None] * self.A * v[None, :] / self.noise)
            found.append((covariance @ (v * self.b) / self.noise, covariance))
        return found

    def draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f(x) given each draw of the weights, (S, N) each."""
        return self._in_blocks(self._draws, X)

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each component, (m, N) each; or of sums of them, rows of 0 and 1 in `sums` (J, m)."""
        chosen = np.eye(len(self.pool)) if sums is None else sums
        return self._in_blocks(lambda block: self._components(block, chosen), X)

    def left_out(
        self, X: np.ndarray, y: np.ndarray, blocks: Sequence[np.ndarray] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Leave-one-out: mean and variance of f at rows of the fit given all other rows, for each draw, (S, N) each.

        Given its inducing variables f is a linear model: with m and v the mean and variance of w'phi(x), that of y_n
        given the others has mean y_n - (y_n - m) s^2 / (s^2 - v) and variance s^4 / (s^2 - v). Behind them are the rows
        of each block given the rows outside it: the same with the covariance V of the block in the place of v.
        """
        phi, left = self._stacked.at(X)
        means, variances = [], []
        for w, (mean, covariance) in zip(self.weights, self._solved, strict=True):
            F = w[self._stacked.owner][:, None] * phi
            # v < s^2 but for rounding
            rest = np.maximum(self.noise - np.sum(F * (covariance @ F), axis=0), 1e-9 * self.noise)
            each = [(y - (y - F.T @ mean) * self.noise / rest, self.noise**2 / rest)]
            for block in blocks:
                own = F[:, block]
                factor = self.noise * np.linalg.inv(np.eye(len(block)) * self.noise - own.T @ covariance @ own)
                away = y[block] - own.T @ mean
                each.append((y[block] - factor @ away, self.noise * np.diagonal(factor)))
            rows = np.concatenate([np.arange(len(y)), *blocks])
            means.append(np.concatenate([mean for mean, _ in each]))
            variances.append(np.concatenate([found for _, found in each]) - self.noise + ((w**2) @ left)[rows])
        return np.stack(means), np.stack(variances)

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean (N,) and covariance (N, N) of f, or of the sum of some components.

        The variance that inducing points do not explain counts as independent between rows.
        """
        blocks = [self._stacked.at(X[start : start + BLOCK]) for start in range(0, len(X), BLOCK)]
        phi, left = (np.concatenate([block[k] for block in blocks], axis=1) for k in (0, 1))
        chosen = np.ones(len(self.pool), bool) if parts is None else np.isin(np.arange(len(self.pool)), parts)
        means, covariances = [], []
        for w, (mean, covariance) in zip(self.weights, self._solved, strict=True):
            F = (w * chosen)[self._stacked.owner][:, None] * phi
            means.append(F.T @ mean)
            covariances.append(F.T @ covariance @ F + np.diag((w * chosen) ** 2 @ left))
        return joint_moments(means, covariances)

    def _draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phi, left = self._stacked.at(X)
        means, variances = [], []
        for w, (mean, covariance) in zip(self.weights, self._solved, strict=True):
            F = w[self._stacked.owner][:, None] * phi
            means.append(F.T @ mean)
            variances.append(np.sum(F * (covariance @ F), axis=0) + (w**2) @ left)
        return np.stack(means), np.stack(variances)

    def _components(self, X: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phi, left = self._stacked.at(X)
        means, variances = np.empty((2, len(self.weights), len(sums), len(X)))
        for s, (w, (mean, covariance)) in enumerate(zip(self.weights, self._solved, strict=True)):
            F = w[self._stacked.owner][:, None] * phi
            for j, chosen in enumerate(sums):
                own = chosen[self._stacked.owner] > 0
                means[s, j] = F[own].T @ mean[own]
                inner = np.sum(F[own] * (covariance[np.ix_(own, own)] @ F[own]), axis=0)
                variances[s, j] = inner + (chosen * w**2) @ left
        return moments(means, variances)

    def _in_blocks(self, function: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        blocks = [function(X[start : start + BLOCK]) for start in range(0, len(X), BLOCK)]
        mean, variance = zip(*blocks, strict=True)
        return np.concatenate(mean, axis=1), np.concatenate(variance, axis=1)


def _features(pool: Products, groups: Groups) -> Features:
    return Features(pool, pool.numbers, groups)
