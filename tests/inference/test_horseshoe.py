"""Laws of the horseshoe, variational and with point weights: KL by the paper and by sampling, draws, quantiles."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, optimize, stats
from scipy.integrate import quad
from scipy.special import digamma, gammaln
from scipy.stats import halfcauchy

from farrier.baselines.weight_priors import draw, half_cauchy_kl
from farrier.baselines.weight_priors import kl as divergence
from farrier.inference.horseshoe import Horseshoe, PointHorseshoe, marginal_kl
from farrier.inference.weight_priors import quasi_normal
from tests.inference.prior_cases import small_horseshoe

CASES = [(0.0, 0.1, 1.0), (-3.0, 0.5, 1.0), (2.0, 1.5, 1.0), (0.7, 0.3, 2.5), (-5.0, 0.05, 0.3)]


def optimal_rate(mu, v, c):
    return np.exp(-mu + 0.5 * v) + c**-2.0


def long_form(mu, v, c, r, s=1.0):
    """The paper's appendix: entropies and expected log priors, here with KL's sign and phi's rate 1/c^2."""
    entropy_scale = mu + 0.5 * np.log(2.0 * np.pi * np.e * v)
    entropy_phi = s + np.log(r) + gammaln(s) - (1.0 + s) * digamma(s)
    log_phi, inverse_phi = np.log(r) - digamma(s), s / r
    inverse_scale = np.exp(-mu + 0.5 * v)
    prior_scale = -0.5 * log_phi - gammaln(0.5) - 1.5 * mu - inverse_scale * inverse_phi
    prior_phi = -0.5 * np.log(c**2) - gammaln(0.5) - 1.5 * log_phi - inverse_phi / c**2
    return -(entropy_scale + entropy_phi + prior_scale + prior_phi)


def kl(mu, v, c):
    return float(half_cauchy_kl(mu, v, c))


