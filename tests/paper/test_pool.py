"""Laws of pools: the stacked evaluation agrees with the formulas, its program does not grow with the pool, and the
paper's pool is the paper's."""

from collections import Counter
from itertools import product

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.kernels.algebra import Product
from farrier.kernels.registry import (
    Constant,
    Linear,
    Matern32,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    Step,
    White,
)
from farrier.paper.pool import Pool, stack
from farrier.paper.trees import bound, free
from tests.kernels.plain_kernels import KERNELS, plain_gram

RNG = np.random.default_rng(0)
PRODUCTS = [kernel for kernel in KERNELS if isinstance(kernel, Product)]
X, Z = (jnp.asarray(points) for points in RNG.uniform(-2.0, 2.0, (2, 6, 1)))
Z = Z.at[:2].set(X[:2])

TWO_INPUTS = [
    SquaredExponential(np.array([0.8, 2.5])) * Periodic(1.3, 0.8, dims=0),
    SquaredExponential(0.7, dims=1) * SquaredExponential(1.4, dims=1) * Linear(0.3),
    Matern32(0.9, dims=(1, 0)) * Step(0.2, 0.5, dims=1),
    Constant(),
    Linear(np.array([0.1, 0.5]), dims=(0, 1)) * Linear(0.2, dims=0) * Linear(-0.4, dims=1),
    White(dims=0),
]
X2, Z2 = (jnp.asarray(points) for points in RNG.uniform(-2.0, 2.0, (2, 6, 2)))

gram, diag = jax.jit(Pool.gram), jax.jit(Pool.diag)


@pytest.fixture(scope="module")
def pool():
    return stack(KERNELS, 1)


def test_stacked_pool_agrees_with_its_kernels(pool):
    K = gram(pool, X, Z)
    assert K.shape == (len(KERNELS), 6, 6)
    for i, kernel in enumerate(KERNELS):
        assert_allclose(K[i], plain_gram(kernel, X, Z), rtol=1e-10, atol=1e-12, err_msg=repr(kernel))


def test_stacked_pool_agrees_with_its_kernels_in_two_inputs():
    pool = stack(TWO_INPUTS, 2)
    K, k = gram(pool, X2, Z2), diag(pool, X2)
    for i, kernel in enumerate(TWO_INPUTS):
        assert_allclose(K[i], plain_gram(kernel, X2, Z2), rtol=1e-10, atol=1e-12, err_msg=repr(kernel))
        assert_allclose(k[i], np.diagonal(plain_gram(kernel, X2, X2)), rtol=1e-12, err_msg=repr(kernel))


def test_every_kernel_may_have_points_of_its_own():
    pool, blocks = stack(PRODUCTS, 1), jnp.asarray(RNG.uniform(-2.0, 2.0, (len(PRODUCTS), 6, 1)))
    mixed, both, own = jax.jit(lambda pool: (pool.gram(blocks, Z), pool.gram(blocks, blocks), pool.diag(blocks)))(pool)
    for i, kernel in enumerate(PRODUCTS):
        square = plain_gram(kernel, blocks[i], blocks[i])
        assert_allclose(mixed[i], plain_gram(kernel, blocks[i], Z), rtol=1e-10, atol=1e-12, err_msg=repr(kernel))
        assert_allclose(both[i], square, rtol=1e-10, atol=1e-12, err_msg=repr(kernel))
        assert_allclose(own[i], np.diagonal(square), rtol=1e-10, atol=1e-12, err_msg=repr(kernel))


def test_diag_is_the_diagonal(pool):
    for k, kernel in zip(diag(pool, X), KERNELS, strict=True):
        assert_allclose(k, np.diagonal(plain_gram(kernel, X, X)), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("kernels", "inputs"), [(KERNELS, 1), (TWO_INPUTS, 2)])
def test_a_kernel_of_the_pool_is_the_kernel_that_went_in(kernels, inputs):
    pool = stack(kernels, inputs)
    assert len(pool) == len(kernels)
    for i, kernel in enumerate(kernels):
        found, (given,) = pool[i].products()[0], kernel.products()
        assert sorted(f.symbol for f in found) == sorted(f.symbol for f in given)
        points = X if inputs == 1 else X2
        assert_allclose(plain_gram(pool[i], points, points), plain_gram(kernel, points, points), rtol=1e-12)
    assert [str(kernel) for kernel in pool] == [str(pool[i]) for i in range(len(pool))]


