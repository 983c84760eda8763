"""Laws of the horseshoe: its KL against the paper's long form and against sampling, its draws, its quantiles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, optimize, stats
from scipy.special import digamma, gammaln

from farrier.inference.horseshoe import Horseshoe, half_cauchy_kl, marginal_kl
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
    assert_allclose(prior.kl(), expected, rtol=1e-12)


def test_kl_is_least_where_scales_are_at_their_prior_median():
    # d KL / d mu = 1/2 - exp(-mu + v/2) / r vanishes at mu = v/2 + 2 log c
    v, c = 0.3, 1.7
    mu = 0.5 * v + 2.0 * np.log(c)
    assert abs(kl(mu + 1e-4, v, c) - kl(mu - 1e-4, v, c)) < 1e-14
    assert kl(mu, v, c) < min(kl(mu + 0.1, v, c), kl(mu - 0.1, v, c))


def test_draws_follow_the_quantiles():
    prior = small_horseshoe()
    w = prior.draw(quasi_normal(4096, prior.noise_size))
    for probability in (0.025, 0.25, 0.5, 0.9):
        assert_allclose(np.quantile(w, probability, axis=0), prior.quantile(probability), rtol=0.03)


def test_median_of_a_draw_without_noise():
    prior = small_horseshoe()
    assert_allclose(prior.draw(np.zeros((1, prior.noise_size)))[0], prior.quantile(0.5), rtol=1e-12)


def test_without_noise_for_tau_each_weight_is_drawn_from_its_marginal():
    prior = small_horseshoe()
    m = prior.mu.shape[0]
    log_w2 = 2.0 * np.log(prior.draw(quasi_normal(256, m)))
    assert_allclose(np.mean(log_w2, axis=0), prior.mu_tau + prior.mu, rtol=1e-10)
    assert_allclose(np.cov(log_w2.T, bias=True), np.diag(prior.v_tau + prior.v), rtol=1e-9, atol=1e-12)


def test_weights_of_one_draw_share_tau():
    prior = small_horseshoe()
    log_w2 = 2.0 * np.log(prior.draw(quasi_normal(256, prior.noise_size)))
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
