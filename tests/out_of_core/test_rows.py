"""The first look sees every row; rows without a target are left out; wrong cells are named."""

import numpy as np
import pytest

from farrier.data.tables import Scale
from farrier.estimators.large_tables import Reading
from farrier.model.target_scale import TargetScale
from farrier.out_of_core.rows import EncodedRows, Survey, inputs_of
from farrier.out_of_core.runners import Here
from farrier.out_of_core.sources import open_rows
from tests.out_of_core.rows import X, Y

GAPS = np.where(np.arange(len(Y)) % 10 == 3, np.nan, Y)
PLAIN = Reading(None, Scale(np.zeros(2), np.ones(2), 0.0, 1.0))


def surveyed(y, sample):
    return Survey.of(open_rows(X, y=y, rows=40), Here(), sample)


def test_a_sample_of_all_rows_has_all_rows_with_a_target_and_the_extreme_ones_again():
    found = surveyed(GAPS, 1000)
    assert found.count == np.isfinite(GAPS).sum()
    np.testing.assert_array_equal(found.y[:-2], GAPS[np.isfinite(GAPS)])
    assert found.y[-2:].tolist() == [np.nanmin(GAPS), np.nanmax(GAPS)]
    np.testing.assert_array_equal(found.cells["x1"][:-2], X[np.isfinite(GAPS), 1])
    assert found.cells["x1"][-1] == X[np.nanargmax(GAPS), 1]


def test_a_small_sample_holds_the_extreme_targets_and_is_the_same_every_time():
    first, second = surveyed(Y, 30), surveyed(Y, 30)
    assert 10 < len(first.y) < 60
    assert (first.y.min(), first.y.max()) == (Y.min(), Y.max())
    np.testing.assert_array_equal(first.y, second.y)


def test_all_rows_with_a_target_are_mapped_on_the_scale_of_the_model():
    reading = Reading(None, Scale(np.array([1.0, 2.0]), np.array([3.0, 4.0]), 0.0, 1.0))
    rows = EncodedRows(open_rows(X, y=GAPS, rows=40), Here(), reading, TargetScale(mean=1.0, sd=2.0), 135)
    found = list(rows.map(lambda inputs, z, more: (inputs, z + more), 10.0))
    kept = np.isfinite(GAPS)
    np.testing.assert_allclose(np.concatenate([one for one, _ in found]), (X[kept] - [1, 2]) / [3, 4])
    np.testing.assert_allclose(np.concatenate([one for _, one in found]), (Y[kept] - 1.0) / 2.0 + 10.0)


@pytest.mark.parametrize("wrong", [np.array([1.0, np.nan]), np.array([1.0, np.inf]), ["a", "b"]])
def test_a_cell_that_the_sample_did_not_lead_one_to_expect_is_named(wrong):
    with pytest.raises(ValueError, match=r"^X: column 'x1' has cells that are empty or no finite numbers"):
        inputs_of({"x0": np.zeros(2), "x1": wrong}, None, PLAIN)


@pytest.mark.parametrize(
    ("y", "said"), [(np.full(150, np.nan), "is empty in every row"), (np.where(Y[7] == Y, np.inf, Y), "has infinite")]
)
def test_a_target_without_numbers_is_refused(y, said):
    with pytest.raises(ValueError, match=said):
        surveyed(y, 100)
