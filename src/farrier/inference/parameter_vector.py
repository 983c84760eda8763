"""From one vector of unbounded parameters to what a bound is made of, and back: for the exact and the collapsed bound.

    u -> hyperparameters, squared weights for each draw, the variance of the noise, KL, log p(u)

An optimiser sees u = (parameters of q(w), log variance of the noise, hyperparameters of the products). A bound sees
what they make, and gives derivatives by that.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from farrier.evaluation.products import Products
from farrier.inference.hyperparameter_priors import log_prior, reaches, spreads, typical_deviations
from farrier.inference.weight_priors import Weighed, WeightPrior

NOISE_CENTRE, NOISE_SPREAD = np.log(0.05), 3.0
"""Mean and standard deviation of the prior of log noise variance, y having variance one. By judgement."""
LOWEST_NOISE = 1e-6
"""The least variance of the noise, y having variance one. By judgement."""
REACH = 10.0
"""How far the parameters of q(w) and the log noise may move from their start. By judgement."""
TYPICAL_WEIGHT, TYPICAL_NOISE = 2.0, 0.3
"""Typical posterior standard deviations of the parameters of q(w), and of the log noise. By judgement."""


@final
@dataclass(frozen=True, eq=False)
class ExactModel:
    """What is trained where f is integrated out: q(w), the variance of the noise, the hyperparameters."""

    prior: WeightPrior
    noise: float
    pool: Products
    centre: np.ndarray
    """Where the priors of the hyperparameters are centred, unbounded."""
    rows: np.ndarray | None = None
    """The variance of the noise of each row, where it is known: then `noise` has no part in it."""


class Terms(NamedTuple):
    """The bound and what it is made of."""

    total: float
    evidence: float
    kl: float
    log_prior: float

    @classmethod
    def of(cls, evidence: float, made: "Made") -> "Terms":
        """The bound with this evidence."""
        return cls(evidence - made.weighed.kl + made.log_prior, evidence, made.weighed.kl, made.log_prior)


class Made(NamedTuple):
    """What a vector of parameters makes."""

    numbers: np.ndarray
    weighed: Weighed
    noise: float
    log_prior: float
    by_pool: np.ndarray
    """The derivative of log p by the unbounded hyperparameters."""
    stretch: np.ndarray
    """The derivative of the hyperparameters by their unbounded ones."""


@final
@dataclass
class ParameterVector:
    """A model as a function of its unbounded parameters."""

    template: ExactModel
    draws: np.ndarray

    @property
    def pool(self) -> Products:
        """The kernels."""
        return self.template.pool

    @cached_property
    def start(self) -> np.ndarray:
        """The parameters of the template."""
        return np.concatenate([self.template.prior.vector(), [np.log(self.template.noise)], self.pool.unbounded])

    def model(self, u: np.ndarray) -> ExactModel:
        """The model with these parameters."""
        return ExactModel(
            self.template.prior.with_vector(u[: self._noise]),
            float(np.exp(u[self._noise])),
            self.pool.with_unbounded(u[self._pool]),
            self.template.centre,
            self.template.rows,
        )

    def make(self, u: np.ndarray) -> Made:
        """What a bound is made of."""
        noise, log_noise = float(np.exp(u[self._noise])), u[self._noise]
        pool = u[self._pool]
        log_p, by_pool = log_prior(pool, self.template.centre, self._spread)
        log_p -= 0.5 * ((log_noise - NOISE_CENTRE) / NOISE_SPREAD) ** 2
        stretch = np.where(self.pool.positive, np.exp(pool), 1.0)
        numbers = np.where(self.pool.positive, stretch, pool)
        weighed = self.template.prior.weigh(u[: self._noise], self.draws)
        return Made(numbers, weighed, noise, log_p, by_pool, stretch)

    def gradient(self, made: Made, slopes: np.ndarray, dw2: np.ndarray, dnoise: float) -> np.ndarray:
        """The derivative of the bound by u, from that of the evidence by what `make` gave."""
        by_noise = dnoise * made.noise - (np.log(made.noise) - NOISE_CENTRE) / NOISE_SPREAD**2
        by_pool = slopes * made.stretch + made.by_pool
        return np.concatenate([made.weighed.pull(dw2), [by_noise], by_pool])

    def limits(self) -> np.ndarray:
        """The least and the largest value of each parameter, (P, 2).

        Hyperparameters may move so far from where they first stood, however often they are fitted.
        """
        start = self.start
        about, by = start.copy(), np.full(len(start), REACH)
        about[self._pool], by[self._pool] = self.template.centre, reaches(self.pool)
        low, high = about - by, about + by
        low[self._noise] = max(low[self._noise], np.log(LOWEST_NOISE))
        return np.stack([np.minimum(low, start), np.maximum(high, start)], axis=1)

    def typical(self) -> np.ndarray:
        """The typical posterior standard deviation of each parameter."""
        weights = np.full(self._noise, TYPICAL_WEIGHT)
        return np.concatenate([weights, [TYPICAL_NOISE], typical_deviations(self.pool)])

    @cached_property
    def _noise(self) -> int:
        return len(self.template.prior.vector())

    @cached_property
    def _pool(self) -> slice:
        return slice(self._noise + 1, None)

    @cached_property
    def _spread(self) -> np.ndarray:
        return spreads(self.pool)


class Parametrised:
    """What every bound of a model shares: the way between a vector of parameters and the model."""

    template: ExactModel
    draws: np.ndarray

    @cached_property
    def parameters(self) -> ParameterVector:
        """From a vector to the model."""
        return ParameterVector(self.template, self.draws)

    def start(self) -> np.ndarray:
        """The parameters of the template."""
        return self.parameters.start

    def limits(self) -> np.ndarray:
        """The least and the largest value of each parameter, (P, 2)."""
        return self.parameters.limits()

    def typical(self) -> np.ndarray:
        """The typical posterior standard deviation of each parameter."""
        return self.parameters.typical()

    def model(self, u: np.ndarray) -> ExactModel:
        """The model with these parameters."""
        return self.parameters.model(u)
