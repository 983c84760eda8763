"""Laws of shared changes: a second change at the same time is known already, one at another time is not."""

import numpy as np
import pytest

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import SquaredExponential, Step
from farrier.search.beliefs import Beliefs
from farrier.search.learned_priors import Clock
from farrier.search.scoring import Evaluator
from farrier.search.starting_values import SAME_CHANGE
from farrier.search.structure import saved_by_sharing

N = 80
X = np.linspace(-1.7, 1.7, N)[:, None]
RNG = np.random.default_rng(2)
Y = np.where(X[:, 0] < 0.2, np.sin(4.0 * X[:, 0]), np.sin(25.0 * X[:, 0])) + 0.1 * RNG.standard_normal(N)


@pytest.fixture(scope="module")
def evaluator():
    return Evaluator(X, Y / Y.std(), covariance_of(X), beliefs=Beliefs(Clock.of(X[:, 0])))


def regimes(evaluator, first, second):
    before, after = Step(first, 0.02), Step(second, 0.02)
    kernels = [(1 - before) * SquaredExponential(0.5), after * SquaredExponential(0.1)]
    return evaluator.fit([evaluator.part(kernel, 0.7) for kernel in kernels], 0.02)


def saved(structure, densities, apart=SAME_CHANGE):
    return saved_by_sharing(structure.mode, densities, apart)


def test_the_price_of_a_second_location_at_the_same_time_is_saved_but_for_the_odds(evaluator):
    mode = regimes(evaluator, 0.2, 0.2).mode
    densities = np.full(len(mode.u), -1.0)
    count = len(mode.model.pool) + 1
    places = [count + i for i, number in enumerate(mode.model.pool.layout) if number.name == "location"]
    assert abs(np.diff(mode.u[places])[0]) < SAME_CHANGE
    prices = 1.0 - np.log(np.sqrt(2.0 * np.pi) * mode.deviations[places])
    assert saved_by_sharing(mode, densities, SAME_CHANGE) == pytest.approx(max(prices.min() - np.log(2.0), 0.0))
    assert prices.min() > np.log(2.0)


def test_changes_at_different_times_and_single_changes_save_nothing(evaluator):
    apart = regimes(evaluator, -0.9, 0.2)
    assert saved(apart, np.full(len(apart.mode.u), -1.0), apart=1e-9) == 0.0
    alone = evaluator.fit([evaluator.part(Step(0.2, 0.02), 0.7)], 0.1)
    assert saved(alone, np.full(len(alone.mode.u), -1.0)) == 0.0


def test_sharing_never_costs(evaluator):
    both = regimes(evaluator, 0.2, 0.2)
    assert saved(both, np.full(len(both.mode.u), 9.0)) == 0.0
