"""The likelihoods that all laws go through, each with its log density by scipy and some values of y."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_expit, log_ndtr

from farrier.inference.counts import Poisson
from farrier.inference.likelihoods import Bernoulli, Gaussian
from farrier.inference.student_t import StudentT

VARIANCES = [1e-6, 1e-2, 0.3, 1.0, 10.0]
MEANS = [-3.0, 0.4, 2.0]


def student(scale, degrees):
    return lambda y, f: stats.t.logpdf(y, degrees, f, scale)


# name: likelihood, log p(y | f) by scipy, values of y
CASES = {
    "gaussian": (Gaussian(0.3), lambda y, f: stats.norm.logpdf(y, f, np.sqrt(0.3)), [-1.0, 2.5]),
    "probit": (Bernoulli("probit"), lambda y, f: log_ndtr((2.0 * y - 1.0) * f), [0.0, 1.0]),
    "logit": (Bernoulli("logit"), lambda y, f: log_expit((2.0 * y - 1.0) * f), [0.0, 1.0]),
    "student": (StudentT.with_degrees(0.8, 4.0), student(0.8, 4.0), [-1.0, 30.0]),
    "narrow student": (StudentT.with_degrees(0.05, 2.5), student(0.05, 2.5), [0.4, 6.0]),
    "light student": (StudentT.with_degrees(0.5, 60.0), student(0.5, 60.0), [0.4, 6.0]),
    "poisson": (Poisson(), lambda y, f: stats.poisson.logpmf(y, np.exp(f)), [0.0, 3.0, 60.0]),
}
each_case = pytest.mark.parametrize("name", CASES)


def grid(ys):
    """Values of y, mean and variance in every combination."""
    y, mean, variance = np.meshgrid(ys, MEANS, VARIANCES, indexing="ij")
    return y.ravel(), mean.ravel(), variance.ravel()
