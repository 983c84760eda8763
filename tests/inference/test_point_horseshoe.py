"""Laws of the horseshoe of point weights: it is the integral over tau, with its limits, derivatives and quantiles."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import halfcauchy

from farrier.inference.point_horseshoe import PointHorseshoe
from farrier.inference.weight_priors import HalfCauchy

W = np.array([0.4, 0.02, 3.0])
SCALE = np.array([0.5, 0.3, 0.8])
CASES = {
    "three weights": PointHorseshoe(W, SCALE),
    "one has a scale of its own": PointHorseshoe(W, SCALE, np.array([1.0, 0.0, 1.0])),
    "a small tau": PointHorseshoe(W, SCALE, A=np.asarray(0.05)),
    "twelve weights": PointHorseshoe(np.geomspace(1e-3, 2.0, 12), np.linspace(0.2, 0.9, 12)),
    "all are small": PointHorseshoe(1e-4 * W, SCALE),
}
each = pytest.mark.parametrize("prior", CASES.values(), ids=CASES)


def log_half_cauchy(log_w, scale):
    """The log density of the logarithm of a half-Cauchy variable."""
    return halfcauchy.logpdf(np.exp(log_w), scale=scale) + log_w


def given_tau(prior, log_tau):
    """log p(log w, log tau), by scipy."""
    shrunk = np.broadcast_to(prior.shrunk, prior.w.shape) == 1.0
    scales = np.where(shrunk, np.exp(log_tau), 1.0) * prior.scale
    return log_half_cauchy(np.log(prior.w), scales).sum() + log_half_cauchy(log_tau, prior.A)


@each
def test_the_divergence_is_minus_the_log_of_the_integral_over_tau(prior):
    top = max(given_tau(prior, t) for t in np.linspace(-20.0, 10.0, 301))
    whole, _ = quad(
        lambda t: np.exp(given_tau(prior, t) - top), -30.0, 20.0, points=np.linspace(-29.0, 19.0, 49), limit=200
    )
    assert_allclose(-prior.kl(), top + np.log(whole), atol=1e-7)


@each
def test_the_slope_is_that_of_finite_differences(prior):
    u = np.log(prior.w)

    def height(u):
        return -float(replace(prior, w=np.exp(u)).kl())

    expected = [(height(u + step) - height(u - step)) / 2e-5 for step in 1e-5 * np.eye(len(u))]
    assert_allclose(prior.mixed(u).slope, expected, atol=1e-7)
    assert_allclose(prior.mixed(u).log_density, height(u), rtol=1e-12)


def test_a_single_weight_is_a_product_of_two_half_cauchy_variables():
    # log(tau lambda) / (tau lambda) has the density 4 log w / (pi^2 (w^2 - 1)) if both scales are 1
    for w in (0.01, 0.5, 4.0):
        density = 4.0 * w * np.log(w) / (np.pi**2 * (w**2 - 1.0))
        assert_allclose(-PointHorseshoe(np.array([w]), np.ones(1)).kl(), np.log(density), atol=1e-8)


def test_weights_that_are_not_shrunk_are_half_cauchy_and_tau_has_its_prior():
    alone = PointHorseshoe(W, SCALE, np.zeros(3))
    assert_allclose(alone.kl(), HalfCauchy(W, SCALE).kl(), atol=1e-6)
    assert_allclose([alone.tau(0.25), alone.tau(0.5)], halfcauchy.ppf([0.25, 0.5]), rtol=0.01)


def test_a_weight_far_above_the_others_says_nothing_of_their_scale():
    # the tail of lambda is that of 1 / w whatever tau is, up to the mean of tau that it multiplies
    far, further = (PointHorseshoe(np.array([*(1e-3 * W), w]), np.array([*SCALE, 0.5])) for w in (1e2, 1e4))
    assert_allclose(further.kl() - far.kl(), np.log(1e2), atol=1e-3)
    assert_allclose(further.tau(0.5), far.tau(0.5), rtol=1e-3)


def test_small_weights_lower_tau_and_tau_lowers_the_others():
    few = PointHorseshoe(W, SCALE)
    small = PointHorseshoe(np.append(W, np.full(8, 1e-3)), np.append(SCALE, np.full(8, 0.5)))
    assert small.tau(0.5) < 0.1 * few.tau(0.5)
    assert small.mixed(np.log(small.w)).slope[0] < few.mixed(np.log(W)).slope[0]


def test_quantiles_of_tau_are_those_of_weighted_draws_of_the_prior():
    prior, rng = CASES["three weights"], np.random.default_rng(0)
    taus = halfcauchy.rvs(size=200_000, random_state=rng)
    logs = np.sum([log_half_cauchy(np.log(w), taus * s) for w, s in zip(prior.w, prior.scale, strict=True)], axis=0)
    likelihoods = np.exp(logs - logs.max())
    likelihoods /= likelihoods.sum()
    for probability in (0.1, 0.5, 0.9):
        below = taus <= prior.tau(probability)
        found = likelihoods[below].sum()
        error = np.sqrt(np.sum((likelihoods * (below - found)) ** 2))
        # between the points of the grid the quantile is interpolated
        assert abs(found - probability) < 4.0 * error + 0.003


def test_a_conditional_density_is_the_ratio_of_two_priors():
    prior = CASES["twelve weights"]
    whole = prior.kl()
    for i, found in enumerate(prior.conditional_log_densities()):
        others = np.delete(np.arange(12), i)
        assert_allclose(found, PointHorseshoe(prior.w[others], prior.scale[others]).kl() - whole, atol=1e-6)


def test_quantiles_are_those_of_a_log_normal_about_the_weight():
    prior = replace(CASES["three weights"], deviation=np.array([0.1, 0.0, 0.5]))
    assert_allclose(prior.quantile(0.5), W)
    assert_allclose(np.log(prior.quantile(0.975) / W), 1.959964 * prior.deviation, rtol=1e-6)
