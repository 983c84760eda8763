"""Laws of a model taken apart: its terms add up to its bound, and its distributions are those of the model."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.baselines.weight_priors import NoPrior
from farrier.inference.likelihoods import Gaussian
from farrier.kernels.registry import SquaredExponential
from farrier.paper.anatomy import take_apart, train_paper
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Model
from farrier.paper.pool import stack
from farrier.paper.training import Settings

RNG = np.random.default_rng(0)
X = np.linspace(-1.5, 1.5, 20)[:, None]
Y = np.sin(4.0 * X[:, 0]) + 0.1 * RNG.standard_normal(20)


@pytest.fixture(scope="module")
def trained():
    model, history = train_paper(X, Y, points=5, settings=Settings(iterations=50, learning_rate=0.05))
    return model, history, take_apart(model, X, Y)


def test_the_terms_add_up_to_the_bound_of_training(trained):
    _, history, parts = trained
    assert_allclose(parts.terms.total, history.bound.max(), rtol=1e-6)
    assert_allclose(parts.terms.kl_groups, sum(group.kl_u for group in parts.groups), rtol=1e-12)
    assert_allclose(parts.terms.kl_lambdas, sum(group.kl_lambda for group in parts.groups), rtol=1e-12)


def test_the_groups_are_the_paper_s_pool_with_their_weights(trained):
    model, _, parts = trained
    assert len(parts.groups) == 24
    assert_allclose([group.weight for group in parts.groups], model.prior.quantile(0.5))
    for group in parts.groups:
        assert_allclose(group.weight, parts.tau.median * group.local.median, rtol=1e-10)


def test_q_of_a_group_has_the_moments_of_its_function_at_its_points(trained):
    model, _, parts = trained
    i = int(np.argmax([group.weight for group in parts.groups]))
    group = parts.groups[i]
    mean, variance = jax.jit(lambda q, x: q.functions(x))(model.posterior, jnp.asarray(group.Z))
    assert_allclose(mean[i], group.q_u.mean, rtol=1e-4, atol=1e-5)
    assert_allclose(variance[i], np.diagonal(group.q_u.covariance), rtol=1e-3, atol=1e-5)


def test_q_of_phi_is_the_closed_form(trained):
    parts = trained[2]
    assert parts.phi.shape == 1.0
    assert_allclose(parts.phi.rate, np.exp(-parts.tau.mu + 0.5 * parts.tau.v) + 1.0)


def test_other_models_are_refused():
    pool = stack([SquaredExponential(1.0)], 1)
    with pytest.raises(ValueError, match="only MultiSVGP with a horseshoe prior"):
        take_apart(Model(NoPrior.initial(1), Gaussian(0.1), MultiSVGP.initial(pool, X[:3])), X, Y)
