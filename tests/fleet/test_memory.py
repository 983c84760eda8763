"""What cannot fit is refused before it starts, with what to do."""

import pytest

from farrier.fleet.memory import check_workers, worker_bytes

GIB = 2**30
EXACT = {"method": "exact"}


def test_the_bound_grows_with_the_longest_series():
    assert worker_bytes(100, {}) < 0.25 * GIB
    assert worker_bytes(20_000, EXACT) > 100 * GIB
    # a long series is fitted to a part of its rows, and predicted in linear time
    assert worker_bytes(20_000, {}) < 2 * GIB


def test_as_many_workers_as_fit():
    assert check_workers(100, 1, {}, available=GIB) == GIB // worker_bytes(100, {})
    with pytest.raises(
        ValueError, match=r"8 processes for series of up to 100 rows need 1\.5 GB.*1\.0 GB are free.*--jobs 5"
    ):
        check_workers(100, 8, {}, available=GIB)
    with pytest.raises(ValueError, match="give fewer rows a series"):
        check_workers(20_000, 1, EXACT, available=16 * GIB)
