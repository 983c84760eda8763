"""Formulas of priors and likelihoods are the same numbers in both worlds, and jax can differentiate them anywhere."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.baselines.weight_priors import draw, kl
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.weight_priors import quasi_normal
from farrier.paper.trees import JAX, bound, free
from tests.inference.likelihood_cases import CASES, grid
from tests.inference.prior_cases import MADE, each_prior

each_jax = pytest.mark.parametrize("name", [name for name in CASES if name != "negative binomial"])


@each_prior
def test_draws_and_divergences_are_those_of_numpy(prior):
    noise = quasi_normal(8, prior.noise_size)
    both = eqx.filter_jit(lambda prior, noise: (draw(prior, noise, JAX), kl(prior, JAX)))
    draws, divergence = both(prior, jnp.asarray(noise))
    assert_allclose(draws, draw(prior, noise), rtol=1e-12)
    assert_allclose(divergence, kl(prior), rtol=1e-12, atol=1e-14)


@each_prior
def test_derivatives_of_weights_are_those_by_hand(prior):
    noise = quasi_normal(4, prior.noise_size)
    weighed = prior.weigh(prior.vector(), noise)
    gain = np.random.default_rng(0).standard_normal(weighed.w2.shape)
    # without a gain what is pulled back is minus the derivative of the divergence
    by_hand = weighed.pull(gain) - weighed.pull(np.zeros_like(gain))
    found = slopes(prior, lambda at: jnp.sum(gain * draw(at, jnp.asarray(noise), JAX) ** 2))
    assert_allclose(found, by_hand, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in MADE if name != "horseshoe"])
def test_derivatives_of_the_divergence_are_those_by_hand(name):
    # the horseshoe has two: the paper's, and that without the auxiliary variables (tests/inference/test_horseshoe.py)
    prior = MADE[name]
    weighed = prior.weigh(prior.vector(), quasi_normal(4, prior.noise_size))
    by_hand = -weighed.pull(np.zeros_like(weighed.w2))
    assert_allclose(slopes(prior, lambda at: kl(at, JAX)), by_hand, rtol=1e-9, atol=1e-12)


def slopes(prior, height):
    """The derivative of a function of a prior by all unbounded numbers."""
    found = eqx.filter_jit(jax.grad(lambda unbounded: height(bound(unbounded, prior))))(free(prior))
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(found)])


@each_prior
def test_unbounded_numbers_are_those_of_the_vector(prior):
    found = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(free(prior))])
    assert_allclose(found, prior.vector(), rtol=1e-12)
    again = bound(free(prior), prior)
    for before, after in zip(jax.tree.leaves(prior), jax.tree.leaves(again), strict=True):
        assert_allclose(after, before, rtol=1e-12)


def test_constants_of_a_prior_are_not_trained():
    unbounded = free(MADE["horseshoe"])
    assert unbounded.A is None
    assert unbounded.B is None
    assert len(jax.tree.leaves(unbounded)) == 4


@eqx.filter_jit
def prior_slopes(unbounded, prior, noise):
    def value(unbounded):
        here = bound(unbounded, prior)
        return kl(here, JAX) + jnp.sum(jnp.log(jnp.abs(draw(here, noise, JAX))))

    return jax.grad(value)(unbounded)


@pytest.mark.parametrize("mu", [-60.0, 0.0, 60.0])
@pytest.mark.parametrize("v", [1e-12, 1.0, 50.0])
def test_gradients_of_the_horseshoe_are_finite_at_extreme_values(mu, v):
    prior = Horseshoe(np.asarray(mu), np.asarray(v), np.full(2, mu), np.full(2, v))
    gradient = prior_slopes(free(prior), prior, jnp.asarray([[3.0, -3.0, 2.0]]))
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(gradient))


@pytest.mark.parametrize("kind", [type(prior) for prior in MADE.values()])
def test_kl_and_draws_are_differentiable_far_out(kind):
    prior = kind.initial(2)
    noise = jnp.asarray([[8.0, -8.0, 30.0, -30.0]])[:, : prior.noise_size]

    def value(unbounded):
        here = bound(unbounded, prior)
        return kl(here, JAX) + jnp.sum(draw(here, noise, JAX) ** 2)

    gradient = jax.jit(jax.grad(value))
    for shift in (-25.0, 0.0, 5.0):
        shifted = jax.tree.map(lambda leaf: leaf + shift, free(prior))
        assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(gradient(shifted)))


# likelihoods


@each_jax
def test_the_expected_log_is_that_of_numpy(name):
    likelihood, _, ys = CASES[name]
    y, mean, variance = grid(ys)
    compiled = eqx.filter_jit(lambda likelihood, *rows: likelihood.expected_log(*rows, JAX))
    found = compiled(likelihood, *(jnp.asarray(one) for one in (y, mean, variance)))
    # jax's own logarithm of the beta function is off by 3e-9 at 60 degrees of freedom
    tolerance = 1e-8 if name == "light student" else 1e-12
    assert_allclose(found, likelihood.expected_log(y, mean, variance), rtol=tolerance, atol=tolerance)


@eqx.filter_jit
def value_and_slopes(likelihood, theta, y, mean, variance):
    """The sum of the integrals over all points, and its derivative in everything."""

    def value(at):
        theta, *moments = at
        here = bound(theta, likelihood)
        return jnp.sum(here.expected_log(y, *moments, JAX))

    return jax.value_and_grad(value)((theta, mean, variance))


@each_jax
def test_derivatives_agree_with_finite_differences(name):
    likelihood, _, ys = CASES[name]
    y, mean = jnp.asarray(ys), jnp.asarray([0.3, -0.2, 0.1][: len(ys)])
    leaves, structure = jax.tree.flatten((free(likelihood), mean, jnp.full(y.shape, 0.5)))

    def at(leaves):
        theta, *moments = jax.tree.unflatten(structure, leaves)
        return value_and_slopes(likelihood, theta, y, *moments)

    for i, slope in enumerate(jax.tree.leaves(at(leaves)[1])):
        up, down = (at([leaf + sign * 1e-5 * (i == j) for j, leaf in enumerate(leaves)])[0] for sign in (1.0, -1.0))
        assert_allclose(np.sum(slope), (up - down) / 2e-5, rtol=1e-5, atol=1e-5)


@each_jax
@pytest.mark.parametrize("mean", [-300.0, 0.0, 6.0])
@pytest.mark.parametrize("variance", [0.0, 1e-14, 50.0])
def test_gradients_are_finite_at_extreme_values(name, mean, variance):
    likelihood, _, ys = CASES[name]
    moments = (jnp.full(len(ys), value) for value in (mean, variance))
    _, slopes = value_and_slopes(likelihood, free(likelihood), jnp.asarray(ys), *moments)
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(slopes))
