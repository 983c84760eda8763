"""Laws of natural gradients and of the closed forms: a step of length one on all rows is the maximum over q(u), the
maximum is one, the bound never passes the exact evidence, and moments of the weights are those of their draws."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from farrier.baselines.weight_priors import NoPrior, Softmax, draw
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Bernoulli, Gaussian
from farrier.inference.weight_priors import quasi_normal
from farrier.kernels.registry import Linear, SquaredExponential
from farrier.paper.inducing import SharedPoints
from farrier.paper.multisvgp import SVGP, MultiSVGP
from farrier.paper.natural_gradients import (
    NaturalQ,
    Q,
    moments_of,
    natural,
    natural_step,
    optimal_q,
    ordinary,
    regressed,
)
from farrier.paper.objective import Batch, Model, evidence_bound, grouped_bound, likelihood_term
from farrier.paper.pool import stack
from farrier.paper.weight_moments import weight_moments

RNG = np.random.default_rng(1)
N, M = 12, 4
X = np.sort(RNG.uniform(-2.0, 2.0, N))[:, None]
Y = np.sin(2.0 * X[:, 0]) + 0.3 * RNG.standard_normal(N)
BATCH = Batch(jnp.asarray(X), jnp.asarray(Y), jnp.ones(N))
Z = np.linspace(-2.0, 2.0, M)[:, None]
ONE, TWO = stack([SquaredExponential(0.8)], 1), stack([SquaredExponential(0.8), Linear(0.3)], 1)
HORSESHOE = Horseshoe(np.asarray(-0.4), np.asarray(0.3), np.array([0.5, -0.7]), np.array([0.2, 0.6]))
NONE = jnp.zeros((1, 0))
START = NaturalQ(jnp.zeros((1, M)), jnp.eye(M)[None])

exact_bound = eqx.filter_jit(grouped_bound)
drawn_bound = eqx.filter_jit(evidence_bound)


@eqx.filter_jit
def at_optimum(model, batch=BATCH):
    features = model.features(batch.X)
    return features, optimal_q(features, model.group_moments(), model.likelihood.variance, batch.y, batch.counts)


@eqx.filter_jit
def stepped(model, q, length=1.0, batch=BATCH, noise=NONE):
    """q after one natural gradient step, and the bound before it."""
    features = model.features(batch.X)
    h, s = moments_of(features, ordinary(q))
    slopes = jax.grad(lambda h, s: likelihood_term(model, batch, h, s, noise), argnums=(0, 1))(h, s)
    before = grouped_bound(model, batch, features, ordinary(q), noise).total
    return natural_step(q, features, slopes, h, jnp.asarray(length), jnp.asarray(length)), before


@pytest.mark.parametrize(
    "posterior",
    [MultiSVGP.initial(ONE, Z), SVGP.initial(TWO, SharedPoints(Z))],
    ids=["one group", "shared points"],
)
def test_a_natural_step_of_length_one_on_all_rows_is_the_maximum(posterior):
    model = Model(NoPrior(np.array([0.9, 0.4])[: len(posterior.pool)]), Gaussian(0.2), posterior)
    _, best = at_optimum(model)
    found = ordinary(stepped(model, START)[0])
    assert_allclose(found.mean, best.mean, rtol=1e-9, atol=1e-11)
    assert_allclose(found.root, best.root, rtol=1e-9, atol=1e-11)


def test_a_step_of_equal_lengths_mixes_natural_parameters():
    model = Model(NoPrior(np.array([0.9])), Gaussian(0.2), MultiSVGP.initial(ONE, Z))
    far, _ = stepped(model, START)
    near, _ = stepped(model, START, 0.3)
    for begin, whole, part in zip(START, far, near, strict=True):
        assert_allclose(part, 0.7 * begin + 0.3 * whole, rtol=1e-10, atol=1e-12)


def test_groups_that_step_in_turn_end_at_the_common_maximum():
    model = Model(HORSESHOE, Gaussian(0.2), MultiSVGP.initial(TWO, Z))
    _, best = at_optimum(model)
    q = NaturalQ(jnp.zeros((2, M)), jnp.tile(jnp.eye(M), (2, 1, 1)))
    for turn in range(300):
        i = turn % 2
        q = jax.tree.map(lambda new, old: old.at[i].set(new[i]), stepped(model, q)[0], q)
    found = ordinary(q)
    assert_allclose(found.mean, best.mean, rtol=1e-6, atol=1e-8)
    assert_allclose(found.root, best.root, rtol=1e-8, atol=1e-10)


def test_no_other_q_is_higher_than_the_optimal_one():
    model = Model(HORSESHOE, Gaussian(0.2), MultiSVGP.initial(TWO, Z))
    features, best = at_optimum(model)
    top = float(exact_bound(model, BATCH, features, best, NONE).total)
    for _ in range(20):
        shaken = Q(
            best.mean + 0.05 * RNG.standard_normal(best.mean.shape),
            best.root + 0.02 * np.tril(RNG.standard_normal(best.root.shape)),
        )
        assert float(exact_bound(model, BATCH, features, shaken, NONE).total) < top


def test_the_exact_expectation_over_the_weights_is_the_limit_of_draws():
    model = Model(HORSESHOE, Gaussian(0.2), MultiSVGP.initial(TWO, Z))
    features, best = at_optimum(model)
    with_q = Model(model.prior, model.likelihood, model.posterior.with_q(best))
    exact = exact_bound(model, BATCH, features, best, NONE)
    drawn = drawn_bound(with_q, BATCH, jnp.asarray(quasi_normal(16384, 3)))
    for one, other in zip(exact, drawn, strict=True):
        assert_allclose(one, other, rtol=5e-3)


@pytest.mark.parametrize("w", [(0.9, 0.4), (0.1, 2.0)])
def test_the_bound_is_never_above_the_exact_evidence(w):
    model = Model(NoPrior(np.array(w)), Gaussian(0.2), MultiSVGP.initial(TWO, np.asarray(X)))
    features, best = at_optimum(model)
    smooth = np.exp(-0.5 * ((X - X.T) / 0.8) ** 2)
    C = w[0] ** 2 * smooth + w[1] ** 2 * (X - 0.3) @ (X.T - 0.3) + 0.2 * np.eye(N)
    evidence = stats.multivariate_normal(np.zeros(N), C).logpdf(Y)
    bound = float(exact_bound(model, BATCH, features, best, NONE).total)
    assert bound < evidence
    # for points at all rows only the factorisation over groups is lost
    assert bound > evidence - 5.0


def test_rows_count_as_often_as_counts_says():
    model = Model(HORSESHOE, Gaussian(0.2), MultiSVGP.initial(TWO, Z))
    twice = Batch(jnp.tile(BATCH.X, (2, 1)), jnp.tile(BATCH.y, 2), jnp.ones(2 * N))
    weighted = BATCH._replace(counts=jnp.full(N, 2.0))
    for one, other in zip(at_optimum(model, twice)[1], at_optimum(model, weighted)[1], strict=True):
        assert_allclose(one, other, rtol=1e-8, atol=1e-10)


def test_a_short_natural_step_raises_the_bound_of_labels():
    labels = BATCH._replace(y=(BATCH.y > 0.0).astype(float))
    model = Model(HORSESHOE, Bernoulli(), MultiSVGP.initial(TWO, Z))
    q = NaturalQ(jnp.zeros((2, M)), jnp.tile(jnp.eye(M), (2, 1, 1)))
    heights = []
    for _ in range(5):
        q, height = stepped(model, q, 0.3, labels, jnp.asarray(quasi_normal(8, 3)))
        heights.append(float(height))
    assert np.all(np.diff(heights) > 0.0)


def test_natural_parameters_and_back():
    root = np.tril(RNG.standard_normal((2, M, M))) + 3.0 * np.eye(M)
    q = Q(jnp.asarray(RNG.standard_normal((2, M))), jnp.asarray(root))
    for one, other in zip(ordinary(natural(q)), q, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("prior", [HORSESHOE, NoPrior(np.array([0.3, 2.0])), Softmax.initial(2)])
def test_moments_are_those_of_the_draws(prior):
    moments = weight_moments(prior)
    draws = draw(prior, RNG.standard_normal((400_000, prior.noise_size)))
    second = np.outer(moments.u, moments.u) + np.diag(moments.d)
    assert_allclose(moments.shared * moments.u, draws.mean(axis=0), rtol=5e-3)
    assert_allclose(second, draws.T @ draws / len(draws), rtol=1e-2)


def test_the_mean_is_the_same_by_the_matrix_over_rows_and_by_that_over_features():
    V, y = jnp.asarray(RNG.standard_normal((5, 9))), jnp.asarray(RNG.standard_normal(9))
    few = regressed(V, jnp.asarray(0.3), y)
    many = regressed(jnp.concatenate([V, jnp.zeros((6, 9))]), jnp.asarray(0.3), y)
    assert_allclose(many[:5], few, rtol=1e-10)
    assert_allclose(many[5:], 0.0, atol=1e-12)
