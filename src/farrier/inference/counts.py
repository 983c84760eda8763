"""Likelihoods of counts: the Poisson, and the negative binomial for counts that vary more.

    y | f ~ NegativeBinomial(mean = e^(f + offset), size r),     Var y = mean + mean^2 / r

It is a Poisson whose rate is Gamma distributed around e^(f + offset); r -> infinity is the Poisson. The stochastic tier
does not take it, so that its formulas are in numpy.
"""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betainc, expit, gammaln, pdtr

from farrier.inference.likelihoods import LogConcave
from farrier.inference.linalg import NUMPY, World

SIZES = (1e-2, 1e5)
"""Smallest and largest size r; by judgement: beyond them counts are hardly ever not zero, or are Poisson."""
LARGEST = 50.0
"""Largest logarithm of a rate: e^50 is more than anybody counts. By judgement."""
RATES, FARTHEST = 64, 4.5
"""Rates over which a quantile averages, and their distance from the middle at most, in standard deviations. By
judgement."""


@final
@dataclass(frozen=True, eq=False)
class Poisson(LogConcave):
    """y in {0, 1, 2, ...} with rate e^(f + offset)."""

    offset: float = 0.0
    """Added to f: the log of a typical count."""

    def log_likelihood(self, y: Any, f: Any, world: World = NUMPY) -> Any:
        """y f - e^f - log y!, here and below with the offset in f."""
        return self.expected_log(y, f, 0.0, world)

    def slope(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return y - np.exp(np.minimum(f + self.offset, LARGEST))

    def expected_log(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """y mean - E e^f - log y!"""
        mean = mean + self.offset
        return y * mean - world.xp.exp(mean + 0.5 * variance) - world.special.gammaln(y + 1.0)

    def slopes(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rate = np.exp(mean + self.offset + 0.5 * variance)
        return y - rate, -0.5 * rate

    def predict(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rate is log-normal: E y = E e^f, Var y = E e^f + Var e^f."""
        rate = np.exp(mean + self.offset + 0.5 * variance)
        return rate, rate + rate**2 * np.expm1(variance)

    def start(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and variances of the first sites: those of log y."""
        return np.log(y + 0.5) - self.offset, 1.0 / (y + 0.5)


@final
@dataclass(frozen=True, eq=False)
class NegativeBinomial(LogConcave):
    """y in {0, 1, 2, ...} with mean e^(f + offset) and variance mean + mean^2 / size."""

    offset: float = 0.0
    """Added to f: the log of a typical count."""
    size: float = 1.0

    def log_likelihood(self, y: Any, f: Any, world: World = NUMPY) -> Any:
        """y g - (y + r) log(r + e^g) plus what does not depend on f."""
        r, g = self.size, f + self.offset
        constant = gammaln(y + r) - gammaln(r) - gammaln(y + 1.0) + r * np.log(r)
        return constant + y * g - (y + r) * np.logaddexp(np.log(r), g)

    def slope(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return y - (y + self.size) * expit(f + self.offset - np.log(self.size))

    def predict(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rate is log-normal: Var y = E rate + E rate^2 / r + Var rate."""
        rate = np.exp(np.minimum(mean + self.offset + 0.5 * variance, LARGEST))
        square = np.exp(np.minimum(2.0 * (mean + self.offset) + 2.0 * variance, 2.0 * LARGEST))
        return rate, rate + square / self.size + np.maximum(square - rate**2, 0.0)

    def start(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and variances of the first sites: those of log y."""
        return np.log(y + 0.5) - self.offset, 1.0 / (y + 0.5) + 1.0 / self.size

    def with_best_size(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> "NegativeBinomial":
        """The likelihood with the size of highest expected log likelihood for q(f) with these means and variances."""

        def loss(log_size: float) -> float:
            made = replace(self, size=float(np.exp(log_size)))
            return -float(np.sum(made.expected_log(y, mean, variance)))

        low, high = (float(np.log(end)) for end in SIZES)
        best: Any = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 0.02})
        return replace(self, size=float(np.exp(best.x)))


CountLikelihood = Poisson | NegativeBinomial
"""The likelihoods of counts. Components add up on the log scale."""


def count_quantiles(
    likelihood: CountLikelihood, mean: np.ndarray, variance: np.ndarray, levels: np.ndarray
) -> np.ndarray:
    """The smallest counts that are not exceeded with these probabilities, for f ~ N(mean, variance), (levels, N)."""
    nodes = np.linspace(-FARTHEST, FARTHEST, RATES)[:, None]
    share = np.exp(-0.5 * nodes**2)[:, None]
    share = share / share.sum()
    f = mean[None] + likelihood.offset + np.sqrt(np.maximum(variance, 0.0))[None] * nodes
    rate = np.exp(np.minimum(f, LARGEST))[:, None, :]
    below, above = np.full((len(levels), len(mean)), -1.0), np.zeros((len(levels), len(mean)))

    def reached(count: np.ndarray) -> np.ndarray:
        return np.sum(share * _cumulative(likelihood, count[None], rate), axis=0) >= levels[:, None]

    while not (there := reached(above)).all():
        below, above = np.where(there, below, above), np.where(there, above, 2.0 * above + 1.0)
    while np.any(above - below > 1.0):
        middle = np.floor(0.5 * (below + above))
        there = reached(np.maximum(middle, 0.0)) & (middle >= 0.0)
        below, above = np.where(there, below, middle), np.where(there, middle, above)
    return above


def _cumulative(likelihood: CountLikelihood, count: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """P(y <= count) given the expected count."""
    if isinstance(likelihood, NegativeBinomial):
        return betainc(likelihood.size, count + 1.0, likelihood.size / (likelihood.size + rate))
    return pdtr(count, rate)
