"""Laws of the kernel of all orders: it is a sum over all sets of inputs, and codes are levels."""

from itertools import combinations

import numpy as np
from numpy.testing import assert_allclose

from farrier.evaluation.products import Products
from farrier.kernels.all_orders import AllOrders
from farrier.kernels.registry import Category, SquaredExponential

RNG = np.random.default_rng(0)
X, Z = RNG.uniform(-2.0, 2.0, (6, 3)), RNG.uniform(-2.0, 2.0, (5, 3))
LENGTHS, STRENGTHS = np.array([0.7, 1.3, 2.0]), np.array([0.2, 1.0, 3.0])


def test_it_is_a_sum_over_all_sets_of_inputs():
    each = [SquaredExponential(length, dims=(d,)).gram(X, Z) for d, length in enumerate(LENGTHS)]
    total = np.zeros((len(X), len(Z)))
    for size in range(4):
        for inputs in combinations(range(3), size):
            total += np.prod([STRENGTHS[d] * each[d] for d in inputs], axis=0) if inputs else 1.0
    assert_allclose(AllOrders(LENGTHS, STRENGTHS).gram(X, Z), total / np.prod(1.0 + STRENGTHS))


def test_its_variance_is_one():
    assert_allclose(np.diagonal(AllOrders(LENGTHS, STRENGTHS).gram(X, X)), 1.0)


def test_codes_are_levels_and_their_lengthscale_does_not_count():
    rows = X.copy()
    rows[:, 1] = [0, 1, 2, 0, 1, 5]
    kernel = AllOrders(LENGTHS, STRENGTHS, coded=np.array([0.0, 1.0, 0.0]))
    level = Category(dims=(1,)).gram(rows, rows)
    others = AllOrders(LENGTHS[[0, 2]], STRENGTHS[[0, 2]]).gram(rows[:, [0, 2]], rows[:, [0, 2]])
    assert_allclose(kernel.gram(rows, rows), others * (1.0 + level) / 2.0)
    pool = Products.of([kernel], 3)
    slopes = pool.no_slopes()
    pool.terms[0].gram(pool.numbers, rows, rows)[1](RNG.standard_normal((6, 6)), slopes)
    assert slopes[1] == 0.0


def test_values_that_rows_share_give_the_same_matrix():
    rows = np.round(np.repeat(X, 20, axis=0), 1)
    kernel = AllOrders(LENGTHS, STRENGTHS)
    assert_allclose(kernel.gram(rows, rows)[::20, ::20], kernel.gram(rows[::20], rows[::20]), rtol=1e-12)
