"""Likelihoods that are not Gaussian, approximated by one Gaussian site for each row (Khan and Lin 2017).

The optimal Gaussian q(f) is the posterior given pseudo-observations t_n = f_n + N(0, s_n), one for each row y_n, with

    1 / s_n = -E_q d^2 log p(y_n | f_n) / df^2,     (t_n - m_n) / s_n = E_q d log p(y_n | f_n) / df

at the means m and variances v of q itself. Moving the sites a part of the way to these values is a step along the
natural gradient of the evidence lower bound. With t and s fixed the problem is Gaussian, so exact and collapsed
inference work for any likelihood.
"""

from dataclasses import dataclass

import numpy as np

from farrier.inference.counts import CountLikelihood
from farrier.inference.likelihoods import Likelihood, LogConcave
from farrier.inference.noise import Noise
from farrier.inference.student_t import StudentT

LEAST_PRECISION, MOST_PRECISION = 1e-3, 1e6
"""Smallest and largest precision of a site. [1 / variance of f; by judgement]"""
FARTHEST = 10.0
"""Farthest that a site may lie from the mean of f; beyond it the precision rises, and the slope is kept. A count that
is many times what is expected has a site far beyond its own logarithm, which a flexible component would follow. Of rare
counts the precision of their level is too high by at most a tenth. [f; by judgement]"""
NEGLIGIBLE_PRECISION = 0.05
"""Precision below which a row of a Student-t likelihood is ignored. [parts of the median precision; by judgement]"""

LEAST_PART = 1e-9
"""Smallest precision of f without a row, which rounding could make negative. [parts of that with it; by judgement]"""


@dataclass(frozen=True)
class Sites:
    """The pseudo-observations: their values t and their noise variances s, (N,) each."""

    target: np.ndarray
    variance: np.ndarray

    @property
    def noise(self) -> Noise:
        """The noise of the pseudo-observations."""
        return Noise(self.variance, known=True)

    @classmethod
    def first(cls, y: np.ndarray, likelihood: Likelihood) -> "Sites":
        """The sites at the start: the optimal ones for q(f) = N(0, 1), the prior of f; for counts their logarithms."""
        if isinstance(likelihood, CountLikelihood):
            return cls(*likelihood.start(y))
        return cls.at(y, np.zeros(len(y)), np.ones(len(y)), likelihood)

    def natural_gradient_step(
        self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray, likelihood: Likelihood, step: float
    ) -> "Sites":
        """The sites after a step along the natural gradient, for q with these means and variances."""
        best = self.at(y, mean, variance, likelihood)
        # the step is linear in the natural parameters 1 / s and t / s
        precision = (1.0 - step) / self.variance + step / best.variance
        weighted = (1.0 - step) * self.target / self.variance + step * best.target / best.variance
        return Sites(weighted / precision, 1.0 / precision)

    @classmethod
    def at(cls, y: np.ndarray, mean: np.ndarray, variance: np.ndarray, likelihood: Likelihood) -> "Sites":
        """The optimal sites for q with these means and variances.

        The Student-t likelihood is not log-concave, so its precisions could be negative. It is a mixture of Gaussians
        over the precision, and the site takes the expected precision. If that is negligible, the row is ignored: its
        site is the mean of q.
        """
        if isinstance(likelihood, StudentT):
            degrees, scale = float(likelihood.degrees), float(likelihood.scale)
            precision = (degrees + 1.0) / (degrees * scale**2 + (y - mean) ** 2 + variance)
            return cls(np.where(precision < NEGLIGIBLE_PRECISION * np.median(precision), mean, y), 1.0 / precision)
        assert isinstance(likelihood, LogConcave)
        slope, bend = likelihood.slopes(y, mean, variance)
        precision = np.clip(-2.0 * bend, LEAST_PRECISION, MOST_PRECISION)
        precision = np.maximum(precision, np.abs(slope) / FARTHEST)
        return cls(mean + slope / precision, 1.0 / precision)

    def left_out(
        self, mean: np.ndarray, variance: np.ndarray, prior: np.ndarray | float = np.inf
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f at each row without its own site, from those of q and the prior variance.

        1 / v' = 1 / v - 1 / s  and  m' / v' = m / v - t / s.
        """
        precision = 1.0 / variance - 1.0 / self.variance
        # inducing points may hardly reach a row: without it the variance of q would be above that of the prior. q has
        # then not learned from it, and is what it is without the row
        used = precision > np.maximum(LEAST_PART / variance, 1.0 / prior)
        precision = np.where(used, precision, 1.0 / variance)
        weighted = mean / variance - self.target / self.variance
        return np.where(used, weighted / precision, mean), 1.0 / precision

    def correction(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray, likelihood: Likelihood) -> float:
        """The bound for y minus the bound for the sites: sum_n E_q log p(y | f) - log N(t; f, s)."""
        own = -0.5 * (np.log(2.0 * np.pi * self.variance) + ((self.target - mean) ** 2 + variance) / self.variance)
        return float(np.sum(likelihood.expected_log(y, mean, variance) - own))
