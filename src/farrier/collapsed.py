"""The collapsed bound: for Gaussian noise and any number of rows, linear in them.

All kernels' groups of inducing variables u_i = g_i(Z_i) stand in one vector; with phi_i(x) = L_i^-1 k_i(Z_i, x),
L_i L_i' = k_i(Z_i, Z_i), and Phi_w(x) the stack of the w_i phi_i(x), the best q(u), correlated across groups, leaves

    L(w) = log N(y; 0, Phi_w' Phi_w + D) - sum_n,i w_i^2 (k_i(x_n, x_n) - |phi_i(x_n)|^2) / (2 d_n) <= log N(y; 0, C)

and, over the draws of the weights, L = E_q(w) L(w) - KL(q(w) || p(w)) + log p(u) as in the exact tier. The rows enter
only through sums,

    A = sum_n phi phi' / d_n,   b = sum_n phi y_n / d_n,   t_i = sum_n (k_i(x_n, x_n) - |phi_i(x_n)|^2) / d_n

which are worked out a block of rows at a time, once for all draws: memory does not grow with the rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from scipy.linalg import solve_triangular

from farrier.exact import ExactModel, Terms, head, head_back, limits_of, model_of, start_of
from farrier.groups import Groups, choose
from farrier.kernels.slots import SlotPool
from farrier.linalg import cholesky, log_determinant, solve_lower
from farrier.priors import quasi_normal

BLOCK = 1024
"""Rows that are worked out at once."""
FEATURE_STEP = 16
"""The number of inducing variables is filled up to a multiple of this."""


class Points(eqx.Module):
    """The inducing points of all groups: Z (m, M, D), and for each of R variables its place in it and its kernel.

    Groups are filled up to the largest one, and the variables to a round number, with places of -1 that count for
    nothing.
    """

    Z: Array
    counts: Array
    places: Array
    owner: Array
    families: Any = eqx.field(static=True)

    @classmethod
    def of(cls, pool: SlotPool, groups: Groups) -> "Points":
        """The points of some groups."""
        widest = groups.Z.shape[1]
        places = np.concatenate([i * widest + np.arange(size) for i, size in enumerate(groups.sizes)])
        filled = np.full(-(-len(places) // FEATURE_STEP) * FEATURE_STEP, -1)
        filled[: len(places)] = places
        owner = np.where(filled < 0, 0, filled // widest)
        arrays = (jnp.asarray(a) for a in (groups.Z, np.array(groups.sizes), filled, owner))
        return cls(*arrays, families=pool.families())

    def factors(self, pool: SlotPool) -> Array:
        """L_i with L_i L_i' = k_i(Z_i, Z_i), (m, M, M), with ones where a group has no such point."""
        m, M = self.Z.shape[:2]
        own = jnp.arange(M)[None, :] < self.counts[:, None]
        K = lax.map(lambda i: pool.rows(jnp.full(M, i)).at(self.Z[i], self.Z[i], self.families), jnp.arange(m))
        pairs = own[:, :, None] & own[:, None, :]
        filled: Any = jnp.where(pairs, K, jnp.broadcast_to(jnp.eye(M, dtype=K.dtype), K.shape))
        return cholesky(filled)

    def covariances(self, pool: SlotPool, X: Array) -> tuple[Array, Array]:
        """k_i(Z_i, x) of all variables, (R, N), and k_i(x, x) of all kernels, (m, N)."""
        m, M, D = self.Z.shape
        real = self.places >= 0
        points = self.Z.reshape(m * M, D)[jnp.where(real, self.places, 0)]
        k = pool.rows(self.owner).at(points, X, self.families)
        return jnp.where(real[:, None], k, 0.0), pool.diag(X)


class Statistics(NamedTuple):
    """The sums over rows; A, b and t of the top of this file, and y'y / d and log|D|."""

    A: Any
    b: Any
    t: Any
    yy: Any
    log_d: Any


