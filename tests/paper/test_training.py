"""Laws of training: the bound rises, the same key gives the same bits, minibatches are unbiased, programs are shared,
and trouble is told in words."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.baselines.weight_priors import NoPrior
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Gaussian, Likelihood
from farrier.inference.linalg import NUMPY
from farrier.inference.weight_priors import quasi_normal
from farrier.kernels.parameters import positive
from farrier.kernels.registry import Linear, SquaredExponential
from farrier.paper.batches import minibatch, padded
from farrier.paper.diagnosis import TrainingError
from farrier.paper.inducing import SharedPoints, spread_points
from farrier.paper.multisvgp import SVGP, MultiSVGP
from farrier.paper.objective import Batch, Model, evidence_bound
from farrier.paper.pool import stack
from farrier.paper.steps import FALL
from farrier.paper.training import Settings, train, train_starts
from farrier.paper.trees import register

RNG = np.random.default_rng(0)
N = 30
X = np.sort(RNG.uniform(-2.0, 2.0, N))[:, None]
Y = np.sin(3.0 * X[:, 0]) + 0.5 * X[:, 0] + 0.2 * RNG.standard_normal(N)
POOL = stack([SquaredExponential(0.7), Linear(0.1)], 1)
SETTINGS = Settings(iterations=200, batch_size=16, full_rows=0, learning_rate=0.05)
AS_PRINTED = Settings(iterations=10_000, batch_size=64, learning_rate=0.05, natural=False)
ALL_ROWS = Settings(iterations=200, learning_rate=0.05, race=1.0)


def start(pool=POOL, likelihood=None, points=6):
    posterior = MultiSVGP.initial(pool, spread_points(X, points), spread=0.1)
    return Model(Horseshoe.initial(len(pool)), likelihood or Gaussian(0.3), posterior)


full_bound = eqx.filter_jit(evidence_bound)
NOISE = jnp.asarray(quasi_normal(16, 3))


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
    assert np.mean(history.bound[-50:]) > history.bound[0] + 10.0


def test_history_has_one_entry_a_step_and_its_terms_add_up(trained):
    _, history, _ = trained
    assert history.bound.shape == history.kl_weights.shape == (200,)
    assert_allclose(history.bound, history.likelihood - history.kl_inducing - history.kl_weights, rtol=1e-12)
    assert np.all(history.kl_inducing >= 0.0)
    assert not history.stopped_early


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
            return evidence_bound(model, minibatch(batch, 8, key), NOISE).total

        return jax.lax.map(estimate, keys, batch_size=500)

    found = np.asarray(estimates(model))
    error = found.std() / np.sqrt(len(found))
    assert abs(found.mean() - height(model)) < 4.0 * error
    assert found.std() > 0.1


def test_many_kernels_that_explain_the_same_rows_do_not_overshoot():
    # from the precisions of the prior, a short step would move the means of all kernels the whole way at once
    pool = stack([SquaredExponential(0.5 + 0.02 * i) for i in range(16)], 1)
    settings = Settings(iterations=50, batch_size=16, full_rows=0, tolerance=0.0)
    rows = np.linspace(-2.0, 2.0, 4000)[:, None]
    _, history = train(start(pool), rows, np.sin(3.0 * rows[:, 0]), settings, jax.random.key(0))
    assert np.all(history.bound > history.bound[0] - 5.0 * len(rows))


def test_padding_changes_nothing(trained):
    batch = padded(X, Y)
    assert batch.y.shape == (32,)
    assert float(jnp.sum(batch.counts)) == N
    assert_allclose(float(full_bound(trained[0], batch, NOISE).total), height(trained[0]), rtol=1e-12)
    # and minibatches never draw it
    rows = [minibatch(eqx.tree_at(lambda b: b.y, batch, jnp.arange(32.0)), 8, jax.random.key(i)).y for i in range(60)]
    assert set(np.concatenate(rows).tolist()) == set(range(N))


def test_padding_is_a_quarter_at_the_most():
    for rows in (1, 15, 16, 17, 100, 129, 1000, 5001):
        size = padded(np.zeros((rows, 1)), np.zeros(rows)).y.shape[0]
        assert rows <= size <= max(16, 1.25 * rows)


TRACES = []


@register
@dataclass(frozen=True, eq=False)
class Counted(Likelihood):
    """Gaussian noise that says when it is traced."""

    variance: Any = positive()

    def expected_log(self, y, mean, variance, world=NUMPY):
        TRACES.append(y.shape)
        distance = (y - mean) ** 2 + variance
        return -0.5 * (world.xp.log(2.0 * np.pi * self.variance) + distance / self.variance)

    def slopes(self, y, mean, variance):
        raise AssertionError("training differentiates by itself")

    def predict(self, mean, variance, world=NUMPY):
        raise AssertionError("training does not predict")

    def log_density(self, y, mean, variance, world=NUMPY):
        raise AssertionError("training does not ask for densities")


def test_data_of_similar_length_share_one_program():
    def traces(rows, seed=0, length=0.7):
        before = len(TRACES)
        pool = stack([SquaredExponential(length)], 1)
        settings = Settings(iterations=50, batch_size=16)
        train(start(pool, Counted(0.3), points=3), X[:rows], Y[:rows], settings, jax.random.key(seed))
        return len(TRACES) - before

    assert traces(30) > 0
    assert traces(29) == 0
    assert traces(30, seed=3, length=0.4) == 0


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


@pytest.fixture(scope="module")
def flat():
    """One line, shared points, no prior, all rows in every step: soon at its best, and nothing is left to chance."""
    told, pool = [], stack([Linear(0.0)], 1)
    model = Model(NoPrior(np.ones(1)), Gaussian(0.1), SVGP.initial(pool, SharedPoints(X[[0, -1]])))
    return model, *train(model, X, Y, AS_PRINTED, jax.random.key(0), told.append), told


def test_training_stops_early_when_the_bound_is_flat(flat):
    _, _, history, told = flat
    assert history.stopped_early
    assert len(history.bound) < 10_000
    assert told[-1].phase == "cooling"
    assert told[-1].step == told[-1].steps == len(history.bound)
    assert sum(progress.phase == "cooling" for progress in told) >= 2
    assert abs(history.bound[-1] - history.bound[-400]) < 2.0 * 2e-3 * N


def test_history_starts_at_the_start_and_ends_at_the_end(flat):
    model, after, history, _ = flat
    batch = Batch(jnp.asarray(X), jnp.asarray(Y), jnp.ones(N))
    first, last = (full_bound(here, batch, jnp.zeros((1, 0))).total for here in (model, after))
    assert_allclose(history.bound[0], first, rtol=1e-10)
    assert_allclose(history.bound[-1], last, rtol=1e-8)
    assert last > first + 10.0


def with_lengthscale(value):
    """The starting model with a lengthscale of SE that no constructor would take."""

    def lengthscale(model):
        return model.posterior.pool.stacks[1].factors.lengthscale

    return eqx.tree_at(lengthscale, start(), np.full((1, 1), value))


BROKEN = {
    "not a number": (with_lengthscale(np.nan), "0, SE"),
    "vanished": (with_lengthscale(0.0), "0, SE"),
    # (x - 1e200) (z - 1e200) is too large for a double
    "overflow": (
        start(stack([SquaredExponential(0.7), Linear(1e200)], 1)),
        r"1, Linear\(location=1e\+200, scale=1.0\)",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_bound_that_is_not_finite_names_the_kernel_and_what_to_try(name):
    model, kernel = BROKEN[name]
    told = []
    before = [np.array(leaf) for leaf in jax.tree.leaves(model)]
    with pytest.raises(
        TrainingError, match=rf"(?s)not finite after step 0.*kernel {kernel}, .*Try a smaller learning_rate"
    ) as error:
        train(model, X, Y, SETTINGS, jax.random.key(0), told.append)
    assert "out of the pool" in str(error.value)
    # nothing is half done: the model is as it was, and nobody was told of a step
    for one, other in zip(jax.tree.leaves(model), before, strict=True):
        assert_array_equal(one, other)
    assert [progress.phase for progress in told] == ["compiling"]


def test_a_target_that_is_not_finite_is_told_apart_from_bad_kernels():
    y = np.where(np.arange(N) == 3, np.inf, Y)
    with pytest.raises(TrainingError, match=r"though every kernel is; .* Check that y has no extreme values"):
        train(start(), X, y, SETTINGS, jax.random.key(0))


def test_after_an_error_training_is_as_before(trained):
    with pytest.raises(TrainingError):
        train(start(), X, np.full(N, np.nan), SETTINGS, jax.random.key(0))
    again, _ = train(start(), X, Y, SETTINGS, jax.random.key(0))
    assert same(again, trained[0])


@pytest.fixture(scope="module")
def on_all_rows():
    """Two starts together, all rows in every step."""
    models = [start(), start(stack([SquaredExponential(0.2), Linear(-1.0)], 1))]
    return models, *train_starts(models, X, Y, ALL_ROWS, jax.random.key(0))


def test_starts_together_end_where_they_end_apart(on_all_rows):
    models, best, history = on_all_rows
    apart = [train(model, X, Y, ALL_ROWS, jax.random.key(0)) for model in models]
    for i, (_, alone) in enumerate(apart):
        assert_allclose(history.starts[i], alone.bound, rtol=1e-6, atol=1e-6)
    assert history.chosen == int(np.argmax([alone.bound.max() for _, alone in apart]))
    assert_allclose(best.likelihood.variance, apart[history.chosen][0].likelihood.variance, rtol=1e-5)


def test_the_result_is_the_best_point_of_a_run_on_all_rows(on_all_rows):
    _, best, history = on_all_rows
    many = jnp.asarray(quasi_normal(1024, 3))
    batch = Batch(jnp.asarray(X), jnp.asarray(Y), jnp.ones(N))
    # exact in the weights there, an average over draws here
    assert_allclose(float(full_bound(best, batch, many).total), history.bound.max(), atol=0.05)


def test_more_steps_do_not_end_lower():
    settings = [Settings(iterations=n, learning_rate=0.05, tolerance=0.0) for n in (50, 200, 800)]
    heights = [train(start(), X, Y, one, jax.random.key(0))[1].bound.max() for one in settings]
    assert heights[1] > heights[0]
    assert heights[2] >= heights[1] - 0.05 * N


def test_natural_gradients_end_above_the_algorithm_as_printed(on_all_rows):
    printed = Settings(iterations=200, learning_rate=0.05, draws=8, natural=False)
    model, _ = train(start(), X, Y, printed, jax.random.key(0))
    assert on_all_rows[2].starts[0].max() > height(model)


def test_a_start_that_fails_does_not_stop_the_others(on_all_rows):
    models, _, history = on_all_rows
    _, found = train_starts([with_lengthscale(np.nan), models[0]], X, Y, ALL_ROWS, jax.random.key(0))
    assert found.chosen == 1
    assert_allclose(found.bound, history.starts[0], rtol=1e-6, atol=1e-6)


def test_a_start_whose_bound_falls_goes_back_to_its_best_point():
    _, history = train(start(), X, Y, Settings(iterations=200, learning_rate=1.0), jax.random.key(0))
    below = np.maximum.accumulate(history.bound) - history.bound
    fell = np.flatnonzero(below > FALL * N)
    # steps of this size do fall, and the next point is the best one again
    assert len(fell) > 0
    after = fell[fell + 1 < len(below)] + 1
    assert_allclose(below[after], 0.0, atol=1e-6)


def test_after_the_race_the_best_start_goes_on_alone(on_all_rows):
    models, _, together = on_all_rows
    settings = Settings(iterations=200, learning_rate=0.05, race=0.25)
    _, history = train_starts(models, X, Y, settings, jax.random.key(0))
    assert history.chosen == int(np.argmax(together.starts[:, :50].max(axis=1)))
    assert_allclose(history.bound, together.starts[history.chosen], rtol=1e-6, atol=1e-6)
    assert np.all(np.isnan(history.starts[1 - history.chosen, 50:]))
