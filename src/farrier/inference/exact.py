"""The exact bound and its derivative: for Gaussian noise, with the function integrated out.

    L = E_q(w) log N(y; 0, sum_i w_i^2 K_i + D) - KL(q(w) || p(w)) + log p(u)

D is diagonal: the variance of the noise, or that of each row. The expectation is an average over a few fixed
quasi-random draws of the weights, so L is a smooth deterministic function of all numbers at once. The covariance and
its derivative are covariance.py's, the way from an optimiser's parameters is parameter_vector.py's; here stands the
evidence of a covariance, by LAPACK.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg.blas import dsyr  # pyright: ignore[reportAttributeAccessIssue]
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs  # pyright: ignore[reportAttributeAccessIssue]

from farrier.evaluation.covariance import Covariance, covariance_of
from farrier.inference.linalg import jitter
from farrier.inference.parameter_vector import ExactModel, Parametrised, Terms
from farrier.inference.weight_priors import quasi_normal


def evidence(C: np.ndarray, diagonal: np.ndarray, filled: np.ndarray, y: np.ndarray) -> float | None:
    """log N(y; 0, C + diag), or None if that is not positive definite.

    C, whose rows lie one after the other, is used up: it then holds the derivative by its lower triangle, an entry
    of which stands for two, so that of G = (a a' - C^-1) / 2 the entries beside the diagonal are doubled.
    """
    n = len(y)
    on_diagonal = C.reshape(-1)[:: n + 1]
    # a row that is not real is independent of all others, with variance one
    on_diagonal += np.where(filled, diagonal + jitter(C), 1.0)
    # LAPACK counts along columns: what is upper to it is lower here
    U, failed = dpotrf(C.T, lower=0, overwrite_a=1)
    if failed:
        return None
    log_determinant = 2.0 * np.log(on_diagonal).sum()
    a, _ = dpotrs(U, y, lower=0)
    inverse, failed = dpotri(U, lower=0, overwrite_c=1)
    if failed:
        return None
    np.multiply(inverse.T, _lower(n), out=C)
    dsyr(1.0, a, lower=0, a=C.T, overwrite_a=1)
    on_diagonal -= np.where(filled, 0.5 * a**2, on_diagonal)
    return float(-0.5 * (a @ y + log_determinant + filled.sum() * np.log(2.0 * np.pi)))


@lru_cache(maxsize=4)
def _lower(n: int) -> np.ndarray:
    """Minus one below the diagonal, half of it on it."""
    return 0.5 * np.eye(n) - np.tri(n)


@dataclass
class ExactObjective(Parametrised):
    """The bound as a function of a vector of unbounded numbers."""

    template: ExactModel
    covariance: Covariance
    y: np.ndarray
    draws: np.ndarray

    @classmethod
    def of(cls, template: ExactModel, X: np.ndarray, y: np.ndarray, draws: int) -> "ExactObjective":
        """The bound of a model on rows X, y, averaged over some draws of the weights."""
        covariance = covariance_of(X)
        return cls(template, covariance, covariance.scatter(y), quasi_normal(draws, template.prior.noise_size))

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The bound's terms, and the derivative of the bound."""
        made = self.parameters.make(numbers)
        rows = self.template.rows
        diagonal = np.full(len(self.y), made.noise) if rows is None else self.covariance.scatter(np.asarray(rows))
        C, saved = self.covariance.forward(self.parameters.pool, made.numbers, made.weighed.w2)
        values = []
        for C_s in C:
            found = evidence(C_s, diagonal, self.covariance.filled, self.y) if np.isfinite(C_s[0, 0]) else None
            if found is None:
                return Terms.of(-np.inf, made), np.zeros_like(numbers)
            values.append(found)
        dnoise = 0.0 if rows is not None else float(np.einsum("snn->", C))
        slopes, dw2 = self.covariance.backward(saved, C)
        share = 1.0 / len(values)
        gradient = self.parameters.gradient(made, share * slopes, share * dw2, share * dnoise)
        return Terms.of(float(np.mean(values)), made), gradient
