"""Laws of the hurdle likelihood: its integrals, their derivatives, its probabilities, its fit to counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from farrier.inference.counts import count_moments, count_quantiles
from farrier.inference.hurdle import Hurdle

LIKELIHOOD = Hurdle(offset=-0.5, excess=3.0, size=1.5)
Y = np.array([0.0, 1.0, 14.0, 0.0])
MEAN, VARIANCE = np.array([-0.4, 0.3, 1.0, -2.0]), np.array([0.5, 1e-3, 0.3, 3.0])


def log_pmf(y, f):
    rate = np.exp(f - 0.5)
    return np.log(-np.expm1(-rate)) + stats.nbinom.logpmf(y - 1.0, 1.5, 1.5 / 4.5) if y > 0.0 else -rate


def dense(function, mean, variance):
    """The integral of a function of f over N(mean, variance), by 20,001 points."""
    z = np.linspace(-8.0, 8.0, 20_001)
    weight = np.exp(-0.5 * z**2)
    return np.sum(weight * function(mean + np.sqrt(variance) * z)) / weight.sum()


def test_both_integrals_are_those_of_many_points():
    each = list(zip(Y, MEAN, VARIANCE, strict=True))
    logs = [dense(lambda f, y=y: log_pmf(y, f), m, v) for y, m, v in each]
    assert_allclose(LIKELIHOOD.expected_log(Y, MEAN, VARIANCE), logs, rtol=1e-7)
    densities = [np.log(dense(lambda f, y=y: np.exp(log_pmf(y, f)), m, v)) for y, m, v in each]
    assert_allclose(LIKELIHOOD.log_density(Y, MEAN, VARIANCE), densities, rtol=1e-7)


def test_slopes_are_those_of_finite_differences():
    h = 1e-5
    by_mean, by_variance = LIKELIHOOD.slopes(Y, MEAN, VARIANCE)
    up, down = (LIKELIHOOD.expected_log(Y, MEAN + s * h, VARIANCE) for s in (1, -1))
    assert_allclose(by_mean, (up - down) / (2 * h), rtol=1e-5)
    up, down = (LIKELIHOOD.expected_log(Y, MEAN, VARIANCE * (1 + s * h)) for s in (1, -1))
    assert_allclose(by_variance, (up - down) / (2 * h * VARIANCE), rtol=1e-3)


def test_probabilities_add_up_to_the_distribution_function_and_to_one():
    counts, f = np.arange(200.0), np.zeros(1)
    each = np.exp([LIKELIHOOD.log_density(np.array([y]), f, f)[0] for y in counts])
    assert_allclose(each.sum(), 1.0, rtol=1e-9)
    assert_allclose(np.cumsum(each), LIKELIHOOD.cumulative(counts, np.zeros(200)), rtol=1e-9)
    mean, variance = LIKELIHOOD.predict(f, f)
    assert_allclose(mean, np.sum(each * counts), rtol=1e-9)
    assert_allclose(variance, np.sum(each * (counts - mean) ** 2), rtol=1e-9)


def test_a_fit_has_the_share_and_the_size_of_the_counts():
    generator = np.random.default_rng(0)
    y = (generator.random(4000) < 0.2) * (1.0 + generator.negative_binomial(2.0, 0.25, 4000))
    found = Hurdle.of(y)
    assert_allclose(-np.expm1(-np.exp(found.offset)), np.mean(y > 0.0), rtol=1e-2)
    assert_allclose(found.typical, y[y > 0.0].mean(), rtol=1e-2)
    assert 1.5 < found.size < 2.7


@pytest.mark.parametrize("y", [np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 2.0]), np.zeros(5)])
def test_few_counts_leave_room(y):
    found = Hurdle.of(y)
    assert np.isfinite([found.offset, found.excess, found.size]).all()
    assert found.excess > 0.0


def test_quantiles_and_moments_of_two_draws_are_those_of_their_mixture():
    mean, variance = np.array([[-2.0], [1.0]]), np.full((2, 1), 1e-12)
    each = [LIKELIHOOD.cumulative(np.arange(60.0), np.full(60, m)) for m in (-2.0, 1.0)]
    whole = np.mean(each, axis=0)
    levels = np.array([0.1, 0.5, 0.8, 0.975])
    found = count_quantiles(LIKELIHOOD, mean, variance, levels)[:, 0]
    assert_allclose(found, [np.searchsorted(whole, level) for level in levels])
    middle, _ = count_moments(LIKELIHOOD, mean, variance)
    assert_allclose(
        middle, np.mean([LIKELIHOOD.predict(np.array([m]), np.zeros(1))[0] for m in (-2.0, 1.0)]), rtol=1e-6
    )
