"""Counts that are often zero: how many rows are above zero, and apart from that by how much.

    P(y > 0 | f) = 1 - exp(-e^(f + offset)),     y - 1 | y > 0 ~ NegativeBinomial(mean = excess, size r)

e^(f + offset) is the rate of a Poisson process of occasions, such as orders of a spare part; the counts of occasions do
not depend on f. log P(y > 0 | f) and log P(y = 0 | f) are concave in f. Its formulas are in numpy.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betainc, expm1, gammaln

from farrier.inference.likelihoods import NODES, NORMAL_REACH, LogConcave, floored
from farrier.inference.linalg import NUMPY, World

SIZES = (1e-2, 1e4)
"""Smallest and largest size r; by judgement: beyond them counts are hardly ever above one, or are Poisson."""
LARGEST = 6.0
"""Largest logarithm of the rate of occasions: e^6 of them are never none. [nats; by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class Hurdle(LogConcave):
    """y in {0, 1, 2, ...}, above zero with probability 1 - exp(-e^(f + offset)), and then 1 + a negative binomial."""

    offset: float = 0.0
    """Added to f: the log of a typical rate of occasions."""
    excess: float = 1.0
    """The mean of y - 1 where y is above zero."""
    size: float = 1.0

    @classmethod
    def of(cls, y: np.ndarray) -> "Hurdle":
        """The likelihood with the best excess and size for the counts, and a constant rate."""
        above = y[y > 0.0] - 1.0
        # half a row of each kind: a rate of zero or without end is never certain
        share = (len(above) + 0.5) / (len(y) + 1.0)
        offset, excess = float(np.log(-np.log1p(-share))), float((above.sum() + 0.5) / (len(above) + 0.5))

        def loss(log_size: float) -> float:
            return -float(np.sum(_log_negative_binomial(above, excess, np.exp(log_size))))

        low, high = (float(np.log(end)) for end in SIZES)
        best: Any = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 0.02})
        return cls(offset, excess, float(np.exp(best.x)))

    @property
    def typical(self) -> float:
        """The mean of y where it is above zero."""
        return 1.0 + self.excess

    @property
    def level(self) -> float:
        """The log of the expected count where f is zero and occasions are rare."""
        return float(self.offset + np.log(self.typical))

    def log_likelihood(self, y: Any, f: Any, world: World = NUMPY) -> Any:
        """-rate for a zero, log(1 - e^-rate) and the log probability of y - 1 for others."""
        rate = self._rate(f)
        return np.where(y > 0.0, np.log(-expm1(-rate)) + self._log_above(y), -rate)

    def slope(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        rate = self._rate(f)
        return np.where(y > 0.0, rate / expm1(rate), -rate)

    def expected_log(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        return np.where(y > 0.0, super().expected_log(y, mean, variance, world), -self._expected_rate(mean, variance))

    def slopes(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, second = super().slopes(y, mean, variance)
        expected = self._expected_rate(mean, variance)
        return np.where(y > 0.0, first, -expected), np.where(y > 0.0, second, -0.5 * expected)

    def predict(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of y."""
        above, m = self._above(mean, variance), self.typical
        square = m**2 + self.excess + self.excess**2 / self.size
        return above * m, above * square - (above * m) ** 2

    def log_density(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """log E p(y | f)."""
        above = np.clip(self._above(mean, variance), 1e-300, 1.0 - 1e-15)
        return np.where(y > 0.0, np.log(above) + self._log_above(y), np.log1p(-above))

    def start(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and variances of the first sites: those of a constant rate."""
        slope, bend = self.slopes(y, np.zeros(len(y)), np.full(len(y), 0.1))
        return -0.5 * slope / bend, -0.5 / bend

    def cumulative(self, count: np.ndarray, f: np.ndarray) -> np.ndarray:
        """P(y <= count | f)."""
        zero = np.exp(-np.exp(np.minimum(f + self.offset, LARGEST)))
        below = betainc(self.size, np.maximum(count, 1.0), self.size / (self.size + self.excess))
        return np.where(count < 0.0, 0.0, zero + (1.0 - zero) * np.where(count < 1.0, 0.0, below))

    def _log_above(self, y: Any) -> Any:
        """log P(y | y > 0), for y above zero."""
        return _log_negative_binomial(np.maximum(y - 1.0, 0.0), self.excess, self.size)

    def _rate(self, f: Any) -> Any:
        """The rate of occasions."""
        return np.exp(np.clip(f + self.offset, -5.0 * LARGEST, LARGEST))

    def _expected_rate(self, mean: Any, variance: Any) -> Any:
        return np.exp(mean + self.offset + 0.5 * variance)

    def _above(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """E P(y > 0 | f)."""
        z = np.linspace(-NORMAL_REACH, NORMAL_REACH, NODES)[:, None]
        weight = np.exp(-0.5 * z**2)
        rate = self._rate(mean[None, :] + np.sqrt(floored(variance))[None, :] * z)
        return np.sum(weight / weight.sum() * -expm1(-rate), axis=0)


def _log_negative_binomial(y: Any, mean: float, size: float) -> Any:
    """log NegativeBinomial(y; mean, size)."""
    constant = gammaln(y + size) - gammaln(size) - gammaln(y + 1.0)
    return constant + size * np.log(size / (size + mean)) + y * np.log(mean / (size + mean))
