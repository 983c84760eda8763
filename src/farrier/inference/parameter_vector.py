"""The vector of unbounded parameters that an optimiser works on, for the exact and the collapsed bound.

    u = (parameters of q(w), log noise variance, unbounded hyperparameters of the products)

`make` maps u to the quantities in a bound: hyperparameters, squared weights for each draw, noise variance, KL
divergence, log p(u). `gradient` is the backward pass. Hyperparameters have the priors

    log p(u) = -sum ((u - u_0) / sd)^2 / 2 + constant

on their unbounded scale: logarithms of lengthscales and periods, locations as they are. u_0 is the starting value of
each candidate, or a learned mean (search/beliefs.py). The standard deviations are in the file of each family
(kernels/parameters.ParameterPrior), or learned. An infinite one stands for a uniform prior.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from farrier.evaluation.products import Products
from farrier.inference.noise import ALIKE, Noise
from farrier.inference.weight_priors import Weighed, WeightPrior
from farrier.kernels.parameters import ParameterPrior

NOISE_CENTRE, NOISE_SPREAD = float(np.log(0.05)), 3.0
"""Mean and standard deviation of the prior of the log noise variance, for y with variance one. By judgement."""
LOWEST_NOISE = 1e-6
"""Lowest noise variance, for y with variance one. By judgement."""
REACH = 10.0
"""Largest distance of the parameters of q(w) and of the log noise variance from their start. By judgement."""
WIDEST = 4.0
"""How far a hyperparameter may move from the centre of a prior that was given, in its standard deviations."""
TYPICAL_WEIGHT, TYPICAL_NOISE = 2.0, 0.3
"""Typical scales of the parameters of q(w) and of the log noise variance, by which lbfgs.py divides. By judgement."""


def spreads(pool: Products) -> np.ndarray:
    """The prior standard deviation of each unbounded hyperparameter."""
    return _each(pool, lambda prior: prior.spread)


def reaches(pool: Products) -> np.ndarray:
    """The largest distance of each unbounded hyperparameter from its starting value."""
    return _each(pool, lambda prior: prior.reach)


def typical_deviations(pool: Products) -> np.ndarray:
    """The typical posterior standard deviation of each unbounded hyperparameter."""
    of_value = np.array([number.mark.prior.typical_of_value for number in pool.layout], bool)
    return _each(pool, lambda prior: prior.typical) * np.where(of_value, pool.numbers, 1.0)


def log_prior(u: np.ndarray, centre: np.ndarray, precision: np.ndarray) -> tuple[float, np.ndarray]:
    """log p(u) up to an additive constant, and its derivative."""
    away = u - centre
    slope = -away * precision
    return 0.5 * float(slope @ away), slope


def precisions(spread: np.ndarray) -> np.ndarray:
    """The inverse of each prior variance; 0 for a number that is not fitted."""
    return np.divide(1.0, spread**2, out=np.zeros_like(spread), where=spread > 0)


def _each(pool: Products, of: Callable[[ParameterPrior], float]) -> np.ndarray:
    return np.array([of(number.mark.prior) for number in pool.layout], float)


@final
@dataclass(frozen=True, eq=False)
class ExactModel:
    """The parameters of a model whose latent function is integrated out: q(w), noise variance, hyperparameters."""

    prior: WeightPrior
    noise: float
    pool: Products
    centre: np.ndarray
    """The centres of the priors of the hyperparameters, on the unbounded scale."""
    row_noise: Noise = ALIKE
    """The noise of the rows, of which `noise` is the common variance: it is not used if theirs are known."""
    spread: np.ndarray | None = None
    """Prior standard deviations of the unbounded hyperparameters; None takes those of the families."""
    noise_prior: tuple[float, float] = (NOISE_CENTRE, NOISE_SPREAD)
    """Mean and standard deviation of the prior of the log noise variance."""
    noise_scale: float | None = None
    """Prior scale of the noise's standard deviation, which is then half-Cauchy instead; None takes `noise_prior`."""

    def relative_noise(self, count: int) -> np.ndarray:
        """The noise variance of each row over the common one; where it is known, over one."""
        return self.row_noise.relative(count)


