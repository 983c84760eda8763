"""The likelihoods that all laws go through, each with its log density by scipy and some values of y."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, log_expit, log_ndtr

from farrier.inference.counts import NegativeBinomial, Poisson
from farrier.inference.likelihoods import Bernoulli, Gaussian, LogConcave
from farrier.inference.student_t import StudentT

VARIANCES = [1e-6, 1e-2, 0.3, 1.0, 10.0]
MEANS = [-3.0, 0.4, 2.0]


def student(scale, degrees):
    return lambda y, f: stats.t.logpdf(y, degrees, f, scale)


def negative_binomial(y, f, r):
    # 1 / (B(r, y) y) q^y p^r in logarithms; scipy has only p, and q = 1 - p is rounded to zero far below
    log_p, log_q = -np.logaddexp(0.0, f - np.log(r)), -np.logaddexp(0.0, np.log(r) - f)
    ways = -betaln(r, np.maximum(y, 1.0)) - np.log(np.maximum(y, 1.0))
    return np.where(y > 0.0, ways, 0.0) + y * log_q + r * log_p


# name: likelihood, log p(y | f) by scipy, values of y
CASES = {
    "gaussian": (Gaussian(0.3), lambda y, f: stats.norm.logpdf(y, f, np.sqrt(0.3)), [-1.0, 2.5]),
    "probit": (Bernoulli("probit"), lambda y, f: log_ndtr((2.0 * y - 1.0) * f), [0.0, 1.0]),
    "logit": (Bernoulli("logit"), lambda y, f: log_expit((2.0 * y - 1.0) * f), [0.0, 1.0]),
    "student": (StudentT.with_degrees(0.8, 4.0), student(0.8, 4.0), [-1.0, 30.0]),
    "narrow student": (StudentT.with_degrees(0.05, 2.5), student(0.05, 2.5), [0.4, 6.0]),
    "light student": (StudentT.with_degrees(0.5, 60.0), student(0.5, 60.0), [0.4, 6.0]),
    "negative binomial": (
        NegativeBinomial(0.0, 2.5),
        lambda y, f: negative_binomial(y, f, 2.5),
        [0.0, 3.0, 60.0],
    ),
    "poisson": (Poisson(), lambda y, f: stats.poisson.logpmf(y, np.exp(f)), [0.0, 3.0, 60.0]),
}
each_case = pytest.mark.parametrize("name", CASES)
each_concave = pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if isinstance(case[0], LogConcave)]
)


def grid(ys):
    """Values of y, mean and variance in every combination."""
    y, mean, variance = np.meshgrid(ys, MEANS, VARIANCES, indexing="ij")
    return y.ravel(), mean.ravel(), variance.ravel()
