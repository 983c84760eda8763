"""Laws of functions of the distance taken together: each product has its own, whatever stands beside it, and the way
back is that of finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.lagged import Lagged
from farrier.evaluation.products import Products
from farrier.kernels.registry import (
    CentredPeriodic,
    Constant,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    White,
)
from tests.evaluation.own_families import Cosine, Gibbs

KERNELS = [
    SquaredExponential(0.6),
    Linear(0.3) * CentredPeriodic(0.7, 0.9),
    SquaredExponential(1.1) * Periodic(0.8, 0.7) * Periodic(1.9, 1.3),
    Constant(),
    Matern12(0.4) * Matern12(1.4) * Matern12(0.9),
    RationalQuadratic(0.4, 1.5) * CentredPeriodic(0.9, 1.2) * Matern52(2.0),
    Linear(-0.8),
    Matern32(0.5) * Cosine(1.1, 2.0),
    Cosine(0.9, 1.0),
    Gibbs(0.3) * Matern12(0.7),
    # on one column in two words, so that no rule merges them
    White(dims=0) * SquaredExponential(0.5),
    White(dims=0) * SquaredExponential(0.9),
]
PRODUCTS = Products.of(KERNELS, 1)
LAGS = np.array([0.0, 0.3, 0.7, 1.1, 2.5])


def stationary_part(i, numbers=PRODUCTS.numbers):
    """r of one product at each lag, factor by factor."""
    out = np.ones(len(LAGS))
    for factor in PRODUCTS.factors[i]:
        if factor.is_lagged:
            out = out * factor.between(numbers, LAGS[:, None], np.zeros((1, 1)))[0][:, 0]
    return out


def test_each_product_has_its_own_function_of_the_distance():
    R, _ = PRODUCTS.lagged(PRODUCTS.numbers, LAGS)
    assert R.shape == (len(KERNELS), len(LAGS))
    for i, row in enumerate(R):
        assert_allclose(row, stationary_part(i), rtol=1e-12, atol=1e-15, err_msg=str(KERNELS[i]))


def test_products_without_such_a_factor_are_one():
    R, _ = PRODUCTS.lagged(PRODUCTS.numbers, LAGS)
    for i in (3, 6):
        assert_array_equal(R[i], np.ones(len(LAGS)))


def test_a_group_holds_one_family_and_at_most_one_factor_of_each_product():
    groups = PRODUCTS.lagged.groups
    for group in groups:
        assert len(set(group.products.tolist())) == len(group.products)
    factors = [f for factors in PRODUCTS.factors for f in factors if f.is_lagged]
    assert sum(len(group.products) for group in groups) == len(factors)
    # three factors of one family in one product need three groups
    assert sum(group.family is Matern12 for group in groups) == 3
    assert sum(group.family is SquaredExponential for group in groups) == 1


def test_backward_pass_agrees_with_finite_differences():
    rng = np.random.default_rng(0)
    R, pull = PRODUCTS.lagged(PRODUCTS.numbers, LAGS)
    G, slopes = rng.standard_normal(R.shape), PRODUCTS.no_slopes()
    pull(G, slopes)
    for i in range(len(slopes)):
        ends = []
        for step in (1e-6, -1e-6):
            moved = PRODUCTS.numbers.copy()
            moved[i] += step
            ends.append(sum(G[k] @ stationary_part(k, moved) for k in range(len(KERNELS))))
        assert_allclose(slopes[i], (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-7, err_msg=str(PRODUCTS.layout[i]))


def test_slopes_are_added_to_what_is_there():
    R, pull = PRODUCTS.lagged(PRODUCTS.numbers, LAGS)
    once, twice = PRODUCTS.no_slopes(), PRODUCTS.no_slopes()
    pull(np.ones_like(R), once)
    for _ in range(2):
        pull(np.ones_like(R), twice)
    assert_allclose(twice, 2.0 * once, rtol=1e-14)


@pytest.mark.parametrize("kernels", [[Linear(0.1)], [Constant(), Gibbs(0.2)]], ids=["a line", "no stationary factor"])
def test_nothing_lagged_is_one_everywhere(kernels):
    products = Products.of(kernels, 1)
    R, pull = products.lagged(products.numbers, LAGS)
    assert_array_equal(R, np.ones((len(kernels), len(LAGS))))
    slopes = products.no_slopes()
    pull(np.ones_like(R), slopes)
    assert not slopes.any()


def test_no_products_have_no_rows():
    R, _ = Lagged.of([])(np.zeros(0), LAGS)
    assert R.shape == (0, len(LAGS))
