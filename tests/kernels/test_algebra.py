"""Laws of the algebra of kernels: sums and products, formulas, changes of unit, names."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels import registry as base
from farrier.kernels.algebra import Product, Sum, as_dims, product_of
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
from tests.kernels.plain_kernels import BASES, KERNELS, equal, plain_gram

RNG = np.random.default_rng(0)
X1, Z1 = RNG.uniform(-2.0, 2.0, (2, 8, 1))
X2, Z2 = RNG.uniform(-2.0, 2.0, (2, 8, 2))
# places that noise sees as equal
Z1[:2], Z2[:2] = X1[:2], X2[:2]

a, b, c, d = Linear(0.3), SquaredExponential(0.8), Periodic(1.3, 0.7), Matern12(0.6)

PAIRS = [
    operation(one, other)
    for one, other in combinations_with_replacement(BASES, 2)
    for operation in (lambda one, other: one + other, lambda one, other: one * other)
]


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


@pytest.mark.parametrize("kernel", [*PAIRS, (a + b) * c + d, (a * b + c) * (d + a)], ids=str)
def test_repr_evaluates_to_the_kernel(kernel):
    assert equal(eval(repr(kernel), vars(base).copy()), kernel)


@pytest.mark.parametrize("kernel", [*KERNELS, *PAIRS], ids=str)
def test_rescaled_kernel_is_the_same_in_other_units(kernel):
    # powers of two, so that equal places stay equal
    rescaled = kernel.rescale(4.0, -3.0)
    expected = kernel.gram(X1, Z1)
    assert_allclose(rescaled.gram(4.0 * X1 - 3.0, 4.0 * Z1 - 3.0), expected, rtol=1e-10, atol=1e-12)


def test_bind_puts_positions_for_names():
    kernel = SquaredExponential(0.7, dims="price") * Linear(0.1, dims=("price", "year")) + Periodic(1.3, dims=0)
    bound = kernel.bind(["year", "price"])
    assert str(bound) == "SE[1] * Lin[1, 0] + Per[0]"
    assert_allclose(bound.gram(X2, Z2), plain_gram(bound, X2, Z2), rtol=1e-10)
    assert equal(bound.bind(["year", "price"]), bound)


def test_dims_are_a_tuple_of_columns_or_all():
    assert [as_dims(dims) for dims in (None, 2, "day", [0, "day"], (1,))] == [None, (2,), ("day",), (0, "day"), (1,)]
    assert SquaredExponential(1.0, dims=[1, 0]).dims == (1, 0)


def test_the_product_of_one_kernel_is_itself():
    assert product_of([b]) is b
    assert equal(product_of([a, b]), a * b)


def test_products_are_distributed_over_sums():
    terms = ((a + b) * c + d).products()
    assert [tuple(map(str, factors)) for factors in terms] == [("Lin", "Per"), ("SE", "Per"), ("Mat12",)]


def test_numbers_are_given_by_name_and_changed_one_at_a_time():
    assert {name: float(value) for name, value in c.parameters().items()} == {"period": 1.3, "lengthscale": 0.7}
    changed = c.replace(period=2.0)
    assert (float(changed.period), float(changed.lengthscale), float(c.period)) == (2.0, 0.7, 1.3)


def test_without_a_shift_only_the_unit_changes():
    X = np.linspace(-1.0, 2.0, 7)[:, None]
    kernel = Linear(0.4) * Matern12(0.7) + Periodic(1.3, 0.8)
    for one in (kernel, kernel.terms[0], kernel.terms[1]):
        assert_allclose(one.rescale(3.0).gram(3.0 * X, 3.0 * X), one.gram(X, X), rtol=1e-12)
