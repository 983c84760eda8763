"""Tables and numbers that cannot be fitted are refused in one line, before any work."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from farrier import Category, Classifier, Forecaster, Regressor, load
from farrier.estimators.arguments import FARTHEST, LARGEST, SMALLEST, check_reach, check_scale, check_table
from farrier.out_of_core import fit

N = 24
X = np.arange(float(N))[:, None]
Y = np.sin(X[:, 0]) + 0.1 * np.cos(7.0 * X[:, 0])
MULTI = pd.DataFrame(np.c_[X, Y], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
TWICE = pd.DataFrame(np.c_[X, Y], columns=["a", "a"])


@pytest.mark.parametrize("estimator", [Regressor, Forecaster])
def test_there_is_one_model_so_that_no_search_is_chosen(estimator):
    with pytest.raises(TypeError, match="unexpected keyword argument 'search'"):
        estimator(search="quick")


@pytest.mark.parametrize("size", [1e154, 1e155, 1e300, 1e-200, 1e-310])
def test_a_target_whose_square_overflows_or_vanishes_is_refused_without_warning(size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"^y .*: use a (larger|smaller) unit\.$"):
            Regressor().fit(X, size * Y)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e155, 1e300])
def test_inputs_whose_square_overflows_or_vanishes_are_refused(size):
    for model, target in ((Regressor(), Y), (Classifier(), Y > 0)):
        with pytest.raises(ValueError, match=r"^X: column 'x0' .*: use a (larger|smaller) unit\.$"):
            model.fit(size * X, target)


@pytest.mark.parametrize("size", [1e145, 1e-145])
def test_what_is_not_refused_is_fitted_as_in_any_other_unit(size):
    for scaled, unit in (
        (Regressor().fit(X, size * Y).predict(X), size),
        (Regressor().fit(size * X, Y).predict(size * X), 1.0),
    ):
        np.testing.assert_allclose(scaled / unit, Regressor().fit(X, Y).predict(X), atol=1e-4)


def test_a_constant_column_is_left_to_its_own_error():
    check_scale(np.zeros((3, 1)), np.ones(3), ["x"])
    with pytest.raises(ValueError, match="constant"):
        Regressor().fit(X, np.zeros(N))


def test_the_limits_leave_squares_finite_and_normal():
    assert np.isfinite(1e8 * LARGEST**2)
    assert np.finfo(np.float64).tiny <= SMALLEST**2
    assert np.isfinite(FARTHEST**10)


def test_masked_cells_are_refused_and_an_empty_mask_is_not():
    mask = np.arange(N) == 5
    for given in ((np.ma.array(X, mask=mask[:, None]), Y), (X, np.ma.array(Y, mask=mask))):
        with pytest.raises(ValueError, match="is masked at row 5: leave out"):
            Regressor().fit(*given)
    assert Regressor().fit(np.ma.array(X, mask=False), Y).predict(X).shape == (N,)
    with pytest.raises(ValueError, match="sample_weight is masked at row 5"):
        Regressor().fit(X, Y, sample_weight=np.ma.array(1.0 + X[:, 0], mask=mask))
    for text in ("a", 1.0):  # rows of a list, with and without categories
        with pytest.raises(ValueError, match="X is masked at row 5"):
            Regressor().fit([np.ma.array([i, text], object, mask=[i == 5, False]) for i in range(N)], Y)


def test_arrays_with_an_empty_mask_are_kept_as_plain_ones_and_saved(tmp_path):
    days = np.ma.array(np.arange("2024-01-01", "2024-01-25", dtype="M8[D]"))
    for times in (np.ma.array(X[:, 0]), days):
        holidays = days if times is days else None
        model = Forecaster(holidays=holidays).fit(times, np.ma.array(Y[: len(times)]))
        assert type(model.fitted_.observed.stamps) is np.ndarray
        assert type(model.forecast(times)["time"]) is np.ndarray
        again = load(model.save(tmp_path / "series.farrier"))
        np.testing.assert_array_equal(again.forecast(3)["mean"], model.forecast(3)["mean"])
    text = np.ma.array(np.column_stack([X[:, 0].astype(object), np.where(Y > 0, "a", "b")]))
    table = Regressor(["SE", Category(dims=1)], iterations=5).fit(text, Y)
    np.testing.assert_array_equal(load(table.save(tmp_path / "table.farrier")).predict(text), table.predict(text.data))


def test_masked_values_of_a_series_are_missing():
    spoilt = np.where(np.arange(N) == 5, 1e6, Y)
    masked = Forecaster().fit(X[:, 0], np.ma.array(spoilt, mask=np.arange(N) == 5)).forecast(3)
    missing = Forecaster().fit(X[:, 0], np.where(np.arange(N) == 5, np.nan, Y)).forecast(3)
    np.testing.assert_array_equal(masked["mean"], missing["mean"])


def test_no_times_are_refused():
    model = Forecaster().fit(X[:, 0], Y)
    for nothing in ([], np.array([]), pd.Series([], dtype=float)):
        for call in (model.forecast, model.predict, lambda times: model.sample(times, 3)):
            with pytest.raises(ValueError, match="horizon: no times: give one or more"):
                call(nothing)
    with pytest.raises(ValueError, match="0 steps: give 1 or more"):
        model.forecast(0)


def test_lazy_frames_are_refused_everywhere():
    lazy, fitted = pl.DataFrame({"t": X[:, 0], "y": Y}).lazy(), Regressor().fit(X, Y)
    series = Forecaster().fit(X[:, 0], Y)
    for call in (
        lambda: Regressor().fit(lazy, Y),
        lambda: Regressor().fit(X, lazy),
        lambda: fitted.predict(lazy),
        lambda: Classifier().fit(lazy, Y > 0),
        lambda: Forecaster().fit(lazy),
        lambda: series.update(lazy),
        lambda: series.forecast(future=lazy),
    ):
        with pytest.raises(ValueError, match=r"is a lazy frame \(LazyFrame\): call its collect\(\) first"):
            call()


@pytest.mark.parametrize(("frame", "words"), [(MULTI, "columns of 2 levels"), (TWICE, "more than one column 'a'")])
def test_columns_without_a_name_of_their_own_are_refused(frame, words):
    for call in (lambda: Regressor().fit(frame, Y), lambda: Forecaster().fit(frame)):
        with pytest.raises(ValueError, match=words):
            call()


def test_a_series_needs_columns_named_by_text():
    with pytest.raises(ValueError, match="the column 0 is not named by text"):
        Forecaster().fit(pd.DataFrame(np.c_[X, Y]))


@pytest.mark.parametrize(
    ("values", "words"),
    [([[10**400]] * 3, "no 64-bit float"), ([[1.0], [1.0, 2.0]], "different lengths"), (X + 0j, "omplex")],
    ids=["huge", "ragged", "complex"],
)
def test_values_that_are_no_floats_are_refused(values, words):
    with pytest.raises(ValueError, match=words):
        check_table(values, "X")


@pytest.mark.parametrize("kind", ["dates", "days", "durations", "complex", "dates with a zone"])
def test_dates_and_complex_numbers_are_no_target(kind):
    times = pd.date_range("2024-01-01", periods=20)
    y = {
        "dates": times,
        "days": times.to_numpy().astype("M8[D]"),
        "durations": times - times[0],
        "complex": np.arange(20.0) + 1j,
        "dates with a zone": times.tz_localize("UTC"),
    }[kind]
    for given in (np.asarray(y), list(y), pd.Series(y), pd.Index(y)):
        with pytest.raises(ValueError, match=r"where numbers belong: give dates and such as numbers|^Complex data not"):
            Regressor().fit(np.arange(20.0)[:, None], given)
        with pytest.raises(ValueError, match=r"^column 'y', row 0: .* is not a number such as 1234.5"):
            Forecaster().fit(times, given)
    if kind != "dates with a zone":
        with pytest.raises(ValueError, match=r"^y: give an array of 20 numbers"):
            fit(np.arange(20.0)[:, None], y=np.asarray(y))


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (pd.Series([1, None] * 10, dtype="Int64"), "y contains NaN at row 1: leave out rows with missing"),
        ([1.0, None] * 10, "y contains NaN at row 1: leave out rows with missing"),
        (pd.period_range("2020-01", periods=20, freq="M"), "y holds '2020-01' at row 0 where numbers belong"),
        (pd.Categorical(["a", "b"] * 10), r"y holds text \(such as 'a'\) where numbers belong"),
        (np.array(["a", "b"] * 10), r"y holds text \(such as 'a'\) where numbers belong"),
    ],
    ids=["empty integers", "None", "months", "categories", "text"],
)
def test_a_target_that_is_no_number_is_refused_with_its_first_cell(y, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        Regressor().fit(np.arange(20.0)[:, None], y)


def test_rows_beyond_reach_are_refused():
    model = Regressor().fit(X, Y)
    for call in (lambda: model.predict([[1e300]]), lambda: model.log_density(X[:1], [1e300])):
        with pytest.raises(ValueError, match=r"row 0 is more than 1e\+30 standard deviations away"):
            call()
    check_reach(np.array([[FARTHEST]]), "X")


def test_epoch_milliseconds_are_explained():
    for step in (1.0, 1000.0):
        times = 1_600_000_000_000.0 + step * np.arange(N)
        model = Regressor().fit(times[:, None], Y)
        assert str(model.explain())
        assert str(Forecaster().fit(times, Y).explain())


@pytest.mark.parametrize("period", [0.0, -1.0, np.nan, np.inf, "a", None, 1e300])
def test_periods_are_positive_numbers(period):
    for call in (lambda: Regressor(periods=[period]).fit(X, Y), lambda: Forecaster(periods=[period]).fit(X[:, 0], Y)):
        with pytest.raises(ValueError, match="is not the length of a period: give numbers"):
            call()


@pytest.mark.parametrize("given", [(3.0, Y), (X[:, 0], 3.0), ("2020", Y), (None, Y)])
def test_what_is_no_column_is_refused(given):
    with pytest.raises(ValueError, match=r"is not a column|None: give times"):
        Forecaster().fit(*given)


@pytest.mark.parametrize("horizon", [2.5, "3", np.nan])
def test_a_horizon_is_a_whole_number(horizon):
    with pytest.raises(ValueError, match="is not a number of steps"):
        Forecaster().fit(X[:, 0], Y).forecast(horizon)


def test_a_panel_without_rows_is_refused():
    with pytest.raises(ValueError, match="no rows"):
        Forecaster().fit(pd.DataFrame({"unique_id": [], "ds": pd.DatetimeIndex([]), "y": []}))


NO_TABLES = (Y, X[:, :, None], pd.Series(Y), pl.Series(Y), 3.0, {"x": Y}, None, iter([]))


@pytest.mark.parametrize("given", [np.array([[1.0], [None]], dtype=object), *NO_TABLES])
def test_errors_about_a_table_are_one_line(given):
    for call in (lambda: Regressor().fit(given, Y), lambda: Regressor().fit(X, Y).predict(given)):
        with pytest.raises(ValueError) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_a_table_of_text_without_rows_is_refused():
    with pytest.raises(ValueError, match="0 sample"):
        Regressor().fit(np.empty((0, 1), dtype=str), np.empty(0))


def test_a_prediction_that_overflows_on_the_logarithmic_scale_is_refused():
    model = Regressor(scale="log").fit(X, np.exp(0.3 * X[:, 0] + 0.1 * Y))
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="row 1 is not finite: the row is too far"):
        model.predict([[25.0], [1e9]], return_std=True)
