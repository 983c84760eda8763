"""Laws of the algebra of kernels: sums and products, formulas, changes of unit, names, the normal form."""

from itertools import combinations_with_replacement

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels import registry as base
from farrier.kernels.algebra import Product, Sum
from farrier.kernels.normal import normal_form
from farrier.kernels.registry import (
    CentredPeriodic,
    Constant,
    Linear,
    Matern12,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    Step,
    White,
)
from tests.kernels.plain_kernels import BASES, KERNELS, plain_gram

RNG = np.random.default_rng(0)
X1, Z1 = (jnp.asarray(points) for points in RNG.uniform(-2.0, 2.0, (2, 8, 1)))
X2, Z2 = (jnp.asarray(points) for points in RNG.uniform(-2.0, 2.0, (2, 8, 2)))
# places that noise sees as equal, in both columns and in one of them
Z1 = Z1.at[:2].set(X1[:2])
Z2 = Z2.at[:2].set(X2[:2]).at[2, 0].set(X2[2, 0])

a, b, c, d = Linear(0.3), SquaredExponential(0.8), Periodic(1.3, 0.7), Matern12(0.6)

PAIRS = [
    operation(one, other)
    for one, other in combinations_with_replacement(BASES, 2)
    for operation in (lambda one, other: one + other, lambda one, other: one * other)
]

TWO_INPUTS = [
    Step(0.3, 0.4, dims=1),
    1 - Step(-0.3, 0.4, dims=0),
    Linear(0.6, 1.7),
    SquaredExponential(np.array([0.8, 2.5])),
    RationalQuadratic(0.7, 1.3, dims=(1, 0)),
    Matern52(1.2),
    Periodic(np.array([1.4, 0.6]), 0.9),
    CentredPeriodic(0.9, 1.6, dims=1),
    White(),
    SquaredExponential(0.7, dims=0) * Periodic(1.3, 0.5, dims=1) + Linear(0.2) * Matern12(0.4, dims=1),
]


def equal(one, other):
    return bool(eqx.tree_equal(one, other, typematch=True))


@pytest.mark.parametrize(
    ("kernel", "kind", "size"),
    [
        ((a * b) + c, Sum, 2),
        (a * b + c * d, Sum, 2),
        (a + b * c, Sum, 2),
        ((a + b) + (c + d), Sum, 4),
        (a * (b * c) * d, Product, 4),
        ((a + b) * c, Product, 2),
        (a * (b + c) * d, Product, 3),
        ((a + b) * (c + d), Product, 2),
    ],
    ids=str,
)
def test_sums_and_products_are_flat_and_not_mixed_up(kernel, kind, size):
    assert type(kernel) is kind
    parts = kernel.terms if isinstance(kernel, Sum) else kernel.factors
    assert len(parts) == size
    assert not any(type(part) is kind for part in parts)


def test_order_of_operations():
    assert equal((a * b + c).terms[0], a * b)
    assert equal((a * b + c).terms[1], c)
    assert equal(((a + b) * c).factors[0], a + b)


@pytest.mark.parametrize("kernel", [a + b + c, a * b * c, a * b + c, (a + b) * (c + d)], ids=str)
def test_gram_and_diag_are_those_of_the_parts(kernel):
    assert_allclose(kernel.gram(X1, Z1), plain_gram(kernel, X1, Z1), rtol=1e-11)
    assert_allclose(kernel.diag(X1), np.diagonal(plain_gram(kernel, X1, X1)), rtol=1e-11)


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        (a * b * c + b, "Lin * SE * Per + SE"),
        ((a + b) * c, "(Lin + SE) * Per"),
        ((1 - Step(0.0, 1.0)) * d + Step(0.0, 1.0) * White(), "(1 - Step) * Mat12 + Step * WN"),
        (CentredPeriodic(1.0, dims="week") * RationalQuadratic(1.0, dims=(0, 2)), "Per0[week] * RQ[0, 2]"),
        (Constant() + Matern52(1.0) + base.Matern32(1.0), "1 + Mat52 + Mat32"),
    ],
)
def test_str_is_the_formula(kernel, formula):
    assert str(kernel) == formula


def test_formula_names_the_inputs():
    kernel = SquaredExponential(1.0, dims=(0, 2)) * Linear(0.0) + Periodic(1.0, dims=1)
    assert kernel.formula(["year", "day", "price"]) == "SE[year, price] * Lin + Per[day]"


@pytest.mark.parametrize(
    "kernel", [*KERNELS, *TWO_INPUTS, (a + b) * c + d, SquaredExponential(1.0, dims=("x", 1))], ids=str
)
def test_repr_evaluates_to_the_kernel(kernel):
    assert equal(eval(repr(kernel), vars(base).copy()), kernel)


def test_repr_has_all_digits():
    assert eval(repr(SquaredExponential(0.1 + 0.2)), vars(base).copy()).lengthscale == 0.1 + 0.2


@pytest.mark.parametrize("kernel", [*KERNELS, *PAIRS], ids=str)
def test_rescaled_kernel_is_the_same_in_other_units(kernel):
    # powers of two, so that equal places stay equal
    rescaled = kernel.rescale(4.0, -3.0)
    expected = kernel.gram(X1, Z1)
    assert_allclose(rescaled.gram(4.0 * X1 - 3.0, 4.0 * Z1 - 3.0), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", TWO_INPUTS, ids=str)
def test_rescaled_kernel_is_the_same_in_other_units_of_each_input(kernel):
    scale, shift = np.array([4.0, 0.25]), np.array([-3.0, 7.0])
    X, Z = (scale * np.asarray(points) + shift for points in (X2, Z2))
    rescaled = kernel.rescale(scale, shift)
    assert_allclose(rescaled.gram(jnp.asarray(X), jnp.asarray(Z)), kernel.gram(X2, Z2), rtol=1e-7, atol=1e-12)


def test_rescaled_parameters_are_in_the_new_units():
    # years since 1949 become calendar months
    kernel = (Linear(2.0) * Periodic(1.0, 0.9) * SquaredExponential(8.0)).rescale(12.0, 100.0)
    line, season, decay = kernel.factors
    assert_allclose([line.location, line.scale], [124.0, 12.0])
    assert_allclose([season.period, season.lengthscale], [12.0, 0.9])
    assert_allclose(decay.lengthscale, 96.0)


def test_bind_puts_positions_for_names():
    kernel = SquaredExponential(0.7, dims="price") * Linear(0.1, dims=("price", "year")) + Periodic(1.3, dims=0)
    bound = kernel.bind(["year", "price"])
    assert str(bound) == "SE[1] * Lin[1, 0] + Per[0]"
    assert_allclose(bound.gram(X2, Z2), plain_gram(bound, X2, Z2), rtol=1e-10)
    assert equal(bound.bind(["year", "price"]), bound)


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
        assert all(isinstance(factor, base.Base) for factor in factors)
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
