"""Noise that is not Gaussian, in the form of Gaussian noise of each row: natural gradients in closed form.

The best Gaussian q(f) is the posterior of rows t_n = f_n + N(0, s_n), one for each row y_n (Khan and Lin 2017), with

    1 / s_n = -E_q d^2 log p(y_n | f_n) / df^2,     (t_n - m_n) / s_n = E_q d log p(y_n | f_n) / df

at q's own means m and variances v. Setting them so, a part of the way at a time, is a step along the natural gradient
of the evidence bound. With t and s held, all that the exact and collapsed tiers do for Gaussian noise serves any noise.
"""

from dataclasses import dataclass

import numpy as np

from farrier.inference.likelihoods import Likelihood, StudentT

OUTLIER_DEVIATIONS = 3.0
"""Standard deviations, as the median tells them, from which on a row may be an outlier."""
LEAST_PRECISION, MOST_PRECISION = 1e-3, 1e6
"""A row says so much about f at the least and at the most."""
NEGLIGIBLE_PRECISION = 0.05
"""The part of the usual precision below which a row of Student's t says nothing."""


@dataclass(frozen=True)
class Sites:
    """What stands for the rows: precise numbers where y says much about f, vague ones where it says little."""

    target: np.ndarray
    variance: np.ndarray

    @classmethod
    def first(cls, y: np.ndarray, likelihood: Likelihood) -> "Sites":
        """At a standard normal f, which is what is known before the rows; y itself, without its outliers, for numbers.

        Rows far from the middle start at the edge of the others: nothing is known yet of what they should have been.
        """
        if isinstance(likelihood, StudentT):
            middle = np.median(y)
            reach = OUTLIER_DEVIATIONS * 1.4826 * np.median(np.abs(y - middle))
            return cls(np.clip(y, middle - reach, middle + reach), np.full(len(y), float(likelihood.scale) ** 2))
        return cls.at(y, np.zeros(len(y)), np.ones(len(y)), likelihood)

    def natural_gradient_step(
        self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray, likelihood: Likelihood, step: float
    ) -> "Sites":
        """A step along the natural gradient from q with these means and variances."""
        best = self.at(y, mean, variance, likelihood)
        # natural parameters, 1 / s and t / s, are what steps are taken in
        precision = (1.0 - step) / self.variance + step / best.variance
        weighted = (1.0 - step) * self.target / self.variance + step * best.target / best.variance
        return Sites(weighted / precision, 1.0 / precision)

    @classmethod
    def at(cls, y: np.ndarray, mean: np.ndarray, variance: np.ndarray, likelihood: Likelihood) -> "Sites":
        """Where q has these means and variances.

        Student's t, which is not concave, is a mixture of Gaussians over their precision: its site is the one of the
        expected precision. Where hardly anything is left of that, the row says nothing, and f stands in for it.
        """
        if isinstance(likelihood, StudentT):
            degrees, scale = float(likelihood.degrees), float(likelihood.scale)
            precision = (degrees + 1.0) / (degrees * scale**2 + (y - mean) ** 2 + variance)
            return cls(np.where(precision < NEGLIGIBLE_PRECISION * np.median(precision), mean, y), 1.0 / precision)
        slope, bend = likelihood.slopes(y, mean, variance)
        precision = np.clip(-2.0 * bend, LEAST_PRECISION, MOST_PRECISION)
        return cls(mean + slope / precision, 1.0 / precision)

    def correction(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray, likelihood: Likelihood) -> float:
        """What turns the evidence of the sites into the bound of the rows: sum_n E_q log p(y | f) - log N(t; f, s)."""
        own = -0.5 * (np.log(2.0 * np.pi * self.variance) + ((self.target - mean) ** 2 + variance) / self.variance)
        return float(np.sum(likelihood.expected_log(y, mean, variance) - own))
