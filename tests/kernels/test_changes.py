"""Laws of growth that ends, of breaks of the slope and of shocks that heal: formulas, limits, units, derivatives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels import registry
from farrier.kernels.forms import Profile
from farrier.kernels.parameters import trained
from farrier.kernels.registry import CALENDAR, CHANGES, CODES, FAMILIES, WARPED_FAMILIES, Bend, Saturating, Shock
from tests.kernels.plain_kernels import equal
from tests.kernels.test_forms import assert_back, spread_out

RNG = np.random.default_rng(0)
X, Z = RNG.uniform(-2.0, 2.0, (8, 1)), RNG.uniform(-2.0, 2.0, (6, 1))
KERNELS = [
    Saturating(1.2, 0.6, 1.0, -2.0, 2.0),
    Saturating(-0.5, 1.5, 0.1, -1.7, 1.7),
    Saturating(3.0, 0.4, 6.0, -1.7, 1.7),
    Bend(0.3, 1.4),
    Shock(-0.4, 0.7),
]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
GRID = np.linspace(-2.0, 2.0, 41)


def profile(kernel, x):
    """v of a kernel, from its covariance with the place where v is largest."""
    far = np.array([[x[np.argmax(kernel.diag(x[:, None]))]]])
    return kernel.gram(x[:, None], far)[:, 0] / np.sqrt(kernel.diag(far)[0])


def plain(kernel, x):
    """v of one place, in plain Python from the formula."""
    number = {name: float(value) for name, value in kernel.parameters().items()}
    if isinstance(kernel, Bend):
        return max(x - number["location"], 0.0) / number["scale"]
    if isinstance(kernel, Shock):
        away = (x - number["location"]) / number["lengthscale"]
        return np.exp(-away) if away > 0.0 else 0.0

    def s(x):
        z = (x - number["end"]) / number["width"] + number["progress"]
        return (1.0 + number["shape"] * np.exp(-z)) ** (-1.0 / number["shape"])

    start, end = s(number["start"]), s(number["end"])
    return (s(x) - start) / (end - start)


def test_every_family_is_tested_and_no_other_has_its_place():
    assert {type(kernel) for kernel in KERNELS} == set(CHANGES)
    known = (*FAMILIES, *CALENDAR, *CODES, *WARPED_FAMILIES, *CHANGES)
    assert len({one.rank for one in known}) == len({one.symbol for one in known}) == len(known)


@kernels
def test_gram_is_the_formula_pair_by_pair(kernel):
    expected = [[plain(kernel, x) * plain(kernel, z) for z in Z[:, 0]] for x in X[:, 0]]
    assert_allclose(kernel.gram(X, Z), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(kernel.diag(X), np.diagonal(kernel.gram(X, X)), rtol=1e-12)


@kernels
def test_gram_is_positive_semidefinite_and_of_rank_one(kernel):
    K = kernel.gram(GRID[:, None], GRID[:, None])
    assert isinstance(kernel, Profile)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.trace(K)
    assert np.linalg.matrix_rank(K) == 1


@kernels
def test_rescaled_kernel_is_the_same_in_other_units(kernel):
    rescaled = kernel.rescale(4.0, -3.0)
    assert_allclose(rescaled.gram(4.0 * X - 3.0, 4.0 * Z - 3.0), kernel.gram(X, Z), rtol=1e-10, atol=1e-12)


@kernels
def test_backward_passes_agree_with_finite_differences(kernel):
    family, names = type(kernel), trained(type(kernel))
    assert_back(lambda values: family.profile(values, X[:, 0]), kernel.parameters(), names)
    assert_back(lambda values: family.between(values, X, Z), spread_out(kernel, 1), names)
    assert_back(lambda values: family.at(values, X), spread_out(kernel, 1), names)


@kernels
def test_repr_evaluates_to_the_kernel(kernel):
    assert equal(eval(repr(kernel), vars(registry).copy()), kernel)


@pytest.mark.parametrize("shape", [0.05, 1.0, 8.0])
def test_a_very_wide_sigmoid_is_a_line(shape):
    line = (GRID + 2.0) / 4.0
    for width in (1e3, 1e5):
        assert_allclose(profile(Saturating(0.5, width, shape, -2.0, 2.0), GRID), line, atol=2.0 / width)


def test_growth_with_shape_one_is_logistic_and_with_shape_zero_of_gompertz():
    z = (GRID - 2.0) / 0.7 + 1.1
    for shape, s in ((1.0, 1.0 / (1.0 + np.exp(-z))), (1e-6, np.exp(-np.exp(-z)))):
        expected = (s - s[0]) / (s[-1] - s[0])
        assert_allclose(profile(Saturating(1.1, 0.7, shape, -2.0, 2.0), GRID), expected, atol=1e-5)


def test_growth_long_before_its_middle_is_exponential():
    expected = np.expm1((GRID + 2.0) / 0.8) / np.expm1(4.0 / 0.8)
    assert_allclose(profile(Saturating(-30.0, 0.8, 1.0, -2.0, 2.0), GRID), expected, rtol=1e-9, atol=1e-12)


def test_growth_long_after_its_middle_has_a_level_that_it_approaches_exponentially():
    kernel = Saturating(30.0, 0.8, 1.0, -2.0, 2.0)
    expected = np.expm1(-(GRID + 2.0) / 0.8) / np.expm1(-4.0 / 0.8)
    assert_allclose(profile(kernel, GRID), expected, rtol=1e-6)
    assert_allclose(kernel.ceiling, -1.0 / np.expm1(-4.0 / 0.8), rtol=1e-6)


def test_growth_is_counted_from_its_start_to_its_end_and_goes_on_to_its_ceiling():
    kernel = KERNELS[0]
    assert_allclose(kernel.diag(np.array([[-2.0], [2.0]])), [0.0, 1.0], atol=1e-12)
    assert_allclose(np.sqrt(kernel.diag(np.array([[50.0]]))), kernel.ceiling, rtol=1e-9)
    assert_allclose(kernel.rescale(4.0, -3.0).ceiling, kernel.ceiling, rtol=1e-12)


def test_a_bend_before_all_rows_is_a_line():
    assert_allclose(profile(Bend(-5.0, 2.0), GRID), (GRID + 5.0) / 2.0)


def test_a_shock_that_hardly_heals_is_a_step_and_one_that_heals_at_once_is_nothing():
    assert_allclose(profile(Shock(0.05, 1e6), GRID), GRID > 0.05, atol=1e-5)
    assert Shock(0.05, 1e-3).diag(GRID[:, None]).max() < 1e-12


def test_half_of_a_shock_is_healed_after_its_half_life():
    kernel = Shock(0.0, 0.9)
    after = np.array([[1e-12], [0.9 * np.log(2.0)]])
    assert_allclose(np.sqrt(kernel.diag(after)), [1.0, 0.5], rtol=1e-9)
