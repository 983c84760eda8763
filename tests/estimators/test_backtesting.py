"""Laws of a forecaster's backtests: only earlier rows are known, structure kept or searched, shown and saved."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from farrier import Forecaster, load

MONTHS = pd.date_range("2015-01-01", periods=72, freq="MS")


@pytest.fixture(scope="module")
def series():
    t = np.arange(72)
    y = 20.0 + 0.1 * t + 4.0 * np.sin(2.0 * np.pi * t / 12) + 0.5 * np.random.default_rng(0).standard_normal(72)
    return pd.Series(y, index=MONTHS, name="sold")


@pytest.fixture(scope="module")
def fitted(series):
    return Forecaster().fit(series)


def test_a_season_is_forecast_better_than_by_the_last_value(fitted):
    found = fitted.backtest(folds=2, horizon=6)
    assert isinstance(found.table, pd.DataFrame)
    assert list(found.table["step"]) == [1, 2, 3, 4, 5, 6]
    summary = found.summary
    assert summary["error"] < 0.4 * summary["last_value_error"]
    assert summary["error"] < summary["last_season_error"]
    # the score of a distribution is below the error of its median
    assert 0.5 * summary["error"] < summary["crps"] < summary["error"]
    assert summary["inside_95"] > 0.7


def test_origins_and_forecasts_have_the_dates_of_the_rows(fitted):
    found = fitted.backtest(folds=2, horizon=6)
    assert list(found.origins["known_until"]) == [MONTHS[59], MONTHS[65]]
    assert list(found.origins["forecast_until"]) == [MONTHS[65], MONTHS[71]]
    assert list(found.forecasts["time"]) == list(MONTHS[60:])
    assert_allclose(found.forecasts["sold"], fitted.fitted_.observed.y[60:])
    assert_allclose(found.origins["error"].mean(), found.summary["error"])


def test_later_rows_change_nothing_at_an_earlier_origin(series):
    forecaster = Forecaster()
    moved = series.copy()
    moved.iloc[-6:] += 1000.0
    found = forecaster.fit(moved).backtest(folds=1, horizon=6).forecasts
    assert_allclose(found["median"], forecaster.fit(series.iloc[:-6]).forecast(6)["median"].to_numpy(), rtol=1e-6)


def test_the_table_is_of_the_kind_that_came(series):
    frame = pl.DataFrame({"month": series.index.to_numpy(), "sold": series.to_numpy()})
    found = Forecaster().fit(frame).backtest(folds=1, horizon=3)
    assert isinstance(found.table, pl.DataFrame)
    assert isinstance(found.origins, pl.DataFrame)
    assert found.forecasts.columns[:4] == ["known_until", "step", "month", "sold"]
    plain = Forecaster().fit(series.index.to_numpy(), series.to_numpy()).backtest(folds=1, horizon=3)
    assert_allclose(plain.table["error"], found.table["error"].to_numpy())


def test_a_structure_searched_again_is_said(series):
    forecaster = Forecaster(kernels=["Lin", "Per"], scale="identity").fit(series)
    kept, again = (forecaster.backtest(folds=2, horizon=3, search_again=search) for search in (False, True))
    assert "kept" in str(kept)
    assert "searched again each time" in str(again)
    assert again.searched_again


def test_progress_counts_the_origins(series):
    heard = []
    Forecaster(progress=heard.append).fit(series).backtest(folds=2, horizon=3)
    found = [one for one in heard if one.phase == "forecasting from past origins"]
    counts = [(one.step, one.steps) for one in found]
    # within an origin its fit is heard of, as a part of all
    assert list(dict.fromkeys(counts)) == sorted(set(counts)) == [(1, 2), (2, 2)]
    assert counts == sorted(counts)
    assert all(one.done < 0.5 for one in found if one.step == 1 and not np.isnan(one.done))


def test_a_backtest_is_saved_and_forgotten_with_its_fit(series, tmp_path):
    forecaster = Forecaster().fit(series.iloc[:60])
    said = str(forecaster.backtest(folds=1, horizon=3))
    assert str(load(forecaster.save(tmp_path / "sold.farrier")).fitted_.backtest) == said
    assert forecaster.update(series.iloc[60:]).fitted_.backtest is None


def test_a_report_shows_a_backtest_that_was_asked_for_or_made(series, tmp_path):
    forecaster, title = Forecaster().fit(series), "How good were such forecasts in the past?"
    path = tmp_path / "report.html"
    assert title not in forecaster.report(path).read_text()
    page = forecaster.report(path, horizon=4, backtest=True).read_text()
    assert title in page
    assert "In 3 past forecasts of 4 months" in page
    assert title in forecaster.report(path).read_text()
    assert title not in forecaster.report(path, backtest=False).read_text()


def test_bad_input_is_refused_before_anything_is_fitted(fitted):
    with pytest.raises(ValueError, match="72 rows leave 2 before the first origin, and 8 are needed"):
        fitted.backtest(folds=7, horizon=10)
