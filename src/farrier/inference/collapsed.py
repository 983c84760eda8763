"""The collapsed evidence lower bound (Titsias 2009) for Gaussian noise: time is linear in the number of rows.

Each kernel has its own group of inducing variables u_i = g_i(Z_i). With L_i L_i' = k_i(Z_i, Z_i), the features are
phi_i(x) = L_i^-1 k_i(Z_i, x), and Phi_w(x) stacks all w_i phi_i(x). At the optimal q(u), which is correlated across
groups, the bound for given weights is

    L(w) = log N(y; 0, Phi_w' Phi_w + D) - sum_n,i w_i^2 (k_i(x_n, x_n) - |phi_i(x_n)|^2) / (2 d_n) <= log N(y; 0, C)

Over the draws of the weights, L = E_q(w) L(w) - KL(q(w) || p(w)) + log p(u), as for exact inference (exact.py). The
rows enter only through the sums

    A = sum_n phi phi' / d_n,   b = sum_n phi y_n / d_n,   t_i = sum_n (k_i(x_n, x_n) - |phi_i(x_n)|^2) / d_n

They are accumulated over blocks of rows, once for all draws, so memory does not grow with the number of rows. Blocks
may be read by many processes: the value of the bound takes one map over them and one reduction, where each block gives
its statistics, and the derivative one more, where each gives the derivatives of its rows. The sums are added in the
order of the blocks, so the result is the same to the bit however many processes there are.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, NamedTuple, Protocol, final

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf  # pyright: ignore[reportAttributeAccessIssue]

from farrier.evaluation.products import Products
from farrier.inference.exact import log_normal
from farrier.inference.inducing_points import Features, Groups, PointLimits, choose
from farrier.inference.linalg import one_thread
from farrier.inference.mixtures import joint_moments, moments
from farrier.inference.parameter_vector import ExactModel, Made, Parametrised, Terms
from farrier.inference.posteriors import Moments, WithoutCaches, chosen_of, in_blocks
from farrier.inference.weight_priors import quasi_normal

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


def collapsed_evidence(
    stats: Statistics, w2: np.ndarray, owner: np.ndarray, noise: float, rows: int
) -> tuple[float, Callable[[], EvidenceSlopes]] | None:
    """L(w) for one draw of the squared weights, and its derivatives; row precisions are relative to 1 / noise.

    None if a value is not finite or B = I + W A W / s^2 is not positive definite.
    """
    # w / s for each inducing variable
    v = np.sqrt(w2[owner] / noise)
    if not np.isfinite(v).all():
        return None
    L, failed = dpotrf((np.eye(len(v)) + v[:, None] * stats.A * v[None, :]).T, lower=1, overwrite_a=0)
    if failed:
        return None
    b = v * stats.b / np.sqrt(noise)
    m = cho_solve((L, True), b)
    trace, explained = float(w2 @ stats.t) / noise, m @ b
    log_determinant = 2.0 * np.log(np.diagonal(L)).sum() + rows * np.log(noise) + stats.log_d

    def slopes() -> EvidenceSlopes:
        by_B = -0.5 * (np.outer(m, m) + cho_solve((L, True), np.eye(len(v))))
        by_v = 2.0 * (by_B * stats.A) @ v + m * stats.b / np.sqrt(noise)
        # v = sqrt(w2 / s^2); the weights of absent kernels are zero, where the square root has no derivative
        by_log_v = np.bincount(owner, by_v * v, minlength=len(w2))
        by_w2 = np.divide(0.5 * by_log_v, w2, out=np.zeros_like(w2), where=w2 > 0) - 0.5 * stats.t / noise
        by_noise = 0.5 * (stats.yy / noise + trace - rows - explained - by_log_v.sum()) / noise
        by_A, by_b = v[:, None] * by_B * v[None, :], m * v / np.sqrt(noise)
        return EvidenceSlopes(by_A, by_b, -0.5 * w2 / noise, by_w2, float(by_noise))

    return log_normal(stats.yy / noise - explained, log_determinant, rows) - 0.5 * trace, slopes


def block_statistics(features: Features, X: np.ndarray, y: np.ndarray, precision: np.ndarray) -> Statistics:
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
    features: Features, X: np.ndarray, y: np.ndarray, precision: np.ndarray, by: tuple[np.ndarray, ...]
) -> np.ndarray:
    """The backward pass from the statistics A, b and t of some rows to the hyperparameters.

    `by` are the derivatives with respect to the statistics. Those with respect to the Cholesky factors are accumulated
    in the groups of the features.
    """
    dA, db, dt = by
    slopes, both = features.pool.no_slopes(), dA + dA.T
    for rows in _slices(len(X)):
        phi, _ = features.at(X[rows])
        # A = phi D phi', b = phi D y, t_i = sum D (k - |phi_i|^2)
        dphi = both @ phi + np.outer(db, y[rows]) - 2.0 * dt[features.owner][:, None] * phi
        dphi *= precision[rows][None, :]
        for i, (group, own) in enumerate(zip(features.groups, features.own, strict=True)):
            group.pull(X[rows], phi[own], dphi[own], dt[i] * precision[rows], slopes)
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
    def statistics(self, features: Features) -> Statistics:
        """The sums over all rows."""

    @abstractmethod
    def slopes(self, features: Features, by: tuple[np.ndarray, ...]) -> np.ndarray:
        """The backward pass from the statistics to the hyperparameters and, within the features, to their factors."""

    def value(self, numbers: np.ndarray) -> Terms:
        """The terms of the bound without derivatives; cheap enough for many draws."""
        made = self.make(numbers)
        _, found = self._each(made)
        return Terms.of(float(np.mean([-np.inf if one is None else one[0] for one in found])), made)

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms of the bound, and its derivative."""
        made = self.make(numbers)
        features, found = self._each(made)
        values = [one[0] for one in found if one]
        if len(values) < len(found) or not np.isfinite(values).all():
            return Terms.of(-np.inf, made), np.zeros_like(numbers)
        each = [one[1]() for one in found if one]
        by = tuple(np.mean([getattr(one, name) for one in each], axis=0) for name in ("A", "b", "t"))
        dw2 = np.stack([one.w2 for one in each]) / len(each)
        dnoise = float(np.mean([one.noise for one in each])) if self.common_noise else 0.0
        slopes = self.slopes(features, by)
        for group in features.groups:
            group.pull_factor(slopes)
        return Terms.of(float(np.mean(values)), made), self.gradient(made, slopes, dw2, dnoise)

    def _each(self, made: Made) -> tuple[Features, list[tuple[float, Callable[[], EvidenceSlopes]] | None]]:
        """The features, and L(w) for each draw of the weights."""
        features = Features(self.pool, made.numbers, self.groups)
        stats, noise = self.statistics(features), made.noise if self.common_noise else 1.0
        return features, [collapsed_evidence(stats, w2, features.owner, noise, self.count) for w2 in made.weighed.w2]


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

    def statistics(self, features: Features) -> Statistics:
        return block_statistics(features, self.X, self.y, self._precision())

    def slopes(self, features: Features, by: tuple[np.ndarray, ...]) -> np.ndarray:
        return block_slopes(features, self.X, self.y, self._precision(), by)

    def _precision(self) -> np.ndarray:
        return 1.0 / self.template.relative_noise(len(self.y))


