"""Laws of backtests: only earlier rows are known, naive errors by hand, coverage counted, structure kept or found."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier import Forecaster
from farrier.series.backtests import Expected, backtest, origins

Y = np.arange(40.0) % 4 + 0.1 * np.arange(40.0)


def test_origins_end_one_horizon_before_the_end():
    assert origins(40, 3, 5) == [25, 30, 35]


@pytest.mark.parametrize(
    ("rows", "folds", "horizon", "words"),
    [
        (40, 0, 5, "folds: 0: give 1 or more"),
        (40, 3, 0, "horizon: 0: give 1 or more"),
        (20, 3, 5, "20 rows leave 5 before the first origin, and 8 are needed: try a horizon of at most 4"),
        (9, 3, 1, "folds=3: 9 rows are too few: try fewer folds"),
    ],
)
def test_what_cannot_be_tested_is_refused(rows, folds, horizon, words):
    with pytest.raises(ValueError, match=words):
        origins(rows, folds, horizon)


def test_errors_and_coverage_are_those_of_each_step():
    seen = []

    def expect(count, rows):
        seen.append(count)
        truth = Y[rows]
        # right at the first step, one too high at the second; intervals of half a unit and of two units
        median = truth + np.array([0.0, 1.0])
        return Expected(median, (median - 0.5, median + 0.5, median - 2.0, median + 2.0))

    found = backtest(Y, [32, 34, 36], 2, 4, expect)
    assert seen == [32, 34, 36]
    assert_array_equal(found["step"], [1, 2])
    assert_allclose(found["error"], [0.0, 1.0])
    assert_allclose(found["inside_80"], [1.0, 0.0])
    assert_allclose(found["inside_95"], [1.0, 1.0])
    assert_allclose(found["last_season_error"], [0.4, 0.4])
    last = np.mean([[abs(Y[k] - Y[k - 1]), abs(Y[k + 1] - Y[k - 1])] for k in (32, 34, 36)], axis=0)
    assert_allclose(found["last_value_error"], last)


def test_without_a_season_its_error_is_missing():
    found = backtest(Y, [30], 2, None, lambda count, rows: Expected(Y[rows], (Y[rows],) * 4))
    assert np.isnan(found["last_season_error"]).all()


@pytest.fixture(scope="module")
def series():
    t = np.arange(72)
    y = 20.0 + 0.1 * t + 4.0 * np.sin(2.0 * np.pi * t / 12) + 0.5 * np.random.default_rng(0).standard_normal(72)
    return pd.Series(y, index=pd.date_range("2015-01-01", periods=72, freq="MS"), name="sold")


@pytest.mark.parametrize("search", ["quick", "full"])
def test_a_season_is_forecast_better_than_by_the_last_value(series, search):
    found = Forecaster(search=search).fit(series).backtest(folds=2, horizon=6)
    assert isinstance(found, pd.DataFrame)
    assert list(found["step"]) == [1, 2, 3, 4, 5, 6]
    assert found["error"].mean() < 0.4 * found["last_value_error"].mean()
    assert found["error"].mean() < found["last_season_error"].mean()
    assert found["inside_95"].mean() > 0.7


def test_later_rows_change_nothing_at_an_earlier_origin(series):
    forecaster = Forecaster(search="quick")
    whole = forecaster.fit(series).backtest(folds=1, horizon=6)
    moved = series.copy()
    moved.iloc[-6:] += 1000.0
    other = forecaster.fit(moved).backtest(folds=1, horizon=6)
    # the forecasts are the same, so that the errors differ by what was added
    assert_allclose(other["error"], 1000.0 + (series.iloc[-6:].to_numpy() - _median(series)), rtol=1e-6)
    assert_allclose(whole["error"], np.abs(series.iloc[-6:].to_numpy() - _median(series)), atol=1e-6)


def _median(series):
    return Forecaster(search="quick").fit(series.iloc[:-6]).forecast(6)["median"].to_numpy()
