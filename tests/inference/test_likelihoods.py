"""Laws of the likelihoods: every integral over f against quadrature, and limits that are known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from scipy.special import expit, logsumexp

from farrier.inference.likelihoods import Bernoulli, Gaussian
from farrier.inference.mixtures import quantiles
from farrier.inference.student_t import StudentT
from tests.inference.likelihood_cases import CASES, each_case, each_concave, grid


def pieces(mean, sd, *special):
    """Gauss-Legendre points and weights on many pieces of mean +- 18 sd, finer around the special places."""
    ladder = np.geomspace(1e-3, 10.0, 12)
    places = [place + sign * ladder for place in special for sign in (-1.0, 1.0)]
    edges = np.concatenate([mean + sd * np.linspace(-18.0, 18.0, 37), *places])
    edges = np.unique(np.clip(edges, mean - 18.0 * sd, mean + 18.0 * sd))
    x, weight = np.polynomial.legendre.leggauss(20)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1.0 + x)).ravel(), (half * weight).ravel()


def oracle(log_p, y, mean, variance):
    """E log p(y | f) and log E p(y | f), by brute force."""
    sd = np.sqrt(variance)
    f, weight = pieces(mean, sd, y, np.log(max(y, 0.1)))
    log_likelihood, log_weight = log_p(y, f), np.log(weight) + stats.norm.logpdf(f, mean, sd)
    return np.sum(np.exp(log_weight) * log_likelihood), logsumexp(log_weight + log_likelihood)


@each_case
def test_the_oracle_agrees_with_adaptive_quadrature(name):
    _, log_p, ys = CASES[name]
    y, mean, sd = ys[-1], 0.4, 1.0
    top = oracle(log_p, y, mean, sd**2)[1]
    integrands = [
        lambda f: stats.norm.pdf(f, mean, sd) * log_p(y, f),
        lambda f: np.exp(stats.norm.logpdf(f, mean, sd) + log_p(y, f) - top),
    ]
    expected, one = (integrate.quad(g, -8.0, 9.0, points=[0.0, 4.0, 6.0], epsabs=1e-9)[0] for g in integrands)
    assert_allclose([expected, one], [oracle(log_p, y, mean, sd**2)[0], 1.0], rtol=1e-8)


@each_case
def test_integrals_agree_with_brute_force(name):
    likelihood, log_p, ys = CASES[name]
    arguments = grid(ys)
    expected, density = np.array([oracle(log_p, *row) for row in zip(*arguments, strict=True)]).T
    assert_allclose(likelihood.expected_log(*arguments), expected, rtol=1e-6, atol=1e-6)
    assert_allclose(likelihood.log_density(*arguments), density, rtol=1e-6, atol=1e-6)


@each_case
def test_predictive_moments_are_those_of_the_predictive_density(name):
    likelihood = CASES[name][0]
    for mean, variance in ((-1.0, 0.2), (0.7, 1.0)):
        if not isinstance(likelihood, Gaussian | StudentT):
            y = np.arange(2.0 if isinstance(likelihood, Bernoulli) else 4000.0)
            step = 1.0
        else:
            x = np.linspace(-14.0, 14.0, 20_001)  # y = mean + sinh x, for tails that are heavy
            y, step = mean + 0.1 * np.sinh(x), 0.1 * np.cosh(x) * (x[1] - x[0])
        spread = [np.full(y.shape, value) for value in (mean, variance)]
        mass = np.exp(likelihood.log_density(y, *spread)) * step
        expected = np.sum(mass * y)
        computed_mean, computed_variance = likelihood.predict(np.array([mean]), np.array([variance]))
        tail = 3e-3 if name == "narrow student" else 1e-5  # E y^2 converges slowly at 2.5 degrees of freedom
        assert_allclose(np.sum(mass), 1.0, rtol=1e-6)
        assert_allclose(computed_mean[0], expected, rtol=1e-5, atol=1e-6)
        assert_allclose(computed_variance[0], np.sum(mass * (y - expected) ** 2), rtol=tail)


@each_case
def test_log_density_exceeds_the_expected_log(name):
    likelihood, _, ys = CASES[name]
    gap = likelihood.log_density(*grid(ys)) - likelihood.expected_log(*grid(ys))
    assert np.all(gap > -1e-8)


@each_case
def test_without_variance_both_are_the_log_likelihood(name):
    likelihood, log_p, ys = CASES[name]
    y, mean, _ = grid(ys)
    for method in (likelihood.expected_log, likelihood.log_density):
        assert_allclose(method(y, mean, np.zeros(y.size)), log_p(y, mean), rtol=1e-6, atol=1e-6)


@each_concave
def test_slopes_are_the_derivatives_of_the_expected_log(name):
    likelihood, _, ys = CASES[name]
    y, mean, variance = grid(ys)
    by_mean, by_variance = likelihood.slopes(y, mean, variance)

    def difference(along_mean, along_variance):
        up, down = (
            likelihood.expected_log(y, mean + sign * along_mean, variance + sign * along_variance)
            for sign in (1.0, -1.0)
        )
        return (up - down) / 2.0

    step = np.minimum(1e-5, 0.1 * variance)
    assert_allclose(by_mean, difference(1e-5, 0.0) / 1e-5, rtol=1e-5, atol=1e-5)
    assert_allclose(by_variance, difference(0.0, step) / step, rtol=1e-5, atol=1e-5)


@each_concave
@pytest.mark.parametrize("mean", [-300.0, 0.0, 6.0])
@pytest.mark.parametrize("variance", [0.0, 1e-14, 50.0])
def test_slopes_are_finite_at_extreme_values(name, mean, variance):
    likelihood, _, ys = CASES[name]
    slopes = likelihood.slopes(np.array(ys), np.full(len(ys), mean), np.full(len(ys), variance))
    assert np.all(np.isfinite(slopes))


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_probabilities_sum_to_one_and_are_symmetric(link):
    likelihood = Bernoulli(link)
    mean, variance = np.linspace(-30.0, 30.0, 7), np.linspace(0.0, 12.0, 7)
    one, _ = likelihood.predict(mean, variance)
    mirror, _ = likelihood.predict(-mean, variance)
    assert_allclose(one + mirror, 1.0, rtol=1e-9)
    both = [np.exp(likelihood.log_density(np.full(7, y), mean, variance)) for y in (0.0, 1.0)]
    assert_allclose(both[0] + both[1], 1.0, rtol=1e-9)


def test_logit_and_probit_do_not_overflow():
    arguments = np.array([0.0, 1.0]), np.array([900.0, -900.0]), np.full(2, 0.1)
    assert_allclose(Bernoulli("logit").expected_log(*arguments), -900.0, rtol=1e-9)
    assert_allclose(Bernoulli("probit").expected_log(*arguments), stats.norm.logcdf(-900.0), rtol=1e-6)


def test_predictions_of_the_logit_at_no_variance_are_the_link():
    mean = np.linspace(-5.0, 5.0, 5)
    assert_allclose(Bernoulli("logit").predict(mean, np.zeros(5))[0], expit(mean), rtol=1e-9)


def test_student_with_many_degrees_is_gaussian():
    y, mean, variance = grid([-1.0, 2.5])
    almost, gaussian = StudentT.with_degrees(0.6, 1e8), Gaussian(0.36)
    for name in ("expected_log", "log_density"):
        computed, limit = (getattr(kind, name)(y, mean, variance) for kind in (almost, gaussian))
        assert_allclose(computed, limit, rtol=1e-5, atol=1e-5)
    for computed, limit in zip(almost.predict(mean, variance), gaussian.predict(mean, variance), strict=True):
        assert_allclose(computed, limit, rtol=1e-6)


def test_unknown_links_and_impossible_degrees_are_refused():
    with pytest.raises(ValueError, match=r'link=.cauchit. is not known: use "probit" or "logit"'):
        Bernoulli("cauchit")
    with pytest.raises(ValueError, match=r"degrees=2\.0"):
        StudentT.with_degrees(1.0, 2.0)


@each_case
def test_the_normals_of_an_observation_have_its_mean(name):
    likelihood, _, _ = CASES[name]
    mean, variance = np.array([0.3, -1.0]), np.array([0.2, 1.5])
    found, spread = likelihood.normals(mean, variance)
    assert_allclose(found.mean(axis=0), likelihood.predict(mean, variance)[0])
    assert np.all(spread > 0.0)


@pytest.mark.parametrize("draws", [1, 5, 25])
@pytest.mark.parametrize("degrees", [2.5, 4.0, 10.0])
def test_the_normals_of_a_students_t_have_its_quantiles_over_all_draws(degrees, draws):
    likelihood = StudentT.with_degrees(0.7, degrees)
    each = [likelihood.normals(np.zeros(1), np.zeros(1), part=(i, draws)) for i in range(draws)]
    mean, variance = (np.concatenate(some) for some in zip(*each, strict=True))
    assert 32 <= len(mean) <= 100
    levels = np.array([0.75, 0.975, 0.995])
    found = quantiles(mean, np.sqrt(variance), levels)[:, 0] / (0.7 * stats.t.ppf(levels, degrees))
    assert np.all(np.abs(found - 1.0) < [0.003, 0.012, 0.07])


def test_the_ordinary_variance_of_a_students_t_is_that_of_its_middle_half():
    likelihood = StudentT.with_degrees(0.7, 3.0)
    middle = 0.7 * stats.t.ppf(0.75, 3.0)
    assert stats.norm.ppf(0.75, scale=np.sqrt(likelihood.ordinary_variance)) == pytest.approx(middle)
