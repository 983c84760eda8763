"""Laws of the rows of a long series: few, the same every time, dense somewhere and spread over all."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from farrier.model import rows as rows_module
from farrier.model.rows import resolved_rows, uncommon_rows, window_rows

TIMES = np.random.default_rng(0).permutation(20_000).astype(float)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Limits of few rows."""
    monkeypatch.setattr(rows_module, "SEARCH_ROWS", 120)
    monkeypatch.setattr(rows_module, "WINDOWS", (3, 20, 30))


@pytest.mark.parametrize("rows_of", [resolved_rows, window_rows])
def test_rows_are_few_and_the_same_every_time(rows_of):
    rows = rows_of(TIMES)
    assert_array_equal(rows, rows_of(TIMES))
    assert 60 < len(np.unique(rows)) == len(rows) <= 121


def test_the_search_sees_neighbours_at_the_end_and_every_longer_step():
    found = np.sort(TIMES[resolved_rows(TIMES)])
    assert found[0] == 0.0
    assert_array_equal(found[-15:], np.arange(19_985, 20_000))
    steps = np.diff(found)
    for low, high in ((2, 8), (8, 32), (32, 128), (128, 512)):
        assert np.sum((steps >= low) & (steps < high)) >= 5
    assert steps.max() < 2_500


def test_no_cycle_is_hidden_by_the_steps():
    found = TIMES[resolved_rows(TIMES)]
    for cycle in (7, 16, 24, 64):
        assert len(np.unique(found % cycle)) > 0.6 * min(cycle, len(found))


def test_a_fit_sees_whole_pieces_and_rows_over_all():
    found = np.sort(TIMES[window_rows(TIMES)])
    assert_array_equal(found[-20:], np.arange(19_980, 20_000))
    assert np.sum(np.diff(found) == 1.0) >= 3 * 19 - 3
    assert np.diff(found).max() < 2 * 20_000 / 30


def test_few_rows_are_all_fitted():
    assert_array_equal(window_rows(TIMES[:90]), np.arange(90))


def test_days_on_which_a_regressor_has_an_uncommon_value_are_among_the_rows():
    rare, common = np.isin(TIMES, [40, 9_000, 9_001, 17_777]), np.random.default_rng(1).random(20_000) < 0.4
    price = np.random.default_rng(2).standard_normal(20_000)
    X, chosen = np.column_stack([TIMES, rare, common, price]), np.arange(100)
    found = uncommon_rows(X, chosen, 120)
    assert_array_equal(np.sort(TIMES[found]), [39, 40, 8_999, 9_000, 9_001, 17_776, 17_777])
    # enough of them are among the rows already
    assert len(uncommon_rows(X, found, 120)) == 0
    assert len(uncommon_rows(X[:, [0, 3]], chosen, 120)) == len(uncommon_rows(X[:, :1], chosen, 120)) == 0
