"""Laws of the ends of the rows: they are the outermost rows along each principal component, whatever the units."""

import numpy as np

from farrier.model.held_out import ends_of

RNG = np.random.default_rng(5)


def test_the_ends_of_one_input_are_its_smallest_and_largest_values():
    X = RNG.standard_normal((40, 1))
    ends, order = ends_of(X, 0.1), np.argsort(X[:, 0])
    assert {tuple(one) for one in ends} == {tuple(sorted(order[:4])), tuple(sorted(order[-4:]))}


def test_there_are_two_ends_for_each_input_and_units_do_not_matter():
    X = RNG.standard_normal((60, 3)) * [1.0, 2.0, 3.0]
    X[:, 1] += X[:, 0]
    first, second = ({tuple(one) for one in ends_of(rows, 0.1)} for rows in (X, X * [10.0, 0.1, -2.0] + 7.0))
    assert first == second
    assert len(first) == 6
    assert {len(one) for one in first} == {6}


def test_the_ends_of_inputs_that_go_together_lie_along_their_sum():
    x = RNG.standard_normal(50)
    X = np.stack([x, x + 0.1 * RNG.standard_normal(50)], axis=1)
    outermost = np.argsort(X.sum(axis=1))
    assert {int(outermost[0]), int(outermost[-1])} <= {int(row) for one in ends_of(X, 0.02) for row in one}
