"""What every posterior offers, and the posterior by exact inference:  y ~ N(0, C_s),  C_s = sum_i w_si^2 K_i + D.

    E f_i(x)   = k_i(x)' C^-1 y
    Var f_i(x) = w_i^2 k_i(x, x) - k_i(x)' C^-1 k_i(x),     k_i(x) = w_i^2 K_i(X, x)

for each of S draws of the weights, and the same for f with k(x) = sum_i k_i(x). The Cholesky factors take cubic time in
the number of rows, once; a prediction then takes quadratic time. `LaplacePosterior` has draws of all parameters instead
(laplace.py). Other posteriors are in collapsed.py and linear_posterior.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol, cast, final

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri  # pyright: ignore[reportAttributeAccessIssue]

from farrier.evaluation.between import Between, between
from farrier.evaluation.covariance import Covariance, covariance_of
from farrier.evaluation.products import Products
from farrier.inference.linalg import inverse_of_upper, jitter, one_thread
from farrier.inference.mixtures import joint_moments, moments

BLOCK_ROWS = 256
"""Rows that are predicted at once. By judgement."""
SMALL_ROWS = 1000
"""Rows up to which matrices are small, and one BLAS thread is faster than several. By judgement."""

Moments = tuple[np.ndarray, np.ndarray]
"""Means, and variances or a covariance."""


class Posterior(Protocol):
    """The posterior of f and of its components on the scale of the model, for S draws of the weights."""

    def draws(self, X: np.ndarray) -> Moments:
        """Mean and variance of f(x) given each draw, (S, N) each."""
        ...

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> Moments:
        """Mean and variance of each component over all draws, (m, N) each.

        With `sums` (J, m), rows of 0 and 1: of these sums of components, (J, N) each.
        """
        ...

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> Moments:
        """Mean (N,) and covariance (N, N) of f, or of the sum of some components, at all rows together."""
        ...


class WithoutCaches:
    """A dataclass with cached properties that are cheaper to compute again than to send to another process."""

    def __getstate__(self) -> dict[str, Any]:
        """The fields only."""
        return {field.name: getattr(self, field.name) for field in fields(cast(Any, self))}


def chosen_of(pool: Products, parts: np.ndarray | None) -> np.ndarray:
    """1 for each component whose index is among the parts, 0 for others, (m,); None for all."""
    return np.ones(len(pool)) if parts is None else np.isin(np.arange(len(pool)), parts).astype(float)


@final
@dataclass(frozen=True)
class GaussianPosterior(WithoutCaches):
    """The posterior of f and of its components given rows X, y, draws of the weights and the noise of each row."""

    pool: Products
    weights: np.ndarray
    noise: np.ndarray
    X: np.ndarray
    y: np.ndarray

    @property
    def small(self) -> bool:
        """Whether the matrices are small: all arithmetic on them is then done by one BLAS thread."""
        return len(self.y) <= SMALL_ROWS

    @cached_property
    def _factors(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """L with L L' = C, and e = L^-1 y, for each draw."""
        return self._factorised(covariance_of(self.X))

    def factorise(self, covariance: Covariance) -> None:
        """Prepare predictions with a covariance of the rows that posteriors of the same rows share."""
        if "_factors" not in vars(self):
            vars(self)["_factors"] = self._factorised(covariance)

    def _factorised(self, covariance: Covariance) -> list[tuple[np.ndarray, np.ndarray]]:
        with one_thread(small=self.small):
            return [self._factor(covariance, w) for w in self.weights]

    def _factor(self, covariance: Covariance, w: np.ndarray) -> Moments:
        """L and e for one draw of the weights."""
        C = covariance.upper(self.pool, w**2)
        C[np.diag_indices(len(C))] += self.noise + jitter(C)
        # LAPACK is column-major: its lower triangle is the upper one here; what is above the diagonal of L is not read
        L, failed = dpotrf(C.T, lower=1, overwrite_a=1)
        if failed:
            raise ArithmeticError("The covariance of the rows is not positive definite: check X for extreme values.")
        return L, solve_triangular(L, self.y, lower=True, check_finite=False)

    def draws(self, X: np.ndarray) -> Moments:
        """Mean and variance of f(x) given each draw of the weights, (S, N) each."""
        return in_blocks(lambda block: self.draws_at(block, between(self.X, block)), X, BLOCK_ROWS)

    def draws_at(self, X: np.ndarray, covariances: Between) -> Moments:
        """The same for a few rows; `covariances` are those of the rows of the fit with them."""
        k_xx, means, variances = self.pool.diag(X), [], []
        with one_thread(small=self.small):
            for w, K, (L, e) in zip(self.weights, covariances(self.pool, self.weights**2), self._factors, strict=True):
                A = solve_triangular(L, K, lower=True, check_finite=False)
                means.append(A.T @ e)
                variances.append((w**2) @ k_xx - np.sum(A**2, axis=0))
        return np.stack(means), np.maximum(variances, 0.0)

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> Moments:
        """Mean and variance of each component w_i g_i(x), or of sums of them."""
        chosen = np.eye(len(self.pool)) if sums is None else sums
        with one_thread(small=self.small):
            return in_blocks(lambda block: self._components(block, chosen), X, BLOCK_ROWS)

    def component_means(self, X: np.ndarray, sums: np.ndarray | None = None) -> np.ndarray:
        """The means of `components` for each draw of the weights, (S, m, N): quadratic in the rows, not cubic."""
        chosen = np.eye(len(self.pool)) if sums is None else sums
        with one_thread(small=self.small):
            K = covariance_of(X).grams(self.pool) if X is self.X else self.pool.gram(X, self.X)
            solved = [solve_triangular(L, e, lower=True, trans=1) for L, e in self._factors]
            parts = [chosen @ ((w**2)[:, None] * (K @ a)) for w, a in zip(self.weights, solved, strict=True)]
        return np.stack(parts)

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> Moments:
        """Mean (N,) and covariance (N, N) of f, or of the sum of some components, at all rows together."""
        K_x, K_xx = self.pool.gram(self.X, X), self.pool.gram(X, X)
        chosen, means, covariances = chosen_of(self.pool, parts), [], []
        with one_thread(small=self.small):
            for w, (L, e) in zip(self.weights, self._factors, strict=True):
                A = solve_triangular(L, np.einsum("i,inx->nx", chosen * w**2, K_x), lower=True)
                means.append(A.T @ e)
                covariances.append(np.einsum("i,ixy->xy", chosen * w**2, K_xx) - A.T @ A)
        return joint_moments(means, covariances)

    def averages(self, X: np.ndarray, groups: int) -> Moments:
        """Mean and covariance of the averages of f over equal groups of consecutive rows, for one draw of the weights.

        Averages are linear in f, so that only their covariances with the rows of the fit are solved for.
        """
        ((L, e),), w2, size = self._factors, self.weights[0] ** 2, len(X) // groups
        starts = range(0, len(X), size)
        between = [np.einsum("i,inx->n", w2, self.pool.gram(self.X, X[k : k + size])) / size for k in starts]
        within = [np.einsum("i,ixy->y", w2, self.pool.gram(X[k : k + size], X)) / size for k in starts]
        with one_thread(small=self.small):
            A = solve_triangular(L, np.stack(between, axis=1), lower=True)
            return A.T @ e, np.stack(within).reshape(groups, groups, size).mean(axis=2) - A.T @ A

    def one_step(self) -> Moments:
        """One-step predictions: mean and variance of each y given all earlier ones, for each draw, (S, N) each.

        They come from the Cholesky factor: (y - mean) / sd = L^-1 y.
        """
        sd = np.stack([np.diagonal(L) for L, _ in self._factors])
        return self.y - sd * np.stack([e for _, e in self._factors]), sd**2

    def means(self, X: np.ndarray) -> np.ndarray:
        """The means of `draws`, (S, N): quadratic in the rows, not cubic."""
        found = []
        with one_thread(small=self.small):
            solved = [solve_triangular(L, e, lower=True, trans=1, check_finite=False) for L, e in self._factors]
            for first in range(0, len(X), BLOCK_ROWS):
                K = between(X[first : first + BLOCK_ROWS], self.X)(self.pool, self.weights**2)
                found.append(np.stack([K_s @ a for K_s, a in zip(K, solved, strict=True)]))
        return np.concatenate(found, axis=1)

    def at_rows(self) -> Moments:
        """Mean and variance of f at the rows of the fit given each draw, (S, N) each.

        With a = C^-1 y and the noise D of the rows, f_n has mean y_n - D_n a_n and variance D_n - D_n^2 (C^-1)_nn.
        """
        means, variances = [], []
        with one_thread(small=self.small):
            for L, e in self._factors:
                U = np.triu(inverse_of_upper(L.T))
                means.append(self.y - self.noise * (U @ e))
                # C^-1 = U U'
                variances.append(self.noise - self.noise**2 * np.einsum("ij,ij->i", U, U))
        return np.stack(means), np.maximum(variances, 0.0)

    def left_out(self, rows: np.ndarray | None = None, blocks: Sequence[np.ndarray] = ()) -> Moments:
        """Mean and variance of f at some rows of the fit (None: all), each given all others, for each draw, (S, n).

        Behind them are the rows of each block given the rows outside it. Rows and blocks are indices of rows of the
        fit, blocks in ascending order.

        With a = C^-1 y, y_n given the others has mean y_n - a_n / (C^-1)_nn and variance 1 / (C^-1)_nn. For a block B
        with V = ((C^-1)_BB)^-1 the mean is y_B - V a_B and the covariance V. Some rows alone need no inverse: with
        L L' = C, (C^-1)_nn is the squared length of column n of L^-1.
        """
        single = np.arange(len(self.y)) if rows is None else rows
        places, means, variances = np.concatenate([single, *blocks]), [], []
        noise = np.broadcast_to(self.noise, self.y.shape)[places]
        with one_thread(small=self.small):
            for L, e in self._factors:
                a = solve_triangular(L, e, lower=True, trans=1, check_finite=False)
                if rows is None or blocks:
                    inverse, _ = dpotri(L, lower=1)
                    precision = np.diagonal(inverse)[single]
                    parts = [np.tril(inverse[np.ix_(block, block)]) for block in blocks]
                else:
                    unit = (np.arange(len(L))[:, None] == rows).astype(float)
                    precision = np.sum(solve_triangular(L, unit, lower=True, check_finite=False) ** 2, axis=0)
                    parts = []
                each = [(a[single] / precision, 1.0 / precision)]
                for block, part in zip(blocks, parts, strict=True):
                    V = np.linalg.inv(part + np.tril(part, -1).T)
                    each.append((V @ a[block], np.diagonal(V)))
                means.append(self.y[places] - np.concatenate([moved for moved, _ in each]))
                variances.append(np.concatenate([variance for _, variance in each]) - noise)
        return np.stack(means), np.maximum(variances, 0.0)

    def _components(self, X: np.ndarray, sums: np.ndarray) -> Moments:
        K_x, k_xx = self.pool.gram(self.X, X), self.pool.diag(X)
        means, variances = np.empty((2, len(self.weights), len(sums), len(X)))
        for s, (w, (L, e)) in enumerate(zip(self.weights, self._factors, strict=True)):
            for j, chosen in enumerate(sums):
                parts = np.flatnonzero(chosen)
                w2 = w[parts] ** 2
                A = solve_triangular(L, np.einsum("i,inx->nx", w2, K_x[parts]), lower=True)
                means[s, j], variances[s, j] = A.T @ e, w2 @ k_xx[parts] - np.sum(A**2, axis=0)
        return moments(means, np.maximum(variances, 0.0))


