"""Laws of the rows of a long series: few, the same every time, dense somewhere and spread over all."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from farrier.model.long_rows import resolved_rows, window_rows
from farrier.search.long_settings import LongSettings

SETTINGS = LongSettings(search=120, pieces=3, length=20, spread=30)
TIMES = np.random.default_rng(0).permutation(20_000).astype(float)


@pytest.mark.parametrize("rows_of", [resolved_rows, window_rows])
def test_rows_are_few_and_the_same_every_time(rows_of):
    rows = rows_of(TIMES, SETTINGS)
    assert_array_equal(rows, rows_of(TIMES, SETTINGS))
    assert 60 < len(np.unique(rows)) == len(rows) <= 121


def test_the_search_sees_neighbours_at_the_end_and_every_longer_step():
    found = np.sort(TIMES[resolved_rows(TIMES, SETTINGS)])
    assert found[0] == 0.0
    assert_array_equal(found[-15:], np.arange(19_985, 20_000))
    steps = np.diff(found)
    for low, high in ((2, 8), (8, 32), (32, 128), (128, 512)):
        assert np.sum((steps >= low) & (steps < high)) >= 5
    assert steps.max() < 2_500


def test_no_cycle_is_hidden_by_the_steps():
    found = TIMES[resolved_rows(TIMES, SETTINGS)]
    for cycle in (7, 16, 24, 64):
        assert len(np.unique(found % cycle)) > 0.6 * min(cycle, len(found))


def test_a_fit_sees_whole_pieces_and_rows_over_all():
    found = np.sort(TIMES[window_rows(TIMES, SETTINGS)])
    assert_array_equal(found[-20:], np.arange(19_980, 20_000))
    assert np.sum(np.diff(found) == 1.0) >= 3 * 19 - 3
    assert np.diff(found).max() < 2 * 20_000 / 30


def test_few_rows_are_all_fitted():
    assert_array_equal(window_rows(TIMES[:90], SETTINGS), np.arange(90))
