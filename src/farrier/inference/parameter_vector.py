"""From one vector of unbounded numbers to what a bound is made of, and back: shared by the exact and collapsed tiers.

    u -> the pool's numbers, squared weights for each draw, the variance of the noise, KL, log p(u)

An optimiser sees u; a tier sees what it is made of, and gives derivatives by that.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import equinox as eqx
import numpy as np

from farrier.evaluation.correlations import Slopes
from farrier.evaluation.products import HostPool
from farrier.evaluation.slots import NUMBERS, SlotPool
from farrier.inference.beliefs import determined, log_prior, raveled, reach, spreads
from farrier.inference.weight_draws import Weighed, weigh
from farrier.inference.weight_priors import WeightPrior
from farrier.kernels.parameters import POSITIVE, Module, fixed, frozen, mark, packed, positive, rebuilt

NOISE_CENTRE, NOISE_SPREAD = np.log(0.05), 3.0
"""The logarithm of the variance of the noise, y having variance one: normal about the first with this sd."""
LOWEST_NOISE = 1e-6
REACH = 10.0
"""How far the numbers of q(w) and the noise may move from their start, as logarithms."""
WEIGHT_SIZE, NOISE_SIZE = 2.0, 0.3
"""How far they may move, roughly, before the rows object."""


@final
class ExactModel(Module):
    """What is trained where f is integrated out: q(w), the variance of the noise, the kernels."""

    prior: WeightPrior
    noise: Any = positive()
    pool: SlotPool = eqx.field(default=None)
    centre: SlotPool = frozen(default=None)
    """Where the beliefs about the kernels' numbers are centred."""
    rows: Any = fixed(default=None)
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
    """What a vector of numbers makes."""

    numbers: dict[str, np.ndarray]
    weighed: Weighed
    noise: float
    log_prior: float
    by_pool: np.ndarray
    """The derivative of log p by the unbounded numbers of the pool."""
    stretch: np.ndarray
    """The derivative of the pool's numbers by their unbounded ones."""


@dataclass
class Chain:
    """A model as a function of its unbounded numbers: those of q(w), that of the noise, those of the pool."""

    template: ExactModel
    draws: np.ndarray

    @cached_property
    def pool(self) -> HostPool:
        """The kernels."""
        return HostPool.of(self.template.pool)

    @cached_property
    def start(self) -> np.ndarray:
        """The numbers of the template."""
        return packed(self.template)

    def model(self, u: np.ndarray) -> ExactModel:
        """The model with these numbers."""
        return rebuilt(u, self.template)

    def make(self, u: np.ndarray) -> Made:
        """What a bound is made of."""
        noise, log_noise = float(np.exp(u[self._noise])), u[self._noise]
        pool = u[self._pool]
        believed, by_pool = log_prior(pool, self._centre, self._spread)
        believed -= 0.5 * ((log_noise - NOISE_CENTRE) / NOISE_SPREAD) ** 2
        stretch = np.where(self._logarithms, np.exp(pool), 1.0)
        values = np.where(self._logarithms, stretch, pool)
        numbers = {name: values[at].reshape(shape) for name, at, shape in self._fields}
        weighed = weigh(self.template.prior, u[: self._noise], self.draws)
        return Made(numbers, weighed, noise, believed, by_pool, stretch)

    def gradient(self, made: Made, slopes: Slopes, dw2: np.ndarray, dnoise: float) -> np.ndarray:
        """The derivative of the bound by u, from that of the evidence by what `make` gave."""
        by_noise = dnoise * made.noise - (np.log(made.noise) - NOISE_CENTRE) / NOISE_SPREAD**2
        by_pool = raveled(slopes) * made.stretch + made.by_pool
        return np.concatenate([made.weighed.pull(dw2), [by_noise], by_pool])

    def limits(self) -> np.ndarray:
        """The least and the largest value of each number, (P, 2).

        Kernels may move so far from where they first stood, however often they are fitted; empty slots stay.
        """
        start = self.start
        about, by = start.copy(), np.full(len(start), REACH)
        about[self._pool], by[self._pool] = self._centre, raveled(reach(self.template.pool))
        low, high = about - by, about + by
        low[self._noise] = max(low[self._noise], np.log(LOWEST_NOISE))
        return np.stack([np.minimum(low, start), np.maximum(high, start)], axis=1)

    def sizes(self) -> np.ndarray:
        """How far each number may move, roughly, before the rows object."""
        weights = np.full(self._noise, WEIGHT_SIZE)
        return np.concatenate([weights, [NOISE_SIZE], raveled(determined(self.template.pool))])

    @cached_property
    def _noise(self) -> int:
        return len(packed(self.template.prior))

    @cached_property
    def _pool(self) -> slice:
        return slice(self._noise + 1, None)

    @cached_property
    def _centre(self) -> np.ndarray:
        return packed(self.template.centre)

    @cached_property
    def _spread(self) -> np.ndarray:
        return raveled(spreads(self.template.pool))

    @cached_property
    def _fields(self) -> list[tuple[str, slice, tuple[int, ...]]]:
        """Where each field of the pool stands among its numbers, and its shape."""
        found, first = [], 0
        for name in NUMBERS:
            shape = np.shape(getattr(self.template.pool, name))
            found.append((name, slice(first, first + math.prod(shape)), shape))
            first += math.prod(shape)
        return found

    @cached_property
    def _logarithms(self) -> np.ndarray:
        """Which numbers of the pool are trained as logarithms."""
        pool = self.template.pool
        return raveled({n: np.full(np.shape(getattr(pool, n)), mark(pool, n) is POSITIVE) for n in NUMBERS})


class Chained:
    """What every bound of a model shares: the way between its numbers and the model."""

    template: ExactModel
    draws: np.ndarray

    @cached_property
    def chain(self) -> Chain:
        """From numbers to the model."""
        return Chain(self.template, self.draws)

    def start(self) -> np.ndarray:
        """The numbers of the template."""
        return self.chain.start

    def limits(self) -> np.ndarray:
        """The least and the largest value of each number, (P, 2)."""
        return self.chain.limits()

    def sizes(self) -> np.ndarray:
        """How far each number may move, roughly, before the rows object."""
        return self.chain.sizes()

    def model(self, numbers: np.ndarray) -> ExactModel:
        """The model with these numbers."""
        return self.chain.model(numbers)
