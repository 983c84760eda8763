"""Laws of the likelihoods: every integral over f against quadrature, and limits that are known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from scipy.special import expit, log_expit, log_ndtr, logsumexp

from farrier.inference.likelihoods import Bernoulli, Gaussian, Poisson, StudentT
from farrier.kernels.parameters import bound, free

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
expected_log = eqx.filter_jit(lambda likelihood, *arguments: likelihood.expected_log(*arguments))
predict = eqx.filter_jit(lambda likelihood, *arguments: likelihood.predict(*arguments))
log_density = eqx.filter_jit(lambda likelihood, *arguments: likelihood.log_density(*arguments))
each_case = pytest.mark.parametrize("name", CASES)


def full(size, value):
    return jnp.asarray(np.full(size, value))


def grid(ys):
    y, mean, variance = np.meshgrid(ys, MEANS, VARIANCES, indexing="ij")
    return y.ravel(), mean.ravel(), variance.ravel()


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
    y, mean, variance = map(jnp.asarray, arguments)
    assert_allclose(expected_log(likelihood, y, mean, variance), expected, rtol=1e-6, atol=1e-6)
    assert_allclose(log_density(likelihood, y, mean, variance), density, rtol=1e-6, atol=1e-6)


@each_case
def test_predictive_moments_are_those_of_the_predictive_density(name):
    likelihood = CASES[name][0]
    for mean, variance in ((-1.0, 0.2), (0.7, 1.0)):
        if isinstance(likelihood, Bernoulli | Poisson):
            y = np.arange(2.0 if isinstance(likelihood, Bernoulli) else 4000.0)
            step = 1.0
        else:
            x = np.linspace(-14.0, 14.0, 20_001)  # y = mean + sinh x, for tails that are heavy
            y, step = mean + 0.1 * np.sinh(x), 0.1 * np.cosh(x) * (x[1] - x[0])
        spread = [full(y.shape, value) for value in (mean, variance)]
        mass = np.exp(log_density(likelihood, jnp.asarray(y), *spread)) * step
        expected = np.sum(mass * y)
        computed_mean, computed_variance = predict(likelihood, jnp.asarray([mean]), jnp.asarray([variance]))
        tail = 3e-3 if name == "narrow student" else 1e-5  # E y^2 converges slowly at 2.5 degrees of freedom
        assert_allclose(np.sum(mass), 1.0, rtol=1e-6)
        assert_allclose(computed_mean[0], expected, rtol=1e-5, atol=1e-6)
        assert_allclose(computed_variance[0], np.sum(mass * (y - expected) ** 2), rtol=tail)


@each_case
def test_log_density_exceeds_the_expected_log(name):
    likelihood, _, ys = CASES[name]
    y, mean, variance = map(jnp.asarray, grid(ys))
    gap = log_density(likelihood, y, mean, variance) - expected_log(likelihood, y, mean, variance)
    assert np.all(np.asarray(gap) > -1e-8)


@each_case
def test_without_variance_both_are_the_log_likelihood(name):
    likelihood, log_p, ys = CASES[name]
    y, mean, _ = grid(ys)
    arguments = jnp.asarray(y), jnp.asarray(mean), jnp.zeros(y.size)
    for method in (expected_log, log_density):
        assert_allclose(method(likelihood, *arguments), log_p(y, mean), rtol=1e-6, atol=1e-6)


@eqx.filter_jit
def value_and_slopes(likelihood, theta, y, mean, variance):
    """The sum of both integrals over all points, and its derivative in everything."""

    def value(at):
        theta, *moments = at
        here = bound(theta, likelihood)
        return jnp.sum(here.expected_log(y, *moments) + here.log_density(y, *moments))

    return jax.value_and_grad(value)((theta, mean, variance))


@each_case
def test_derivatives_agree_with_finite_differences(name):
    likelihood, _, ys = CASES[name]
    y, mean = jnp.asarray(ys), jnp.asarray([0.3, -0.2, 0.1][: len(ys)])
    leaves, structure = jax.tree.flatten((free(likelihood), mean, full(y.shape, 0.5)))

    def at(leaves):
        theta, *moments = jax.tree.unflatten(structure, leaves)
        return value_and_slopes(likelihood, theta, y, *moments)

    for i, slope in enumerate(jax.tree.leaves(at(leaves)[1])):
        up, down = (at([leaf + sign * 1e-5 * (i == j) for j, leaf in enumerate(leaves)])[0] for sign in (1.0, -1.0))
        assert_allclose(np.sum(slope), (up - down) / 2e-5, rtol=1e-5, atol=1e-5)


@each_case
@pytest.mark.parametrize("mean", [-300.0, 0.0, 6.0])
@pytest.mark.parametrize("variance", [0.0, 1e-14, 50.0])
def test_gradients_are_finite_at_extreme_values(name, mean, variance):
    likelihood, _, ys = CASES[name]
    moments = (full(len(ys), value) for value in (mean, variance))
    _, slopes = value_and_slopes(likelihood, free(likelihood), jnp.asarray(ys), *moments)
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(slopes))


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_probabilities_sum_to_one_and_are_symmetric(link):
    likelihood = Bernoulli(link)
    mean, variance = jnp.linspace(-30.0, 30.0, 7), jnp.linspace(0.0, 12.0, 7)
    one, _ = predict(likelihood, mean, variance)
    mirror, _ = predict(likelihood, -mean, variance)
    assert_allclose(one + mirror, 1.0, rtol=1e-9)
    both = [np.exp(log_density(likelihood, full(7, y), mean, variance)) for y in (0.0, 1.0)]
    assert_allclose(both[0] + both[1], 1.0, rtol=1e-9)


def test_logit_and_probit_do_not_overflow():
    y, mean, variance = jnp.asarray([0.0, 1.0]), jnp.asarray([900.0, -900.0]), full(2, 0.1)
    assert_allclose(expected_log(Bernoulli("logit"), y, mean, variance), -900.0, rtol=1e-9)
    assert_allclose(expected_log(Bernoulli("probit"), y, mean, variance), stats.norm.logcdf(-900.0), rtol=1e-6)


def test_predictions_of_the_logit_at_no_variance_are_the_link():
    mean = jnp.linspace(-5.0, 5.0, 5)
    assert_allclose(predict(Bernoulli("logit"), mean, jnp.zeros(5))[0], expit(np.asarray(mean)), rtol=1e-9)


def test_student_with_many_degrees_is_gaussian():
    y, mean, variance = map(jnp.asarray, grid([-1.0, 2.5]))
    almost, gaussian = StudentT.with_degrees(0.6, 1e8), Gaussian(0.36)
    for method in (expected_log, log_density):
        computed, limit = (method(kind, y, mean, variance) for kind in (almost, gaussian))
        assert_allclose(computed, limit, rtol=1e-5, atol=1e-5)
    for computed, limit in zip(predict(almost, mean, variance), predict(gaussian, mean, variance), strict=True):
        assert_allclose(computed, limit, rtol=1e-6)


def test_an_outlier_bends_a_student_less_than_a_gaussian():
    def pull(likelihood, y):
        arguments = full(2, y), jnp.zeros(2), full(2, 0.1)
        return float(value_and_slopes(likelihood, free(likelihood), *arguments)[1][1][0])

    student, gaussian = StudentT.with_degrees(1.0, 4.0), Gaussian(2.0)
    assert pull(student, 40.0) < 0.01 * pull(gaussian, 40.0)
    assert pull(student, 40.0) < pull(student, 2.0)


def test_unknown_links_and_impossible_degrees_are_refused():
    with pytest.raises(ValueError, match=r'link=.cauchit. is not known: use "probit" or "logit"'):
        Bernoulli("cauchit")
    with pytest.raises(ValueError, match=r"degrees=2\.0"):
        StudentT.with_degrees(1.0, 2.0)
