"""Laws of pools with slots and of products on the host: they are the kernels that filled them, all ways to evaluate
them agree, and derivatives are those of finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.evaluation.products import HostPool
from farrier.evaluation.slots import SlotPool
from farrier.kernels.algebra import Product, product_of
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
from farrier.kernels.normal import normal_form
from tests.kernels.plain_kernels import KERNELS, plain_gram

ONE_INPUT = [
    *(kernel for kernel in KERNELS if "WN" not in str(kernel)),
    Step(-0.5, 0.3) * (1 - Step(0.8, 0.2)) * Linear(0.2) * SquaredExponential(0.7) * Periodic(0.8, 0.9),
    Linear(0.3) * Linear(-0.4) * Linear(1.1) * Matern52(0.9),
    CentredPeriodic(0.9, 0.7) * Periodic(2.3, 1.4) * Matern12(1.5),
    SquaredExponential(0.5) * SquaredExponential(1.2),
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
    Constant(),
]
CASES = {1: ONE_INPUT, 3: THREE_INPUTS}


def points(inputs, seed):
    return np.random.default_rng(seed).uniform(-2.0, 2.0, (6, inputs))


def counted(kernel):
    """The kernel with its lines in the pool's unit, (x - c) / sqrt(1 + c^2)."""
    factors = [
        factor.replace(scale=np.sqrt(1.0 + np.asarray(factor.location) ** 2)) if isinstance(factor, Linear) else factor
        for factor in kernel.products()[0]
    ]
    return product_of(factors)


@pytest.fixture(scope="module", params=[1, 3])
def case(request):
    """A pool, its kernels, and two sets of points that share one."""
    inputs = request.param
    X, Z = points(inputs, 1), points(inputs, 2)
    Z[2] = X[4]
    pool = SlotPool.of(CASES[inputs], inputs)
    return {"inputs": inputs, "pool": pool, "host": HostPool.of(pool), "X": X, "Z": Z}


def test_gram_is_that_of_the_kernels(case):
    for K, kernel in zip(case["host"].gram(case["X"], case["Z"]), CASES[case["inputs"]], strict=True):
        oracle = plain_gram(counted(kernel), case["X"], case["Z"])
        assert_allclose(K, oracle, rtol=1e-9, atol=1e-12, err_msg=repr(kernel))


def test_kernels_come_back_as_they_went_in(case):
    for back, kernel in zip(case["pool"], CASES[case["inputs"]], strict=True):
        normal = normal_form(kernel)
        # columns come back in their order
        assert [(f.symbol, sorted(f.dims or ())) for f in back.products()[0]] == [
            (f.symbol, sorted(f.dims or ())) for f in normal.products()[0]
        ]
        assert_allclose(
            plain_gram(back, case["X"], case["Z"]), plain_gram(counted(normal), case["X"], case["Z"]), rtol=1e-10
        )


def test_diag_is_the_diagonal(case):
    for k, kernel in zip(case["host"].diag(case["X"]), CASES[case["inputs"]], strict=True):
        diagonal = np.diagonal(plain_gram(counted(kernel), case["X"], case["X"]))
        assert_allclose(k, diagonal, rtol=1e-10, atol=1e-14, err_msg=repr(kernel))


def test_profile_and_correlation_make_the_kernel_of_one_input():
    host, X = HostPool.of(SlotPool.of(ONE_INPUT, 1)), points(1, 1)
    lag = (X - X.T).reshape(-1, 1)
    for product, kernel in zip(host.kernels, ONE_INPUT, strict=True):
        v, _ = product.profile(host.numbers, X)
        rho, _ = product.correlation(host.numbers, lag, np.zeros((1, 1)))
        one = np.outer(v, v) * rho.reshape(6, 6)
        assert_allclose(one, plain_gram(counted(kernel), X, X), rtol=1e-10, atol=1e-12, err_msg=repr(kernel))


def test_a_sum_gives_one_kernel_for_each_of_its_products():
    pool = SlotPool.of([(SquaredExponential(0.4) + Linear(0.1)) * Periodic(1.0)], 1)
    assert [str(kernel) for kernel in pool] == ["SE * Per", "Lin * Per"]


WAYS = {
    "gram": lambda product, numbers, X, Z: product.gram(numbers, X, Z),
    "the same points twice": lambda product, numbers, X, Z: product.gram(numbers, X, X),
    "diag": lambda product, numbers, X, Z: product.diag(numbers, X),
}


@pytest.mark.parametrize("way", WAYS)
def test_derivative_is_that_of_finite_differences(case, way):
    host, rng = case["host"], np.random.default_rng(3)
    along = {name: rng.standard_normal(values.shape) for name, values in host.numbers.items()}
    moved = [{name: values + step * along[name] for name, values in host.numbers.items()} for step in (1e-6, -1e-6)]
    for i, product in enumerate(host.kernels):
        values, pull = WAYS[way](product, host.numbers, case["X"], case["Z"])
        G, slopes = rng.standard_normal(values.shape), host.no_slopes()
        pull(G, slopes)
        ahead, behind = (np.sum(G * WAYS[way](product, numbers, case["X"], case["Z"])[0]) for numbers in moved)
        tied = sum(np.sum(slopes[name] * along[name]) for name in slopes)
        assert_allclose(tied, (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-7, err_msg=str(case["pool"][i]))
        # only the numbers of this kernel move it
        assert not any(np.delete(slope, i, axis=0).any() for slope in slopes.values())


def test_slopes_are_added_to_what_is_there(case):
    host = case["host"]
    once, twice = host.no_slopes(), host.no_slopes()
    for product in host.kernels:
        K, pull = product.gram(host.numbers, case["X"], case["Z"])
        pull(np.ones_like(K), once)
        pull(np.ones_like(K), twice)
        pull(np.ones_like(K), twice)
    for name in once:
        assert_allclose(twice[name], 2.0 * once[name], rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "inputs", "blamed"),
    [
        (SquaredExponential(1.0) * Matern12(1.0), 1, "Mat12"),
        (Product(tuple(Linear(0.1 * i) for i in range(4))), 1, "Lin"),
        (Product(tuple(Periodic(1.0 + i) for i in range(3))), 1, "Per"),
        (Step(0.0, 0.1) * Step(1.0, 0.1), 1, "Step"),
        ((1 - Step(0.0, 0.1)) * (1 - Step(1.0, 0.1)), 1, "(1 - Step)"),
        (Periodic(1.0), 3, "Per"),
        (White(), 1, "WN"),
    ],
)
def test_a_factor_without_a_place_is_refused_in_one_line(kernel, inputs, blamed):
    with pytest.raises(ValueError) as caught:
        SlotPool.of([kernel], inputs)
    message = str(caught.value)
    assert message.startswith(f"{blamed} has no place")
    assert "\n" not in message
    assert "method='stochastic'" in message


def test_an_index_beyond_the_end_is_refused():
    with pytest.raises(IndexError, match="2 kernels, got index 2"):
        SlotPool.of([Linear(0.0), SquaredExponential(1.0)], 1)[2]
