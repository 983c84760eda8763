"""Laws of pools with slots: they are the kernels that filled them, all ways to evaluate them agree, and one program
serves every structure."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from plain_kernels import KERNELS, plain_gram

from farrier.kernels.algebra import Product, product_of
from farrier.kernels.base import (
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
from farrier.kernels.slots import SlotPool
from farrier.parameters import bound, free

RNG = np.random.default_rng(0)

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
    """A pool, its kernels, and everything it can say of two sets of points that share one."""
    inputs = request.param
    X, Z = points(inputs, 1), points(inputs, 2)
    Z[2] = X[4]
    pool, w2 = SlotPool.of(CASES[inputs], inputs), RNG.uniform(0.1, 2.0, (2, len(CASES[inputs])))
    own = RNG.uniform(-2.0, 2.0, (len(pool), inputs))

    @eqx.filter_jit
    def said(pool, X, Z, own, w2):
        return {
            "gram": pool.gram(X, Z),
            "diag": pool.diag(X),
            "profile": pool.profile(X),
            "weighted": pool.weighted(X, Z, w2),
            "at": pool.at(own, X, families),
        }

    families = pool.families()
    found = said(pool, *(jnp.asarray(a) for a in (X, Z, own, w2)))
    oracle = np.stack([plain_gram(counted(kernel), X, Z) for kernel in CASES[inputs]])
    return {"inputs": inputs, "pool": pool, "X": X, "Z": Z, "own": own, "w2": w2, "oracle": oracle, **found}


def test_gram_is_that_of_the_kernels(case):
    for K, oracle, kernel in zip(case["gram"], case["oracle"], CASES[case["inputs"]], strict=True):
        assert_allclose(K, oracle, rtol=1e-10, atol=1e-12, err_msg=repr(kernel))


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
    for k, kernel in zip(case["diag"], CASES[case["inputs"]], strict=True):
        diagonal = np.diagonal(plain_gram(counted(kernel), case["X"], case["X"]))
        assert_allclose(k, diagonal, rtol=1e-10, atol=1e-14, err_msg=repr(kernel))


def test_at_is_each_kernel_at_a_point_of_its_own(case):
    for k, z, kernel in zip(case["at"], case["own"], CASES[case["inputs"]], strict=True):
        row = plain_gram(counted(kernel), z[None], case["X"])[0]
        assert_allclose(k, row, rtol=1e-9, atol=1e-12, err_msg=repr(kernel))


def test_weighted_is_the_sum_of_the_weighted_kernels(case):
    expected = np.einsum("si,inm->snm", case["w2"], case["oracle"])
    assert_allclose(case["weighted"], expected, rtol=1e-10, atol=1e-12)


def test_profile_and_correlation_make_the_kernel_of_one_input():
    pool, X = SlotPool.of(ONE_INPUT, 1), points(1, 1)
    lag = (X - X.T).reshape(-1)
    v, rho = jax.jit(lambda pool: (pool.profile(jnp.asarray(X)), pool.correlation(jnp.asarray(lag))))(pool)
    K = np.asarray(v)[:, :, None] * np.asarray(v)[:, None, :] * np.asarray(rho).reshape(len(pool), 6, 6)
    for one, kernel in zip(K, ONE_INPUT, strict=True):
        assert_allclose(one, plain_gram(counted(kernel), X, X), rtol=1e-10, atol=1e-12, err_msg=repr(kernel))


def test_empty_kernels_at_the_end_are_one_everywhere():
    pool = SlotPool.of([SquaredExponential(0.4)], 1, size=3)
    X = points(1, 3)
    assert len(pool) == 3
    assert [str(kernel) for kernel in pool] == ["SE", "1", "1"]
    assert_array_equal(jax.jit(SlotPool.gram)(pool, jnp.asarray(X), jnp.asarray(X))[1:], np.ones((2, 6, 6)))


def test_a_sum_gives_one_kernel_for_each_of_its_products():
    pool = SlotPool.of([(SquaredExponential(0.4) + Linear(0.1)) * Periodic(1.0)], 1)
    assert [str(kernel) for kernel in pool] == ["SE * Per", "Lin * Per"]


def test_rows_repeats_and_reorders():
    pool = SlotPool.of(ONE_INPUT, 1)
    some = pool.rows(jnp.asarray([3, 0, 3]))
    X = jnp.asarray(points(1, 3))
    assert [str(kernel) for kernel in some] == [str(pool[i]) for i in (3, 0, 3)]
    profile = jax.jit(SlotPool.profile)
    assert_array_equal(profile(some, X), profile(pool, X)[np.array([3, 0, 3])])


def test_families_are_those_that_occur():
    pool = SlotPool.of([Matern32(0.3) * Periodic(1.0), Linear(0.0), SquaredExponential(1.0)], 1)
    assert pool.families() == ((1, 3), (1,))


def test_at_needs_only_the_families_that_occur():
    pool = SlotPool.of([SquaredExponential(0.6) * Linear(0.2), Linear(0.1), RationalQuadratic(0.4, 2.0)], 1)
    own, X = jnp.asarray(points(1, 5)[:3]), jnp.asarray(points(1, 6))
    at = jax.jit(SlotPool.at, static_argnums=3)
    assert_allclose(at(pool, own, X, pool.families()), at(pool, own, X, ((1, 2, 3, 4, 5), (1, 2))), rtol=1e-13)


@eqx.filter_jit
def slopes(pool, X, Z, w2, G):
    """tr G' sum_i w2_i K_i and its derivative by all numbers; how often this is compiled is counted."""
    COMPILED.append(pool.inputs)

    def value(both):
        numbers, w2 = both
        whole = bound(numbers, pool)
        # one input has a short way of its own
        C = jnp.einsum("si,inm->snm", w2, whole.gram(X, Z)) if pool.inputs == 1 else whole.weighted(X, Z, w2)
        return jnp.sum(G * C)

    return jax.value_and_grad(value)((free(pool), w2))


