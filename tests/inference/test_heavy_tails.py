"""Laws of the test for heavy tails: the best Student-t, its gain over the best normal, and none for normal data."""

import numpy as np
import pytest
from scipy import stats

from farrier.inference.heavy_tails import Tails, robust_deviation

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