def collapsed_evidence(stats: Statistics, w2: Array, owner: Array, noise: Array, rows: Array) -> Array:
    """L(w) for one draw of the squared weights, the precisions of the rows being relative to 1 / noise."""
    # weights that are absent are zero, where the root has no derivative
    there = w2[owner] > 0.0
    v = jnp.where(there, jnp.sqrt(jnp.where(there, w2[owner], 1.0) / noise), 0.0)
    # B = I + W A W / s^2
    B = jnp.eye(len(v), dtype=v.dtype) + v[:, None] * stats.A * v[None, :]
    L = cholesky(B)
    c = solve_lower(L, (v * stats.b)[:, None])[:, 0] / jnp.sqrt(noise)
    fit = stats.yy / noise - c @ c
    trace = w2 @ stats.t / noise
    return -0.5 * (fit + log_determinant(L) + rows * jnp.log(2.0 * jnp.pi * noise) + stats.log_d + trace)


@dataclass
class CollapsedObjective:
    """The collapsed bound of a model, as a function of a vector of unbounded numbers.

    The derivative is put together by hand around three small compiled programs, the kernels at the rows, the
    factors of the groups and the bound of the statistics: one program for all of it took a minute to compile.
    """

    template: ExactModel
    groups: Groups
    X: np.ndarray
    y: np.ndarray
    draws: np.ndarray

    @classmethod
    def of(
        cls, template: ExactModel, X: np.ndarray, y: np.ndarray, draws: int, tolerance: float, most: int
    ) -> "CollapsedObjective":
        """The bound with groups chosen for the template's kernels."""
        groups = choose(template.pool, X, tolerance, most)
        return cls(template, groups, X, y, quasi_normal(draws, template.prior.noise_size))

    @cached_property
    def points(self) -> Points:
        """The inducing points."""
        return Points.of(self.template.pool, self.groups)

    def start(self) -> np.ndarray:
        """The numbers of the template."""
        return start_of(self.template)

    def limits(self) -> np.ndarray:
        """As in the exact tier."""
        return limits_of(self.template)

    def model(self, numbers: np.ndarray) -> ExactModel:
        """The model with these numbers."""
        return model_of(self.template, numbers)

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The bound's terms and its derivative."""
        u, Z = jnp.asarray(numbers), jnp.asarray(self.draws)
        pool, w2, noise, kl, prior = head(u, self.template, Z)
        noise = noise if self.template.rows is None else jnp.ones(())
        features = Features(pool, self.points)
        stats = self.statistics(features)
        value, (d, dw2, dnoise) = _evidence(stats, w2, self.points.owner, noise, jnp.asarray(float(len(self.y))))
        if not np.isfinite(value):
            return Terms(-np.inf, -np.inf, float(kl), float(prior)), np.zeros_like(numbers)
        slopes = self._slopes(features, Statistics(*(np.asarray(a) for a in d)))
        dnoise = dnoise if self.template.rows is None else jnp.zeros(())
        gradient = head_back(u, self.template, Z, slopes, dw2, dnoise)
        total = float(value) - float(kl) + float(prior)
        return Terms(total, float(value), float(kl), float(prior)), np.asarray(gradient)

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Rows, targets and precisions, a block at a time; the last is filled up with rows of no precision."""
        precision = np.ones(len(self.y)) if self.template.rows is None else 1.0 / np.asarray(self.template.rows)
        for first in range(0, len(self.X), BLOCK):
            X, y, p = (a[first : first + BLOCK] for a in (self.X, self.y, precision))
            extra = BLOCK - len(X)
            yield np.concatenate([X, np.repeat(X[:1], extra, axis=0)]), np.pad(y, (0, extra)), np.pad(p, (0, extra))

    def statistics(self, features: "Features") -> Statistics:
        """The sums over all rows."""
        R, m = len(self.points.owner), len(self.groups.sizes)
        A, b, t, yy, log_d = np.zeros((R, R)), np.zeros(R), np.zeros(m), 0.0, 0.0
        for X, y, precision in self.blocks():
            phi, left = features.at(X)
            scaled = phi * precision[None, :]
            A += scaled @ phi.T
            b += scaled @ y
            t += left @ precision
            yy += float(precision @ y**2)
            log_d -= float(np.log(precision[precision > 0]).sum())
        return Statistics(A, b, t, np.asarray(yy), np.asarray(log_d))

    def _slopes(self, features: "Features", d: Statistics) -> Any:
        """From derivatives by the statistics to those by the numbers of the kernels."""
        dL = np.zeros_like(features.L)
        both = d.A + d.A.T
        owner, real = np.asarray(self.points.owner), np.asarray(self.points.places) >= 0
        total = None
        for X, y, precision in self.blocks():
            phi, _ = features.at(X)
            # A = phi D phi', b = phi D y, t_i = sum D (k - |phi_i|^2)
            dphi = (both @ phi + np.outer(d.b, y) - 2.0 * (d.t[owner] * real)[:, None] * phi) * precision[None, :]
            dk = features.solve_transposed(dphi)
            features.add_outer(dL, dk, phi)
            slopes = _covariances_back(
                features.pool, self.points, *(jnp.asarray(a) for a in (X, dk, d.t[:, None] * precision[None, :]))
            )
            total = slopes if total is None else jax.tree.map(jnp.add, total, slopes)
        return jax.tree.map(jnp.add, total, _factors_back(features.pool, self.points, jnp.asarray(np.tril(dL))))


class Features:
    """phi_i(x) = L_i^-1 k_i(Z_i, x) of all kernels, stacked; numpy in and out."""

    def __init__(self, pool: SlotPool, points: Points) -> None:
        self.pool, self.points = pool, points
        self.L = np.array(_factors(pool, points))
        owner, real = np.asarray(points.owner), np.asarray(points.places) >= 0
        self._groups = [np.flatnonzero((owner == i) & real) for i in range(len(self.L))]

    def at(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """phi (R, N), and what is left of the variance of each kernel, (m, N)."""
        k, diagonal = (np.array(a) for a in _covariances(self.pool, self.points, jnp.asarray(X)))
        left = np.zeros_like(diagonal)
        for i, own in enumerate(self._groups):
            k[own] = solve_triangular(self._factor(i, own), k[own], lower=True, check_finite=False)
            left[i] = np.maximum(diagonal[i] - np.sum(k[own] ** 2, axis=0), 0.0)
        return k, left

    def solve_transposed(self, d: np.ndarray) -> np.ndarray:
        """L_i^-T d_i for each group: the derivative by k from that by phi."""
        out = np.zeros_like(d)
        for i, own in enumerate(self._groups):
            out[own] = solve_triangular(self._factor(i, own), d[own], lower=True, trans=1, check_finite=False)
        return out

    def add_outer(self, dL: np.ndarray, dk: np.ndarray, phi: np.ndarray) -> None:
        """phi = L^-1 k, hence dL -= L^-T dphi phi'."""
        for i, own in enumerate(self._groups):
            dL[i, : len(own), : len(own)] -= dk[own] @ phi[own].T

    def _factor(self, i: int, own: np.ndarray) -> np.ndarray:
        return self.L[i, : len(own), : len(own)]


