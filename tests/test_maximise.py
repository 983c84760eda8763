"""The exact bound: its derivative, what it bounds, and the climb."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.fit import TrainingError, padded
from farrier.horseshoe import Horseshoe
from farrier.kernels.base import Linear, Periodic, SquaredExponential
from farrier.kernels.pool import stack
from farrier.likelihoods import Gaussian
from farrier.maximise import maximise
from farrier.objective import ExactModel, Model, evidence_bound, exact_bound
from farrier.posteriors.exact import log_evidence
from farrier.posteriors.stochastic import MultiSVGP
from farrier.priors import quasi_normal

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-2.0, 2.0, 25))[:, None]
Y = np.sin(5.0 * X[:, 0]) + 0.7 * X[:, 0] + 0.1 * RNG.standard_normal(25)
POOL = stack([SquaredExponential(0.8), Linear(0.1), Periodic(1.2, 1.0)], inputs=1)


def start():
    return ExactModel(Horseshoe.initial(3), Gaussian(jnp.asarray(0.1)), POOL)


@pytest.fixture(scope="module")
def climbed():
    told = []
    return *maximise(start(), X, Y, iterations=150, tolerance=1e-4, callback=told.append), told


def test_derivative_of_the_evidence_is_that_of_finite_differences():
    K = np.asarray(POOL.gram(jnp.asarray(X), jnp.asarray(X)))
    w2 = np.array([[0.5, 1.2, 0.3], [1.0, 0.1, 2.0]])
    turn = RNG.standard_normal(K.shape)
    turn = turn + turn.transpose(0, 2, 1)

    def value(step, which):
        steps = [step if which == place else 0.0 for place in range(3)]
        moved = (K + steps[0] * turn, w2 + steps[1], 0.2 + steps[2])
        return jnp.sum(jnp.asarray([1.0, 3.0]) * log_evidence(*(jnp.asarray(a) for a in moved), jnp.asarray(Y)))

    for which in range(3):
        slope = jax.grad(lambda step, which=which: value(step, which))(0.0)
        difference = (value(1e-6, which) - value(-1e-6, which)) / 2e-6
        assert_allclose(slope, difference, rtol=1e-5)


def test_exact_bound_is_above_the_sparse_one_with_any_q():
    noise = jnp.asarray(quasi_normal(8, 4))
    exact = exact_bound(start(), jnp.asarray(X), jnp.asarray(Y), noise).total
    for seed in range(3):
        generator = np.random.default_rng(seed)
        sparse = MultiSVGP.initial(POOL, X[::3], spread=0.3)
        means = 0.3 * generator.standard_normal(sparse.q_mean.shape)
        sparse = MultiSVGP(POOL, sparse.weights, sparse.Z, means, sparse.q_root)
        model = Model(Horseshoe.initial(3), Gaussian(0.1), sparse)
        assert eqx.filter_jit(evidence_bound)(model, padded(X, Y), noise).total < exact


def test_climb_ends_where_the_bound_is_flat(climbed):
    model, history, _ = climbed
    noise = jnp.asarray(quasi_normal(4, 4))
    gradient = jax.grad(
        lambda shift: (
            exact_bound(
                ExactModel(model.prior, Gaussian(model.likelihood.variance * jnp.exp(shift)), model.pool),
                jnp.asarray(X),
                jnp.asarray(Y),
                noise,
            ).total
        )
    )(0.0)
    assert history.bound[-1] > history.bound[0] + 5.0
    assert abs(gradient) < 0.1


def test_terms_of_the_history_add_up(climbed):
    history = climbed[1]
    assert_allclose(history.bound, history.likelihood - history.kl_inducing - history.kl_weights, rtol=1e-10)


def test_bound_never_falls_from_one_iteration_to_the_next(climbed):
    assert np.all(np.diff(climbed[1].bound) > -1e-8)


def test_periodic_part_and_noise_are_found(climbed):
    model = climbed[0]
    assert_allclose(float(np.asarray(model.pool[2].period)), 2 * np.pi / 5.0, rtol=0.05)
    assert 0.005 < float(model.likelihood.variance) < 0.03


def test_same_data_same_bits(climbed):
    again, _ = maximise(start(), X, Y, iterations=150, tolerance=1e-4)
    for first, second in zip(jax.tree.leaves(climbed[0]), jax.tree.leaves(again), strict=True):
        assert_array_equal(first, second)


def test_progress_is_told(climbed):
    told = climbed[2]
    assert told[0].phase == "compiling"
    assert told[-1].step == told[-1].steps == len(climbed[1].bound)


def test_a_bound_that_is_not_finite_is_an_error_with_advice():
    with pytest.raises(TrainingError, match=r"not finite.*method='stochastic'"):
        maximise(start(), X, np.where(X[:, 0] > 1.0, np.inf, Y), iterations=5, tolerance=1e-4)
