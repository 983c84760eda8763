"""Laws of what evaluation asks of a family: the special forms are the general one, and every way back from a
derivative is that of finite differences, for every trained number."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels.forms import Distance, Profile, Stationary, squared_distances, weighted_squares
from farrier.kernels.parameters import marks, trained
from farrier.kernels.registry import (
    FAMILIES,
    DampedTrend,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    RandomWalk,
    Step,
    StepUntil,
    White,
)
from tests.kernels.plain_kernels import BASES

RNG = np.random.default_rng(0)
STEP = 1e-6
"""Of central differences; they are good to its square, and to rounding over it."""
ONE_COLUMN = [*BASES, Linear(0.6, None)]
SEVERAL = [k for k in ONE_COLUMN if not isinstance(k, Step | StepUntil | RandomWalk | DampedTrend)]

profiles = pytest.mark.parametrize("kernel", [k for k in ONE_COLUMN if isinstance(k, Profile)], ids=repr)
lagged = pytest.mark.parametrize("kernel", [k for k in ONE_COLUMN if isinstance(k, Stationary)], ids=repr)


def spread_out(kernel, columns):
    """The numbers of a kernel, another one for each column that does not share them."""
    found = {}
    for name, mark in marks(type(kernel)).items():
        value = getattr(kernel, name)
        factors = 1.0 + 0.3 * np.arange(1 if mark.shared else columns)
        found[name] = None if value is None else value * factors
    return found


def differences(function, values, names):
    """The derivative of a number by every entry of some values, by central differences."""
    found = {}
    for name in names:
        found[name] = np.zeros(np.shape(values[name]))
        for i in np.ndindex(found[name].shape):
            ends = []
            for step in (STEP, -STEP):
                moved = np.array(values[name])
                moved[i] += step
                ends.append(function({**values, name: moved}))
            found[name][i] = (ends[0] - ends[1]) / (2.0 * STEP)
    return found


def assert_back(evaluate, values, names):
    """The way back is that of finite differences, for all names and in their shapes."""
    out, back = evaluate(values)
    G = RNG.standard_normal(out.shape)
    found = back(G)
    expected = differences(lambda moved: np.sum(G * evaluate(moved)[0]), values, names)
    assert set(found) == set(names)
    for name, slope in expected.items():
        assert np.any(slope != 0.0), name
        assert_allclose(np.reshape(found[name], slope.shape), slope, rtol=1e-6, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("kernel", ONE_COLUMN, ids=repr)
def test_backward_pass_of_between_agrees_with_finite_differences(kernel):
    X, Z = RNG.uniform(-2.0, 2.0, (5, 1)), RNG.uniform(-2.0, 2.0, (4, 1))
    Z[1] = X[3]
    family = type(kernel)
    assert_back(lambda values: family.between(values, X, Z), spread_out(kernel, 1), trained(family))
    assert_back(lambda values: family.between(values, X, X), spread_out(kernel, 1), trained(family))


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("kernel", SEVERAL, ids=repr)
def test_backward_pass_of_between_agrees_with_finite_differences_in_several_columns(kernel, columns):
    X, Z = RNG.uniform(-2.0, 2.0, (5, columns)), RNG.uniform(-2.0, 2.0, (4, columns))
    family = type(kernel)
    assert_back(lambda values: family.between(values, X, Z), spread_out(kernel, columns), trained(family))


@pytest.mark.parametrize("kernel", [Matern12(0.8), Matern32(0.8), Matern52(0.8)], ids=str)
def test_backward_pass_is_finite_where_points_coincide_in_several_columns(kernel):
    X = np.tile(RNG.uniform(-2.0, 2.0, (4, 2)), (2, 1))
    values = spread_out(kernel, 2)
    K, back = type(kernel).between(values, X, X)
    half, back_half = type(kernel).between(values, X[:4], X[:4])
    G = RNG.standard_normal((4, 4))
    assert_allclose(K, np.tile(half, (2, 2)), rtol=1e-6)
    slope = back(np.tile(G, (2, 2)))["lengthscale"]
    assert np.all(np.isfinite(slope))
    assert_allclose(slope, 4.0 * back_half(G)["lengthscale"], rtol=1e-5)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("kernel", ONE_COLUMN, ids=repr)
def test_backward_pass_of_at_agrees_with_finite_differences(kernel, columns):
    family = type(kernel)
    if columns > 1 and kernel not in SEVERAL:
        with pytest.raises(ValueError, match="acts on one input, got 3"):
            family.at(spread_out(kernel, columns), np.zeros((2, columns)))
        return
    X = RNG.uniform(-2.0, 2.0, (6, columns))
    # the diagonal of a stationary kernel is one, whatever its numbers
    names = () if kernel.stationary else trained(family)
    assert_back(lambda values: family.at(values, X), spread_out(kernel, columns), names)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("kernel", SEVERAL, ids=repr)
def test_at_is_the_diagonal_of_between(kernel, columns):
    X, values = RNG.uniform(-2.0, 2.0, (6, columns)), spread_out(kernel, columns)
    K, _ = type(kernel).between(values, X, X)
    # points that coincide are 1e-8 apart in a distance by inner products
    assert_allclose(type(kernel).at(values, X)[0], np.diagonal(K), rtol=1e-12 if columns == 1 else 1e-6)


@pytest.mark.parametrize("kernel", [k for k in ONE_COLUMN if k not in SEVERAL], ids=repr)
def test_at_is_the_diagonal_of_between_in_one_column(kernel):
    X, values = RNG.uniform(-2.0, 2.0, (6, 1)), spread_out(kernel, 1)
    K, _ = type(kernel).between(values, X, X)
    assert_allclose(type(kernel).at(values, X)[0], np.diagonal(K), rtol=1e-12)


@profiles
def test_a_profile_makes_its_kernel(kernel):
    x, z = RNG.uniform(-2.0, 2.0, 6), RNG.uniform(-2.0, 2.0, 5)
    scalars = kernel.parameters()
    (v_x, _), (v_z, _) = (type(kernel).profile(scalars, of) for of in (x, z))
    assert_allclose(np.outer(v_x, v_z), kernel.gram(x[:, None], z[:, None]), rtol=1e-12)


@profiles
def test_backward_pass_of_a_profile_agrees_with_finite_differences(kernel):
    x, family = RNG.uniform(-2.0, 2.0, 6), type(kernel)
    assert_back(lambda values: family.profile(values, x), kernel.parameters(), trained(family))


@lagged
def test_a_function_of_the_distance_is_its_kernel_in_one_column(kernel):
    # three kernels at once: the one of the list between two others
    lags, family = np.abs(RNG.uniform(-2.0, 2.0, 7)), type(kernel)
    values = {name: np.stack([0.7 * v, v, 1.6 * v]).reshape(3, 1) for name, v in kernel.parameters().items()}
    lags[2] = 0.0
    R, _ = family.of_lags(values, lags)
    for f in range(len(R)):
        one = kernel.replace(**{name: v[f, 0] for name, v in values.items()})
        K = one.gram(lags[:, None], np.zeros((1, 1)))[:, 0]
        assert_allclose(R[f], K, rtol=1e-12, atol=1e-15)
        # the other direction is as far
        assert_allclose(R[f], one.gram(-lags[:, None], np.zeros((1, 1)))[:, 0], rtol=1e-12, atol=1e-15)


@lagged
def test_backward_pass_of_a_function_of_the_distance_agrees_with_finite_differences(kernel):
    lags, family = np.abs(RNG.uniform(-2.0, 2.0, 7)), type(kernel)
    values = {name: np.stack([0.7 * v, v, 1.6 * v]).reshape(3, 1) for name, v in kernel.parameters().items()}
    assert_back(lambda values: family.of_lags(values, lags), values, trained(family))


@pytest.mark.parametrize("kernel", BASES, ids=str)
def test_every_family_takes_the_most_special_form_that_fits(kernel):
    # evaluation is as fast as the form is special: rank one, or a function of the distance
    X = np.array([[-1.5], [-0.25], [0.5], [2.0]])
    K = kernel.gram(X, X)
    special = np.linalg.matrix_rank(K) == 1, np.allclose(kernel.gram(X + 0.5, X + 0.5), K)
    forms = isinstance(kernel, Profile), isinstance(kernel, Stationary)
    assert sum(forms) == any(special)
    assert all(fits for form, fits in zip(forms, special, strict=True) if form)
    assert kernel.stationary == special[1]


def test_distances_and_their_weighted_squares_are_those_of_the_pairs():
    for columns in (1, 3):
        x, z = RNG.standard_normal((5, columns)), RNG.standard_normal((4, columns))
        W = RNG.standard_normal((5, 4))
        squares = (x[:, None, :] - z[None, :, :]) ** 2
        q = squared_distances(x, z)
        assert_allclose(q, squares.sum(axis=-1), rtol=1e-12)
        assert_allclose(weighted_squares(W, q, x, z), np.einsum("ab,abd->d", W, squares), rtol=1e-10)


def test_families_of_distance_share_their_lengthscales_with_no_column():
    for family in FAMILIES:
        if issubclass(family, Distance):
            assert next(iter(trained(family))) == "lengthscale"
            assert not trained(family)["lengthscale"].shared


def test_noise_has_no_numbers_and_so_no_backward_pass():
    _, back = White.of_lags({}, np.array([0.0, 1.0]))
    assert back(np.ones((1, 2))) == {}


@lagged
def test_the_general_form_of_a_stationary_kernel_has_the_derivative_of_finite_differences(kernel):
    values, names = spread_out(kernel, 1), list(trained(type(kernel)))
    X, Z = RNG.uniform(-1.0, 1.0, (4, 1)), RNG.uniform(-1.0, 1.0, (3, 1))
    dK = RNG.standard_normal((4, 3))
    found, back = Stationary.between.__func__(type(kernel), values, X, Z)
    assert_allclose(found, kernel.replace(**values).gram(X, Z), rtol=1e-12)
    slopes = back(dK)
    expected = differences(
        lambda moved: np.vdot(dK, Stationary.between.__func__(type(kernel), moved, X, Z)[0]), values, names
    )
    for name in names:
        assert_allclose(np.ravel(slopes[name]), np.ravel(expected[name]), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("family", [Step, StepUntil, DampedTrend, RandomWalk], ids=lambda family: family.__name__)
def test_families_of_one_column_have_one_value_of_each_trained_number(family):
    assert all(mark.shared for mark in trained(family).values())
