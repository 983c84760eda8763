"""Laws of copies: rows that stand there twice count once, unless equal inputs have different targets."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import farrier
from farrier import Regressor
from farrier.data.copies import without_copies

RNG = np.random.default_rng(3)
X = RNG.standard_normal((60, 2))
Y = X[:, 0] + 0.3 * RNG.standard_normal(60)


def twice(rows):
    return np.concatenate([np.arange(60), rows])


def test_copies_count_once():
    some = twice([3, 5, 5])
    assert_array_equal(without_copies(X[some], Y[some]), np.arange(60))


def test_rows_with_equal_inputs_and_other_targets_are_observations():
    some = twice([3, 5])
    y = Y[some]
    y[-1] += 1.0
    assert_array_equal(without_copies(X[some], y), np.arange(62))


def test_few_possible_inputs_are_no_copies():
    corners = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)] * 5)
    assert_array_equal(without_copies(corners, corners.prod(axis=1)), np.arange(20))


def test_a_table_with_copies_has_the_model_of_the_table_without():
    # inputs are scaled by all rows: with a copy of each the scale is the same
    some = np.tile(np.arange(60), 2)
    one, other = (farrier.Regressor().fit(X[rows], Y[rows]) for rows in (some, np.arange(60)))
    new = RNG.standard_normal((5, 2))
    # draws and optimisers multiply what rounding does
    assert_allclose(one.predict(new), other.predict(new), atol=1e-5)
    assert "rows" in str(one.explain())


def test_the_explanation_says_how_many_rows_were_copies():
    some = np.concatenate([np.arange(60), [3, 4, 4]])
    assert "3 rows are copies of others and were left out." in str(Regressor().fit(X[some], Y[some]).explain())
    assert "copies" not in str(Regressor().fit(X, Y).explain())
