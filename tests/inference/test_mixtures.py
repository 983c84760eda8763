"""Laws of mixtures: moments by hand, quantiles at which the distribution function is the level."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import norm

from farrier.inference.mixtures import joint_moments, moments, quantiles

RNG = np.random.default_rng(0)
MEAN, VARIANCE = RNG.standard_normal((4, 3)), RNG.uniform(0.1, 2.0, (4, 3))


def test_the_variance_is_within_and_between():
    mean, variance = moments(MEAN, VARIANCE)
    assert_allclose(mean, MEAN.sum(axis=0) / 4)
    second = (VARIANCE + MEAN**2).sum(axis=0) / 4
    assert_allclose(variance, second - mean**2)


def test_joint_moments_have_those_of_each_row_on_the_diagonal():
    A = RNG.standard_normal((4, 3, 3))
    covariances = A @ A.transpose(0, 2, 1)
    mean, covariance = joint_moments(MEAN, covariances)
    expected = moments(MEAN, np.diagonal(covariances, axis1=1, axis2=2))
    assert_allclose(mean, expected[0])
    assert_allclose(np.diagonal(covariance), expected[1])
    assert_allclose(covariance, covariance.T)


def test_quantiles_are_where_the_distribution_function_is_the_level():
    levels = np.array([0.01, 0.3, 0.5, 0.975])
    found = quantiles(MEAN, np.sqrt(VARIANCE), levels)
    below = norm.cdf(found[:, None, :], MEAN[None], np.sqrt(VARIANCE)[None]).mean(axis=1)
    assert_allclose(below, np.broadcast_to(levels[:, None], below.shape), atol=1e-12)
