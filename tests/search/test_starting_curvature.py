"""Laws of the curvature at the start: that of an earlier fit for the same parameters, typical scales for others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.covariance import covariance_of
from farrier.inference.lbfgs import climb, moving_of
from farrier.kernels.registry import CentredPeriodic, Linear, Matern12, SquaredExponential
from farrier.search import scoring
from farrier.search.beliefs import Beliefs
from farrier.search.learned_priors import Clock
from farrier.search.scoring import Evaluator
from farrier.search.structure import LEVEL, curvature_at_start, places_before

N = 60
X = np.linspace(-1.7, 1.7, N)[:, None]
RNG = np.random.default_rng(5)
Y = X[:, 0] + np.sin(9.0 * X[:, 0]) + 0.3 * RNG.standard_normal(N)


@pytest.fixture(scope="module")
def evaluator():
    return Evaluator(X, Y / Y.std(), covariance_of(X), beliefs=Beliefs(Clock.of(X[:, 0])))


@pytest.fixture(scope="module")
def before(evaluator):
    kernels = [Linear(0.0), Matern12(1.0) * CentredPeriodic(0.7, 1.0), SquaredExponential(0.4)]
    return evaluator.fit([evaluator.part(kernel, 0.5) for kernel in kernels], 0.1)


def start(evaluator, parts):
    model = evaluator.beliefs.model([*parts, LEVEL], 0.1, 1)
    objective = scoring.ExactObjective(model, evaluator.covariance, evaluator.y, np.zeros((1, 0)))
    return model, moving_of(objective.limits()), objective.typical()


def test_components_that_were_not_fitted_have_no_curvature(evaluator):
    parts = [evaluator.part(Linear(0.0), 0.5)]
    assert curvature_at_start(parts, *start(evaluator, parts)) is None


def test_the_same_components_have_the_curvature_of_their_fit(evaluator, before):
    found = curvature_at_start(before.parts, *start(evaluator, before.parts))
    assert_allclose(found, before.mode.laplace.H)


def test_without_a_component_the_others_keep_their_curvature(evaluator, before):
    fewer = [before.parts[2], before.parts[1]]
    model, moving, typical = start(evaluator, fewer)
    old = places_before(fewer, model, before.mode)
    # weights of the third and the second component, level and noise, then the numbers of these components
    assert_array_equal(old[:4], [2, 1, 3, 4])
    assert_allclose(before.mode.u[old[4:]], model.pool.unbounded)
    ranks = [list(before.mode.moving).index(place) for place in old[moving]]
    H = curvature_at_start(fewer, model, moving, typical)
    assert_allclose(H, before.mode.laplace.H[np.ix_(ranks, ranks)])


def test_a_new_component_has_typical_scales_and_no_correlation_with_the_others(evaluator, before):
    more = [*before.parts, evaluator.part(SquaredExponential(0.1), 0.5)]
    model, moving, typical = start(evaluator, more)
    H = curvature_at_start(more, model, moving, typical)
    new = np.flatnonzero(places_before(more, model, before.mode)[moving] < 0)
    assert len(new) == 2
    for i in new:
        assert_allclose(H[i, i], typical[moving[i]] ** -2.0)
        assert not np.delete(H[i], i).any()


def test_of_two_components_from_one_the_second_is_new(evaluator, before):
    twice = [before.parts[2], before.parts[2]]
    model, moving, typical = start(evaluator, twice)
    assert_array_equal(places_before(twice, model, before.mode)[:2], [2, -1])
    assert np.linalg.eigvalsh(curvature_at_start(twice, model, moving, typical)).min() > 0.0


def test_a_fit_from_the_values_and_the_curvature_of_a_similar_one_ends_at_the_same_top_sooner(evaluator, before):
    fewer = list(before.parts[:2])
    model, moving, typical = start(evaluator, fewer)
    objective = scoring.ExactObjective(model, evaluator.covariance, evaluator.y, np.zeros((1, 0)))
    H = curvature_at_start(fewer, model, moving, typical)
    guided, plain = climb(objective, 80, 1e-3, 5, curvature=H), climb(objective, 80, 1e-3, 5)
    assert guided.terms[-1].total == pytest.approx(plain.terms[-1].total, abs=0.05)
    assert len(guided.terms) < len(plain.terms)