def in_blocks(function: Callable[[np.ndarray], Moments], X: np.ndarray, size: int) -> Moments:
    """A function of rows that gives two arrays (..., N), called with `size` rows at a time."""
    found = [function(X[start : start + size]) for start in range(0, len(X), size)]
    mean, variance = zip(*found, strict=True)
    return np.concatenate(mean, axis=-1), np.concatenate(variance, axis=-1)


@final
@dataclass(frozen=True, eq=False)
class LaplacePosterior(WithoutCaches):
    """The mixture of exact posteriors of the same rows over draws of all parameters; the first is the mode's."""

    posteriors: tuple[GaussianPosterior, ...]

    @property
    def pool(self) -> Products:
        """The kernels of the first posterior."""
        return self.posteriors[0].pool

    @property
    def weights(self) -> np.ndarray:
        """The weights of the first posterior, (1, m)."""
        return self.posteriors[0].weights

    @cached_property
    def _factorised(self) -> tuple[GaussianPosterior, ...]:
        """The posteriors, factorised with one covariance of their rows, so that what they share is computed once."""
        covariance = covariance_of(self.posteriors[0].X)
        for posterior in self.posteriors:
            posterior.factorise(covariance)
        return self.posteriors

    def draws(self, X: np.ndarray) -> Moments:
        """Mean and variance of f(x) given each draw, (S, N) each."""
        with one_thread(small=self.posteriors[0].small):
            return in_blocks(self._draws_at, X, BLOCK_ROWS)

    def _draws_at(self, X: np.ndarray) -> Moments:
        covariances = between(self.posteriors[0].X, X)
        return self._of_all(lambda posterior: posterior.draws_at(X, covariances))

    def means(self, X: np.ndarray) -> np.ndarray:
        """The means of `draws`, (S, N)."""
        return np.concatenate([posterior.means(X) for posterior in self._factorised])

    def left_out(self, rows: np.ndarray | None = None, blocks: Sequence[np.ndarray] = ()) -> Moments:
        """Leave-one-out predictions given each draw."""
        return self._of_all(lambda posterior: posterior.left_out(rows, blocks))

    def _of_all(self, function: Callable[[GaussianPosterior], Moments]) -> Moments:
        """The means and the variances of all posteriors, one after another."""
        means, variances = zip(*map(function, self._factorised), strict=True)
        return np.concatenate(means), np.concatenate(variances)

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> Moments:
        """Mean and variance of each component, or of sums of them.

        Means are those of the mixture, so that they add up. The variance within a draw, which costs much more, is that
        of the first posterior; the variance between draws is that of all.
        """
        means = np.concatenate([posterior.component_means(X, sums) for posterior in self._factorised])
        _, within = self.posteriors[0].components(X, sums)
        return means.mean(axis=0), within + means.var(axis=0)

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> Moments:
        """Mean and covariance of f, or of the sum of some components, at all rows together."""
        return joint_moments(*zip(*(posterior.joint(X, parts) for posterior in self._factorised), strict=True))
