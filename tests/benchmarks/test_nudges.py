"""The suite nudges: changes are what they say, and a forecast does not move with them."""

import numpy as np
import pytest
from benchmarks.nudges import CHANGES, LIMIT, measure
from numpy.testing import assert_allclose

Y = 20.0 + np.arange(30.0) + np.random.default_rng(0).standard_normal(30)
YEARS = np.datetime64("1980") + np.arange(30)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_keeps_the_rows(change):
    changed, factor = CHANGES[change]
    times, y = changed(YEARS, Y, np.random.default_rng(1))
    order = np.argsort(times)
    assert np.array_equal(times[order], YEARS)
    assert_allclose(y[order], factor * Y, rtol=1e-8)
    assert not np.array_equal(y, Y)


def test_a_forecast_moves_with_none_of_them():
    apart = measure(YEARS, Y, 3)
    assert set(apart) == set(CHANGES)
    assert max(apart.values()) < LIMIT
