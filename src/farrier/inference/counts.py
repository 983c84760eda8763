"""Likelihoods of counts: the Poisson, and the negative binomial for counts that vary more. hurdle.py has a third one,
for counts that are often zero.

    y | f ~ NegativeBinomial(mean = e^(f + offset), size r),     Var y = mean + mean^2 / r

It is a Poisson whose rate is Gamma distributed around e^(f + offset); r -> infinity is the Poisson. The stochastic tier
does not take it, so that its formulas are in numpy.
"""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betainc, expit, gammaln, pdtr

from farrier.inference.hurdle import Hurdle
from farrier.inference.likelihoods import LogConcave
from farrier.inference.linalg import NUMPY, World

SIZES = (1e-2, 1e5)
"""Smallest and largest size r; by judgement: beyond them counts are hardly ever not zero, or are Poisson."""
DISPERSION = 0.2
"""The rate of the prior of 1 / size: it is 5 on average. [by judgement]"""
LARGEST = 50.0
"""Largest logarithm of a rate: e^50 is more than anybody counts. By judgement."""
RATES, FARTHEST = 64, 4.5
"""Rates over which a quantile averages in all, and their distance from the middle of a draw at most, in standard
deviations. By judgement."""
FEWEST_RATES = 8
"""Rates of each draw at least. [by judgement]"""
MIDDLE = 0.005, 0.995
"""The ends of the middle 99 % of the rates, over which a mean is taken: of rare counts a tenth of the mean may come
from the outer 5 %. [by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class Poisson(LogConcave):
    """y in {0, 1, 2, ...} with rate e^(f + offset)."""

    offset: float = 0.0
    """Added to f: the log of a typical count."""

    @property
    def level(self) -> float:
        """The log of the count where f is zero."""
        return float(self.offset)

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

    def cumulative(self, count: np.ndarray, f: np.ndarray) -> np.ndarray:
        """P(y <= count | f)."""
        return np.where(count < 0.0, 0.0, pdtr(np.maximum(count, 0.0), _rate(self, f)))


@final
@dataclass(frozen=True, eq=False)
class NegativeBinomial(LogConcave):
    """y in {0, 1, 2, ...} with mean e^(f + offset) and variance mean + mean^2 / size."""

    offset: float = 0.0
    """Added to f: the log of a typical count."""
    size: float = 1.0

    @property
    def level(self) -> float:
        """The log of the count where f is zero."""
        return float(self.offset)

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

    def cumulative(self, count: np.ndarray, f: np.ndarray) -> np.ndarray:
        """P(y <= count | f)."""
        below = betainc(self.size, np.maximum(count, 0.0) + 1.0, self.size / (self.size + _rate(self, f)))
        return np.where(count < 0.0, 0.0, below)

    def with_best_size(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> "NegativeBinomial":
        """The likelihood with the most likely size for q(f) with these means and variances.

        1 / size has an exponential prior: where it is huge, zeros say nothing of how large the mean may be.
        """

        def loss(log_size: float) -> float:
            made = replace(self, size=float(np.exp(log_size)))
            return DISPERSION / made.size - float(np.sum(made.expected_log(y, mean, variance)))

        low, high = (float(np.log(end)) for end in SIZES)
        best: Any = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 0.02})
        return replace(self, size=float(np.exp(best.x)))


CountLikelihood = Poisson | NegativeBinomial | Hurdle
"""The likelihoods of counts. Components add up on the log scale."""


def count_quantiles(
    likelihood: CountLikelihood, mean: np.ndarray, variance: np.ndarray, levels: np.ndarray
) -> np.ndarray:
    """The smallest counts that are not exceeded with these probabilities, (levels, N), for an equal mixture of draws
    f ~ N(mean, variance), (S, N) each."""
    f, share = _nodes(mean, variance)
    f, share = f[:, None], share[:, None, None]
    below, above = np.full((len(levels), f.shape[-1]), -1.0), np.zeros((len(levels), f.shape[-1]))

    def reached(count: np.ndarray) -> np.ndarray:
        return np.sum(share * likelihood.cumulative(count[None], f), axis=0) >= levels[:, None]

    while not (there := reached(above)).all():
        below, above = np.where(there, below, above), np.where(there, above, 2.0 * above + 1.0)
    while np.any(above - below > 1.0):
        middle = np.floor(0.5 * (below + above))
        there = reached(middle)
        below, above = np.where(there, below, middle), np.where(there, middle, above)
    return above


def count_cumulative(likelihood: CountLikelihood, mean: np.ndarray, variance: np.ndarray, y: np.ndarray) -> np.ndarray:
    """P(Y <= y) for each row, (N,), for an equal mixture of draws f ~ N(mean, variance), (S, N) each."""
    f, share = _nodes(mean, variance)
    return np.sum(share[:, None] * likelihood.cumulative(np.floor(y)[None], f), axis=0)


def count_moments(likelihood: CountLikelihood, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of counts over the middle 99 % of the mixture of f, (N,) each.

    The mean of an exponential of a wide normal would be dominated by rates that hardly ever occur.
    """
    f, share = _nodes(mean, variance)
    order = np.argsort(f, axis=0)
    f, share = np.take_along_axis(f, order, axis=0), share[order]
    above = np.cumsum(share, axis=0)
    kept = np.clip(np.minimum(above, MIDDLE[1]) - np.maximum(above - share, MIDDLE[0]), 0.0, None)
    kept = kept / kept.sum(axis=0)
    each = [likelihood.predict(one, np.zeros(len(one))) for one in f]
    means, variances = (np.stack(one) for one in zip(*each, strict=True))
    middle = np.sum(kept * means, axis=0)
    return middle, np.sum(kept * (variances + (means - middle) ** 2), axis=0)


def _nodes(mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values of an equal mixture of normals f, (K, N), and their shares, (K,)."""
    draws = len(mean)
    nodes = np.linspace(-FARTHEST, FARTHEST, max(RATES // draws, FEWEST_RATES))
    f = mean[:, None] + np.sqrt(np.maximum(variance, 0.0))[:, None] * nodes[:, None]
    share = np.tile(np.exp(-0.5 * nodes**2), draws)
    return f.reshape(-1, mean.shape[1]), share / share.sum()


def _rate(likelihood: Poisson | NegativeBinomial, f: np.ndarray) -> np.ndarray:
    """The expected count given f."""
    return np.exp(np.minimum(f + likelihood.offset, LARGEST))