def test_pool_reads_as_its_formulas():
    pool = stack([Linear(0.0, dims=1) * SquaredExponential(3.0, dims=0), Periodic(np.array([1.0, 2.0]))], 2)
    assert str(pool) == "  0  Lin[1] * SE[0]\n  1  Per"
    assert (
        repr(pool[0]) == "Linear(location=0.0, scale=1.0, dims=(1,)) * SquaredExponential(lengthscale=3.0, dims=(0,))"
    )
    assert repr(pool[-1]) == "Periodic(period=[1.0, 2.0], lengthscale=[1.0, 1.0])"


def test_a_sum_gives_one_kernel_for_each_product():
    pool = stack([(Linear(0.0) + SquaredExponential(1.0)) * Periodic(1.0), Constant()], 1)
    assert [str(kernel) for kernel in pool] == ["Lin * Per", "SE * Per", "1"]


def test_bad_pools_are_refused():
    with pytest.raises(ValueError, match="at least one kernel"):
        stack([], 1)
    with pytest.raises(ValueError, match=r"dims of SE\[2\] must be from 0 to 1 for 2 inputs, got \(2,\)"):
        stack([SquaredExponential(1.0, dims=2)], 2)
    with pytest.raises(ValueError, match=r"SE\[price\] acts on named inputs: call bind"):
        stack([SquaredExponential(1.0, dims="price")], 2)
    with pytest.raises(IndexError, match="2 kernels, got index 2"):
        stack([Constant(), Constant()], 1)[2]


def equations(jaxpr):
    """How many equations there are in a program, with those inside others."""
    inner = (value for equation in jaxpr.eqns for value in equation.params.values())
    flat = (leaf for value in inner for leaf in (value if isinstance(value, tuple | list) else (value,)))
    programs = (getattr(leaf, "jaxpr", leaf) for leaf in flat)
    return len(jaxpr.eqns) + sum(equations(program) for program in programs if hasattr(program, "eqns"))


def test_the_program_does_not_grow_with_the_number_of_kernels():
    factories = (
        SquaredExponential,
        lambda a: SquaredExponential(a) * SquaredExponential(2.0 * a) * Periodic(a),
        lambda a: Linear(a) * Periodic(a),
        lambda a: Matern32(a) * Step(a, a) * Linear(a),
    )

    def size(copies):
        kernels = [factory(0.5 + 0.01 * copy) for copy in range(copies) for factory in factories]
        pool = stack(kernels, 1)
        assert len(pool) == 4 * copies

        def slope(unbounded):
            return jax.grad(lambda u: jnp.sum(bound(u, pool).gram(X, Z)) + jnp.sum(bound(u, pool).diag(X)))(unbounded)

        return equations(jax.make_jaxpr(slope)(free(pool)).jaxpr)

    eight = size(2)
    assert eight > 50
    assert size(12) == eight


def test_derivatives_through_the_pool_are_finite_differences():
    # noise, the factor of the last, would hide the other factors
    pool = stack([*PRODUCTS[:-1], (1 - Step(0.0, 0.2)) * RationalQuadratic(0.5, 3.0)], 1)
    leaves, structure = jax.tree.flatten(free(pool))
    direction = [jnp.asarray(RNG.standard_normal(leaf.shape)) for leaf in leaves]

    @jax.jit
    def value(leaves):
        return jnp.sum(jnp.sin(bound(jax.tree.unflatten(structure, leaves), pool).gram(X, Z)))

    def moved(i, h):
        return [u + h * d if i == j else u for j, (u, d) in enumerate(zip(leaves, direction, strict=True))]

    slopes = jax.jit(jax.grad(value))(leaves)
    h = 1e-5
    found = [float(jnp.sum(slope * d)) for slope, d in zip(slopes, direction, strict=True)]
    expected = [float(value(moved(i, h)) - value(moved(i, -h))) / (2.0 * h) for i in range(len(leaves))]
    assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert np.all(np.abs(found) > 1e-4)


def structures(pool):
    return Counter(tuple(str(kernel).split(" * ")) for kernel in pool)


SINE = np.sin(2.0 * np.pi * np.linspace(0.0, 12.0, 144) / 1.1)
MONTHS = np.linspace(0.0, 12.0, 144)[:, None]


