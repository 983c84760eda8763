"""The evidence lower bound with exact Gaussian inference: the functions are integrated out.

    L = E_q(w) log N(y; 0, sum_i w_i^2 K_i + D) - KL(q(w) || p(w)) + log p(u)

D is diagonal: one noise variance, or one for each row. u are the unbounded hyperparameters. The expectation is an
average over fixed quasi-random draws of the weights, so L is a smooth deterministic function of all parameters.
evaluation/covariance.py has the covariance, parameter_vector.py the vector of parameters. The log density is

    log N(y; 0, C) = -(y'C^-1 y + log|C| + n log 2 pi) / 2,     d/dC = (a a' - C^-1) / 2  with  a = C^-1 y

`ProjectedObjective` has M = E_p[y y'] in place of y y', where p is the predictive distribution of a replicate of y at
rows and at the steps of a forecast. At its maximum the model has the smallest Kullback-Leibler divergence from p, up to
the priors.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import final

import numpy as np
from scipy.linalg.blas import dsyr  # pyright: ignore[reportAttributeAccessIssue]
from scipy.linalg.lapack import dlauum, dpotrf, dpotri, dpotrs, dtrtrs  # pyright: ignore[reportAttributeAccessIssue]

from farrier.evaluation.covariance import Covariance, covariance_of
from farrier.inference.linalg import add_slope_of_jitter, inverse_of_upper, jitter
from farrier.inference.parameter_vector import ExactModel, Parametrised, Terms
from farrier.inference.weight_priors import quasi_normal

LOG_2PI = float(np.log(2.0 * np.pi))
DRAWS_AT_ONCE = 8
"""Draws whose covariances are held at once where there are many: 64 MB for 1,000 rows. By judgement."""


def log_normal(quadratic: float, log_determinant: float, n: float) -> float:
    """log N(y; 0, C) from y'C^-1 y, log|C| and the number of rows."""
    return float(-0.5 * (quadratic + log_determinant + n * LOG_2PI))


def log_density(C: np.ndarray, y: np.ndarray) -> float:
    """log N(y; 0, C); minus infinity if C is not positive definite. C is overwritten."""
    L, failed = dpotrf(C.T, lower=1, overwrite_a=1)
    if failed:
        return -np.inf
    e, _ = dtrtrs(L, y, lower=1)
    return log_normal(e @ e, 2.0 * np.log(np.diagonal(L)).sum(), len(y))


def log_density_and_slope(C: np.ndarray, diagonal: np.ndarray, filled: np.ndarray, y: np.ndarray) -> float | None:
    """log N(y; 0, C + diag), or None if the matrix is not positive definite.

    `filled` is 0 for empty grid places, which have no part in the density. C (row-major) is overwritten by the
    derivative G = (a a' - C^-1) / 2 as a lower triangle: entries below the diagonal are doubled, as each counts for
    its mirror image too.
    """
    n = len(y)
    on_diagonal = C.reshape(-1)[:: n + 1]
    # an empty place is independent of all rows, with variance one
    on_diagonal += np.where(filled, diagonal + jitter(C), 1.0)
    # LAPACK is column-major: its upper triangle is the lower one here
    U, failed = dpotrf(C.T, lower=0, overwrite_a=1)
    if failed:
        return None
    log_determinant = 2.0 * np.log(on_diagonal).sum()
    a, _ = dpotrs(U, y, lower=0)
    inverse, _ = dlauum(inverse_of_upper(U), lower=0, overwrite_c=1)
    np.multiply(inverse.T, _lower(n), out=C)
    dsyr(1.0, a, lower=0, a=C.T, overwrite_a=1)
    on_diagonal -= np.where(filled, 0.5 * a**2, on_diagonal)
    return log_normal(a @ y, log_determinant, filled.sum())


@lru_cache(maxsize=4)
def _lower(n: int) -> np.ndarray:
    """A matrix with -1 below the diagonal and -1/2 on it."""
    return 0.5 * np.eye(n) - np.tri(n)


def leave_one_out(C: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray] | None:
    """log N(y; 0, C) and the leave-one-out residuals; None if C is not positive definite.

    With a = C^-1 y, the residual of row n predicted from all other rows is a_n / (C^-1)_nn.
    """
    density = log_density(C.copy(), y)
    if density == -np.inf:
        return None
    inverse = np.linalg.inv(C)
    return density, inverse @ y / np.diagonal(inverse)


