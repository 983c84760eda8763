"""Laws of every family and of products: agreement with the formulas pair by pair, positive definiteness, limits,
digits, changes of unit, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.kernels import registry
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
from tests.kernels.plain_kernels import BASES, FAR, KERNELS, TWO_INPUTS, equal, plain_gram

RNG = np.random.default_rng(0)


def points(inputs):
    """Two sets of eight points, two of them in both."""
    X, Z = RNG.uniform(-2.0, 2.0, (2, 8, inputs))
    return X, np.concatenate([Z[:6], X[:2]])


X1, Z1 = points(1)
X2, Z2 = points(2)

bases = pytest.mark.parametrize("kernel", BASES, ids=str)
named = pytest.mark.parametrize("kernel", KERNELS, ids=str)
named_two = pytest.mark.parametrize("kernel", TWO_INPUTS, ids=repr)


def test_the_list_has_every_family():
    assert tuple(type(kernel) for kernel in BASES) == FAMILIES


def test_families_are_sorted_by_rank():
    assert [family.rank for family in FAMILIES] == sorted({family.rank for family in FAMILIES})


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
    X = np.linspace(-3.0, 3.0, 8)[:, None]
    K = kernel.gram(X, X)
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-14)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.trace(K)


@named_two
def test_gram_is_symmetric_and_positive_semidefinite_in_two_inputs(kernel):
    X = np.stack(np.meshgrid([-1.0, 0.0, 1.0, 2.0], [-0.5, 1.0]), axis=-1).reshape(8, 2)
    K = kernel.gram(X, X)
    assert_allclose(K, K.T, rtol=1e-7, atol=1e-14)
    assert np.linalg.eigvalsh(K)[0] > -1e-8 * np.trace(K)


@named
def test_diag_is_the_diagonal_of_the_formula(kernel):
    assert_allclose(kernel.diag(X1), np.diagonal(plain_gram(kernel, X1, X1)), rtol=1e-12, atol=1e-14)


@named_two
def test_diag_is_the_diagonal_of_the_formula_in_two_inputs(kernel):
    assert_allclose(kernel.diag(X2), np.diagonal(plain_gram(kernel, X2, X2)), rtol=1e-12, atol=1e-14)


@named
def test_diag_is_the_diagonal_of_gram(kernel):
    assert_allclose(kernel.diag(X1), np.diagonal(kernel.gram(X1, X1)), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", [kernel for kernel in BASES if kernel.stationary], ids=str)
def test_stationary_kernels_have_unit_variance_and_see_only_the_lag(kernel):
    assert_array_equal(kernel.diag(X1), np.ones(8))
    moved = kernel.gram(X1 + 0.5, Z1 + 0.5)
    if not isinstance(kernel, White):  # equality does not survive the rounding of a sum
        assert_allclose(moved, kernel.gram(X1, Z1), rtol=1e-10, atol=1e-12)


# units


@pytest.mark.parametrize("kernel", [*BASES, Linear(0.6, None)], ids=str)
def test_rescaled_kernel_is_the_same_in_other_units(kernel):
    # powers of two, so that equal places stay equal
    rescaled = kernel.rescale(4.0, -3.0)
    assert_allclose(rescaled.gram(4.0 * X1 - 3.0, 4.0 * Z1 - 3.0), kernel.gram(X1, Z1), rtol=1e-10, atol=1e-12)


@named_two
def test_rescaled_kernel_is_the_same_in_other_units_of_each_input(kernel):
    scale, shift = np.array([4.0, 0.25]), np.array([-3.0, 7.0])
    X, Z = scale * X2 + shift, scale * Z2 + shift
    assert_allclose(kernel.rescale(scale, shift).gram(X, Z), kernel.gram(X2, Z2), rtol=1e-7, atol=1e-12)


@named_two
def test_a_reordered_kernel_is_the_same_of_reordered_columns(kernel):
    order = [1, 0]
    assert_allclose(kernel.reorder(order).gram(X2, Z2), kernel.gram(X2[:, order], Z2[:, order]), rtol=1e-12)


def test_rescaled_parameters_are_in_the_new_units():
    # years since 1949 become calendar months
    kernel = (Linear(2.0) * Periodic(1.0, 0.9) * SquaredExponential(8.0)).rescale(12.0, 100.0)
    line, season, decay = kernel.factors
    assert_allclose([line.location, line.scale], [124.0, 12.0])
    assert_allclose([season.period, season.lengthscale], [12.0, 0.9])
    assert_allclose(decay.lengthscale, 96.0)


@bases
def test_a_fitted_kernel_written_out_is_the_fitted_kernel(kernel):
    fitted = kernel.for_fitting()
    written = fitted.after_fitting()
    assert all(value is not None for value in written.parameters().values())
    assert_allclose(written.gram(X1, Z1), fitted.gram(X1, Z1), rtol=1e-14)
    assert equal(written.for_fitting(), fitted)
    assert type(written) is type(kernel)


@bases
def test_fitting_changes_no_trained_number_and_no_more_than_the_size(kernel):
    written = kernel.for_fitting().after_fitting()
    assert equal(written.replace(scale=kernel.scale) if isinstance(kernel, Linear) else written, kernel)


def test_a_line_is_fitted_in_its_root_mean_square_over_standardised_inputs():
    # E (x - c)^2 = 1 + c^2
    line = Linear(np.array([0.6, -2.0]), 7.0).for_fitting()
    x = np.array([-1.0, 1.0])[:, None]  # mean zero, variance one
    for column, c in ((0, 0.6), (1, -2.0)):
        one = line.replace(location=c)
        assert_allclose(one.diag(x).mean(), 1.0, rtol=1e-14)
        assert_allclose(line.after_fitting().scale[column], np.sqrt(1.0 + c**2), rtol=1e-14)


# the families one by one


def test_rational_quadratic_with_a_large_mixture_is_squared_exponential():
    smooth = plain_gram(SquaredExponential(0.8), X1, Z1)
    assert_allclose(RationalQuadratic(0.8, 1e9).gram(X1, Z1), smooth, rtol=1e-6, atol=1e-9)
    assert np.max(np.abs(RationalQuadratic(0.8, 1.0).gram(X1, Z1) - smooth)) > 0.05


def test_centred_periodic_with_a_long_lengthscale_is_a_cosine():
    cosine = np.cos(2.0 * np.pi * (X1 - Z1.T) / 0.9)
    for lengthscale in (1e3, 1e5):
        assert_allclose(CentredPeriodic(0.9, lengthscale).gram(X1, Z1), cosine, atol=1.0 / lengthscale**2 + 1e-12)


@pytest.mark.parametrize("lengthscale", [0.05, 0.7, 5.0, 31.0, 32.0, 1e4])
def test_centred_periodic_has_mean_zero_over_a_period(lengthscale):
    # the trapezoidal rule is exact for a periodic function
    X = 0.9 * np.arange(400.0)[:, None] / 400
    values = CentredPeriodic(0.9, lengthscale).gram(X, np.zeros((1, 1)))
    assert_allclose(values.mean(), 0.0, atol=1e-9)
    assert_allclose(values.max(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("kernel", [Periodic(1.4, 0.9), CentredPeriodic(1.4, 0.9)], ids=str)
def test_periodic_kernels_repeat_after_a_period_and_not_before(kernel):
    K = kernel.gram(X1, Z1)
    assert_allclose(kernel.gram(X1 + 3 * 1.4, Z1), K, rtol=1e-11)
    assert np.max(np.abs(kernel.gram(X1 + 0.7, Z1) - K)) > 0.1


def test_a_step_and_its_mirror_add_up_to_one():
    step = Step(0.3, 0.4)
    shape, mirror = np.sqrt(step.diag(X1)), np.sqrt((1 - step).diag(X1))
    assert_allclose(shape + mirror, np.ones(8), rtol=1e-14)
    assert_allclose(step.diag(np.array([[-100.0], [0.3], [100.0]])), [0.0, 0.25, 1.0], atol=1e-12)


def test_only_one_minus_a_step_is_a_mirror():
    with pytest.raises(TypeError):
        2 - Step(0.3, 0.4)


def test_matern_kernels_become_smoother_at_zero():
    # 1 - k(h) is of order h, h^2, h^2: doubling h doubles, quadruples
    h = np.array([[1e-4], [2e-4]])
    for kernel, ratio in ((Matern12(1.0), 2.0), (Matern32(1.0), 4.0), (Matern52(1.0), 4.0)):
        away = 1.0 - kernel.gram(h, np.zeros((1, 1)))[:, 0]
        assert_allclose(away[1] / away[0], ratio, rtol=1e-3)


@pytest.mark.parametrize("kernel", FAR, ids=str)
def test_far_away_inputs_keep_their_digits(kernel):
    # multiples of 2^-20 are exact at 1e4 as well, so that the formula's own rounding is no excuse
    steps = np.round(RNG.uniform(0.0, 0.6, (10, 1)) * 2.0**20) / 2.0**20
    X, Z = 1e4 + steps[:8], 1e4 + steps[2:]
    assert_allclose(kernel.gram(X, Z), plain_gram(kernel, X, Z), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("family", [SquaredExponential, Matern12, Matern32])
def test_far_away_inputs_keep_their_digits_in_two_inputs(family):
    steps = np.round(RNG.uniform(0.0, 0.6, (10, 2)) * 2.0**20) / 2.0**20
    X, Z, kernel = 1e4 + steps[:8], 1e4 + steps[2:], family(np.array([0.03, 0.1]))
    assert_allclose(kernel.gram(X, Z), plain_gram(kernel, X, Z), atol=1e-6)


def test_one_lengthscale_applies_to_all_inputs():
    for family in (SquaredExponential, Matern32, RationalQuadratic):
        assert_array_equal(family(0.7).gram(X2, Z2), family(np.array([0.7, 0.7])).gram(X2, Z2))


def test_an_infinitely_long_lengthscale_switches_an_input_off():
    ard = SquaredExponential(np.array([0.7, 1e9])).gram(X2, Z2)
    assert_allclose(ard, plain_gram(SquaredExponential(0.7), X2[:, :1], Z2[:, :1]), rtol=1e-10)


@bases
def test_dims_choose_the_inputs(kernel):
    on_second = kernel.replace(dims=1)
    assert_allclose(on_second.gram(X2, Z2), plain_gram(kernel, X2[:, 1:], Z2[:, 1:]), rtol=1e-11, atol=1e-13)
    assert_allclose(on_second.diag(X2), np.diagonal(plain_gram(kernel, X2[:, 1:], X2[:, 1:])), rtol=1e-12, atol=1e-14)


def test_noise_is_at_equal_places_only():
    X = np.array([[0.0, 1.0], [0.0, 2.0]])
    assert_array_equal(White().gram(X, X), np.eye(2))
    assert_array_equal(White(dims=0).gram(X, X), np.ones((2, 2)))


# how they print, and what they refuse


@pytest.mark.parametrize("kernel", [*KERNELS, *TWO_INPUTS, SquaredExponential(1.0, dims=("x", 1))], ids=repr)
def test_repr_evaluates_to_the_kernel(kernel):
    assert equal(eval(repr(kernel), vars(registry).copy()), kernel)


def test_repr_has_all_digits():
    assert eval(repr(SquaredExponential(0.1 + 0.2)), vars(registry).copy()).lengthscale == 0.1 + 0.2


@pytest.mark.parametrize("family", [SquaredExponential, Matern12, Matern32, Matern52, RationalQuadratic, Periodic])
@pytest.mark.parametrize("wrong", [-1.0, 0.0, float("nan"), np.array([1.0, -2.0])], ids=str)
def test_parameters_that_are_not_positive_are_refused(family, wrong):
    with pytest.raises(ValueError, match=rf"{family.__name__}: (lengthscale|period) must be positive, got"):
        family(wrong)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Step(0.0, -1.0), "Step: width"),
        (lambda: 1 - Step(0.0, 1.0).replace(width=0.0), "Step: width"),
        (lambda: RationalQuadratic(1.0, 0.0), "RationalQuadratic: mixture"),
        (lambda: CentredPeriodic(1.0, -0.5), "CentredPeriodic: lengthscale"),
    ],
)
def test_every_positive_parameter_is_checked(make, name):
    with pytest.raises(ValueError, match=f"{name} must be positive, got"):
        make()


@pytest.mark.parametrize("family", [SquaredExponential, Linear, Periodic])
def test_a_missing_number_is_refused(family):
    with pytest.raises(
        ValueError, match=rf"{family.__name__}: (lengthscale|location|period) is missing: give a number"
    ):
        family(None)


def test_numbers_for_another_count_of_columns_are_refused():
    with pytest.raises(ValueError, match="SE: lengthscale has 3 entries for 2 columns: give one, or one for each"):
        SquaredExponential(np.array([1.0, 2.0, 3.0])).gram(X2, Z2)


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
    with pytest.raises(TypeError):
        Constant() + 2.0
    assert isinstance(Constant() * Constant(), Product)


def test_a_kernel_cannot_be_changed():
    with pytest.raises(AttributeError):
        SquaredExponential(1.0).lengthscale = 2.0
