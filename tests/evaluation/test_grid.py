"""Laws of grids: calendar months and series with a few gaps stand on one, other rows do not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.grid import EMPTY, TOLERANCE, on_grid

RNG = np.random.default_rng(0)


def months(count):
    """The first days of consecutive months, standardised."""
    days = (np.datetime64("1990-01", "M") + np.arange(count)).astype("datetime64[D]").astype(float)
    return (days - days.mean()) / days.std()


def test_calendar_months_are_on_a_grid():
    places, spacing = on_grid(months(60)) or ([], 0.0)
    assert_array_equal(places, np.arange(60))
    assert_allclose(spacing, np.ptp(months(60)) / 59, rtol=1e-12)


def test_a_grid_may_have_gaps_but_not_many():
    x = np.arange(30.0)
    places, spacing = on_grid(np.delete(x, [3, 4, 17, 20])) or ([], 0.0)
    assert_array_equal(places, np.delete(np.arange(30), [3, 4, 17, 20]))
    assert spacing == pytest.approx(1.0)
    assert on_grid(np.concatenate([x[:15], x[:15] + 40.0])) is None


def test_places_follow_the_order_of_the_rows():
    order = RNG.permutation(12)
    places, _ = on_grid(0.25 * order.astype(float)) or ([], 0.0)
    assert_array_equal(places, order)


@pytest.mark.parametrize(
    "x",
    [
        RNG.uniform(0.0, 1.0, 20),
        np.append(np.arange(10.0), 4.0),
        np.arange(10.0) + np.where(np.arange(10) == 5, 0.3, 0.0),
        np.array([0.0, 1.0]),
        np.zeros(5),
    ],
    ids=["irregular", "twice", "one beside its place", "too short", "constant"],
)
def test_irregular_rows_are_on_no_grid(x):
    assert on_grid(x) is None


def test_rows_may_be_a_little_beside_their_places():
    x = np.arange(20.0)
    beside = np.where(x == 7.0, 1.0, 0.0)
    assert on_grid(x + 0.9 * TOLERANCE * beside) is not None
    assert on_grid(x + 1.1 * TOLERANCE * beside) is None


def test_the_empty_part_of_a_grid_has_a_limit():
    x = np.arange(100.0)
    for empty, expected in ((EMPTY - 0.05, True), (EMPTY + 0.05, False)):
        # every place but those at the ends may be empty
        left = np.sort(RNG.permutation(np.arange(1, 99))[: round(100 * empty)])
        assert (on_grid(np.delete(x, left)) is not None) is expected


def test_three_rows_are_enough_for_a_grid_and_two_are_not():
    assert on_grid(np.array([1.0, 3.0, 5.0])) is not None
    assert on_grid(np.array([1.0, 3.0])) is None
