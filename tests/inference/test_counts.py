"""Laws of the negative binomial likelihood: its integrals, their derivatives, its limit, and its size."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from farrier.inference.counts import NegativeBinomial, Poisson, count_quantiles

RNG = np.random.default_rng(0)
LIKELIHOOD = NegativeBinomial(1.5, 2.5)
Y = np.array([0.0, 3.0, 60.0, 3.0])
MEAN, VARIANCE = np.array([-0.4, 0.3, 1.0, -2.0]), np.array([0.5, 1e-4, 0.3, 6.0])


def log_pmf(y, f, size=2.5, offset=1.5):
    mean = np.exp(f + offset)
    return stats.nbinom.logpmf(y, size, size / (size + mean))


def dense(function, mean, variance):
    """The integral of a function of f over N(mean, variance), by 20,001 points."""
    f = mean + np.sqrt(variance) * np.linspace(-10.0, 10.0, 20_001)
    weight = np.exp(-0.5 * np.linspace(-10.0, 10.0, 20_001) ** 2)
    return np.sum(weight * function(f)) / weight.sum()


def test_the_expected_log_is_the_integral():
    expected = [dense(lambda f, y=y: log_pmf(y, f), m, v) for y, m, v in zip(Y, MEAN, VARIANCE, strict=True)]
    assert_allclose(LIKELIHOOD.expected_log(Y, MEAN, VARIANCE), expected, rtol=1e-8)


def test_the_log_density_is_the_integral_though_the_likelihood_is_narrow():
    for likelihood, size in ((LIKELIHOOD, 2.5), (NegativeBinomial(1.5, 1e4), 1e4)):
        expected = [
            np.log(dense(lambda f, y=y: np.exp(log_pmf(y, f, size)), m, v))
            for y, m, v in zip(Y, MEAN, VARIANCE, strict=True)
        ]
        assert_allclose(likelihood.log_density(Y, MEAN, VARIANCE), expected, rtol=1e-6, atol=1e-7)


def test_slopes_are_those_of_finite_differences():
    h = 1e-5
    by_mean, by_variance = LIKELIHOOD.slopes(Y, MEAN, VARIANCE)
    up, down = (LIKELIHOOD.expected_log(Y, MEAN + s * h, VARIANCE) for s in (1, -1))
    assert_allclose(by_mean, (up - down) / (2 * h), rtol=1e-5)
    up, down = (LIKELIHOOD.expected_log(Y, MEAN, VARIANCE * (1 + s * h)) for s in (1, -1))
    assert_allclose(by_variance[[0, 2, 3]], ((up - down) / (2 * h * VARIANCE))[[0, 2, 3]], rtol=1e-4)


def test_moments_are_those_of_draws():
    mean, variance = (one[0] for one in LIKELIHOOD.predict(MEAN[:1], VARIANCE[:1]))
    rate = np.exp(MEAN[0] + 1.5 + np.sqrt(VARIANCE[0]) * RNG.standard_normal(400_000))
    draws = RNG.negative_binomial(2.5, 2.5 / (2.5 + rate))
    assert_allclose(mean, draws.mean(), rtol=0.02)
    assert_allclose(variance, draws.var(), rtol=0.1)


@pytest.mark.parametrize("likelihood", [Poisson(1.5), LIKELIHOOD])
@pytest.mark.parametrize("shift", [-3.0, 0.0, 4.0])
def test_quantiles_are_those_of_draws(likelihood, shift):
    levels = np.array([0.025, 0.1, 0.5, 0.9, 0.975])
    found = count_quantiles(likelihood, MEAN[None, :1] + shift, VARIANCE[None, :1], levels)[:, 0]
    rate = np.exp(MEAN[0] + shift + 1.5 + np.sqrt(VARIANCE[0]) * RNG.standard_normal(200_000))
    size = 2.5
    draws = RNG.poisson(rate) if isinstance(likelihood, Poisson) else RNG.negative_binomial(size, size / (size + rate))
    assert_allclose(found, np.quantile(draws, levels), rtol=0.06, atol=1.0)
    assert np.all(found == np.rint(found))


def test_a_large_size_is_a_poisson():
    wide, poisson = NegativeBinomial(0.7, 1e7), Poisson(0.7)
    for method in ("expected_log", "log_density"):
        ours, theirs = (getattr(one, method)(Y, MEAN, VARIANCE) for one in (wide, poisson))
        assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    for ours, theirs in zip(wide.predict(MEAN, VARIANCE), poisson.predict(MEAN, VARIANCE), strict=True):
        assert_allclose(ours, theirs, rtol=1e-4)


def test_the_offset_is_a_shift_of_f():
    for plain, moved in ((Poisson(), Poisson(0.7)), (NegativeBinomial(0.0, 2.5), NegativeBinomial(0.7, 2.5))):
        for method in ("expected_log", "log_density", "slopes"):
            ours = getattr(moved, method)(Y, MEAN, VARIANCE)
            assert_allclose(ours, getattr(plain, method)(Y, MEAN + 0.7, VARIANCE), rtol=1e-9)


def test_the_best_size_is_near_the_truth():
    f = 0.5 * RNG.standard_normal(4000)
    y = RNG.negative_binomial(3.0, 3.0 / (3.0 + np.exp(f + 2.0))).astype(float)
    found = NegativeBinomial(2.0, 1.0).with_best_size(y, f, np.full(4000, 1e-6))
    assert 2.6 < found.size < 3.5


def test_first_sites_are_logarithms():
    for likelihood in (Poisson(1.0), NegativeBinomial(1.0, 1e9)):
        target, variance = likelihood.start(np.array([0.0, 99.5]))
        assert_allclose(target, np.log([0.5, 100.0]) - 1.0)
        assert_allclose(variance, [2.0, 0.01], rtol=1e-6)


def test_no_other_size_has_a_higher_expected_likelihood():
    f = 0.4 * RNG.standard_normal(300)
    y = RNG.negative_binomial(2.0, 2.0 / (2.0 + np.exp(f + 1.0))).astype(float)
    variance = np.full(300, 0.05)
    best = NegativeBinomial(1.0, 5.0).with_best_size(y, f, variance)

    def height(size):
        return np.sum(NegativeBinomial(1.0, size).expected_log(y, f, variance))

    assert height(best.size) > max(height(1.2 * best.size), height(best.size / 1.2))
