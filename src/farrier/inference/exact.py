"""The evidence lower bound with exact Gaussian inference: the functions are integrated out.

    L = E_q(w) log N(y; 0, sum_i w_i^2 K_i + D) - KL(q(w) || p(w)) + log p(u)

D is diagonal: one noise variance, or one for each row. u are the unbounded hyperparameters. The expectation is an
average over fixed quasi-random draws of the weights, so L is a smooth deterministic function of all parameters.
evaluation/covariance.py has the covariance, parameter_vector.py the vector of parameters, gaussian.py the log density.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from farrier.evaluation.covariance import Covariance, covariance_of
from farrier.inference.gaussian import LOG_2PI, log_density, log_density_and_slope
from farrier.inference.linalg import jitter
from farrier.inference.parameter_vector import ExactModel, Parametrised, Terms
from farrier.inference.weight_priors import quasi_normal

DRAWS_AT_ONCE = 8
"""Draws whose covariances are held at once where there are many: 64 MB for 1,000 rows. By judgement."""


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
        made = self.parameters.make(numbers)
        noise = np.where(self.covariance.filled, self._diagonal(made.noise), 1.0)
        values = []
        for first in range(0, len(self.draws), DRAWS_AT_ONCE):
            some = made.weighed.w2[first : first + DRAWS_AT_ONCE]
            for C in self.covariance.forward(self.parameters.pool, made.numbers, some)[0]:
                C.reshape(-1)[:: len(self.y) + 1] += noise + np.where(self.covariance.filled, jitter(C), 0.0)
                values.append(log_density(C, self.y))
        # empty grid places have variance one and value zero: their log density is removed
        missing = 0.5 * LOG_2PI * float(np.sum(1.0 - self.covariance.filled))
        return Terms.of(float(np.mean(values)) + missing, made)

    def _diagonal(self, noise: float) -> np.ndarray:
        """The noise variance of each row."""
        rows = self.template.rows
        return noise * self._factors if rows is None else self.covariance.scatter(np.asarray(rows))

    @cached_property
    def _factors(self) -> np.ndarray:
        """The noise variance of each row over the common one."""
        factors = self.template.factors
        return np.ones(len(self.y)) if factors is None else self.covariance.scatter(factors)

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms of the bound, and its derivative."""
        made = self.parameters.make(numbers)
        diagonal = self._diagonal(made.noise)
        C, saved = self.covariance.forward(self.parameters.pool, made.numbers, made.weighed.w2)
        values = []
        for C_s in C:
            known = np.isfinite(C_s[0, 0])
            found = log_density_and_slope(C_s, diagonal, self.covariance.filled, self.y) if known else None
            if found is None:
                return Terms.of(-np.inf, made), np.zeros_like(numbers)
            values.append(found)
        dnoise = 0.0 if self.template.rows is not None else float(np.einsum("snn,n->", C, self._factors))
        slopes, dw2 = self.covariance.backward(saved, C)
        share = 1.0 / len(values)
        gradient = self.parameters.gradient(made, share * slopes, share * dw2, share * dnoise)
        return Terms.of(share * sum(values), made), gradient
