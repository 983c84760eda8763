"""Laws of categories: equal codes are one, all others are zero; other units; products and dims."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.evaluation.products import Products
from farrier.kernels import registry
from farrier.kernels.parameters import trained
from farrier.kernels.registry import CALENDAR, CODES, FAMILIES, Category, SquaredExponential, known_families
from tests.kernels.plain_kernels import equal

RNG = np.random.default_rng(0)
ROWS = RNG.integers(0, 5, (40, 1)).astype(float)
TWO = np.hstack([RNG.standard_normal((40, 1)), ROWS])


def test_equal_codes_are_one_and_others_are_zero():
    expected = [[float(x == z) for z in ROWS[:9, 0]] for x in ROWS[:, 0]]
    assert_allclose(Category().gram(ROWS, ROWS[:9]), expected)
    assert_allclose(Category().diag(ROWS), 1.0)


def test_it_is_the_covariance_of_independent_effects():
    indicator = np.eye(5)[ROWS[:, 0].astype(int)]
    assert_allclose(Category().gram(ROWS, ROWS), indicator @ indicator.T)


def test_it_is_the_same_in_other_units_though_they_are_rounded():
    moved = Category().rescale(1 / 3.0, -17.3)
    X = ROWS / 3.0 - 17.3
    assert_allclose(moved.gram(X, X[:9]), Category().gram(ROWS, ROWS[:9]))


def test_repr_evaluates_to_the_kernel():
    kernel = Category(2.0, 0.5, dims=1)
    assert equal(eval(repr(kernel), vars(registry).copy()), kernel)


def test_products_evaluate_it_and_nothing_is_trained():
    pool = Products.of([Category(dims=1) * SquaredExponential(0.7, dims=0), Category(dims=1)], 2)
    smooth = SquaredExponential(0.7).gram(TWO[:, :1], TWO[:9, :1])
    assert_allclose(pool.gram(TWO, TWO[:9])[0], smooth * Category().gram(ROWS, ROWS[:9]))
    assert_allclose(pool.diag(TWO), 1.0)
    assert len(pool.numbers) == 1
    assert not trained(Category)


def test_two_inputs_ask_for_dims():
    with pytest.raises(ValueError, match="Cat acts on one input, got 2: name it with dims="):
        Category().gram(TWO, TWO)


def test_it_is_known_by_its_name_and_no_symbol_or_rank_comes_twice():
    assert known_families()["Category"] is Category
    symbols, ranks = zip(*((one.symbol, one.rank) for one in (*FAMILIES, *CALENDAR, *CODES)), strict=True)
    assert len(set(symbols)) == len(symbols)
    assert len(set(ranks)) == len(ranks)


def test_codes_are_counted_from_the_origin_in_steps():
    kernel, X = Category(2.0, 0.5), 2.0 + 0.5 * ROWS
    assert_allclose(kernel.gram(X, X[:9]), Category().gram(ROWS, ROWS[:9]))
    assert_allclose(Category.codes({"origin": np.array([2.0]), "step": np.array([0.5])}, X), ROWS[:, 0])
    near = X + 0.2 * RNG.choice([-1.0, 1.0], X.shape)  # less than half a step away
    assert_allclose(kernel.gram(near, near), kernel.gram(X, X))
    assert_allclose(kernel.rescale(4.0, -1.0).gram(4.0 * near - 1.0, 4.0 * near - 1.0), kernel.gram(X, X))


def test_codes_with_other_steps_are_told_apart_in_one_pool():
    fine, coarse = Category(0.0, 1.0), Category(0.25, 2.0)
    both = Products.of([fine * SquaredExponential(0.7), coarse * SquaredExponential(0.7)], 1).gram(ROWS, ROWS)
    for gram, kernel in zip(both, (fine, coarse), strict=True):
        assert_allclose(gram, kernel.gram(ROWS, ROWS) * SquaredExponential(0.7).gram(ROWS, ROWS))
    assert not np.array_equal(fine.gram(ROWS, ROWS), coarse.gram(ROWS, ROWS))
