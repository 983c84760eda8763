"""A partition gives what each series gives alone, in its own kind of table, whatever else is in it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import farrier
from farrier import Forecaster
from tests.fleet.series import months, values

NAMED = {"id": "shop", "time": "month", "target": "sales", "horizon": 3, "levels": (80,)}


def frame(*names, rows=16):
    parts = [pd.DataFrame({"shop": name, "month": months(rows), "sales": values(name, rows)}) for name in names]
    return pd.concat(parts, ignore_index=True)


def in_polars(rows):
    return pl.DataFrame(
        {
            "shop": pl.Series(rows["shop"].tolist(), dtype=pl.String),
            "month": rows["month"].to_numpy(),
            "sales": rows["sales"].to_numpy(),
        }
    )


@pytest.fixture(scope="module")
def both():
    return farrier.fleet.forecast(frame("a", "b"), **NAMED)


def test_each_series_is_forecast_as_if_it_were_alone(both):
    assert list(both.columns) == ["shop", "month", "mean", "median", "low_80", "high_80", "error"]
    for k, name in enumerate("ab"):
        alone = Forecaster().fit(months(), values(name)).forecast(3, levels=(80,))
        ours = both.iloc[3 * k : 3 * k + 3]
        assert ours["shop"].tolist() == [name] * 3
        assert ours["month"].to_numpy().tolist() == alone["time"].astype(both["month"].dtype).tolist()
        for column in ("mean", "median", "low_80", "high_80"):
            assert np.array_equal(ours[column], alone[column])
        assert ours["error"].isna().all()


def test_the_result_does_not_depend_on_the_order_of_rows_or_the_split(both):
    shuffled = frame("a", "b").sample(frac=1.0, random_state=0)
    found = farrier.fleet.forecast(shuffled, **NAMED).sort_values(["shop", "month"], ignore_index=True)
    pd.testing.assert_frame_equal(found, both)
    split = pd.concat([farrier.fleet.forecast(frame(name), **NAMED) for name in "ab"], ignore_index=True)
    pd.testing.assert_frame_equal(split, both)


def test_the_given_rows_are_not_changed():
    given = frame("a")
    farrier.fleet.forecast(given, **NAMED)
    pd.testing.assert_frame_equal(given, frame("a"))


def test_polars_gives_polars(both):
    found = farrier.fleet.forecast(in_polars(frame("a", "b")), **NAMED)
    assert type(found) is pl.DataFrame
    assert found["month"].dtype == in_polars(frame("a"))["month"].dtype
    assert np.array_equal(found["mean"].to_numpy(), both["mean"])
    assert found["error"].null_count() == 6


def test_arrow_gives_arrow(both):
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(frame("a", "b"))
    found = farrier.fleet.forecast(table, **NAMED)
    assert found.schema.field("month").type == table.schema.field("month").type
    assert np.array_equal(found["mean"].to_numpy(), both["mean"])
    batch = farrier.fleet.forecast(table.combine_chunks().to_batches()[0], **NAMED)
    assert batch == found


@pytest.mark.parametrize("make", [lambda rows: rows, in_polars], ids=["pandas", "polars"])
def test_an_empty_partition_has_the_schema_of_any_other(make):
    full, empty = (farrier.fleet.forecast(make(rows), **NAMED) for rows in (frame("a"), frame("a")[:0]))
    assert len(empty) == 0
    assert dict(zip(empty.columns, empty.dtypes, strict=True)) == dict(zip(full.columns, full.dtypes, strict=True))


@pytest.mark.parametrize("make", [lambda rows: rows, in_polars], ids=["pandas", "polars"])
def test_a_bad_series_has_one_row_with_the_reason_and_stops_no_other(make, both):
    rows = frame("a", "short", "flat", "twice", "inf", "b")
    rows = rows[(rows["shop"] != "short") | (rows.index % 16 < 2)].reset_index(drop=True)
    rows.loc[rows["shop"] == "flat", "sales"] = np.nan
    rows.loc[rows[rows["shop"] == "twice"].index[1], "month"] = months()[0]
    rows.loc[rows[rows["shop"] == "inf"].index[1], "sales"] = np.inf
    native = farrier.fleet.forecast(make(rows), **NAMED)
    found = native if isinstance(native, pd.DataFrame) else pd.DataFrame(native.to_dicts())
    errors = found[found["error"].notna()].set_index("shop")
    assert list(errors.index) == ["short", "flat", "twice", "inf"]
    assert "give at least 4" in errors["error"]["short"]
    assert "0 values, and 16 without" in errors["error"]["flat"]
    assert "comes twice" in errors["error"]["twice"]
    assert "infinite" in errors["error"]["inf"]
    assert errors["mean"].isna().all()
    assert errors["month"]["flat"] == pd.Timestamp(months()[-1])
    assert np.array_equal(found[found["error"].isna()]["mean"], both["mean"])


def test_rows_without_an_id_are_an_error_of_theirs():
    rows = frame("a", "b")
    rows.loc[rows["shop"] == "b", "shop"] = None
    found = farrier.fleet.forecast(rows, **NAMED)
    assert found["error"].notna().tolist() == [False] * 3 + [True]
    assert "fill in the id" in found["error"].iloc[3]


def test_times_and_ids_that_are_called_as_a_forecast_are_not_lost(both):
    for make in (lambda rows: rows, in_polars):
        named = {"shop": "mean", "month": "low_80"}
        rows = make(frame("a", "b"))
        rows = rows.rename(columns=named) if make is not in_polars else rows.rename(named)
        found = farrier.fleet.forecast(rows, **NAMED | {"id": "mean", "time": "low_80"})
        assert list(found.columns)[:4] == ["(mean)", "(low_80)", "mean", "median"]
        assert np.array_equal(found["mean"], both["mean"])


def test_times_keep_their_type():
    rows = frame("a")
    whole = farrier.fleet.forecast(rows.assign(month=np.arange(16, dtype=np.int32)), **NAMED)
    assert whole["month"].dtype == np.int32
    assert whole["month"].tolist() == [16, 17, 18]
    text = farrier.fleet.forecast(rows.assign(month=[str(month)[:7] for month in months()]), **NAMED)
    assert text["month"].tolist() == ["2021-05", "2021-06", "2021-07"]
    zoned = rows.assign(month=rows["month"].dt.tz_localize("Europe/Berlin"))
    assert farrier.fleet.forecast(zoned, **NAMED)["month"].dtype == zoned["month"].dtype
    small = farrier.fleet.forecast(rows.assign(month=np.arange(112, 128, dtype=np.int8)), **NAMED)
    assert "give the times as floats" in small["error"].iloc[0]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"time": "day"}, "time: there is no column 'day'"),
        ({"horizon": 0}, "horizon: 0 is not a number of steps"),
        ({"levels": (0.8,)}, "less than one per cent"),
        ({"scale": "slow"}, "scale"),
    ],
)
def test_a_wrong_argument_is_an_error_of_the_call_not_of_each_series(changes, why):
    with pytest.raises(ValueError, match=why):
        farrier.fleet.forecast(frame("a"), **{**NAMED, **changes})