class RowBlocks(Protocol):
    """Rows on the scale of the model, in blocks."""

    @property
    def count(self) -> int:
        """The number of rows."""
        ...

    def map(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """function(X, z, *arguments) for every block of rows X (n, D) and targets z (n,), in the order of the blocks.

        The function and what it takes and returns can be sent to other processes.
        """
        ...


@dataclass
class BlockObjective(CollapsedBound):
    """The collapsed bound given rows in blocks; the noise variance is common to all rows."""

    template: ExactModel
    groups: Groups
    rows: RowBlocks
    draws: np.ndarray
    _latest: dict[bytes, Statistics] = field(default_factory=dict, repr=False)

    @property
    def count(self) -> int:
        return self.rows.count

    def statistics(self, features: Features) -> Statistics:
        key = features.numbers.tobytes()
        if key not in self._latest:
            self._latest.clear()
            found = self.rows.map(sums_of_block, features.pool, features.numbers, self.groups)
            self._latest[key] = reduce(added, found)
        return self._latest[key]

    def slopes(self, features: Features, by: tuple[np.ndarray, ...]) -> np.ndarray:
        slopes = features.pool.no_slopes()
        found = self.rows.map(slopes_of_block, features.pool, features.numbers, self.groups, by)
        for own, by_factors in found:
            slopes += own
            for group, one in zip(features.groups, by_factors, strict=True):
                group.factor_slopes += one
        return slopes


def sums_of_block(X: np.ndarray, z: np.ndarray, pool: Products, numbers: np.ndarray, groups: Groups) -> Statistics:
    """The statistics of a block of rows."""
    with one_thread():
        return block_statistics(Features(pool, numbers, groups), X, z, np.ones(len(z)))


def slopes_of_block(
    X: np.ndarray, z: np.ndarray, pool: Products, numbers: np.ndarray, groups: Groups, by: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Derivatives of a block of rows with respect to the hyperparameters and to the Cholesky factors."""
    with one_thread():
        features = Features(pool, numbers, groups)
        return block_slopes(features, X, z, np.ones(len(z)), by), [one.factor_slopes for one in features.groups]


def added(one: Statistics, other: Statistics) -> Statistics:
    """The sum of the statistics of two blocks."""
    return Statistics(one.A + other.A, one.b + other.b, one.t + other.t, one.yy + other.yy, one.log_d + other.log_d)


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
        stats = objective.statistics(Features(model.pool, model.pool.numbers, objective.groups))
        noise = 1.0 if model.row_noise.known else float(model.noise)
        return cls(model.pool, weights, noise, objective.groups, stats.A, stats.b)

    @cached_property
    def features(self) -> Features:
        """The features of all kernels."""
        return Features(self.pool, self.pool.numbers, self.groups)

    @cached_property
    def solved(self) -> list[Moments]:
        """Mean S W b / s^2 and covariance S = (I + W A W / s^2)^-1 of the whitened inducing variables, by draw."""
        found = []
        for w in self.weights:
            v = w[self.features.owner]
            covariance = np.linalg.inv(np.eye(len(v)) + v[:, None] * self.A * v[None, :] / self.noise)
            found.append((covariance @ (v * self.b) / self.noise, covariance))
        return found

    def draws(self, X: np.ndarray) -> Moments:
        """Mean and variance of f(x) given each draw of the weights, (S, N) each."""
        whole = np.ones((1, len(self.pool)))
        mean, variance = in_blocks(lambda block: self._moments(block, whole), X, BLOCK)
        return mean[:, 0], variance[:, 0]

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> Moments:
        """Mean and variance of each component, or of sums of them."""
        chosen = np.eye(len(self.pool)) if sums is None else sums
        return in_blocks(lambda block: moments(*self._moments(block, chosen)), X, BLOCK)

    def _moments(self, X: np.ndarray, sums: np.ndarray) -> Moments:
        """Mean and variance of sums of components for each draw, (S, J, N) each."""
        phi, left = self.features.at(X)
        means, variances = np.empty((2, len(self.weights), len(sums), len(X)))
        for s, (w, (mean, covariance)) in enumerate(zip(self.weights, self.solved, strict=True)):
            F = w[self.features.owner][:, None] * phi
            for j, chosen in enumerate(sums):
                own = chosen[self.features.owner] > 0
                means[s, j] = F[own].T @ mean[own]
                inner = np.sum(F[own] * (covariance[np.ix_(own, own)] @ F[own]), axis=0)
                variances[s, j] = inner + (chosen * w**2) @ left
        return means, variances

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> Moments:
        """Mean (N,) and covariance (N, N) of f, or of the sum of some components.

        The variance that inducing points do not explain counts as independent between rows.
        """
        phi, left = in_blocks(self.features.at, X, BLOCK)
        chosen, means, covariances = chosen_of(self.pool, parts), [], []
        for w, (mean, covariance) in zip(self.weights, self.solved, strict=True):
            F = (w * chosen)[self.features.owner][:, None] * phi
            means.append(F.T @ mean)
            covariances.append(F.T @ covariance @ F + np.diag((w * chosen) ** 2 @ left))
        return joint_moments(means, covariances)

    def left_out(
        self, X: np.ndarray, y: np.ndarray, blocks: Sequence[np.ndarray] = (), relative: np.ndarray | float = 1.0
    ) -> Moments:
        """Mean and variance of f at some rows of the fit, each given all others, for each draw, (S, n).

        Behind them are the rows of each block given the rows outside it. Given its inducing variables f is a linear
        model: with m and v the mean and variance of w'phi(x), that of y_n given the others has mean
        y_n - (y_n - m) s^2 / (s^2 - v) and variance s^4 / (s^2 - v). For a block it is the same with the covariance V
        of the block in the place of v, and the diagonal D of its noise in that of s^2. `relative` are the noise
        variances of the rows over the common one.
        """
        means, variances, noise = [], [], np.broadcast_to(self.noise * relative, y.shape)
        phi, left = self.features.at(X)
        places = np.concatenate([np.arange(len(y)), *blocks])
        for w, (mean, covariance) in zip(self.weights, self.solved, strict=True):
            F = w[self.features.owner][:, None] * phi
            # v < s^2 but for rounding
            rest = np.maximum(noise - np.sum(F * (covariance @ F), axis=0), 1e-9 * noise)
            each = [(y - (y - F.T @ mean) * noise / rest, noise**2 / rest)]
            for block in blocks:
                own, D = F[:, block], noise[block]
                factor = D[:, None] * np.linalg.inv(np.diag(D) - own.T @ covariance @ own)
                away = y[block] - own.T @ mean
                each.append((y[block] - factor @ away, D * np.diagonal(factor)))
            means.append(np.concatenate([mean for mean, _ in each]))
            variances.append(np.concatenate([found for _, found in each]) - noise[places] + ((w**2) @ left)[places])
        return np.stack(means), np.stack(variances)
