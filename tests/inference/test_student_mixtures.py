"""Laws of one Student-t in the place of some: one stays as it is, uncertain scales make tails heavier, units change."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import polygamma
from scipy.stats import t as student

from farrier.inference.student_mixtures import LEAST_DEGREES, inverse_trigamma, one_student

EQUAL = np.full((2, 1), 0.5)


def test_the_inverse_is_that_of_the_trigamma_function():
    y = np.geomspace(0.05, 1e4, 50)
    assert_allclose(inverse_trigamma(polygamma(1, y)), y, rtol=1e-9)


@pytest.mark.parametrize("degrees", [2.5, 14.0, 1000.0])
def test_equal_ones_stay_as_they_are(degrees):
    scale, found = one_student(EQUAL, np.full((2, 1), 0.3), np.full((2, 1), degrees))
    assert_allclose(scale, 0.3, rtol=1e-8)
    assert_allclose(found, degrees, rtol=1e-8)


def test_the_interval_is_that_of_the_mixture():
    scales, degrees = np.exp(0.25 * np.random.default_rng(0).standard_normal((400, 1))), np.full((400, 1), 12.0)
    scale, found = one_student(np.full((400, 1), 1.0 / 400), scales, degrees)
    assert found[0] < 12.0
    for level in (0.6, 0.75, 0.9, 0.975, 0.995):
        end = student.ppf(level, found[0]) * scale[0]
        assert np.mean(student.cdf(end / scales, 12.0)) == pytest.approx(level, abs=0.002)


def test_another_unit_changes_the_scale_alone():
    scales, degrees = np.array([[1.0], [2.0]]), np.array([[4.0], [30.0]])
    (one, nu), (other, same) = one_student(EQUAL, scales, degrees), one_student(EQUAL, 1e3 * scales, degrees)
    assert_allclose(other, 1e3 * one)
    assert_allclose(same, nu)


def test_a_member_without_a_share_does_not_count():
    scale, found = one_student(np.array([[1.0], [0.0]]), np.array([[1.0], [50.0]]), np.array([[5.0], [3.0]]))
    assert_allclose((scale[0], found[0]), (1.0, 5.0), rtol=1e-8)


def test_the_result_has_a_variance_however_far_apart_the_scales_are():
    _, found = one_student(EQUAL, np.array([[1e-3], [1e3]]), np.full((2, 1), 3.0))
    assert found[0] >= LEAST_DEGREES