def expected_log_density(C: np.ndarray, M: np.ndarray) -> tuple[float, np.ndarray]:
    """E log N(y; 0, C) for E[y y'] = M, and C^-1; minus infinity if C is not positive definite."""
    L, failed = dpotrf(C, lower=1)
    if failed:
        return -np.inf, C
    inverse, _ = dpotri(L, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    log_determinant = 2.0 * float(np.log(np.diagonal(L)).sum())
    return -0.5 * (float(np.vdot(inverse, M)) + log_determinant + len(C) * LOG_2PI), inverse


@dataclass
class ExactObjective(Parametrised):
    """The bound as a function of the vector of unbounded parameters."""

    template: ExactModel
    covariance: Covariance
    y: np.ndarray
    draws: np.ndarray

    @classmethod
    def of(cls, template: ExactModel, X: np.ndarray, y: np.ndarray, draws: int) -> "ExactObjective":
        """The bound of a model on rows X, y, averaged over some draws of the weights."""
        covariance = covariance_of(X)
        return cls(template, covariance, covariance.scatter(y), quasi_normal(draws, template.prior.noise_size))

    def value(self, numbers: np.ndarray) -> Terms:
        """The terms of the bound without derivatives, some draws at a time: takes little memory for many draws."""
        made = self.make(numbers)
        noise = np.where(self.covariance.filled, self._diagonal(made.noise), 1.0)
        values = []
        for first in range(0, len(self.draws), DRAWS_AT_ONCE):
            some = made.weighed.w2[first : first + DRAWS_AT_ONCE]
            for C in self.covariance.forward(self.pool, made.numbers, some)[0]:
                C.reshape(-1)[:: len(self.y) + 1] += noise + np.where(self.covariance.filled, jitter(C), 0.0)
                values.append(log_density(C, self.y))
        # empty grid places have variance one and value zero: their log density is removed
        missing = 0.5 * LOG_2PI * float(np.sum(1.0 - self.covariance.filled))
        return Terms.of(float(np.mean(values)) + missing, made)

    def _diagonal(self, noise: float) -> np.ndarray:
        """The noise variance of each row."""
        return self._relative * (noise if self.common_noise else 1.0)

    @cached_property
    def _relative(self) -> np.ndarray:
        """The noise variance of each row over the common one."""
        return self.covariance.scatter(self.template.relative_noise(int(self.covariance.filled.sum())))

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms of the bound, and its derivative."""
        made = self.make(numbers)
        diagonal = self._diagonal(made.noise)
        C, saved = self.covariance.forward(self.pool, made.numbers, made.weighed.w2)
        values = []
        for C_s in C:
            known = np.isfinite(C_s[0, 0])
            found = log_density_and_slope(C_s, diagonal, self.covariance.filled, self.y) if known else None
            if found is None:
                return Terms.of(-np.inf, made), np.zeros_like(numbers)
            values.append(found)
        dnoise = float(np.einsum("snn,n->", C, self._relative)) if self.common_noise else 0.0
        add_slope_of_jitter(C)
        slopes, dw2 = self.covariance.backward(saved, C)
        share = 1.0 / len(values)
        gradient = self.gradient(made, share * slopes, share * dw2, share * dnoise)
        return Terms.of(share * sum(values), made), gradient


@final
@dataclass
class ProjectedObjective(ExactObjective):
    """The bound as a function of the vector of unbounded parameters; `y` is not used."""

    moments: np.ndarray = field(kw_only=True)
    """M over all rows of the covariance, (N, N); zero for empty places of a grid."""

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms of the bound, and its derivative."""
        made = self.make(numbers)
        C, saved = self.covariance.forward(self.pool, made.numbers, made.weighed.w2)
        filled = self.covariance.filled
        A = np.tril(C[0]) + np.tril(C[0], -1).T
        A[np.diag_indices(len(A))] += np.where(filled, self._diagonal(made.noise) + jitter(A), 1.0)
        value, inverse = expected_log_density(A, self.moments)
        if not np.isfinite(value):
            return Terms.of(-np.inf, made), np.zeros_like(numbers)
        G = 0.5 * (inverse @ self.moments @ inverse - inverse)
        # a lower triangle, each entry of which counts for its mirror image too; nothing at empty places
        C[0] = 2.0 * np.tril(G, -1)
        C[0][np.diag_indices(len(A))] = np.where(filled, np.diagonal(G), 0.0)
        dnoise = float((np.where(filled, np.diagonal(G), 0.0) * self._relative).sum()) if self.common_noise else 0.0
        add_slope_of_jitter(C)
        slopes, dw2 = self.covariance.backward(saved, C)
        return Terms.of(value, made), self.gradient(made, slopes, dw2, dnoise)