class Terms(NamedTuple):
    """The bound (`total`) and its terms.

    `evidence` is the log marginal likelihood averaged over the draws of the weights, `kl` the KL divergence of the
    weights, `log_prior` the log prior density of the hyperparameters.
    """

    total: float
    evidence: float
    kl: float
    log_prior: float

    @classmethod
    def of(cls, evidence: float, made: "Made") -> "Terms":
        """The bound with a given expected log marginal likelihood."""
        return cls(evidence - made.weighed.kl + made.log_prior, evidence, made.weighed.kl, made.log_prior)


class Made(NamedTuple):
    """The quantities in a bound, computed from the vector of parameters."""

    numbers: np.ndarray
    weighed: Weighed
    noise: float
    log_prior: float
    by_pool: np.ndarray
    """The derivative of log p(u) with respect to the unbounded hyperparameters."""
    stretch: np.ndarray
    """The derivative of each hyperparameter with respect to its unbounded value."""


class Parametrised:
    """A model as a function of the vector of its unbounded parameters: what all bounds share."""

    template: ExactModel
    draws: np.ndarray
    """Standard normal noise for draws of the weights, (S, E)."""

    @property
    def pool(self) -> Products:
        """The kernels."""
        return self.template.pool

    def start(self) -> np.ndarray:
        """The parameters of the template."""
        return np.concatenate([self.template.prior.vector(), [np.log(self.template.noise)], self.pool.unbounded])

    def model(self, u: np.ndarray) -> ExactModel:
        """The model with these parameters."""
        return replace(
            self.template,
            prior=self.template.prior.with_vector(u[: self._noise]),
            noise=float(np.exp(u[self._noise])),
            pool=self.pool.with_unbounded(u[self._pool]),
        )

    def make(self, u: np.ndarray) -> Made:
        """The quantities in a bound."""
        noise, log_noise = float(np.exp(u[self._noise])), u[self._noise]
        pool = u[self._pool]
        log_p, by_pool = log_prior(pool, self.template.centre, self._precisions)
        log_p += self._log_noise_prior(log_noise)[0]
        stretch = np.where(self.pool.positive, np.exp(pool), 1.0)
        numbers = np.where(self.pool.positive, stretch, pool)
        weighed = self.template.prior.weigh(u[: self._noise], self.draws)
        return Made(numbers, weighed, noise, log_p, by_pool, stretch)

    def gradient(self, made: Made, slopes: np.ndarray, dw2: np.ndarray, dnoise: float) -> np.ndarray:
        """The derivative of the bound with respect to u, from the derivatives of the log marginal likelihood with
        respect to the quantities of `make`.
        """
        by_noise = dnoise * made.noise + self._log_noise_prior(float(np.log(made.noise)))[1]
        by_pool = slopes * made.stretch + made.by_pool
        return np.concatenate([made.weighed.pull(dw2), [by_noise], by_pool])

    def _log_noise_prior(self, log_variance: float) -> tuple[float, float]:
        """The log prior density of the log noise variance, up to a constant, and its derivative."""
        if self.template.noise_scale is None:
            centre, spread = self.template.noise_prior
            away = (log_variance - centre) / spread
            return -0.5 * away**2, -away / spread
        # on the logarithm of the standard deviation a half-Cauchy is 1 / cosh
        away = 0.5 * log_variance - self._log_noise_scale
        return -float(np.logaddexp(away, -away)), -0.5 * float(np.tanh(away))

    def limits(self) -> np.ndarray:
        """The lowest and the highest value of each parameter, (P, 2).

        The limits of hyperparameters are around their first starting values, also if they are fitted several times.
        """
        start = self.start()
        about, by = start.copy(), np.full(len(start), REACH)
        own = self.template.spread
        about[self._pool] = self.template.centre
        by[self._pool] = reaches(self.pool) if own is None else np.minimum(reaches(self.pool), WIDEST * own)
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
    def _precisions(self) -> np.ndarray:
        return precisions(self.prior_deviations)

    @cached_property
    def _log_noise_scale(self) -> float:
        assert self.template.noise_scale is not None
        return float(np.log(self.template.noise_scale))

    @cached_property
    def prior_deviations(self) -> np.ndarray:
        """Prior standard deviations of the unbounded hyperparameters; 0 for those that are not fitted."""
        return spreads(self.pool) if self.template.spread is None else self.template.spread

    @property
    def common_noise(self) -> bool:
        """Whether the noise variance is a parameter; otherwise that of each row is known."""
        return not self.template.row_noise.known


@final
@dataclass
class ParameterVector(Parametrised):
    """A model and its vector of parameters, without a bound."""

    template: ExactModel
    draws: np.ndarray
