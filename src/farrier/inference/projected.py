"""The projection of what predicts onto another model: the exact bound with E[y y'] in place of y y'.

    L = E_p log N(y; 0, sum_i w_i^2 K_i + D) + log p(u)
      = -( tr(C^-1 M) + log|C| + N log 2 pi ) / 2 + log p(u),     M = E_p[y y']

p is the predictive distribution of a replicate of y at rows and at the steps of a forecast. At its maximum the model
has the smallest Kullback-Leibler divergence from p, up to the priors.
"""

from dataclasses import dataclass, field
from typing import final

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri  # pyright: ignore[reportAttributeAccessIssue]

from farrier.inference.exact import ExactObjective
from farrier.inference.gaussian import LOG_2PI
from farrier.inference.linalg import jitter
from farrier.inference.parameter_vector import Terms


def expected_log_density(C: np.ndarray, M: np.ndarray) -> tuple[float, np.ndarray]:
    """E log N(y; 0, C) for E[y y'] = M, and C^-1; minus infinity if C is not positive definite."""
    L, failed = dpotrf(C, lower=1)
    if failed:
        return -np.inf, C
    inverse, _ = dpotri(L, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    log_determinant = 2.0 * float(np.log(np.diagonal(L)).sum())
    return -0.5 * (float(np.vdot(inverse, M)) + log_determinant + len(C) * LOG_2PI), inverse


@final
@dataclass
class ProjectedObjective(ExactObjective):
    """The bound as a function of the vector of unbounded parameters; `y` is not used."""

    moments: np.ndarray = field(kw_only=True)
    """M over all rows of the covariance, (N, N); zero for empty places of a grid."""

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms of the bound, and its derivative."""
        made = self.parameters.make(numbers)
        C, saved = self.covariance.forward(self.parameters.pool, made.numbers, made.weighed.w2)
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
        dnoise = 0.0
        if self.template.rows is None:
            dnoise = float((np.where(filled, np.diagonal(G), 0.0) * self._factors).sum())
        slopes, dw2 = self.covariance.backward(saved, C)
        return Terms.of(value, made), self.parameters.gradient(made, slopes, dw2, dnoise)