COMPILED = []


@pytest.mark.parametrize("inputs", [1, 3])
def test_derivative_is_that_of_finite_differences(inputs):
    size = len(CASES[inputs]) + 1
    pool = SlotPool.of(CASES[inputs], inputs, size)
    X, Z = jnp.asarray(points(inputs, 1)), jnp.asarray(points(inputs, 2))
    w2, G = jnp.asarray(RNG.uniform(0.2, 1.5, (2, size))), jnp.asarray(RNG.standard_normal((2, 6, 6)))
    _, slope = slopes(pool, X, Z, w2, G)
    for seed in range(3):
        # along a random direction in all numbers at once
        rng = np.random.default_rng(seed)
        along = jax.tree.map(lambda leaf: rng.standard_normal(leaf.shape), (free(pool), w2))
        moved = []
        for step in (1e-5, -1e-5):
            numbers, weights = jax.tree.map(lambda a, d: a + step * d, (free(pool), w2), along)
            moved.append(float(slopes(bound(numbers, pool), X, Z, weights, G)[0]))
        tied = jax.tree.map(lambda a, d: float(np.sum(a * d)), slope, along)
        assert_allclose(sum(jax.tree.leaves(tied)), (moved[0] - moved[1]) / 2e-5, rtol=1e-5)
    # the last kernel is empty: its numbers move nothing, its weight does
    assert all(np.all(np.asarray(leaf)[-1] == 0.0) for leaf in jax.tree.leaves(slope[0]))
    assert_allclose(slope[1][:, -1], np.sum(G, axis=(1, 2)), rtol=1e-10)


@pytest.mark.parametrize("inputs", [1, 3])
def test_one_program_serves_every_structure_of_one_size(inputs):
    size = len(CASES[inputs]) + 1
    X, Z = jnp.asarray(points(inputs, 1)), jnp.asarray(points(inputs, 2))
    for count in (size - 1, 3, 1, 0):
        slopes(SlotPool.of(CASES[inputs][::-1][:count], inputs, size), X, Z, jnp.ones((2, size)), jnp.ones((2, 6, 6)))
    assert COMPILED.count(inputs) == 1


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
