"""Laws of the noise of rows: variances by kind, some of the rows, and Student-t noise as a fixed point of EM."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.stats import t as student

from farrier.inference import noise as module
from farrier.inference.noise import ALIKE, Noise, alternately

EACH = np.array([1.0, 4.0, 0.5])


def test_variances_are_common_or_in_proportion_or_known():
    assert_array_equal(ALIKE.variances(0.3, 2), [0.3, 0.3])
    assert_allclose(Noise(EACH).variances(0.3, 3), 0.3 * EACH)
    assert_array_equal(Noise(EACH, known=True).variances(0.3, 3), EACH)


def test_some_rows_have_their_own_noise():
    some = Noise(EACH, degrees=4.0, ordinary=np.array([True, False, True])).at(np.array([2, 1]))
    assert_array_equal(some.each, EACH[[2, 1]])
    assert_array_equal(some.ordinary, [True, False])
    assert some.degrees == 4.0
    assert ALIKE.at(np.array([0])).each is None


def test_weights_are_foreseen_and_outliers_are_not():
    assert_array_equal(Noise(EACH).foreseen.relative(3), EACH)
    assert_array_equal(Noise(EACH, degrees=3.0).foreseen.relative(3), np.ones(3))


def test_fits_in_turn_with_the_noise_they_expect_end_at_the_location_of_highest_likelihood(monkeypatch):
    y, degrees = np.array([-0.3, 0.1, 0.2, 0.4, 0.6, 9.0]), 3.0
    lasts = []

    def fit(noise, last):
        lasts.append(last)
        location = float(np.average(y, weights=1.0 / noise.relative(len(y))))
        return location, (y - location) ** 2

    start = Noise(degrees=degrees).expecting(y**2)
    monkeypatch.setattr(module, "ROBUST_ROUNDS", 200)
    location, noise = alternately(fit, start)
    best = minimize_scalar(lambda m: -student.logpdf(y - m, degrees).sum(), bounds=(-1.0, 1.0), method="bounded")
    assert_allclose(location, best.x, atol=1e-5)
    assert_allclose(noise.each, (degrees + (y - location) ** 2) / (degrees + 1.0))
    assert lasts == [False] * 199 + [True]
