"""Laws of the base kernels and of their products: agreement with the formulas pair by pair, positive definiteness,
limits, digits, derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.kernels.algebra import Product
from farrier.kernels.registry import (
    FAMILIES,
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
from farrier.kernels.parameters import bound, free
from tests.kernels.plain_kernels import BASES, KERNELS, plain_gram

RNG = np.random.default_rng(0)


def points(inputs):
    """Two sets of eight points (always eight: every new shape has to be compiled), two of them in both."""
    X, Z = RNG.uniform(-2.0, 2.0, (2, 8, inputs))
    return jnp.asarray(X), jnp.asarray(np.concatenate([Z[:6], X[:2]]))


X1, Z1 = points(1)
X2, Z2 = points(2)

TWO_INPUTS = [
    Step(0.3, 0.4, dims=1),
    Linear(np.array([0.6, -0.3]), np.array([1.7, 0.4])),
    SquaredExponential(np.array([0.8, 2.5])),
    RationalQuadratic(np.array([0.7, 1.9]), 1.3),
    Matern12(np.array([1.1, 0.4])),
    Matern32(0.9),
    Matern52(np.array([1.2, 3.0]), dims=(1, 0)),
    Periodic(np.array([1.4, 0.6]), np.array([0.9, 2.0])),
    CentredPeriodic(np.array([0.9, 1.8]), np.array([1.6, 0.8])),
    White(dims=0),
    SquaredExponential(0.7, dims=0) * Periodic(1.3, 0.5, dims=1) * Linear(0.2),
]

named = pytest.mark.parametrize("kernel", KERNELS, ids=str)
named_two = pytest.mark.parametrize("kernel", TWO_INPUTS, ids=str)


def test_the_list_has_every_family():
    assert {type(kernel) for kernel in BASES} == set(FAMILIES)


@named
def test_gram_is_the_formula_pair_by_pair(kernel):
    assert_allclose(kernel.gram(X1, Z1), plain_gram(kernel, X1, Z1), rtol=1e-11, atol=1e-13)


@named_two
def test_gram_is_the_formula_pair_by_pair_in_two_inputs(kernel):
    # points that coincide are 1e-8 apart in a distance by inner products
    assert_allclose(kernel.gram(X2, Z2), plain_gram(kernel, X2, Z2), rtol=1e-7, atol=1e-13)


@named
def test_gram_is_symmetric_and_positive_semidefinite(kernel):
    # on a regular grid, which is hardest for what is not: the smallest eigenvalue of a near miss is negative there
    X = jnp.linspace(-3.0, 3.0, 8)[:, None]
    K = np.asarray(kernel.gram(X, X))
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-14)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.trace(K)


@named_two
def test_gram_is_symmetric_and_positive_semidefinite_in_two_inputs(kernel):
    X = jnp.asarray(np.stack(np.meshgrid([-1.0, 0.0, 1.0, 2.0], [-0.5, 1.0]), axis=-1).reshape(8, 2))
    K = np.asarray(kernel.gram(X, X))
    assert_allclose(K, K.T, rtol=1e-7, atol=1e-14)
    assert np.linalg.eigvalsh(K)[0] > -1e-8 * np.trace(K)


@named
def test_diag_is_the_diagonal_of_the_formula(kernel):
    assert_allclose(kernel.diag(X1), np.diagonal(plain_gram(kernel, X1, X1)), rtol=1e-12, atol=1e-14)


@named_two
def test_diag_is_the_diagonal_of_the_formula_in_two_inputs(kernel):
    assert_allclose(kernel.diag(X2), np.diagonal(plain_gram(kernel, X2, X2)), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", [kernel for kernel in BASES if kernel.stationary], ids=str)
def test_stationary_kernels_have_unit_variance_and_see_only_the_lag(kernel):
    assert_array_equal(kernel.diag(X1), np.ones(8))
    moved = kernel.gram(X1 + 0.5, Z1 + 0.5)
    if not isinstance(kernel, White):  # equality does not survive the rounding of a sum
        assert_allclose(moved, kernel.gram(X1, Z1), rtol=1e-10, atol=1e-12)


ROUGH = [Matern12(np.array([1.1, 0.4])), Matern32(0.9), Matern52(np.array([1.2, 3.0])), RationalQuadratic(0.7, 1.3)]
MANY = [(kernel, X1) for kernel in KERNELS] + [(kernel, X2) for kernel in ROUGH]


@jax.jit
def waves(unbounded, points):
    """A number that depends on all values of a kernel, for each of MANY, at points of which half coincide."""
    twice = [jnp.concatenate([X[:4], X[:4]]) for X in points]
    grams = [bound(u, kernel).gram(X, X) for u, (kernel, _), X in zip(unbounded, MANY, twice, strict=True)]
    return jnp.stack([jnp.sum(jnp.sin(1.0 + K + 0.3 * jnp.arange(8.0)[:, None])) for K in grams])


@pytest.fixture(scope="module")
def slopes():
    """Derivatives of `waves` by the parameters and the points of each kernel, compiled once for all."""
    starts = [free(kernel) for kernel, _ in MANY], [X for _, X in MANY]
    return starts, jax.jit(jax.grad(lambda *args: jnp.sum(waves(*args)), argnums=(0, 1)))(*starts)


def test_derivatives_are_finite_where_points_coincide(slopes):
    for (kernel, _), *found in zip(MANY, *slopes[1], strict=True):
        assert all(np.all(np.isfinite(slope)) for slope in jax.tree.leaves(found)), repr(kernel)


def test_derivatives_by_parameters_are_finite_differences(slopes):
    (unbounded, points), (by_parameters, _) = slopes
    h = 1e-5
    up, down = (waves(jax.tree.map(lambda u: u + step, unbounded), points) for step in (h, -h))
    along = [sum(float(jnp.sum(leaf)) for leaf in jax.tree.leaves(found)) for found in by_parameters]
    expected = np.asarray((up - down) / (2.0 * h))
    one_input = len(KERNELS)
    assert_allclose(along[:one_input], expected[:one_input], rtol=1e-6, atol=1e-7)
    # distances by inner products are good to 1e-8 where points coincide, their differences to 1e-8 / h
    assert_allclose(along[one_input:], expected[one_input:], rtol=5e-3)
    assert np.sum(np.abs(along) > 1e-3) == sum(len(jax.tree.leaves(u)) > 0 for u in unbounded)


def test_rational_quadratic_with_a_large_mixture_is_squared_exponential():
    smooth = plain_gram(SquaredExponential(0.8), X1, Z1)
    assert_allclose(RationalQuadratic(0.8, 1e9).gram(X1, Z1), smooth, rtol=1e-6, atol=1e-9)
    assert np.max(np.abs(RationalQuadratic(0.8, 1.0).gram(X1, Z1) - smooth)) > 0.05


def test_centred_periodic_with_a_long_lengthscale_is_a_cosine():
    cosine = np.cos(2.0 * np.pi * (np.asarray(X1) - np.asarray(Z1).T) / 0.9)
    for lengthscale in (1e3, 1e5):
        assert_allclose(CentredPeriodic(0.9, lengthscale).gram(X1, Z1), cosine, atol=1.0 / lengthscale**2 + 1e-12)


@pytest.mark.parametrize("lengthscale", [0.05, 0.7, 5.0, 31.0, 32.0, 1e4])
def test_centred_periodic_has_mean_zero_over_a_period(lengthscale):
    # the trapezoidal rule is exact for a periodic function; a = 1 / l^2 crosses 1e-3, where a series takes over
    X = 0.9 * jnp.arange(400.0)[:, None] / 400
    values = np.asarray(CentredPeriodic(0.9, lengthscale).gram(X, jnp.zeros((1, 1))))
    assert_allclose(values.mean(), 0.0, atol=1e-9)
    assert_allclose(values.max(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("kernel", [Periodic(1.4, 0.9), CentredPeriodic(1.4, 0.9)], ids=str)
def test_periodic_kernels_repeat_after_a_period_and_not_before(kernel):
    K = kernel.gram(X1, Z1)
    assert_allclose(kernel.gram(X1 + 3 * 1.4, Z1), K, rtol=1e-11)
    assert np.max(np.abs(kernel.gram(X1 + 0.7, Z1) - K)) > 0.1


def test_a_step_and_its_mirror_add_up_to_one():
    step = Step(0.3, 0.4)
    shape, mirror = jnp.sqrt(step.diag(X1)), jnp.sqrt((1 - step).diag(X1))
    assert_allclose(shape + mirror, np.ones(8), rtol=1e-14)
    assert_allclose(step.diag(jnp.asarray([[-100.0], [0.3], [100.0]])), [0.0, 0.25, 1.0], atol=1e-12)


def test_only_one_minus_a_step_is_a_mirror():
    with pytest.raises(TypeError):
        2 - Step(0.3, 0.4)


def test_matern_kernels_become_smoother_at_zero():
    # 1 - k(h) is of order h, h^2, h^2: doubling h doubles, quadruples
    h = jnp.asarray([[1e-4], [2e-4]])
    for kernel, ratio in ((Matern12(1.0), 2.0), (Matern32(1.0), 4.0), (Matern52(1.0), 4.0)):
        away = 1.0 - np.asarray(kernel.gram(h, jnp.zeros((1, 1))))[:, 0]
        assert_allclose(away[1] / away[0], ratio, rtol=1e-3)


FAR = [
    SquaredExponential(0.03),
    RationalQuadratic(0.03, 0.7),
    Matern12(0.03),
    Matern52(0.03),
    Periodic(0.1, 0.5),
    CentredPeriodic(0.1, 0.5),
    Linear(1e4 + 0.3),
    Step(1e4 + 0.3, 0.05),
]


@pytest.mark.parametrize("kernel", FAR, ids=str)
def test_far_away_inputs_keep_their_digits(kernel):
    # multiples of 2^-20 are exact at 1e4 as well, so that the formula's own rounding is no excuse
    steps = np.round(RNG.uniform(0.0, 0.6, (10, 1)) * 2.0**20) / 2.0**20
    X, Z = 1e4 + steps[:8], 1e4 + steps[2:]
    expected = plain_gram(kernel, X, Z)
    assert_allclose(kernel.gram(jnp.asarray(X), jnp.asarray(Z)), expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("family", [SquaredExponential, Matern12, Matern32])
def test_far_away_inputs_keep_their_digits_in_two_inputs(family):
    steps = np.round(RNG.uniform(0.0, 0.6, (10, 2)) * 2.0**20) / 2.0**20
    X, Z, kernel = 1e4 + steps[:8], 1e4 + steps[2:], family(np.array([0.03, 0.1]))
    assert_allclose(kernel.gram(jnp.asarray(X), jnp.asarray(Z)), plain_gram(kernel, X, Z), atol=1e-6)


def test_one_lengthscale_stands_for_all_inputs():
    for family in (SquaredExponential, Matern32, RationalQuadratic):
        assert_array_equal(family(0.7).gram(X2, Z2), family(np.array([0.7, 0.7])).gram(X2, Z2))


def test_an_infinitely_long_lengthscale_switches_an_input_off():
    ard = SquaredExponential(np.array([0.7, 1e9])).gram(X2, Z2)
    assert_allclose(ard, plain_gram(SquaredExponential(0.7), X2[:, :1], Z2[:, :1]), rtol=1e-10)


@pytest.mark.parametrize("kernel", BASES, ids=str)
def test_dims_choose_the_inputs(kernel):
    on_second = kernel.replace(dims=1)
    assert_allclose(on_second.gram(X2, Z2), plain_gram(kernel, X2[:, 1:], Z2[:, 1:]), rtol=1e-11, atol=1e-13)
    assert_allclose(on_second.diag(X2), np.diagonal(plain_gram(kernel, X2[:, 1:], X2[:, 1:])), rtol=1e-12, atol=1e-14)


def test_noise_is_at_equal_places_only():
    X = jnp.asarray([[0.0, 1.0], [0.0, 2.0]])
    assert_array_equal(White().gram(X, X), np.eye(2))
    assert_array_equal(White(dims=0).gram(X, X), np.ones((2, 2)))


@pytest.mark.parametrize("family", [SquaredExponential, Matern12, RationalQuadratic, Periodic])
@pytest.mark.parametrize("wrong", [-1.0, 0.0, float("nan"), np.array([1.0, -2.0])])
def test_parameters_that_are_not_positive_are_refused(family, wrong):
    with pytest.raises(ValueError, match=rf"{family.__name__}: (lengthscale|period) must be positive, got"):
        family(wrong)


def test_a_step_on_two_inputs_asks_for_dims():
    with pytest.raises(ValueError, match="one input, got 2: name it with dims="):
        Step(0.0, 1.0).gram(X2, Z2)


def test_unknown_names_are_refused_with_the_names_there_are():
    kernel = SquaredExponential(1.0, dims="week")
    with pytest.raises(ValueError, match=r"no input is named 'week'; the inputs are \['year', 'price'\]"):
        kernel.bind(["year", "price"])
    with pytest.raises(ValueError, match="bind"):
        kernel.gram(X2, Z2)


def test_kernels_multiply_and_add_with_kernels_alone():
    with pytest.raises(TypeError):
        Constant() * 2.0
    assert isinstance(Constant() * Constant(), Product)
