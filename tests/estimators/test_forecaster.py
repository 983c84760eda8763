"""A Forecaster goes on in the type and on the calendar that came in, and beats the naive forecast."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import farrier
from farrier import Forecaster, Linear, Periodic, SquaredExponential
from farrier.data.progress import Progress

FAST = {"kernels": ["Lin", "SE"], "iterations": 15}
LEVEL_COLUMNS = ["mean", "median", "low_80", "high_80", "low_95", "high_95"]
N = 24
VALUES = np.random.default_rng(0).normal(size=N) + 0.3 * np.arange(N)


def rmse(found, y):
    return np.sqrt(np.mean((np.asarray(found) - y) ** 2))


def months(count, first="2012-03"):
    return np.datetime64(first, "M") + np.arange(count)


def made(seed, count):
    """A monthly series: a line and a fixed season, or a season that grows."""
    generator = np.random.default_rng(seed)
    years = np.arange(count) / 12
    season = 3.0 * np.sin(2 * np.pi * years) + 1.5 * np.cos(4 * np.pi * years)
    growth = 1.0 + 0.3 * years * (seed % 2)
    return months(count), 40.0 + 4.0 * years + growth * season + 0.8 * generator.normal(size=count)


# times

STAMPS = {
    "month ends": pd.date_range("2019-01-31", periods=N + 3, freq="ME"),
    "month starts": pd.date_range("2019-01-01", periods=N + 3, freq="MS"),
    "business days": pd.date_range("2024-02-01", periods=N + 3, freq="B"),
    "days across a change of clocks": pd.date_range("2024-03-10", periods=N + 3, freq="D", tz="Europe/Berlin"),
    "hours across a change of clocks": pd.date_range("2024-03-30", periods=N + 3, freq="3h", tz="Europe/Berlin"),
    "quarters": pd.period_range("2001Q2", periods=N + 3, freq="Q"),
    "weeks": pd.date_range("2024-01-07", periods=N + 3, freq="W-SUN"),
    "plain numbers": pd.RangeIndex(10, 10 + N + 3),
}


@pytest.mark.parametrize("stamps", STAMPS.values(), ids=STAMPS)
def test_a_series_goes_on_where_its_index_does(stamps):
    series = pd.Series(VALUES, index=stamps[:N], name="sales")
    found = Forecaster(**FAST).fit(series).forecast(3)
    assert_array_equal(found.index, stamps[N:])
    assert found.index.dtype == stamps.dtype
    assert list(found.columns) == LEVEL_COLUMNS


def test_pandas_polars_and_arrays_give_the_same_numbers_each_in_its_kind():
    stamps = STAMPS["month ends"][:N]
    arrays = Forecaster(**FAST).fit(stamps.to_numpy(), VALUES).forecast(2)
    assert type(arrays) is dict
    assert list(arrays) == ["time", *LEVEL_COLUMNS]
    assert_array_equal(arrays["time"], STAMPS["month ends"][N : N + 2].to_numpy())
    for kind in (pd.DataFrame, pl.DataFrame):
        frame = kind({"when": stamps.to_numpy(), "sold": VALUES})
        found = Forecaster(**FAST).fit(frame).forecast(2)
        assert type(found) is kind
        assert list(found.columns) == ["when", *LEVEL_COLUMNS]
        assert found["when"].dtype == frame["when"].dtype
        for name in LEVEL_COLUMNS:
            assert_allclose(found[name].to_numpy(), arrays[name], rtol=1e-12)


@pytest.mark.parametrize("name", ["mean", "median", "low_95"])
def test_a_column_that_is_called_as_one_of_the_forecast_is_not_lost(name):
    frame = pd.DataFrame({name: months(N), "y": VALUES})
    usual = Forecaster(**FAST).fit(frame.rename(columns={name: "month"}))
    own, calm = Forecaster(**FAST).fit(frame), usual.forecast(3)
    found = own.forecast(3)
    assert list(found) == [f"({name})", *LEVEL_COLUMNS]
    assert found[f"({name})"].tolist() == calm["month"].tolist()
    assert_array_equal(found[LEVEL_COLUMNS], calm[LEVEL_COLUMNS])
    past = own.backtest(folds=1, horizon=2).forecasts
    assert past["(median)" if name == "median" else "median"].dtype.kind in "Mf"
    assert list(past)[2] in (name, f"({name})")
    inside = Forecaster(**FAST).fit(frame.rename(columns={name: "month", "y": name})).predict_in_sample()
    assert_array_equal(inside[f"({name})"], VALUES)
    many = Forecaster(**FAST).fit(frame.assign(shop="a"), id="shop").forecast(3)
    assert list(many)[:3] == ["shop", f"({name})", "mean"]


def test_text_stays_text_and_a_list_is_enough():
    found = Forecaster(**FAST).fit([str(m) for m in months(N)], list(VALUES)).forecast(2)
    assert found["time"] == ["2014-03", "2014-04"]


def test_a_frame_indexed_by_dates_needs_no_column_of_times():
    frame = pd.DataFrame({"sold": VALUES, "shop": "north"}, index=STAMPS["month starts"][:N])
    found = Forecaster(**FAST).fit(frame).forecast(1)
    assert found.index[0] == STAMPS["month starts"][N]


def test_rows_in_any_order_are_one_series():
    order = np.random.default_rng(3).permutation(N)
    stamps = STAMPS["month ends"][:N]
    sorted_, shuffled = (
        Forecaster(**FAST).fit(stamps[rows], VALUES[rows]).forecast(2) for rows in (np.arange(N), order)
    )
    assert_allclose(shuffled["mean"], sorted_["mean"], rtol=1e-6)


def test_missing_values_are_left_out_not_filled():
    stamps, gaps = STAMPS["month ends"][:N], np.array([3, 4, 11])
    holes = VALUES.copy()
    holes[gaps] = np.nan
    rows = np.setdiff1d(np.arange(N), gaps)
    with_holes = Forecaster(**FAST).fit(pd.Series(holes, index=stamps))
    without = Forecaster(**FAST).fit(pd.Series(VALUES[rows], index=stamps[rows]))
    assert_allclose(with_holes.forecast(3)["mean"], without.forecast(3)["mean"], rtol=1e-10)
    # and the times without a value have an expected one
    inside = with_holes.predict_in_sample(levels=(80,))
    assert list(inside.columns) == ["y", "mean", "median", "low_80", "high_80"]
    assert_array_equal(inside["y"], holes)
    assert np.isfinite(inside["mean"]).all()


def test_irregular_times_work():
    days = np.datetime64("2024-01-01") + np.sort(np.random.default_rng(1).choice(200, N, replace=False))
    forecaster = Forecaster(**FAST).fit(days, VALUES)
    with pytest.warns(UserWarning, match="the dates of 'time' follow no known rule"):
        ahead = forecaster.forecast(4)["time"]
    assert (np.diff([days[-1], *ahead]) > np.timedelta64(0)).all()


# what a forecast says


@pytest.fixture(scope="module")
def fitted():
    times, y = made(0, 72)
    return Forecaster(["Lin", "Per", "SE"], iterations=60).fit(times, y)


def test_intervals_hold_the_median_and_one_another(fitted):
    found = fitted.forecast(12, levels=(50, 97.5))
    ends = [found[name] for name in ("low_97.5", "low_50", "median", "high_50", "high_97.5")]
    assert (np.diff(ends, axis=0) > 0).all()


def test_quantiles_at_stamps_are_those_of_the_steps(fitted):
    ahead = fitted.predict_quantiles(4, levels=(0.1, 0.9))
    assert list(ahead) == ["time", "quantile_0.1", "quantile_0.9"]
    stamps = fitted.predict_quantiles(["2018-03", "2018-06"], levels=(0.1, 0.9))
    assert_allclose(stamps["quantile_0.1"], ahead["quantile_0.1"][[0, 3]], rtol=1e-12)
    assert_allclose(fitted.forecast(4, levels=(80,))["low_80"], ahead["quantile_0.1"], rtol=1e-12)


def test_the_parts_add_up_on_the_scale_of_the_model(fitted):
    assert fitted.model_.transform_ == "identity"
    assert_allclose(fitted.decompose(5).total(), fitted.forecast(5)["mean"], rtol=1e-8)
    assert len(fitted.decompose().mean[0]) == 72


def test_the_model_knows_what_its_rows_are_called(fitted):
    context = fitted.model_.context_
    assert context.target_name == "y"
    assert context.labels[:2] == ["2012-03", "2012-04"]
    assert context.axis.frequency == "monthly"
    assert "year" in str(fitted.explain())


def test_a_saved_forecaster_gives_the_same_forecast(fitted, tmp_path):
    again = farrier.load(fitted.save(tmp_path / "sales.farrier"))
    assert_array_equal(again.forecast(3)["mean"], fitted.forecast(3)["mean"])


def test_progress_is_told_and_leaves_no_callback_behind():
    told = []
    forecaster = Forecaster(**FAST, progress=told.append).fit(months(N), VALUES)
    assert all(isinstance(each, Progress) for each in told)
    assert {each.phase for each in told} >= {"fitting"}
    assert forecaster.model_.progress is None


# accuracy


def test_airline_is_forecast_better_than_by_its_last_year():
    data = farrier.datasets.load("airline")
    past, y = data.values[:-24], data.values[-24:]
    forecaster = Forecaster().fit(list(data.labels[:-24]), past)
    found = forecaster.forecast(24)
    assert found["time"] == list(data.labels[-24:])
    assert rmse(found["median"], y) < rmse(np.tile(past[-12:], 2), y)
    assert np.mean((y > found["low_95"]) & (y < found["high_95"])) > 0.9


@pytest.fixture(scope="module", params=[0, 1])
def searched(request):
    times, y = made(request.param, 96)
    return times, y, Forecaster(scale="identity").fit(times[:72], y[:72])


def test_made_series_are_forecast_better_than_by_their_last_year(searched):
    _, y, forecaster = searched
    found = forecaster.forecast(24)
    assert rmse(found["mean"], y[72:]) < 0.6 * rmse(np.tile(y[60:72], 2), y[72:])
    # 24 points: a wide margin
    assert np.mean((y[72:] > found["low_95"]) & (y[72:] < found["high_95"])) > 0.75


def test_a_report_says_how_to_repeat_the_forecaster(fitted):
    repeat = fitted.explain().to_dict()["repeat"]
    assert repeat["code"].startswith("farrier.Forecaster(iterations=60, kernels=['Lin', 'Per', 'SE'], ")
    assert repeat["code"].endswith(".fit(times, y)")
    assert "batch_size" not in repeat["settings"]


# regressors


@pytest.fixture(scope="module")
def priced():
    generator = np.random.default_rng(5)
    count, price = 72, generator.normal(size=72)
    season = 2.0 * np.sin(2 * np.pi * np.arange(count) / 12)
    sold = 50.0 + season + 3.0 * price + 0.2 * generator.normal(size=count)
    return pd.DataFrame({"month": pd.period_range("2015-01", periods=count, freq="M"), "sold": sold, "price": price})


def test_known_regressors_explain_beside_the_season(priced):
    kernels = [Linear(0.0, dims="price"), Periodic(1.0, 1.0, dims="month"), SquaredExponential(3.0, dims="month")]
    forecaster = Forecaster(kernels, iterations=80)
    forecaster.fit(priced[:60], time="month", target="sold", regressors=["price"])
    assert {row.formula for row in forecaster.components_[:2]} == {"Lin[price]", "Per[month]"}
    found = forecaster.forecast(future=priced[60:])
    assert rmse(found["mean"], priced["sold"][60:]) < 0.7
    assert_array_equal(found["month"], priced["month"][60:])
    named = forecaster.forecast(6, future=priced[["price"]][60:])
    assert_allclose(named["mean"], found["mean"][:6], rtol=1e-10)
    for arguments, words in (
        ((3,), "fitted with 'price'"),
        ((3, (80,), priced[["price"]][60:61]), "1 rows for 3 times"),
        ((3, (80,), priced[["sold"]][60:]), "no column 'price'"),
    ):
        with pytest.raises(ValueError, match=words):
            forecaster.forecast(*arguments[:2], future=arguments[2] if len(arguments) > 2 else None)


# what is refused

FRAME = pd.DataFrame({"when": STAMPS["month ends"][:N], "a": VALUES, "b": VALUES})
DUPLICATED = STAMPS["month ends"][[*range(N - 1), 5]]
REFUSED = [
    (lambda f: f.fit(VALUES), "y: None, and series holds no times"),
    (lambda f: f.fit(FRAME), "target: 2 columns hold numbers: choose one of 'a', 'b'; regressors names others"),
    (lambda f: f.fit(FRAME, target="c"), "target: there is no column 'c'"),
    (lambda f: f.fit(FRAME[["a", "b"]] * [1, 0], target="a", time="x"), "time: there is no column 'x'"),
    (lambda f: f.fit(FRAME, target="a", regressors=["c"]), "regressors: there is no column 'c'"),
    (lambda f: f.fit(FRAME, target="a", regressors=["b", "a"]), "regressors: 'a' is the target as well: leave it out"),
    (lambda f: f.fit(FRAME, time="when", regressors=["when"]), "regressors: 'when' is the time as well: leave it out"),
    (
        lambda f: f.fit(FRAME.rename(columns={"b": "time"}).set_index("when").rename_axis(None), regressors=["time"]),
        "regressors: 'time' is what the index is called as well: rename the column",
    ),
    (lambda f: f.fit(FRAME, VALUES), "y: the values are a column of the frame"),
    (lambda f: f.fit(FRAME, id="shop", target="a"), "id: there is no column 'shop'"),
    (lambda f: f.fit(months(N), VALUES, id="shop"), "id='shop' names a column of a frame"),
    (lambda f: f.fit(months(N), VALUES, sample_weight=2.0), "sample_weight=2.0 is one value: give one for each time"),
    (lambda f: f.fit(months(N), np.array(7)), "y=array(7) is one value: give one for each time"),
    (lambda f: f.fit(months(N), VALUES[1:]), "y has 23 values and there are 24 times"),
    (lambda f: f.fit(months(N), VALUES, target="y"), "name columns of a frame"),
    (lambda f: f.fit(DUPLICATED, VALUES), "'2019-06-30' comes twice"),
    (lambda f: f.fit(months(3), VALUES[:3]), "3 values: give at least 4"),
    (lambda f: f.fit(months(N), np.full(N, np.nan)), "0 values, and 24 without: give at least 4"),
    (lambda f: f.fit(months(N), ["x", *VALUES[1:]]), "column 'y', row 0: 'x' is not a number"),
    (lambda f: f.fit(months(N), np.ones(N)), "y is constant"),
    (lambda f: Forecaster(scale="cube").fit(months(N), VALUES), "'scale' parameter"),
    (lambda f: Forecaster(n_jobs=0.5).fit(months(N), VALUES), "'n_jobs' parameter"),
]


@pytest.mark.parametrize(("do", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_bad_input_is_refused_in_one_line(do, words):
    with pytest.raises(ValueError) as caught:
        do(Forecaster(**FAST))
    assert words in str(caught.value)


def test_bad_questions_are_refused(fitted):
    for ask, words in (
        (lambda: fitted.forecast(), "horizon: None"),
        (lambda: fitted.forecast(0), "horizon: 0 steps"),
        (lambda: fitted.forecast(3, levels=(0.8,)), "write 80"),
        (lambda: fitted.forecast(3, levels=(100,)), "100 is not a percentage"),
        (lambda: fitted.forecast(3, future=[1, 2]), "future: list is not a frame"),
        (lambda: fitted.predict_quantiles(3, levels=(5,)), "quantiles lie between 0 and 1"),
        (lambda: fitted.predict_quantiles([1.5]), "numbers where the times so far are dates"),
    ):
        with pytest.raises(ValueError, match=words):
            ask()
    with pytest.raises(AttributeError, match="this Forecaster has one series"):
        fitted["north"]
    with pytest.raises(AttributeError, match="not fitted"):
        Forecaster().forecast(3)


# holidays

PROMOTIONS = {f"2024-{month:02d}-{day:02d}": "promotion" for month in (1, 2, 3) for day in (9, 10, 23)}


@pytest.fixture(scope="module")
def promoted():
    index = pd.date_range("2024-01-01", periods=78)
    known = np.isin(index.strftime("%Y-%m-%d"), list(PROMOTIONS))
    y = 20.0 + 6.0 * known + 0.3 * np.random.default_rng(0).normal(size=78)
    return Forecaster(scale="identity", holidays=PROMOTIONS).fit(pd.Series(y, index, name="sales"))


def test_days_that_the_user_names_are_found_told_and_forecast(promoted):
    assert [row.formula for row in promoted.components_] == ["Holiday"]
    assert "Promotion: +5.8" in str(promoted.explain())
    ahead = promoted.forecast(10)["median"]
    assert_allclose(ahead, np.where(ahead.index.day == 23, 26.0, 20.0), atol=0.5)


def test_a_saved_calendar_is_the_same_calendar(promoted, tmp_path):
    again = farrier.load(promoted.save(tmp_path / "promoted.farrier"))
    assert again.holidays == PROMOTIONS
    assert_array_equal(again.forecast(10)["median"], promoted.forecast(10)["median"])
    assert str(again.explain()) == str(promoted.explain())


@pytest.mark.parametrize(
    ("given", "index", "line"),
    [
        ({"country": "XX"}, pd.date_range("2024-01-01", periods=N), "country: 'XX' is not known"),
        ({"country": "XX"}, pd.date_range("2019-01-31", periods=N, freq="ME"), "country: 'XX' is not known"),
        ({"holidays": ["soon"]}, pd.date_range("2024-01-01", periods=N), "holidays: 'soon' is not a date"),
        ({"country": "DE"}, pd.RangeIndex(N), "country='DE', holidays=None: the times of .* are plain numbers"),
    ],
)
def test_what_is_no_holiday_is_refused_in_one_line(given, index, line):
    with pytest.raises(ValueError, match=line):
        Forecaster(**FAST, **given).fit(pd.Series(VALUES, index))


def test_the_pool_holds_the_calendar():
    index = pd.date_range("2024-01-01", periods=70)
    y = 50.0 - 8.0 * (index.day_of_week >= 5) + 0.3 * np.random.default_rng(0).normal(size=70)
    found = Forecaster().fit(pd.Series(y, index)).forecast(14)["median"]
    assert_allclose(found, 50.0 - 8.0 * (found.index.day_of_week >= 5), atol=1.0)
