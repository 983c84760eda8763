"""Laws of Student-t noise: residuals with heavy tails, and one Student-t in the place of several."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import polygamma
from scipy.stats import t as student

from farrier.inference.student_t import LEAST_DEGREES, Tails, inverse_trigamma, one_student, robust_deviation

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


DEGREES = (2.5, 3.0, 4.0, 6.0, 10.0)


def test_the_gain_is_the_difference_of_the_best_densities_minus_a_price():
    x = 2.0 * np.random.default_rng(0).standard_t(3.0, 200)
    found = Tails.of(x, (3.0,))
    scales = np.geomspace(0.5, 8.0, 2000)
    student = max(stats.t.logpdf(x / s, 3.0).sum() - 200 * np.log(s) for s in scales)
    normal = stats.norm.logpdf(x, scale=np.sqrt(np.mean(x**2))).sum()
    assert found.gain == pytest.approx(student - normal - 0.5 * np.log(200), abs=1e-3)
    assert stats.t.logpdf(x / found.scale, 3.0).sum() - 200 * np.log(found.scale) == pytest.approx(student, abs=1e-3)


def test_normal_residuals_gain_nothing():
    gains = [Tails.of(np.random.default_rng(seed).standard_normal(100), DEGREES).gain for seed in range(100)]
    assert np.mean(np.array(gains) > 0.0) < 0.05
    assert max(gains) < 6.0


def test_heavy_tails_are_seen_in_any_unit():
    x = np.random.default_rng(1).standard_normal(100)
    x[:3] = [9.0, -11.0, 8.0]
    found, larger = Tails.of(x, DEGREES), Tails.of(1000.0 * x, DEGREES)
    assert found.gain > 20.0
    assert larger.gain == pytest.approx(found.gain)
    assert larger.degrees == found.degrees < 4.0
    assert larger.scale == pytest.approx(1000.0 * found.scale)


def test_outliers_know_nothing_of_the_robust_deviation():
    x = np.random.default_rng(2).standard_normal(1000)
    assert robust_deviation(x) == pytest.approx(1.0, abs=0.1)
    x[:30] += 1e6
    assert robust_deviation(x) == pytest.approx(1.0, abs=0.15)