@pytest.mark.parametrize(("mu", "v", "c"), CASES)
def test_kl_is_the_paper_s_long_form_at_the_optimal_phi(mu, v, c):
    assert_allclose(kl(mu, v, c), long_form(mu, v, c, optimal_rate(mu, v, c)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("mu", "v", "c"), CASES)
def test_no_other_phi_is_better(mu, v, c):
    best = kl(mu, v, c)
    for factor in (0.3, 0.9, 1.1, 3.0):
        assert long_form(mu, v, c, factor * optimal_rate(mu, v, c)) > best
    found = optimize.minimize(lambda x: long_form(mu, v, c, *np.exp(x)), np.array([1.0, 0.5]), tol=1e-10)
    assert_allclose(np.exp(found.x), [optimal_rate(mu, v, c), 1.0], rtol=1e-4)
    assert_allclose(found.fun, best, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("mu", "v", "c"), CASES)
def test_kl_agrees_with_sampling(mu, v, c):
    rng, n, r = np.random.default_rng(7), 50_000, optimal_rate(mu, v, c)
    q_scale, q_phi = stats.lognorm(np.sqrt(v), scale=np.exp(mu)), stats.invgamma(1.0, scale=r)
    s2, phi = q_scale.rvs(n, random_state=rng), q_phi.rvs(n, random_state=rng)
    log_q = q_scale.logpdf(s2) + q_phi.logpdf(phi)
    log_p = stats.invgamma.logpdf(s2, 0.5, scale=1.0 / phi) + stats.invgamma.logpdf(phi, 0.5, scale=c**-2.0)
    ratio = log_q - log_p
    assert abs(ratio.mean() - kl(mu, v, c)) < 4.0 * ratio.std() / np.sqrt(n)


def alone(mu, v, c):
    """The KL divergence of s^2 alone and its derivatives by mu and by log v, at one place."""
    return tuple(float(one[0]) for one in marginal_kl(np.array([mu]), np.array([v]), np.array([c])))


@pytest.mark.parametrize(("mu", "v", "c"), [*CASES, (-4.0, 4.0, 1.0), (0.5, 9.0, 1.0)])
def test_kl_without_phi_is_that_of_a_log_normal_and_a_half_cauchy(mu, v, c):
    def ratio(z):
        x = np.exp(mu + np.sqrt(v) * z)  # s^2, whose density is that of s over 2 s
        log_q = stats.lognorm.logpdf(x, np.sqrt(v), scale=np.exp(mu))
        return log_q - stats.halfcauchy.logpdf(np.sqrt(x), scale=c) + np.log(2.0 * np.sqrt(x))

    integral = integrate.quad(lambda z: stats.norm.pdf(z) * ratio(z), -10.0, 10.0)[0]
    assert_allclose(alone(mu, v, c)[0], integral, atol=1e-5)
    drawn = ratio(np.random.default_rng(7).standard_normal(50_000))
    assert abs(drawn.mean() - alone(mu, v, c)[0]) < 4.0 * drawn.std() / np.sqrt(len(drawn))


@pytest.mark.parametrize("c", [0.3, 1.0, 2.5])
def test_kl_without_phi_is_positive_and_below_that_with_phi_by_at_most_half_the_variance(c):
    mu, v = (grid.ravel() for grid in np.meshgrid(np.linspace(-9.0, 9.0, 19), [1e-3, 0.05, 0.5, 2.0, 4.0, 10.0, 30.0]))
    without = marginal_kl(mu, v, np.full_like(mu, c))[0]
    assert np.all(without > 0.0)
    # what is lost is Jensen's gap in the logarithm of s^-2 + c^-2
    gap = half_cauchy_kl(mu, v, c) - without
    assert np.all(gap > 0.0)
    assert np.all(gap < 0.5 * v)
    # it grows with v, so that the q of the smaller divergence is wider
    assert np.all(np.diff(gap.reshape(-1, 19), axis=0) > 0.0)


@pytest.mark.parametrize(("mu", "v", "c"), [*CASES, (-4.0, 4.0, 1.0), (0.5, 9.0, 1.0)])
def test_derivatives_of_the_kl_without_phi_are_those_of_finite_differences(mu, v, c):
    _, by_mu, by_log_v = alone(mu, v, c)
    assert_allclose(by_mu, (alone(mu + 1e-5, v, c)[0] - alone(mu - 1e-5, v, c)[0]) / 2e-5, rtol=1e-6, atol=1e-9)
    ends = [alone(mu, v * np.exp(step), c)[0] for step in (1e-5, -1e-5)]
    assert_allclose(by_log_v, (ends[0] - ends[1]) / 2e-5, rtol=1e-6, atol=1e-9)


def test_kl_of_the_model_is_one_term_for_tau_and_one_for_each_lambda():
    prior = small_horseshoe()
    terms = [
        (prior.mu_tau, prior.v_tau, prior.A),
        *((mu, v, prior.B) for mu, v in zip(prior.mu, prior.v, strict=True)),
    ]
    expected = sum(long_form(mu, v, c, optimal_rate(mu, v, c)) for mu, v, c in terms)
    assert_allclose(divergence(prior), expected, rtol=1e-12)


def test_kl_is_least_where_scales_are_at_their_prior_median():
    # d KL / d mu = 1/2 - exp(-mu + v/2) / r vanishes at mu = v/2 + 2 log c
    v, c = 0.3, 1.7
    mu = 0.5 * v + 2.0 * np.log(c)
    assert abs(kl(mu + 1e-4, v, c) - kl(mu - 1e-4, v, c)) < 1e-14
    assert kl(mu, v, c) < min(kl(mu + 0.1, v, c), kl(mu - 0.1, v, c))


def test_draws_follow_the_quantiles():
    prior = small_horseshoe()
    w = draw(prior, quasi_normal(4096, prior.noise_size))
    for probability in (0.025, 0.25, 0.5, 0.9):
        assert_allclose(np.quantile(w, probability, axis=0), prior.quantile(probability), rtol=0.03)


def test_median_of_a_draw_without_noise():
    prior = small_horseshoe()
    assert_allclose(draw(prior, np.zeros((1, prior.noise_size)))[0], prior.quantile(0.5), rtol=1e-12)


def test_weights_of_one_draw_share_tau():
    prior = small_horseshoe()
    log_w2 = 2.0 * np.log(draw(prior, quasi_normal(256, prior.noise_size)))
    # Cov(log w_i^2, log w_j^2) = v_tau + 1(i = j) v_i, and 256 quasi-random points have these moments exactly
    assert_allclose(np.mean(log_w2, axis=0), prior.mu_tau + prior.mu, rtol=1e-10)
    assert_allclose(np.cov(log_w2.T, bias=True), prior.v_tau + np.diag(prior.v), rtol=1e-9)


def test_start_is_at_the_stated_median_for_any_scales_of_the_prior():
    for A, B in ((1.0, 1.0), (0.1, 3.0)):
        assert_allclose(Horseshoe.initial(16, A, B).quantile(0.5), np.full(16, 0.25), rtol=1e-12)
        assert_allclose(Horseshoe.initial(5, A, B, median=0.8).quantile(0.5), np.full(5, 0.8), rtol=1e-12)
    start = Horseshoe.initial(4)
    assert np.all(np.asarray(start.quantile(0.975) / start.quantile(0.5)) < 1.4)


@pytest.mark.parametrize("mu", [-60.0, 0.0, 60.0])
@pytest.mark.parametrize("v", [1e-12, 1.0, 50.0])
def test_gradients_are_finite_at_extreme_values(mu, v):
    prior = Horseshoe(np.asarray(mu), np.asarray(v), np.full(2, mu), np.full(2, v))
    weighed = prior.weigh(prior.vector(), np.array([[3.0, -3.0, 2.0]]))
    # the derivative of sum log w^2, which is 1 / w^2 by w^2
    assert np.all(np.isfinite(weighed.pull(1.0 / weighed.w2)))
    assert np.isfinite(weighed.kl)


def test_only_the_parameters_of_q_are_trained():
    prior = small_horseshoe()
    expected = [prior.mu_tau, np.log(prior.v_tau), *prior.mu, *np.log(prior.v)]
    assert_allclose(prior.vector(), expected, rtol=1e-12)
    moved = prior.with_vector(prior.vector() + 1.0)
    assert (moved.A, moved.B) == (prior.A, prior.B)


def test_impossible_scales_and_medians_are_refused():
    with pytest.raises(ValueError, match="B=-1"):
        Horseshoe.initial(3, 1.0, -1.0)
    with pytest.raises(ValueError, match=r"A=0\.0"):
        Horseshoe.initial(3, 0.0, 1.0)
    with pytest.raises(ValueError, match="median=0"):
        Horseshoe.initial(3, median=0.0)
    with pytest.raises(ValueError, match="m=0"):
        Horseshoe.initial(0)
    with pytest.raises(ValueError, match="probability=95"):
        Horseshoe.initial(3).quantile(95.0)


W = np.array([0.4, 0.02, 3.0])
SCALE = np.array([0.5, 0.3, 0.8])
POINT_CASES = {
    "three weights": PointHorseshoe(W, SCALE),
    "one has a scale of its own": PointHorseshoe(W, SCALE, np.array([1.0, 0.0, 1.0])),
    "a small tau": PointHorseshoe(W, SCALE, A=np.asarray(0.05)),
    "twelve weights": PointHorseshoe(np.geomspace(1e-3, 2.0, 12), np.linspace(0.2, 0.9, 12)),
    "all are small": PointHorseshoe(1e-4 * W, SCALE),
}
each = pytest.mark.parametrize("prior", POINT_CASES.values(), ids=POINT_CASES)


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
    assert_allclose(prior.log_density, top + np.log(whole), atol=1e-7)


@each
def test_the_slope_is_that_of_finite_differences(prior):
    u = np.log(prior.w)

    def height(u):
        return replace(prior, w=np.exp(u)).log_density

    expected = [(height(u + step) - height(u - step)) / 2e-5 for step in 1e-5 * np.eye(len(u))]
    assert_allclose(prior.mixed(u).slope, expected, atol=1e-7)
    assert_allclose(prior.mixed(u).log_density, height(u), rtol=1e-12)


def test_a_single_weight_is_a_product_of_two_half_cauchy_variables():
    # log(tau lambda) / (tau lambda) has the density 4 log w / (pi^2 (w^2 - 1)) if both scales are 1
    for w in (0.01, 0.5, 4.0):
        density = 4.0 * w * np.log(w) / (np.pi**2 * (w**2 - 1.0))
        assert_allclose(PointHorseshoe(np.array([w]), np.ones(1)).log_density, np.log(density), atol=1e-8)


def test_weights_that_are_not_shrunk_are_half_cauchy():
    alone = PointHorseshoe(W, SCALE, np.zeros(3))
    # p(log w) = p(w) w
    densities = halfcauchy.logpdf(W, scale=SCALE) + np.log(W)
    assert_allclose(alone.log_density, densities.sum(), atol=1e-6)


def test_tau_has_its_prior_without_weights_and_follows_those_that_it_shrinks():
    alone = PointHorseshoe(W, SCALE, np.zeros(3))
    assert_allclose([alone.tau(0.25), alone.tau(0.5)], halfcauchy.ppf([0.25, 0.5]), rtol=0.01)
    many = np.full(40, 0.01)
    assert_allclose(PointHorseshoe(many, np.ones(40), np.ones(40)).tau(0.5), 0.01, rtol=0.2)


def test_a_weight_far_above_the_others_says_nothing_of_their_scale():
    # the tail of lambda is that of 1 / w whatever tau is, up to the mean of tau that it multiplies
    far, further = (PointHorseshoe(np.array([*(1e-3 * W), w]), np.array([*SCALE, 0.5])) for w in (1e2, 1e4))
    assert_allclose(far.log_density - further.log_density, np.log(1e2), atol=1e-3)


def test_small_weights_pull_the_others_down():
    few = PointHorseshoe(W, SCALE)
    small = PointHorseshoe(np.append(W, np.full(8, 1e-3)), np.append(SCALE, np.full(8, 0.5)))
    assert small.mixed(np.log(small.w)).slope[0] < few.mixed(np.log(W)).slope[0]


def test_a_conditional_density_is_the_ratio_of_two_priors():
    prior = POINT_CASES["twelve weights"]
    whole = prior.log_density
    for i, found in enumerate(prior.conditional_log_densities()):
        others = np.delete(np.arange(12), i)
        assert_allclose(found, whole - PointHorseshoe(prior.w[others], prior.scale[others]).log_density, atol=1e-6)


def test_quantiles_are_those_of_a_log_normal_about_the_weight():
    prior = replace(POINT_CASES["three weights"], deviation=np.array([0.1, 0.0, 0.5]))
    assert_allclose(prior.quantile(0.5), W)
    assert_allclose(np.log(prior.quantile(0.975) / W), 1.959964 * prior.deviation, rtol=1e-6)


def test_point_weights_are_independent_of_draws_and_keep_their_scales():
    prior = PointHorseshoe(W, SCALE)
    assert_allclose(prior.weigh(prior.vector(), np.zeros((3, 0))).w2, np.tile(W**2, (3, 1)), rtol=1e-12)
    assert_array_equal(prior.with_vector(np.zeros(3)).scale, SCALE)


def test_quantiles_of_point_weights_are_those_of_a_log_normal():
    prior = PointHorseshoe(np.array([0.1, 2.0]), np.ones(2), deviation=np.array([0.2, 0.0]))
    assert_allclose(prior.quantile(0.9), [stats.lognorm.ppf(0.9, 0.2, scale=0.1), 2.0], rtol=1e-10)
    assert_allclose(prior.quantile(0.5), prior.w, rtol=1e-12)
    with pytest.raises(ValueError, match=r"probability=0\.0"):
        prior.quantile(0.0)
