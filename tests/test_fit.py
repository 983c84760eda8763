"""Laws of training: the bound rises, the same key gives the same bits, minibatches are unbiased, programs are shared,
and trouble is told in words."""

import warnings
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.fit import Settings, TrainingError, _minibatch, padded, train
from farrier.horseshoe import Horseshoe
from farrier.inducing import SharedPoints, spread_points
from farrier.kernels.base import Linear, Periodic, SquaredExponential
from farrier.kernels.pool import stack
from farrier.likelihoods import Gaussian, Likelihood
from farrier.objective import Batch, Model, evidence_bound
from farrier.parameters import positive
from farrier.posteriors.stochastic import SVGP, MultiSVGP
from farrier.priors import NoPrior, quasi_normal

RNG = np.random.default_rng(0)
N = 30
X = np.sort(RNG.uniform(-2.0, 2.0, N))[:, None]
Y = np.sin(3.0 * X[:, 0]) + 0.5 * X[:, 0] + 0.2 * RNG.standard_normal(N)
POOL = stack([SquaredExponential(0.7), Linear(0.1), Periodic(2.0, 1.0)], 1)
SETTINGS = Settings(iterations=200, batch_size=16, learning_rate=0.05)


def start(pool=POOL, likelihood=None, points=6):
    posterior = MultiSVGP.initial(pool, spread_points(X, points), spread=0.1)
    return Model(Horseshoe.initial(len(pool)), likelihood or Gaussian(0.3), posterior)


full_bound = eqx.filter_jit(evidence_bound)
NOISE = jnp.asarray(quasi_normal(16, 4))


def height(model):
    """The bound on all rows, over fixed draws of the weights."""
    return float(full_bound(model, Batch(jnp.asarray(X), jnp.asarray(Y), jnp.ones(N)), NOISE).total)


@pytest.fixture(scope="module")
def trained():
    told = []
    model, history = train(start(), X, Y, SETTINGS, jax.random.key(0), told.append)
    return model, history, told


def same(one, other):
    return bool(eqx.tree_equal(one, other))


def test_the_bound_rises(trained):
    model, history, _ = trained
    assert height(model) > height(start()) + 10.0
    assert np.mean(history.bound[-50:]) > np.mean(history.bound[:50]) + 10.0


def test_history_has_one_entry_a_step_and_its_terms_add_up(trained):
    _, history, _ = trained
    assert history.bound.shape == history.kl_weights.shape == (200,)
    assert_allclose(history.bound, history.likelihood - history.kl_inducing - history.kl_weights, rtol=1e-12)
    assert np.all(history.kl_inducing >= 0.0)
    assert not history.stopped_early


def test_history_starts_where_the_model_does():
    # all rows in every step and weights without noise: the first entry is the bound of the start
    model = eqx.tree_at(lambda model: model.prior, start(), NoPrior(np.full(3, 0.5)))
    _, history = train(model, X, Y, replace(SETTINGS, iterations=1, batch_size=N + 2), jax.random.key(0))
    batch = Batch(jnp.asarray(X), jnp.asarray(Y), jnp.ones(N))
    assert history.bound.shape == (1,)
    assert_allclose(history.bound[0], full_bound(model, batch, jnp.zeros((1, 0))).total, rtol=1e-10)


def test_the_same_key_gives_the_same_bits_and_another_does_not(trained):
    model, history, _ = trained
    again, same_history = train(start(), X, Y, SETTINGS, jax.random.key(0))
    assert same(model, again)
    assert_array_equal(history.bound, same_history.bound)
    other, other_history = train(start(), X, Y, SETTINGS, jax.random.key(1))
    assert not np.any(np.asarray(model.posterior.q_mean) == np.asarray(other.posterior.q_mean))
    assert history.bound[0] != other_history.bound[0]


def test_training_moves_what_is_marked_and_nothing_else(trained):
    model, _, _ = trained
    before = start()
    assert_array_equal(model.prior.A, before.prior.A)
    assert_array_equal(model.posterior.weights, before.posterior.weights)
    line, first_line = model.posterior.pool[1], before.posterior.pool[1]
    assert_array_equal(line.scale, first_line.scale)
    assert line.location != first_line.location
    assert np.all(np.asarray(model.posterior.Z) != np.asarray(before.posterior.Z))
    assert model.likelihood.variance != 0.3
    assert jax.tree.structure(model) == jax.tree.structure(before)


def test_minibatches_estimate_the_bound_without_bias(trained):
    model = trained[0]
    batch = padded(X, Y)
    keys = jax.random.split(jax.random.key(5), 4000)

    @eqx.filter_jit
    def estimates(model):
        def estimate(key):
            return evidence_bound(model, _minibatch(batch, 8, key), NOISE).total

        return jax.lax.map(estimate, keys, batch_size=500)

    found = np.asarray(estimates(model))
    error = found.std() / np.sqrt(len(found))
    assert abs(found.mean() - height(model)) < 4.0 * error
    assert found.std() > 0.1


def test_draws_of_the_weights_estimate_the_bound_without_bias(trained):
    model = trained[0]
    batch = Batch(jnp.asarray(X), jnp.asarray(Y), jnp.ones(N))
    noise = jax.random.normal(jax.random.key(6), (4000, 1, 4))
    found = np.asarray(
        eqx.filter_jit(lambda model: jax.lax.map(lambda e: evidence_bound(model, batch, e).total, noise))(model)
    )
    many = jax.random.normal(jax.random.key(7), (20_000, 4))
    exact = float(full_bound(model, batch, many).total)
    error = found.std() * np.sqrt(1.0 / 4000 + 1.0 / 20_000)
    assert abs(found.mean() - exact) < 4.0 * error


