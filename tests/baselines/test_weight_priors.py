"""Laws of the other priors on the weights, and of the interface that all share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import expit

from farrier.baselines.weight_priors import NoPrior, Softmax, SpikeAndSlab, draw, kl
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.weight_priors import prediction_weights, quasi_normal
from tests.inference.prior_cases import divergence, each_prior, small_spike_and_slab

PRIORS = [Horseshoe, NoPrior, Softmax, SpikeAndSlab]


@pytest.mark.parametrize("kind", PRIORS)
def test_a_draw_is_a_row_of_weights_for_each_row_of_noise(kind):
    prior = kind.initial(5)
    noise = quasi_normal(8, prior.noise_size)
    w = draw(prior, noise)
    assert w.shape == (8, 5)
    assert_array_equal(w, draw(prior, noise))
    assert prior.quantile(0.3).shape == (5,)
    assert kl(prior).shape == ()


@pytest.mark.parametrize("kind", PRIORS)
def test_the_start_has_about_unit_variance_in_all(kind):
    prior = kind.initial(9)
    w = draw(prior, quasi_normal(512, prior.noise_size))
    assert 0.5 < np.mean(np.sum(w**2, axis=1)) < 1.5


@each_prior
def test_the_vector_and_the_prior_are_inverse(prior):
    u = prior.vector() + 0.1 * np.random.default_rng(0).standard_normal(len(prior.vector()))
    again = prior.with_vector(u)
    assert_allclose(again.vector(), u, rtol=1e-12, atol=1e-14)
    assert again.quantile(0.5).shape == prior.quantile(0.5).shape


@each_prior
def test_weigh_gives_the_squares_of_the_draws_and_the_divergence(prior):
    noise = quasi_normal(4, prior.noise_size)
    u = prior.vector() + 0.1 * np.random.default_rng(0).standard_normal(len(prior.vector()))
    weighed, moved = prior.weigh(u, noise), prior.with_vector(u)
    assert_allclose(weighed.w2, draw(moved, noise) ** 2, rtol=1e-12)
    assert_allclose(weighed.kl, divergence(moved), rtol=1e-10, atol=1e-14)


@each_prior
def test_pull_is_the_derivative_of_a_gain_less_the_divergence(prior):
    noise, u = quasi_normal(4, prior.noise_size), prior.vector()
    weighed = prior.weigh(u, noise)
    gain = np.random.default_rng(0).standard_normal(weighed.w2.shape)

    def height(u):
        at = prior.with_vector(u)
        return np.sum(gain * draw(at, noise) ** 2) - divergence(at)

    expected = [(height(u + step) - height(u - step)) / 2e-6 for step in 1e-6 * np.eye(len(u))]
    assert_allclose(weighed.pull(gain), expected, rtol=1e-6, atol=1e-6)


@each_prior
def test_weights_for_predictions_are_draws_without_their_signs(prior):
    noise = quasi_normal(8, prior.noise_size)
    assert_allclose(prediction_weights(prior, noise), np.abs(draw(prior, noise)), rtol=1e-12)


@pytest.mark.parametrize("kind", PRIORS)
def test_quantiles_rise_with_the_probability(kind):
    prior = kind.initial(3)
    rows = np.stack([prior.quantile(probability) for probability in (0.01, 0.2, 0.5, 0.8, 0.99)])
    assert np.all(np.diff(rows, axis=0) >= 0.0)
    with pytest.raises(ValueError, match=r"probability=1\.0"):
        prior.quantile(1.0)


@pytest.mark.parametrize("kind", PRIORS)
def test_kl_and_draws_are_differentiable_far_out(kind):
    prior = kind.initial(2)
    noise = np.array([[8.0, -8.0, 30.0, -30.0]])[:, : prior.noise_size]
    for shift in (-25.0, 0.0, 5.0):
        weighed = prior.weigh(prior.vector() + shift, noise)
        assert np.isfinite(weighed.kl)
        assert np.all(np.isfinite(weighed.pull(np.ones_like(weighed.w2))))


def test_no_prior_is_its_weights():
    w = np.array([0.1, 2.0])
    prior = NoPrior(w)
    assert_array_equal(draw(prior, np.zeros((3, 0))), np.tile(w, (3, 1)))
    assert_array_equal(prior.quantile(0.9), w)
    assert kl(prior) == 0.0


def test_softmax_shares_one_variance_among_the_kernels():
    prior = Softmax(np.array([0.0, 1.0, -2.0]), 1.5)
    w = draw(prior, np.zeros((2, 0)))
    assert_allclose(np.sum(w**2, axis=1), 1.5**2, rtol=1e-12)
    assert_allclose(w[0] ** 2 / 1.5**2, np.exp([0.0, 1.0, -2.0]) / np.sum(np.exp([0.0, 1.0, -2.0])), rtol=1e-12)


def test_softmax_kl_agrees_with_sampling_and_its_limits():
    logits = np.array([0.0, 1.0, -2.0, 0.5])
    pi = np.exp(logits) / np.sum(np.exp(logits))
    choice = np.random.default_rng(3).choice(4, size=100_000, p=pi)
    ratio = np.log(pi[choice]) - stats.randint.logpmf(choice, 0, 4)
    assert abs(ratio.mean() - Softmax(logits, np.asarray(1.0)).kl()) < 4.0 * ratio.std() / np.sqrt(ratio.size)
    assert_allclose(Softmax.initial(7).kl(), 0.0, atol=1e-14)
    assert_allclose(Softmax(np.array([800.0, 0.0, -800.0]), np.asarray(1.0)).kl(), np.log(3.0), rtol=1e-12)


def test_spike_and_slab_kl_agrees_with_sampling():
    prior, rng, n = small_spike_and_slab(), np.random.default_rng(5), 100_000
    sd, pi = np.sqrt(prior.variance), expit(prior.logits)
    v = prior.mean + sd * rng.standard_normal((n, 4))
    s = rng.random((n, 4)) < pi
    log_q = stats.norm.logpdf(v, prior.mean, sd) + stats.bernoulli.logpmf(s, pi)
    log_p = stats.norm.logpdf(v, 0.0, np.sqrt(prior.slab)) + stats.bernoulli.logpmf(s, prior.probability)
    ratio = np.sum(log_q - log_p, axis=1)
    assert abs(ratio.mean() - kl(prior)) < 4.0 * ratio.std() / np.sqrt(n)


def test_spike_and_slab_kl_vanishes_when_q_is_the_prior():
    prior = SpikeAndSlab(np.zeros(3), np.full(3, 1.7), np.full(3, np.log(0.3 / 0.7)), 0.3, 1.7, 0.5)
    assert_allclose(kl(prior), 0.0, atol=1e-14)


@pytest.mark.parametrize("probability", [0.01, 0.025, 0.3, 0.5, 0.9, 0.975])
def test_spike_and_slab_quantile_is_that_of_the_discrete_weights(probability):
    prior = small_spike_and_slab()
    sd, pi = np.sqrt(prior.variance), expit(prior.logits)
    w = prior.quantile(probability)
    slab = stats.norm.cdf(w, prior.mean, sd)
    up_to, before = pi * slab + (1.0 - pi) * (w >= 0.0), pi * slab + (1.0 - pi) * (w > 0.0)
    assert np.all(up_to >= probability - 1e-12)
    assert np.all(before <= probability + 1e-12)


def test_spike_and_slab_median_is_zero_exactly_when_the_spike_holds_most():
    assert_array_equal(small_spike_and_slab().quantile(0.5) == 0.0, [False, False, True, True])


def test_relaxed_draws_become_discrete_as_the_temperature_falls():
    prior = small_spike_and_slab(temperature=1e-3)
    noise = quasi_normal(4096, 8)
    w = draw(prior, noise)
    v = prior.mean + np.sqrt(prior.variance) * noise[:, :4]
    s = w / v
    assert np.mean((s > 0.01) & (s < 0.99)) < 0.01
    # a switch is on when logistic noise, from the normal through its distribution function, exceeds -logit
    assert_allclose(np.mean(s > 0.5, axis=0), expit(prior.logits), atol=0.01)


def test_the_relaxed_switch_has_logistic_noise_in_both_tails():
    prior = SpikeAndSlab(np.ones(1), np.full(1, 1e-30), np.zeros(1), 0.5, 1.0, 1.0)
    gate = np.array([-12.0, -3.0, 0.0, 1.0, 3.0])
    w = draw(prior, np.stack([np.zeros(5), gate], axis=1))
    assert_allclose(w[:, 0], stats.norm.cdf(gate), rtol=1e-9)


def test_impossible_spikes_and_slabs_are_refused():
    with pytest.raises(ValueError, match=r"probability=1\.5"):
        SpikeAndSlab.initial(3, probability=1.5)
    with pytest.raises(ValueError, match=r"slab=0\.0"):
        SpikeAndSlab.initial(3, slab=0.0)
