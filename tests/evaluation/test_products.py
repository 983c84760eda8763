"""Laws of products and their factors: they are the kernels they were made of, their hyperparameters are one vector,
all ways to evaluate them agree, and derivatives are those of finite differences."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.products import Products
from farrier.kernels.algebra import product_of
from farrier.kernels.normal import normal_form
from farrier.kernels.parameters import POSITIVE, trained
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
    Step,
    White,
)
from tests.evaluation.own_families import Cosine, Gibbs, Power
from tests.kernels.plain_kernels import BASES, KERNELS, equal, plain_gram

OWN = [Gibbs(0.4), Cosine(1.3, 2.0), Power(0.2, 2.0)]
ONE_INPUT = [
    *KERNELS,
    Step(-0.5, 0.3) * (1 - Step(0.8, 0.2)) * Linear(0.2) * SquaredExponential(0.7) * Periodic(0.8, 0.9),
    Linear(0.3) * Linear(-0.4) * Linear(1.1) * Matern52(0.9),
    CentredPeriodic(0.9, 0.7) * Periodic(2.3, 1.4) * Matern12(1.5),
    SquaredExponential(0.5) * SquaredExponential(1.2),
    SquaredExponential(0.5) * Matern12(1.2),
    Step(0.0, 0.3) * Step(1.0, 0.2),
]
THREE_INPUTS = [
    SquaredExponential(np.array([0.8, 2.5, 1.3])) * Periodic(1.3, 0.8, dims=0) * CentredPeriodic(0.9, 1.1, dims=2),
    Linear(0.3),
    Linear(np.array([0.1, 0.5]), dims=(2, 0)) * Linear(0.2, dims=1) * Matern32(0.9, dims=(1, 0)),
    Linear(np.array([0.4, -0.2, 0.9])) * Linear(0.1) * Step(0.2, 0.5, dims=1),
    (1 - Step(0.1, 0.4, dims=2)) * RationalQuadratic(np.array([0.7, 1.9]), 1.3, dims=(0, 2)),
    SquaredExponential(0.7, dims=1) * SquaredExponential(1.4, dims=2),
    Matern12(1.1, dims=2),
    Matern52(np.array([1.2, 0.6, 0.9])),
    Periodic(np.array([1.2, 0.6, 0.9]), 0.8),
    CentredPeriodic(np.array([1.2, 0.6]), 0.8, dims=(0, 2)) * White(dims=1),
    Constant(),
]
PAIRS = [one * other for one, other in combinations_with_replacement(BASES, 2)]
OWN_PAIRS = [*OWN, *(own * other for own in OWN for other in [*BASES, *OWN])]
CASES = {"one": ONE_INPUT, "pairs": PAIRS, "three": THREE_INPUTS}


def points(inputs, seed):
    return np.random.default_rng(seed).uniform(-2.0, 2.0, (6, inputs))


def counted(kernel):
    """The kernel with its lines in the unit in which they are fitted, (x - c) / sqrt(1 + c^2)."""
    return product_of([factor.for_fitting() for factor in kernel.products()[0]])


class Case:
    """Products, the kernels they were made of, and two sets of points that share one."""

    def __init__(self, kernels, inputs):
        self.kernels, self.inputs = kernels, inputs
        self.products = Products.of(kernels, inputs)
        self.X, self.Z = points(inputs, 1), points(inputs, 2)
        if inputs == 1:  # where points coincide a distance by inner products is good to 1e-8
            self.Z[2] = self.X[4]


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return Case(CASES[request.param], 3 if request.param == "three" else 1)


@pytest.fixture(scope="module", params=[*CASES, "own"])
def any_case(request):
    """Families of the test too: there is no slow oracle for them."""
    kernels = OWN_PAIRS if request.param == "own" else CASES[request.param]
    return Case(kernels, 3 if request.param == "three" else 1)


def test_gram_is_that_of_the_kernels_pair_by_pair(case):
    for K, kernel in zip(case.products.gram(case.X, case.Z), case.kernels, strict=True):
        oracle = plain_gram(counted(kernel), case.X, case.Z)
        assert_allclose(K, oracle, rtol=1e-9, atol=1e-12, err_msg=repr(kernel))


def test_diag_is_the_diagonal_pair_by_pair(case):
    for k, kernel in zip(case.products.diag(case.X), case.kernels, strict=True):
        diagonal = np.diagonal(plain_gram(counted(kernel), case.X, case.X))
        assert_allclose(k, diagonal, rtol=1e-10, atol=1e-14, err_msg=repr(kernel))


def test_gram_and_diag_are_those_of_the_kernels_that_come_out(any_case):
    products, X, Z = any_case.products, any_case.X, any_case.Z
    for kernel, K, k in zip(products, products.gram(X, Z), products.diag(X), strict=True):
        assert_allclose(K, kernel.gram(X, Z), rtol=1e-9, atol=1e-12, err_msg=repr(kernel))
        assert_allclose(k, kernel.diag(X), rtol=1e-10, atol=1e-14, err_msg=repr(kernel))


def test_kernels_are_returned_unchanged(case):
    for back, kernel in zip(case.products, case.kernels, strict=True):
        normal = normal_form(kernel)
        assert str(back) == str(normal)
        expected = plain_gram(counted(normal), case.X, case.Z)
        assert_allclose(plain_gram(back, case.X, case.Z), expected, rtol=1e-10, atol=1e-14)


def test_profile_and_correlation_make_the_kernel(any_case):
    products, X, Z = any_case.products, any_case.X, any_case.Z
    for term, K in zip(products.terms, products.gram(X, Z), strict=True):
        (v_x, _), (v_z, _) = term.profile(products.numbers, X), term.profile(products.numbers, Z)
        R, _ = term.correlation(products.numbers, X, Z)
        assert_allclose(np.outer(v_x, v_z) * R, K, rtol=1e-12, atol=1e-14)


def test_a_sum_gives_one_product_for_each_of_its_terms():
    products = Products.of([(SquaredExponential(0.4) + Linear(0.1)) * Periodic(1.0)], 1)
    assert [str(kernel) for kernel in products] == ["SE * Per", "Lin * Per"]
    assert str(products) == "  0  SE * Per\n  1  Lin * Per"


# the vector of hyperparameters


def test_hyperparameters_are_at_the_positions_of_the_layout(any_case):
    products = any_case.products
    assert len(products.layout) == len(products.numbers) == len(products.positive) == len(products.no_slopes())
    seen = {}
    for number, value in zip(products.layout, products.numbers, strict=True):
        place = (number.product, number.factor, number.name)
        seen.setdefault(place, []).append(value)
        factor = products.kernels[number.product][number.factor]
        assert number.mark is trained(type(factor))[number.name]
    for (i, j, name), values in seen.items():
        assert_array_equal(values, np.ravel(getattr(products.kernels[i][j], name)))
    count = sum(len(trained(type(factor))) for factors in products.kernels for factor in factors)
    assert len(seen) == count


def test_hyperparameters_are_ordered_by_product(any_case):
    order = [(number.product, number.factor) for number in any_case.products.layout]
    assert order == sorted(order)


def test_places_of_the_factors_cover_the_vector_once(any_case):
    products = any_case.products
    covered = [
        i for factors in products.factors for f in factors for at in f.places.values() for i in range(at.stop)[at]
    ]
    assert covered == list(range(len(products.numbers)))


def test_unbounded_hyperparameters_round_trip(any_case):
    products = any_case.products
    again = products.with_unbounded(products.unbounded)
    assert_allclose(again.numbers, products.numbers, rtol=1e-14)
    assert [str(kernel) for kernel in again] == [str(kernel) for kernel in products]
    assert_allclose(again.gram(any_case.X, any_case.Z), products.gram(any_case.X, any_case.Z), rtol=1e-10, atol=1e-14)


def test_any_real_numbers_make_products(any_case):
    products = any_case.products
    u = 0.5 * np.random.default_rng(3).standard_normal(len(products.numbers))
    moved = products.with_unbounded(u)
    positive = np.array([number.mark.constraint is POSITIVE for number in products.layout])
    assert_array_equal(products.positive, positive)
    assert_allclose(moved.numbers, np.where(positive, np.exp(u), u), rtol=1e-14)
    assert_allclose(moved.unbounded, u, rtol=1e-12, atol=1e-14)
    assert np.all(np.isfinite(moved.gram(any_case.X, any_case.Z)))
    # the numbers of the products that were moved from are as they were
    assert_array_equal(products.numbers, Products.of(any_case.kernels, any_case.inputs).numbers)


def test_a_shared_hyperparameter_has_one_entry_and_others_one_per_column():
    products = Products.of([RationalQuadratic(0.7, 1.3), Periodic(1.0, dims=(0, 2))], 3)
    assert [(n.product, n.name) for n in products.layout] == [
        *[(0, "lengthscale")] * 3,
        (0, "mixture"),
        *[(1, "period")] * 2,
        *[(1, "lengthscale")] * 2,
    ]


# columns and constants


def test_a_constant_has_no_factors_and_no_numbers():
    products = Products.of([Constant(), Constant() * Constant(dims=0)], 2)
    assert products.kernels == ((), ())
    assert len(products.numbers) == 0
    assert_array_equal(products.gram(points(2, 1), points(2, 2)), np.ones((2, 6, 6)))
    assert_array_equal(products.diag(points(2, 1)), np.ones((2, 6)))
    assert all(equal(kernel, Constant()) for kernel in products)
    assert len(products.with_unbounded(np.zeros(0))) == 2


def test_columns_are_named_only_where_not_all_are_meant():
    kernels = [Linear(0.1, dims=(0, 1)), Linear(0.1, dims=(1, 0)), Linear(0.1), Linear(0.1, dims=1)]
    assert [factor.dims for (factor,) in Products.of(kernels, 2).kernels] == [None, (1, 0), None, (1,)]
    assert Products.of([SquaredExponential(0.5, dims=0)], 1).kernels[0][0].dims is None


def test_hyperparameters_stay_with_their_columns():
    kernel = SquaredExponential(np.array([0.5, 2.0]), dims=(2, 0))
    products = Products.of([kernel], 3)
    assert_array_equal(products.numbers, [0.5, 2.0])
    expected = plain_gram(kernel, points(3, 1), points(3, 2))
    assert_allclose(products.gram(points(3, 1), points(3, 2))[0], expected, rtol=1e-9)


def test_what_is_never_trained_is_no_number():
    products = Products.of([Cosine(1.3, 2.0) * Power(0.2, 3.0)], 1)
    assert [number.name for number in products.layout] == ["period", "location"]
    constants = [factor.constants for factor in products.factors[0]]
    assert [{name: value.tolist() for name, value in one.items()} for one in constants] == [
        {"turns": [2.0]},
        {"degree": [3.0]},
    ]


def test_products_on_lags_are_those_without_a_profile_and_without_other_factors():
    kernels = [
        SquaredExponential(0.5),
        Linear(0.1) * Matern12(1.0),
        Gibbs(0.3),
        Constant(),
        Cosine(1.0) * Periodic(1.0),
    ]
    assert Products.of(kernels, 1).on_lags.tolist() == [True, False, False, True, True]


# derivatives

WAYS = {
    "gram": lambda term, numbers, X, Z: term.gram(numbers, X, Z),
    "the same points twice": lambda term, numbers, X, Z: term.gram(numbers, X, X),
    "diag": lambda term, numbers, X, Z: term.diag(numbers, X),
    "profile": lambda term, numbers, X, Z: term.profile(numbers, X),
    "correlation": lambda term, numbers, X, Z: term.correlation(numbers, X, Z),
}


@pytest.mark.parametrize("way", WAYS)
def test_derivative_is_that_of_finite_differences(any_case, way):
    products, X, Z = any_case.products, any_case.X, any_case.Z
    rng = np.random.default_rng(3)
    owners = np.array([number.product for number in products.layout])
    along = rng.standard_normal(len(products.numbers))
    moved = [products.numbers + step * along for step in (1e-6, -1e-6)]
    for i, term in enumerate(products.terms):
        values, pull = WAYS[way](term, products.numbers, X, Z)
        G, slopes = rng.standard_normal(values.shape), products.no_slopes()
        pull(G, slopes)
        ahead, behind = (np.sum(G * WAYS[way](term, numbers, X, Z)[0]) for numbers in moved)
        assert_allclose(slopes @ along, (ahead - behind) / 2e-6, rtol=1e-5, atol=1e-6, err_msg=repr(products[i]))
        # only the numbers of this product move it
        assert not slopes[owners != i].any()


def test_derivative_by_each_number_alone():
    products = Products.of([kernel for kernel in ONE_INPUT if len(kernel.products()[0]) > 1], 1)
    X, Z = points(1, 1), points(1, 2)
    G = np.random.default_rng(4).standard_normal((6, 6))
    slopes = products.no_slopes()
    for term in products.terms:
        term.gram(products.numbers, X, Z)[1](G, slopes)
    for i, number in enumerate(products.layout):
        ends = []
        for step in (1e-6, -1e-6):
            moved = products.numbers.copy()
            moved[i] += step
            ends.append(np.sum(G * products.terms[number.product].gram(moved, X, Z)[0]))
        assert_allclose(slopes[i], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6, err_msg=str(number))


def test_slopes_are_added_to_what_is_there(any_case):
    products = any_case.products
    once, twice = products.no_slopes(), products.no_slopes()
    for term in products.terms:
        K, pull = term.gram(products.numbers, any_case.X, any_case.Z)
        pull(np.ones_like(K), once)
        pull(np.ones_like(K), twice)
        pull(np.ones_like(K), twice)
    assert_allclose(twice, 2.0 * once, rtol=1e-12)


# what is refused


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (SquaredExponential(1.0, dims="day"), r"SE\[day\] acts on named inputs: call bind"),
        (SquaredExponential(1.0, dims=3), r"dims of SE\[3\] must be from 0 to 2 for 3 inputs, got \(3,\)"),
        (SquaredExponential(1.0, dims=-1), r"dims of SE\[-1\] must be from 0 to 2 for 3 inputs"),
        (SquaredExponential([1.0, 2.0]), "SE: lengthscale has 2 entries for 3 columns: give one, or one for each"),
        (Linear([1.0, 2.0], dims=1), r"Lin\[1\]: location has 2 entries for 1 columns"),
    ],
)
def test_columns_that_do_not_fit_are_refused_in_one_line(kernel, message):
    with pytest.raises(ValueError, match=message) as caught:
        Products.of([kernel], 3)
    assert "\n" not in str(caught.value)


def test_a_step_on_several_inputs_asks_for_dims():
    products = Products.of([Step(0.0, 1.0)], 3)
    with pytest.raises(ValueError, match="Step acts on one input, got 3: name it with dims="):
        products.gram(points(3, 1), points(3, 2))


def test_an_index_beyond_the_end_is_refused():
    products = Products.of([Linear(0.0), SquaredExponential(1.0)], 1)
    with pytest.raises(IndexError, match="2 products, got index 2"):
        products[2]
    assert str(products[-1]) == "SE"