def test_padding_changes_nothing(trained):
    batch = padded(X, Y)
    assert batch.y.shape == (32,)
    assert float(jnp.sum(batch.counts)) == N
    assert_allclose(float(full_bound(trained[0], batch, NOISE).total), height(trained[0]), rtol=1e-12)
    # and minibatches never draw it
    rows = [_minibatch(eqx.tree_at(lambda b: b.y, batch, jnp.arange(32.0)), 8, jax.random.key(i)).y for i in range(60)]
    assert set(np.concatenate(rows).tolist()) == set(range(N))


def test_padding_is_a_quarter_at_the_most():
    for rows in (1, 15, 16, 17, 100, 129, 1000, 5001):
        size = padded(np.zeros((rows, 1)), np.zeros(rows)).y.shape[0]
        assert rows <= size <= max(16, 1.25 * rows)


TRACES = []


class Counted(Likelihood):
    """Gaussian noise that says when it is traced."""

    variance: jax.Array = positive()

    def expected_log(self, y, mean, variance):
        TRACES.append(y.shape)
        return Gaussian(self.variance).expected_log(y, mean, variance)

    def predict(self, mean, variance):
        return mean, variance + self.variance

    def log_density(self, y, mean, variance):
        return Gaussian(self.variance).log_density(y, mean, variance)


def test_data_of_similar_length_share_one_program():
    def traces(rows, seed=0, length=0.7):
        before = len(TRACES)
        pool = stack([SquaredExponential(length), Linear(0.1)], 1)
        settings = Settings(iterations=50, batch_size=16)
        train(start(pool, Counted(0.3), points=4), X[:rows], Y[:rows], settings, jax.random.key(seed))
        return len(TRACES) - before

    assert traces(30) > 0
    assert traces(29) == 0
    assert traces(30, seed=3, length=0.4) == 0
    # longer data have a program of their own
    assert traces(20) > 0


def test_the_callback_is_told_how_far_things_are(trained):
    told = trained[2]
    phases = [progress.phase for progress in told]
    assert phases[0] == "compiling"
    assert phases[1:] == sorted(phases[1:], reverse=True)
    assert set(phases[1:]) == {"training", "cooling"}
    steps = [progress.step for progress in told]
    assert steps == sorted(set(steps))
    assert steps[-1] == told[-1].steps == SETTINGS.iterations
    assert np.isnan(told[0].bound)
    assert_allclose(told[-1].bound, np.mean(trained[1].bound[-50:]))


def test_training_stops_early_when_the_bound_is_flat():
    told = []
    # a model that is nearly at its best after a few steps: one line, all rows in every step
    pool = stack([Linear(0.0)], 1)
    posterior = MultiSVGP.initial(pool, X[[0, -1]], spread=0.1)
    model = Model(NoPrior(np.ones(1)), Gaussian(0.1), posterior)
    settings = Settings(iterations=5000, batch_size=64, learning_rate=0.05)
    _, history = train(model, X, 0.5 * X[:, 0], settings, jax.random.key(0), told.append)
    assert history.stopped_early
    assert len(history.bound) < 5000
    assert told[-1].phase == "cooling"
    assert told[-1].step == told[-1].steps == len(history.bound)
    assert sum(progress.phase == "cooling" for progress in told) >= 2


def test_what_is_far_from_flat_runs_to_the_end(trained):
    assert len(trained[1].bound) == SETTINGS.iterations


def test_one_inducing_set_trains_as_well():
    model = start()
    model = eqx.tree_at(lambda model: model.posterior, model, SVGP.initial(POOL, SharedPoints(spread_points(X, 6))))
    after, history = train(model, X, Y, replace(SETTINGS, iterations=100), jax.random.key(0))
    assert np.mean(history.bound[-20:]) > np.mean(history.bound[:20]) + 5.0
    assert not same(after, model)


def ruined(change):
    """The starting model with one of its numbers changed to what no constructor would take."""
    return change(start())


def first_lengthscale(value):
    return lambda model: eqx.tree_at(
        lambda model: model.posterior.pool.stacks[1].factors.lengthscale, model, jnp.full((1, 1), value)
    )


BROKEN = {
    "not a number": (first_lengthscale(float("nan")), X, "SE|SquaredExponential"),
    "vanished": (first_lengthscale(1e-320), X, "SE|SquaredExponential"),
    "overflow": (lambda model: model, np.where(np.arange(N)[:, None] == 3, 1e200, X), "Linear"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_bound_that_is_not_finite_names_the_kernel_and_what_to_try(name):
    change, rows, kernel = BROKEN[name]
    model, told = ruined(change), []
    before = jax.tree.map(np.array, model)
    with pytest.raises(
        TrainingError, match=rf"(?s)not finite after step 0.*kernel \d, ({kernel}).*Try a smaller learning_rate"
    ) as error:
        train(model, rows, Y, SETTINGS, jax.random.key(0), told.append)
    assert "out of the pool" in str(error.value)
    # nothing is half done: the model is as it was, and nobody was told of a step
    assert same(jax.tree.map(np.array, model), before)
    assert [progress.phase for progress in told] == ["compiling"]


def test_a_target_that_is_not_finite_is_told_apart_from_bad_kernels():
    y = np.where(np.arange(N) == 3, np.inf, Y)
    with pytest.raises(TrainingError, match=r"though every kernel is; .* Check that y has no extreme values"):
        train(start(), X, y, SETTINGS, jax.random.key(0))


def test_after_an_error_training_is_as_before(trained):
    with pytest.raises(TrainingError), warnings.catch_warnings():
        train(start(), X, np.full(N, np.nan), SETTINGS, jax.random.key(0))
    again, _ = train(start(), X, Y, SETTINGS, jax.random.key(0))
    assert same(again, trained[0])
