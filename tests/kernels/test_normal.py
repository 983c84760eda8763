"""Laws of the normal form: a sum of simplified products, the same function, its own normal form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels.algebra import Base, Product, Sum
from farrier.kernels.normal import normal_form, simplify
from farrier.kernels.registry import Constant, Linear, Matern12, Periodic, SquaredExponential, Step, White
from tests.kernels.plain_kernels import equal, plain_gram

RNG = np.random.default_rng(0)
X2, Z2 = RNG.uniform(-2.0, 2.0, (2, 8, 2))
# places that noise sees as equal, in both columns and in one of them
Z2[:2], Z2[2, 0] = X2[:2], X2[2, 0]

a, b, c, d = Linear(0.3), SquaredExponential(0.8), Periodic(1.3, 0.7), Matern12(0.6)


def random_kernel(rng, inputs, depth=3):
    """A random expression, rich in what the rules of the normal form look at."""
    if depth == 0 or rng.random() < 0.2:
        dims = None if rng.random() < 0.3 else tuple(rng.permutation(inputs)[: rng.integers(1, inputs + 1)].tolist())
        size, width = rng.uniform(0.5, 2.0), inputs if dims is None else len(dims)
        choices = [
            lambda: SquaredExponential(rng.uniform(0.5, 2.0, width), dims),
            lambda: SquaredExponential(size, dims),
            lambda: White(dims),
            lambda: Constant(),
            lambda: Linear(size, dims=dims),
            lambda: Periodic(size, 0.9, dims),
            lambda: Step(0.1, size, dims=int(rng.integers(inputs))),
        ]
        return choices[rng.integers(len(choices))]()
    one, other = random_kernel(rng, inputs, depth - 1), random_kernel(rng, inputs, depth - 1)
    return one + other if rng.random() < 0.4 else one * other


RANDOM = [random_kernel(np.random.default_rng(seed), 2) for seed in range(25)]


@pytest.mark.parametrize("kernel", RANDOM, ids=range(len(RANDOM)))
def test_normal_form_is_the_same_function_and_its_own_normal_form(kernel):
    normal = normal_form(kernel)
    assert_allclose(normal.gram(X2, Z2), plain_gram(kernel, X2, Z2), rtol=1e-8, atol=1e-12)
    again = normal_form(normal)
    assert repr(again) == repr(normal)


@pytest.mark.parametrize("kernel", RANDOM, ids=range(len(RANDOM)))
def test_normal_form_is_a_sum_of_simplified_products(kernel):
    normal = normal_form(kernel)
    for term in normal.terms if isinstance(normal, Sum) else (normal,):
        factors = term.factors if isinstance(term, Product) else (term,)
        assert all(isinstance(factor, Base) for factor in factors)
        assert len(factors) == 1 or not any(isinstance(factor, Constant) for factor in factors)
        ranks = [factor.rank for factor in factors]
        assert ranks == sorted(ranks)
        # one SE on all columns and one on named columns are left at the most
        smooth = [factor.dims is None for factor in factors if isinstance(factor, SquaredExponential)]
        assert len(smooth) == len(set(smooth))
        for noise in (factor for factor in factors if isinstance(factor, White)):
            others = [factor for factor in factors if factor is not noise and factor.stationary]
            if noise.dims is None:
                assert others == []
            else:
                assert all(other.dims is None or not set(other.dims) <= set(noise.dims) for other in others)


def test_products_are_distributed_over_sums():
    assert str(normal_form((a + b) * (c + d))) == "Lin * Per + Lin * Mat12 + SE * Per + SE * Mat12"
    assert str(normal_form(((a + b) * c + d) * a)) == "Lin * Lin * Per + Lin * SE * Per + Lin * Mat12"


def test_smooth_kernels_merge_and_their_precisions_add():
    merged = normal_form(SquaredExponential(3.0) * SquaredExponential(4.0))
    # 1/9 + 1/16 = 25/144
    assert type(merged) is SquaredExponential
    assert_allclose(merged.lengthscale, 12.0 / 5.0, rtol=1e-14)
    ard = normal_form(SquaredExponential(np.array([3.0, 1.0])) * SquaredExponential(4.0))
    assert_allclose(ard.lengthscale, [12.0 / 5.0, (1.0 + 1.0 / 16.0) ** -0.5], rtol=1e-14)


def test_smooth_kernels_on_different_inputs_merge_into_one_on_all_of_them():
    merged = normal_form(SquaredExponential(3.0, dims=1) * SquaredExponential(np.array([2.0, 4.0]), dims=(0, 1)))
    assert str(merged) == "SE[0, 1]"
    assert_allclose(merged.lengthscale, [2.0, 12.0 / 5.0], rtol=1e-14)


def test_smooth_kernels_merge_across_other_factors():
    assert str(normal_form(SquaredExponential(3.0) * c * SquaredExponential(4.0) * a)) == "Lin * SE * Per"


def test_constants_vanish_from_products_but_not_from_sums():
    assert equal(normal_form(Constant() * b), b)
    assert equal(normal_form(Constant() * Constant()), Constant())
    assert str(normal_form((Constant() + a) * b)) == "SE + Lin * SE"


def test_noise_absorbs_what_is_stationary():
    assert equal(normal_form(White() * b * c), White())
    assert equal(normal_form(b * White() * White()), White())
    assert str(normal_form(White() * a * b)) == "Lin * WN"
    # where the first columns agree the second need not
    assert str(normal_form(White(dims=0) * SquaredExponential(1.0, dims=(0, 1)))) == "SE[0, 1] * WN[0]"
    assert str(normal_form(White(dims=(0, 1)) * SquaredExponential(1.0, dims=0))) == "WN[0, 1]"


def test_equal_structures_have_equal_formulas():
    factors = [
        SquaredExponential(1.0, dims=1),
        SquaredExponential(2.0, dims=0),
        Linear(0.0, dims=1),
        Linear(0.5, dims=0),
        White(dims=0),
        White(dims=(0, 1)),
        Matern12(1.0),
    ]
    rng = np.random.default_rng(1)
    orders = [[factors[i] for i in rng.permutation(len(factors))] for _ in range(20)]
    assert len({str(normal_form(Product(tuple(order)))) for order in orders}) == 1


def test_no_factors_are_a_constant():
    (one,) = simplify(())
    assert equal(one, Constant())


def test_noise_on_all_columns_absorbs_that_on_some_and_the_next_noise_is_still_looked_at():
    factors = simplify([White((0,)), White(), White((1,)), Periodic(1.3, 0.7, (1,))])
    assert [type(one) for one in factors] == [White]
    assert factors[0].dims is None
    apart = simplify([White((0,)), White((0, 1)), White((2,)), Periodic(1.3, 0.7, (2,))])
    assert [one.dims for one in apart] == [(0, 1), (2,)]
