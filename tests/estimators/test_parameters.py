"""Laws of odd settings and arguments: one short line says what is wrong, whatever is given."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils._param_validation import InvalidParameterError

from farrier import Classifier, Forecaster, Regressor

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((20, 2)), RNG.standard_normal(20)
MONTHS = np.datetime64("2020-01") + np.arange(20)
LONG = "x" * 20_000


@pytest.fixture(scope="module")
def table():
    return Regressor(["SE", "Lin"], iterations=2).fit(X, Y)


@pytest.fixture(scope="module")
def series():
    return Forecaster().fit(MONTHS, np.sin(np.arange(20.0)))


def refused(call, says):
    with pytest.raises(ValueError, match=says) as found:
        call()
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 700


@pytest.mark.parametrize("kind", [Regressor, Classifier, Forecaster])
@pytest.mark.parametrize("value", [np.zeros((2, 2)), LONG], ids=["array", "long text"])
def test_a_setting_outside_its_rule_is_named_in_one_line(kind, value):
    with pytest.raises(InvalidParameterError, match="The 'prior' parameter") as found:
        kind(prior=value).fit(X[:, 0], Y > 0)
    assert "\n" not in str(found.value)
    assert str(found.value).endswith("instead.")
    assert len(str(found.value)) < 450


@pytest.mark.parametrize("levels", [0.5, "0.5", {0.5: 1}, None, 1j], ids=repr)
def test_levels_are_a_list(table, series, levels):
    refused(lambda: table.predict_quantiles(X, levels), "is not a list of levels")
    refused(lambda: series.predict_quantiles(2, levels), "is not a list of levels")
    refused(lambda: series.forecast(2, levels), "is not a list of levels")


@pytest.mark.parametrize("level", ["a", [0.5], None, True, np.zeros((2, 2)), float("nan")], ids=repr)
def test_a_level_is_a_number_in_its_range(table, series, level):
    refused(lambda: table.predict_quantiles(X, [level]), "lie between 0 and 1")
    refused(lambda: series.forecast(2, [80, level] if level is not True else [101.0]), "is not a percentage")
    refused(lambda: series.anomalies(level=level if level is not True else 100.0), "is not a percentage")


@pytest.mark.parametrize("value", [float("inf"), float("nan"), ["a"], "2", np.datetime64("2021-01"), 0, 2.5], ids=repr)
def test_folds_and_horizon_of_a_backtest_are_whole_numbers(series, value):
    refused(lambda: series.backtest(value), "^folds: .* give a whole number")
    refused(lambda: series.backtest(1, value), "^horizon: .* give a whole number")


@pytest.mark.parametrize("when", [np.datetime64("2021-01"), pd.Timestamp("2030-01-01"), object(), 1j, b"a", {"a": 1}])
def test_what_is_neither_a_number_of_steps_nor_a_list_of_times_is_refused(series, when):
    for call in (series.predict, series.forecast, series.decompose, lambda one: series.sample(one, 2)):
        refused(lambda call=call: call(when), "is not a number of steps")


@pytest.mark.parametrize("seed", [float("inf"), -1, "a", 2.5], ids=repr)
def test_a_seed_of_samples_is_a_whole_number(series, seed):
    refused(lambda: series.sample(2, 3, random_state=seed), "is not a seed")


def test_one_value_has_no_r_squared(series):
    refused(lambda: series.score(MONTHS[-1:] + 1, [1.0]), "1 values have no R squared")


@pytest.mark.parametrize("weights", [{"y": 1}, ["a"] * 20, [10**400] * 20, object()], ids=["dict", "text", "int", "x"])
def test_weights_that_are_no_numbers_are_refused(weights):
    refused(lambda: Regressor(["SE"], iterations=2).fit(X, Y, weights), "^sample_weight")


@pytest.mark.parametrize("new", [[[pd.Timestamp("2020-01-01"), 1.0]], [[object(), 1.0]]], ids=["time", "object"])
def test_new_rows_that_are_no_numbers_are_refused_in_one_line(table, new):
    refused(lambda: table.predict(np.array(new, dtype=object)), "^X is not a table of numbers like that of the fit")


def test_columns_are_a_list_of_names(table):
    refused(lambda: table.describe(columns=1j), "is not a list of names")
    refused(lambda: table.describe(columns=np.zeros((2, 2))), "is not a name: give a text for each of the inputs")
    refused(lambda: table.describe(columns=["a", None]), "^columns: None is not a name")


def test_more_paths_than_memory_can_hold_are_refused(series):
    refused(lambda: series.sample(2, 10**12), "^count: 1000000000000 paths of 2 steps are too many: give at most")


def test_an_integer_beyond_floats_is_refused_in_a_table_with_text():
    frame = pd.DataFrame({"word": list("ab") * 10, "odd": pd.Series([10**400] * 20, dtype=object)})
    refused(lambda: Regressor(["SE"], iterations=2).fit(frame, Y), "no 64-bit float can hold")


def test_times_of_a_type_that_polars_does_not_know_are_refused():
    # what polars makes of a period of pandas
    months = pl.Series("month", range(360, 380)).ext.to(pl.Extension("pandas.period", pl.Int64))
    frame = pl.DataFrame({"month": months, "y": Y})
    refused(lambda: Forecaster().fit(frame), "^column 'month': polars does not know the times of type")


def test_tables_in_cells_are_refused():
    frame = pd.DataFrame(
        {"odd": pd.Series([pl.DataFrame({"a": [1]}).lazy()] * 20, dtype=object), "word": list("ab") * 10}
    )
    refused(lambda: Regressor(["SE"], iterations=2).fit(frame, Y), "which is no cell")


@pytest.mark.parametrize("name", ["step", "country", "holidays"])
def test_a_long_setting_is_cut_in_the_error(name):
    days = pd.to_datetime(["2020-01-01", "2020-01-03", "2020-01-04", "2020-02-09", "2020-02-10"])
    refused(lambda: Forecaster(**{name: LONG}).fit(days, np.arange(5.0)), name)


def test_a_table_of_dates_alone_is_the_same_in_every_unit():
    days, y = pd.date_range("2020-01-01", periods=20), np.sin(np.arange(20) / 3.0)
    found = [
        Regressor(["SE"], iterations=2)
        .fit(pd.DataFrame({"day": days.as_unit(fitted)}), y)
        .predict(pd.DataFrame({"day": days[:4].as_unit(asked)}))
        for fitted, asked in (("s", "s"), ("s", "ns"), ("us", "s"))
    ]
    for other in found[1:]:
        assert_array_equal(other, found[0])
    assert np.ptp(found[0]) > 0.1