_factors = eqx.filter_jit(lambda pool, points: points.factors(pool))
_covariances = eqx.filter_jit(lambda pool, points, X: points.covariances(pool, X))


@eqx.filter_jit
def _covariances_back(pool: SlotPool, points: Points, X: Array, dk: Array, ddiagonal: Array) -> Any:
    numbers, rest = eqx.partition(pool, eqx.is_inexact_array)
    _, pull = jax.vjp(lambda numbers: points.covariances(eqx.combine(numbers, rest), X), numbers)
    return pull((dk, ddiagonal))[0]


@eqx.filter_jit
def _factors_back(pool: SlotPool, points: Points, dL: Array) -> Any:
    numbers, rest = eqx.partition(pool, eqx.is_inexact_array)
    _, pull = jax.vjp(lambda numbers: points.factors(eqx.combine(numbers, rest)), numbers)
    return pull(dL)[0]


@eqx.filter_jit
def _evidence(stats: Statistics, w2: Array, owner: Array, noise: Array, rows: Array) -> Any:
    def mean(stats: Statistics, w2: Array, noise: Array) -> Array:
        return jnp.mean(jax.vmap(lambda one: collapsed_evidence(stats, one, owner, noise, rows))(w2))

    stats = Statistics(*(jnp.asarray(a) for a in stats))
    return jax.value_and_grad(mean, argnums=(0, 1, 2))(stats, w2, noise)