@pytest.mark.parametrize("initialisation", ["both", "weak", "strong", "authors"])
def test_the_paper_s_pool_has_the_paper_s_kernels(initialisation):
    pool = Pool.paper(MONTHS, SINE, initialisation=initialisation)
    assert len(pool) == 24
    singles = Counter({(symbol,): 2 for symbol in ("SE", "Lin", "Per")})
    # all nine ordered products, twice; a product prints in one order
    order = {"Lin": 0, "SE": 1, "Per": 2}
    pairs = Counter(tuple(sorted(pair, key=order.get)) for pair in product(order, order) for _ in range(2))
    assert structures(pool) == singles + pairs


@pytest.mark.parametrize("initialisation", ["both", "weak", "strong", "authors"])
def test_no_two_kernels_of_the_paper_s_pool_start_alike(initialisation):
    kernels = [repr(kernel) for kernel in Pool.paper(MONTHS, SINE, initialisation=initialisation)]
    assert len(set(kernels)) == 24


def test_initialisations_differ_and_follow_the_seed():
    weak, strong, again, other = (
        str([repr(kernel) for kernel in Pool.paper(MONTHS, SINE, initialisation=kind, seed=seed)])
        for kind, seed in (("weak", 0), ("strong", 0), ("weak", 0), ("weak", 1))
    )
    assert weak == again
    assert len({weak, strong, other}) == 3


def test_strong_initialisation_finds_the_period_of_a_sine():
    kernels = list(Pool.paper(MONTHS, SINE, initialisation="strong"))
    factors = [factor for kernel in kernels for factor in kernel.products()[0]]
    found = [float(factor.period) for factor in factors if isinstance(factor, Periodic)]
    assert len(found) == 14
    assert_allclose(found[0], 1.1, rtol=0.02)
    both = list(Pool.paper(MONTHS, SINE, initialisation="both"))
    assert_allclose(next(k.period for k in both[12:] if isinstance(k, Periodic)), 1.1, rtol=0.02)


def test_the_strong_smooth_kernel_starts_at_about_the_period_of_a_sine():
    weak, strong = (list(Pool.paper(MONTHS, SINE, initialisation="both"))[place] for place in (0, 12))
    assert isinstance(weak, SquaredExponential)
    assert isinstance(strong, SquaredExponential)
    assert 0.4 < float(strong.lengthscale) / 1.1 < 2.5
    assert float(strong.lengthscale) < float(weak.lengthscale)


def test_the_authors_values_are_short_and_ignore_the_target():
    kernels = list(Pool.paper(MONTHS, SINE, initialisation="authors"))
    factors = [factor for kernel in kernels for factor in kernel.products()[0]]
    row = 12.0 / 144.0
    lengths = np.array([float(f.lengthscale) for f in factors if isinstance(f, SquaredExponential)])
    periods = np.array([float(f.period) for f in factors if isinstance(f, Periodic)])
    assert_allclose(lengths, 10.5 * row, rtol=0.06)
    assert periods.min() > 6.0 * row
    assert np.median(periods) < 30.0 * row
    other = Pool.paper(MONTHS, np.cos(SINE), initialisation="authors")
    assert [repr(kernel) for kernel in other] == [repr(kernel) for kernel in kernels]


def test_the_paper_s_pool_takes_many_inputs():
    pool = Pool.paper(RNG.standard_normal((20, 3)))
    assert len(pool) == 24
    assert pool[0].lengthscale.shape == (3,)


def test_unknown_starts_are_refused(monkeypatch):
    # a user has no shape checks, which would see it first
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    with pytest.raises(ValueError, match=r"initialisation must be one of .*'weak'.*, got 'best'"):
        Pool.paper(MONTHS, SINE, initialisation="best")


def test_pool_of_one_family_needs_no_padding():
    pool = stack([SquaredExponential(0.5), SquaredExponential(2.0)], 1)
    lag = np.asarray(X) - np.asarray(Z).T
    expected = np.stack([np.exp(-0.5 * (lag / length) ** 2) for length in (0.5, 2.0)])
    assert_allclose(gram(pool, X, Z), expected, rtol=1e-11)
    assert_array_equal(diag(pool, X), np.ones((2, 6)))
