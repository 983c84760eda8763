"""Laws of earlier origins: they use only rows before the test rows, and as many ahead as the competition."""

import numpy as np
from benchmarks.competition_data import Series
from benchmarks.origins import earlier
from numpy.testing import assert_array_equal

SERIES = Series("one", np.arange(40.0), 40.0 + np.arange(8.0))


def test_origin_zero_is_that_of_the_competition():
    found = earlier(SERIES, 0, 4)
    assert found is not None
    assert_array_equal(found.past, SERIES.past)
    assert_array_equal(found.ahead, SERIES.ahead)


def test_an_earlier_origin_sees_none_of_the_rows_that_it_forecasts():
    found = earlier(SERIES, 2, 4)
    assert found is not None
    assert_array_equal(found.past, np.arange(24.0))
    assert_array_equal(found.ahead, 24.0 + np.arange(8.0))


def test_short_and_constant_pasts_are_left_out():
    assert earlier(SERIES, 4, 4) is None
    assert earlier(Series("flat", np.ones(40), SERIES.ahead), 0, 4) is None