@final
@dataclass(frozen=True)
class CollapsedPosterior:
    """The posterior of f and of its components with the best q(u), for S draws of the weights."""

    pool: SlotPool
    weights: np.ndarray
    noise: float
    groups: Groups
    A: np.ndarray
    b: np.ndarray

    @classmethod
    def of(cls, objective: CollapsedObjective, model: ExactModel, weights: np.ndarray) -> "CollapsedPosterior":
        """From the rows of an objective."""
        stats = objective.statistics(Features(model.pool, objective.points))
        noise = float(model.noise) if model.rows is None else 1.0
        return cls(model.pool, weights, noise, objective.groups, stats.A, stats.b)

    @cached_property
    def _stacked(self) -> Features:
        return Features(self.pool, Points.of(self.pool, self.groups))

    def _features(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        padded = np.concatenate([X, np.repeat(X[:1], BLOCK - len(X), axis=0)])
        phi, left = self._stacked.at(padded)
        return phi[:, : len(X)], left[:, : len(X)], np.asarray(self._stacked.points.owner)

    def _solved(self, w: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the covariance of the whitened variables: S W b / s^2 and S = (I + W A W / s^2)^-1."""
        v = w[owner]
        covariance = np.linalg.inv(np.eye(len(v)) + v[:, None] * self.A * v[None, :] / self.noise)
        return covariance @ (v * self.b) / self.noise, covariance

    def draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f(x) given each draw of the weights, (S, N) each."""
        return self._in_blocks(self._draws, X)

    def components(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each component, (m, N) each."""
        return self._in_blocks(self._components, X)

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean (N,) and covariance (N, N) of f, or of the sum of some components.

        What the points leave is taken as independent from row to row.
        """
        blocks = [self._features(X[start : start + BLOCK]) for start in range(0, len(X), BLOCK)]
        phi, left = (np.concatenate([block[k] for block in blocks], axis=1) for k in (0, 1))
        owner = blocks[0][2]
        chosen = np.ones(len(self.pool), bool) if parts is None else np.isin(np.arange(len(self.pool)), parts)
        means, covariances = [], []
        for w in self.weights:
            mean, covariance = self._solved(w, owner)
            F = (w * chosen)[owner][:, None] * phi
            means.append(F.T @ mean)
            covariances.append(F.T @ covariance @ F + np.diag((w * chosen) ** 2 @ left))
        mean, apart = np.mean(means, axis=0), np.asarray(means) - np.mean(means, axis=0)
        return mean, np.mean(covariances, axis=0) + apart.T @ apart / len(apart)

    def _draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phi, left, owner = self._features(X)
        means, variances = [], []
        for w in self.weights:
            mean, covariance = self._solved(w, owner)
            F = w[owner][:, None] * phi
            means.append(F.T @ mean)
            variances.append(np.einsum("rn,rq,qn->n", F, covariance, F, optimize=True) + (w**2) @ left)
        return np.stack(means), np.stack(variances)

    def _components(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phi, left, owner = self._features(X)
        means, variances = np.empty((2, len(self.weights), len(self.pool), len(X)))
        for s, w in enumerate(self.weights):
            mean, covariance = self._solved(w, owner)
            F = w[owner][:, None] * phi
            for i in range(len(self.pool)):
                own = owner == i
                means[s, i] = F[own].T @ mean[own]
                inner = np.einsum("rn,rq,qn->n", F[own], covariance[np.ix_(own, own)], F[own], optimize=True)
                variances[s, i] = inner + w[i] ** 2 * left[i]
        return means.mean(axis=0), variances.mean(axis=0) + means.var(axis=0)

    def _in_blocks(self, function: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        blocks = [function(X[start : start + BLOCK]) for start in range(0, len(X), BLOCK)]
        mean, variance = zip(*blocks, strict=True)
        return np.concatenate(mean, axis=1), np.concatenate(variance, axis=1)
