"""Laws of the projection: a path of ever simpler models, of which the true components are the last to go."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from farrier.inference.noise import Noise
from farrier.kernels.registry import CentredPeriodic, DampedTrend, Linear, Matern12, SquaredExponential
from farrier.search.projection import Change, Projection, changed, changes, explaining
from farrier.search.rows import Rows
from farrier.search.structure import Structure
from tests.search.made_series import LINE_AND_SEASON, SIZE, WHITE, N, X, fitted, formulas, noise, of_curve, of_months

YEAR = X[:, 0] + np.sin(2.0 * np.pi * np.arange(N) / 12) + noise(0.3)


@pytest.fixture(scope="module")
def made():
    """A series of months, its pool, and the path of its projection."""
    evaluator = of_months(YEAR)
    pool = Rows().pool(evaluator)
    projection = Projection.of(evaluator, pool)
    return evaluator, pool, projection, list(projection.path(pool))


def test_what_is_projected_is_a_replicate_of_y_given_the_rows():
    evaluator = of_curve(LINE_AND_SEASON)
    structure = fitted(evaluator, Linear(0.0), CentredPeriodic(0.31, 1.0))
    found = Projection.of(evaluator, structure)
    K, noise = evaluator.covariance_at(structure), structure.noise
    # f | y has precision K^-1 + I / noise; a replicate of y has noise of its own
    covariance = np.linalg.inv(np.linalg.inv(K + 1e-9 * np.eye(N)) + np.eye(N) / noise)
    assert_allclose(found.mean, covariance @ evaluator.y / noise, atol=1e-5)
    expected = np.outer(found.mean, found.mean) + covariance + noise * np.eye(N)
    assert_allclose(found.moments, expected, atol=1e-5)


def test_a_replicate_has_a_higher_expectation_the_nearer_a_model_is(made):
    _, pool, projection, _ = made
    C = np.full((N, N), float(pool.model.prior.w[-1]) ** 2) + projection.grams(pool.parts).sum(axis=0)
    assert projection.value(C, pool.noise) > projection.value(C, 4.0 * pool.noise)
    draws = multivariate_normal(projection.mean, projection.moments - np.outer(projection.mean, projection.mean))
    y = draws.rvs(2000, random_state=np.random.default_rng(0))
    densities = multivariate_normal(np.zeros(N), C + pool.noise * np.eye(N)).logpdf(y)
    assert abs(projection.value(C, pool.noise) - densities.mean()) < 4.0 * densities.std() / np.sqrt(2000)


def test_scores_do_not_rise_as_components_go(made):
    path = made[3]
    assert len(path) > 2
    sizes = [sum(len(part.kernel.products()[0]) for part in one.parts) for one in path]
    assert all(later <= earlier for earlier, later in pairwise(sizes))
    scores = [one.score for one in path]
    # a fit ends within its tolerance
    assert all(later < earlier + 1.0 for earlier, later in pairwise(scores))


def test_the_true_components_are_the_last_to_go(made):
    path = made[3]
    *_, last = [one for one in path if len(one.parts) >= 2]
    assert formulas(last) == ["Lin", "Per0"]
    # without one of them the model is far from what predicts
    after = path[path.index(last) + 1]
    assert after.score < last.score - 20.0


def test_what_explains_a_line_and_a_season_is_that():
    evaluator = of_months(YEAR)
    record = []
    pool = Rows().pool(evaluator)
    found = explaining(evaluator, Projection.of(evaluator, pool), pool, Rows(), record)
    assert formulas(found) == ["Lin", "Per0"]
    projected = [decision for decision in record if decision.action == "projected"]
    assert projected
    assert max(decision.gain for decision in projected) == 0.0


@pytest.mark.parametrize("of", [of_curve, of_months])
def test_noise_is_explained_by_nothing(of):
    evaluator = of(WHITE)
    pool = Rows().pool(evaluator)
    assert explaining(evaluator, Projection.of(evaluator, pool), pool, Rows(), []).parts == ()


def test_where_the_noise_of_each_row_is_known_no_common_one_has_a_part():
    evaluator = of_months(YEAR, noise=Noise(np.linspace(0.05, 0.3, N), known=True))
    pool = evaluator.fit([evaluator.part(Linear(0.0), 0.5), evaluator.part(CentredPeriodic(12 * SIZE), 0.5)], 1.0)
    projection = Projection.of(evaluator, pool)
    one, other = (projection.fit(pool.parts, noise) for noise in (1.0, 0.01))
    weights = [[part.weight for part in found.parts] for found in (one, other)]
    # a fit ends within its tolerance
    assert_allclose(weights[0], weights[1], rtol=0.05)
    C = projection.grams(one.parts).sum(axis=0)
    assert projection.value(C, 1.0) == projection.value(C, 0.01)


# changes


def parts_of(evaluator, *kernels):
    return [evaluator.part(kernel, 0.5) for kernel in kernels]


def test_a_step_of_the_path_drops_a_component_or_a_factor_or_puts_a_simpler_one_in_its_place():
    evaluator = of_months(YEAR)
    damped = DampedTrend(0.3, X[0, 0] - SIZE, SIZE)
    parts = parts_of(evaluator, damped, Matern12(1.0) * CentredPeriodic(12 * SIZE))
    found = [(one.place, None if one.kernel is None else one.kernel.formula(), one.fewer) for one in changes(parts, X)]
    assert {(0, None, 1.0), (0, "Lin", 0.5), (1, None, 2.0), (1, "Per0", 1.0)} <= set(found)
    assert (1, "Mat12", 1.0) in found
    # a rough drift may be growth, or smooth
    assert {formula for place, formula, fewer in found if (place, fewer) == (1, 0.5)} == {"Lin * Per0", "SE * Per0"}


def test_only_a_curve_longer_than_the_rows_may_be_a_line():
    evaluator = of_curve(LINE_AND_SEASON)
    for length, lines in ((5.0, ["Lin"]), (0.5, [])):
        found = changes(parts_of(evaluator, SquaredExponential(length)), X[:, 0])
        assert [one.kernel.formula() for one in found if one.kernel is not None] == lines


def test_a_change_leaves_the_other_components_as_they_are(made):
    evaluator, _, projection, _ = made
    parts = parts_of(evaluator, Linear(0.0), CentredPeriodic(12 * SIZE), Matern12(0.5))
    assert changed(parts, Change(1, None, 1.0), projection) == [parts[0], parts[2]]
    first, new, last = changed(parts, Change(1, Linear(0.0), 0.5), projection)
    assert (first, last) == (parts[0], parts[2])
    assert (new.kernel.formula(), new.weight) == ("Lin", parts[1].weight)


def test_components_without_variance_are_dropped_together_before_any_fit(made):
    evaluator, _, projection, _ = made
    season, line = parts_of(evaluator, CentredPeriodic(12 * SIZE), Linear(0.0))
    tiny = [replace(part, weight=1e-4) for part in parts_of(evaluator, Matern12(0.5), SquaredExponential(0.3))]
    first = next(projection.path(Structure((season, tiny[0], line, tiny[1]), 0.1, 0.0)))
    assert formulas(first) == ["Lin", "Per0"]
