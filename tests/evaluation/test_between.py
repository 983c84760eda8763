"""Laws of the covariance of rows with other rows: on a grid it is that of all pairs, whatever the products."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.evaluation.between import DenseBetween, SeriesBetween, between
from farrier.evaluation.products import Products
from farrier.kernels.registry import Linear, SquaredExponential
from tests.evaluation.test_covariance import DRIVEN, DRIVERS, KNOWN, POOL, W2, X
from tests.kernels.plain_kernels import plain_gram

STEP = 0.17
AHEAD = X.max() + STEP * np.arange(1, 6)[:, None]
INSIDE = X.min() + STEP * np.array([[3], [9], [10]])
"""Places of the grid without a row."""
FIRST = np.repeat(X[:1], 9, axis=0)
"""No distance from the first row: what counts as on the grid depends on the rows alone."""


@pytest.mark.parametrize("Z", [AHEAD, INSIDE, X, X[:4], FIRST], ids=["ahead", "inside", "rows", "some", "first"])
def test_on_a_grid_it_is_that_of_all_pairs(Z):
    found = between(X, Z)
    assert isinstance(found, SeriesBetween)
    assert_allclose(found(POOL, W2), DenseBetween(X, Z)(POOL, W2), atol=1e-12)


@pytest.mark.parametrize("Z", [AHEAD, X[:4]], ids=["ahead", "some"])
def test_beside_time_on_a_grid_there_may_be_regressors(Z):
    rows, others = np.column_stack([X, DRIVERS]), np.column_stack([Z, DRIVERS[: len(Z)]])
    found = between(rows, others)
    assert isinstance(found, SeriesBetween)
    assert_allclose(found(DRIVEN, W2[:, : len(DRIVEN)]), DenseBetween(rows, others)(DRIVEN, W2[:, : len(DRIVEN)]))


def test_of_all_pairs_it_is_the_weighted_sum_of_kernels():
    pool = Products.of(KNOWN, inputs=1)
    expected = sum(W2[:, i, None, None] * plain_gram(kernel, X, AHEAD) for i, kernel in enumerate(pool))
    assert_allclose(DenseBetween(X, AHEAD)(pool, W2[:, : len(pool)]), expected, rtol=1e-9, atol=1e-11)


def test_a_component_may_have_weight_in_some_draws_only():
    some = np.where((np.arange(len(POOL)) + np.arange(len(W2))[:, None]) % 2 == 0, W2, 0.0)
    for found in (between(X, AHEAD), DenseBetween(X, AHEAD)):
        each = [DenseBetween(X, AHEAD)(POOL, w2[None]) for w2 in some]
        assert_allclose(found(POOL, some), np.concatenate(each), atol=1e-12)


def test_a_second_pool_with_other_hyperparameters_gets_values_of_its_own():
    found, other = between(X, AHEAD), POOL.with_unbounded(POOL.unbounded + 0.1)
    found(POOL, W2)
    assert_allclose(found(other, W2), DenseBetween(X, AHEAD)(other, W2), atol=1e-12)


def test_components_without_weight_add_nothing():
    some = np.where(np.arange(len(POOL)) % 3 == 0, W2, 0.0)
    assert_allclose(between(X, AHEAD)(POOL, some), DenseBetween(X, AHEAD)(POOL, some), atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "others"),
    [
        (X, AHEAD + 0.3 * STEP),
        (X, AHEAD + 0.3 * STEP * (np.arange(5) == 2)[:, None]),
        (np.sort(np.random.default_rng(0).uniform(-1, 1, (12, 1)), axis=0), AHEAD),
        (X, np.array([[1000.0]])),
        (np.random.default_rng(0).uniform(-1, 1, (12, 2)), np.repeat(AHEAD, 2, axis=1)),
        (X, np.zeros((0, 1))),
    ],
    ids=["beside the grid", "one beside the grid", "irregular rows", "far away", "two inputs", "no rows"],
)
def test_without_a_common_grid_all_pairs_are_evaluated(rows, others):
    found, pool = between(rows, others), Products.of([SquaredExponential(0.4)], inputs=rows.shape[1])
    assert isinstance(found, DenseBetween)
    assert found(pool, np.ones((1, 1))).shape == (1, len(rows), len(others))


def test_rows_count_as_on_the_grid_within_the_rounding_of_the_whole_extent():
    rows = STEP * np.arange(60.0)[:, None]
    assert isinstance(between(rows, rows[:9] + 1e-9 * STEP), SeriesBetween)
    assert isinstance(between(rows, rows[:9] + 1e-8 * STEP), DenseBetween)


@pytest.mark.parametrize(("place", "kind"), [(4, SeriesBetween), (5, DenseBetween), (6, DenseBetween)])
def test_all_pairs_are_evaluated_where_there_are_no_fewer_lags(place, kind):
    found, pool = between(np.arange(5.0)[:, None], np.array([[float(place)]])), Products.of([Linear(0.3)], inputs=1)
    assert isinstance(found, kind)
    assert found(pool, np.ones((1, 1))).shape == (1, 5, 1)
