"""Series with regressors: the interval of each effect holds the truth, whatever the course of the series, the kind of
regressor, the number of rows, and the holidays that are tried; and all that a model does works with them."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.drivers import Cell, covering_cells, effect_of, make, told
from numpy.testing import assert_allclose

import farrier
from farrier import Forecaster
from farrier.series.holidays import read_holidays

SEED = 7
"""One interval in twenty does not hold its effect; of this seed all do."""
NAMES = {"time": "day", "target": "sales"}
RETAIL = Cell("season", "both", 60, None)


def fitted(cell, seed=SEED, **settings):
    frame, effects, *_ = make(cell, seed)
    model = Forecaster(country=cell.country, **{"scale": "identity", **settings})
    return model.fit(frame[: cell.rows], regressors=list(effects), **NAMES), frame, effects


def assert_told(model, effects):
    parts = told(model)
    for name, truth in effects.items():
        found = effect_of(parts.get(name))
        assert found is not None
        assert found.low <= truth <= found.high, (name, truth, found)


def text_of(model):
    return " ".join(str(model.explain()).split())


@pytest.mark.parametrize("cell", covering_cells(), ids=lambda cell: " ".join(map(str, cell)))
def test_the_interval_of_each_effect_holds_it(cell):
    model, _, effects = fitted(cell)
    assert_told(model, effects)
    assert model.model_.tier_ == ("exact" if cell.rows <= 1000 else "linear")


@pytest.mark.parametrize(
    "cell",
    [Cell("walk", "continuous", 60, None), Cell("season", "both", 60, "US")],
    ids=lambda cell: " ".join(map(str, cell)),
)
def test_effects_are_found_and_the_forecast_holds_what_comes(cell):
    model, frame, effects = fitted(cell, seed=6)
    assert_told(model, effects)
    ahead = frame[cell.rows :]
    found = model.forecast(future=ahead.drop(columns="sales"))
    sales = ahead["sales"].to_numpy()
    assert np.mean((found["low_95"].to_numpy() <= sales) & (sales <= found["high_95"].to_numpy())) > 0.7


def test_an_interval_knows_that_other_structures_may_be_right():
    """The walk is not found in so few rows: given the structure that is, the price would be sure to 3.7 deviations."""
    model, _, effects = fitted(Cell("walk", "both", 60, "US"), seed=4043)
    assert {row.formula for row in model.components_} == {"Lin[promo]", "Lin[price]"}
    assert_told(model, effects)


def test_an_effect_needs_no_strong_evidence_where_nothing_else_is_found():
    """The user has named the regressor: it was not chosen among many."""
    model, _, effects = fitted(Cell("flat", "0/1", 60, "US"), seed=2033)
    assert [row.formula for row in model.components_] == ["Lin[promo]"]
    assert_told(model, effects)


def test_a_promotion_is_told_as_an_amount_and_a_price_with_its_direction():
    model, _, effects = fitted(RETAIL)
    text, promo, price = text_of(model), *(effect_of(told(model)[name]) for name in ("promo", "price"))
    sign = "+" if effects["promo"] > 0 else "-"
    assert f"The effect of promo: {sign}{abs(promo.value):.2f} (" in text
    assert ") where promo is 1." in text
    way = "rise" if effects["price"] > 0 else "fall"
    assert f"The effect of price alone: a linear {way} of {abs(price.value):.2f} per unit of price (" in text
    assert "A forecast takes it from the future values of promo." in text
    assert "beyond the data" not in text.split("The effect of promo:")[1].split("2.")[0].split("3.")[0]


def test_on_the_log_scale_a_promotion_is_told_in_per_cent():
    generator, days = np.random.default_rng(0), pd.date_range("2024-01-01", periods=90)
    promo = np.arange(90) % 9 < 2
    frame = pd.DataFrame({"day": days, "promo": promo, "sales": 100.0 * 1.2**promo})
    frame["sales"] *= np.exp(0.02 * generator.standard_normal(90))
    model = Forecaster(scale="log").fit(frame, regressors=["promo"], **NAMES)
    found = effect_of(told(model)["promo"])
    assert found.low <= 0.2 <= found.high
    assert f"The effect of promo: +{100 * found.value:.1f} % (" in text_of(model)


@pytest.mark.parametrize("on", ["weekends", "holidays"])
def test_an_event_on_weekends_or_holidays_keeps_its_size(on):
    """Weekends higher by 40, holidays lower by 30, and an event of +100 on some of them: these take no part of it."""
    generator, days = np.random.default_rng(1), pd.date_range("2022-01-03", periods=420)
    off, names = days.day_of_week.to_numpy() >= 5, read_holidays("US", None, 2022, 2023)
    free, event = np.array([day.date() in names for day in days]), np.zeros(420)
    event[np.flatnonzero(off if on == "weekends" else free)[[2, 5, 7, 11]]] = 1.0
    sales = 500.0 + 40.0 * off - 30.0 * free + 100.0 * event + 10.0 * generator.standard_normal(420)
    frame = pd.DataFrame({"day": days, "sales": sales, "event": event})
    model = Forecaster(country="US", scale="identity").fit(frame, regressors=["event"], **NAMES)
    found = effect_of(told(model)["event"])
    assert found.low <= 100.0 <= found.high
    assert found.high - found.low < 50.0


def test_a_rare_promotion_of_a_long_series_is_found():
    generator, days = np.random.default_rng(2), pd.date_range("2020-01-01", periods=1050)
    promo = np.isin(np.arange(1050), [101, 102, 350, 610, 611, 900]).astype(float)
    sales = 100.0 + 0.01 * np.arange(1050) + 12.0 * promo + generator.standard_normal(1050)
    frame = pd.DataFrame({"day": days, "sales": sales, "promo": promo, "price": generator.random(1050)})
    model = Forecaster(scale="identity").fit(frame, regressors=["promo", "price"], **NAMES)
    found, text = effect_of(told(model)["promo"]), text_of(model)
    assert found.low <= 12.0 <= found.high
    assert "the evidence for it is very strong" in text.split("The effect of promo:")[1]
    # what nobody finds is said too
    assert text.endswith("No effect of price was found.")


def test_a_model_with_regressors_does_all_that_others_do(tmp_path):
    frame, effects, *_ = make(RETAIL, SEED)
    frame = frame.set_index("day")
    model = Forecaster().fit(frame[:60], regressors=list(effects), target="sales")
    assert {"Lin[promo]", "Lin[price]"} <= {row.formula for row in model.components_}
    ahead = frame[60:].drop(columns="sales")
    expected = model.forecast(future=ahead)
    assert len(model.backtest(1, 5).table) == 5
    assert model.report(tmp_path / "report.html").exists()
    again = farrier.load(model.save(tmp_path / "model.farrier"))
    assert_allclose(again.forecast(future=ahead)["mean"], expected["mean"], rtol=1e-9)
    assert_allclose(model.decompose(future=ahead).total(), expected["mean"], rtol=0.05)
    assert model.decompose().mean.shape[1] == 60
    assert len(model.sample(3, 2, future=ahead)) == 3
    assert model.score(frame[:60]) > 0.5
    odd = frame[:60].copy()
    odd.iloc[7, odd.columns.get_loc("sales")] += 50.0
    assert len(model.anomalies(odd)) >= 1
    model.update(frame[60:66])
    assert_told(model, effects)
    assert len(model.forecast(future=ahead[6:])) == len(ahead) - 6


def test_outliers_beside_regressors_get_heavy_tails():
    frame, effects, *_ = make(RETAIL, SEED)
    frame.loc[[9, 23, 41, 52], "sales"] += [40.0, -35.0, 50.0, 45.0]
    model = Forecaster(scale="identity").fit(frame[:60], regressors=list(effects), **NAMES)
    assert model.model_.likelihood_ == "student-t"
    assert_told(model, effects)


def test_times_without_a_calendar_may_have_regressors():
    frame, effects, *_ = make(RETAIL, SEED)
    frame["day"] = np.cumsum(np.random.default_rng(0).uniform(0.5, 1.5, len(frame)))
    model = Forecaster(scale="identity").fit(frame[:60], regressors=list(effects), **NAMES)
    assert len(model.forecast(future=frame[60:])) == len(frame) - 60


def test_a_backtest_leaves_out_a_regressor_of_which_nothing_was_known():
    frame, effects, *_ = make(RETAIL, SEED)
    frame["promo"] = (np.arange(len(frame)) >= 50).astype(float)
    model = Forecaster().fit(frame[:60], regressors=list(effects), **NAMES)
    assert np.isfinite(model.backtest(1, 12).summary["error"])
