"""Columns: which hold the times and the target, and their cells as numbers. Files are read in tests/datasets."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from farrier.series.columns import LISTED, Table, list_names, name_columns, read_column, read_numbers
from farrier.series.stamps import Column

DAYS = ["2024-03-01", "2024-03-02", "2024-03-03"]


def test_a_frame_of_pandas_reads_as_one_of_polars():
    """Parquet may come through either; here without the file, as pandas needs one more package for it."""
    days = pd.date_range("2024-03-25", periods=3, tz="Europe/Berlin")
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "text": ["x", None, "z"],
            "kind": pd.Categorical(["x", None, "z"]),
            "day": days.tz_localize(None).where(np.array([True, False, True])),
            "zoned": days,
        }
    )
    columns = {series.name: read_column(series) for series in nw.from_native(frame, eager_only=True).iter_columns()}
    assert_array_equal(columns["whole"], [1.0, np.nan, 3.0])
    assert columns["text"] == columns["kind"] == ["x", None, "z"]
    assert_array_equal(columns["day"], np.array(["2024-03-25", "NaT", "2024-03-27"], dtype="M8[us]"))
    assert columns["zoned"] == list(days)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"sales": [1.0, 2.0, 4.0], "when": DAYS}, ("when", "sales")),
        ({"year": [2001.0, 2002.0, 2003.0], "sales": [1.0, 1.0, 2.0]}, ("year", "sales")),
        ({"month": [1.0, 2.0, 1.0], "dose": [1.0, 2.0, 3.0], "y": [5.0, 6.0, 7.0]}, (None, "y")),
        ({"a": [1.0, 1.0, 2.0], "b": [3.0, 1.0, 2.0]}, (None, "b")),
    ],
)
def test_times_are_dates_or_numbers_that_never_repeat_under_a_name_of_time(columns, expected):
    assert name_columns(Table("table", columns), None, None) == expected


def test_numbers_are_floats_with_nan_and_the_first_that_is_none_is_named():
    assert_array_equal(read_numbers(["1", None, 2.5], Column("y")), [1.0, np.nan, 2.5])
    with pytest.raises(ValueError, match=r"^column 'y', row 1: 'x' is not a number such as 1234.5: "):
        read_numbers(["1", "x"], Column("y"))
    with pytest.raises(ValueError, match=r"^column 'y', line 3: the cell is infinite"):
        read_numbers([1.0, np.inf], Column("y", ["line 2", "line 3"]))


def test_a_long_list_of_columns_is_cut_and_counted():
    assert list_names(["a", "b"]) == "'a', 'b'"
    assert list_names([f"x{i}" for i in range(LISTED + 3)]).endswith(f"'x{LISTED - 1}' and 3 more")


def test_masked_cells_are_missing():
    values = read_numbers(np.ma.array([1, 2, 3], mask=[0, 1, 0]), Column("y"))
    assert np.array_equal(values, [1.0, np.nan, 3.0], equal_nan=True)


def test_an_integer_beyond_float64_is_no_number():
    with pytest.raises(ValueError, match=r"row 1: .* \(401 characters\) is not a number"):
        read_numbers([1, 10**400], Column("y"))


def test_long_names_are_cut_in_lists():
    assert len(list_names(["n" * 20_000, "m" * 20_000])) < 300


def test_a_table_needs_a_column_beside_the_time():
    with pytest.raises(ValueError, match="target: 'frame' has no column beside the time"):
        name_columns(Table("frame", {"day": DAYS}), "day", None)


def test_cells_that_cannot_be_compared_are_no_reason_to_fail():
    table = Table("frame", {"promo": [1.0, pl.LazyFrame({"a": [1]}), 2.0], "y": [1.0, 2.0, 3.0]})
    assert name_columns(table, None, "y") == ("promo", "y")
