"""Laws of kernels of warped inputs: the transform, its limits, derivatives, other units, saved models know them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import yeojohnson

from farrier.evaluation.products import Products
from farrier.kernels.registry import WARPED_FAMILIES, known_families
from farrier.kernels.warped import WARPED, warped

RNG = np.random.default_rng(0)
X, Z, G = RNG.uniform(-2.0, 2.0, (5, 2)), RNG.uniform(-2.0, 2.0, (4, 2)), RNG.standard_normal((5, 4))
KERNELS = [family(np.array([0.7, 1.3]), power=np.array([0.0, 2.5])) for family in WARPED_FAMILIES]


@pytest.mark.parametrize("power", [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
def test_the_transform_is_that_of_yeo_and_johnson(power):
    x = np.linspace(-2.0, 3.0, 11)
    assert_allclose(warped(x, power), yeojohnson(x, lmbda=power), rtol=1e-12)
    assert np.all(np.diff(warped(x, power)) > 0.0)


@pytest.mark.parametrize(("inner", "family"), WARPED.items())
def test_a_power_of_one_changes_nothing(inner, family):
    assert_allclose(family(0.8).gram(X, Z), inner(0.8).gram(X, Z), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_in_other_units_the_kernel_is_the_same(kernel):
    scale, shift = np.array([3.0, 0.1]), np.array([-5.0, 2.0])
    assert_allclose(kernel.rescale(scale, shift).gram(X * scale + shift, Z * scale + shift), kernel.gram(X, Z))


@pytest.mark.parametrize("kernel", KERNELS)
def test_derivatives_are_differences(kernel):
    pool, step = Products.of([kernel], 2), 1e-6
    slopes = pool.no_slopes()
    pool.terms[0].gram(pool.numbers, X, Z)[1](G, slopes)
    for i in range(len(pool.numbers)):
        ahead, behind = pool.numbers.copy(), pool.numbers.copy()
        ahead[i], behind[i] = ahead[i] + step, behind[i] - step
        either = [np.vdot(G, pool.terms[0].gram(numbers, X, Z)[0]) for numbers in (ahead, behind)]
        assert_allclose(slopes[i], (either[0] - either[1]) / (2.0 * step), rtol=1e-5, atol=1e-7)


def test_saved_models_know_the_families():
    assert set(known_families().values()) >= set(WARPED_FAMILIES)
