"""Laws of series of counts: whole quantiles, limits near the counts, a rate that is constant, seasonal or ends."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import farrier

LEVELS = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975]


def weekly(y):
    return pd.Series(np.asarray(y, float), pd.date_range("2020-01-05", periods=len(y), freq="W"), name="sold")


def fitted(y, **settings):
    return farrier.Forecaster(**settings).fit(weekly(y))


def quantiles(model, steps=13):
    table = model.predict_quantiles(steps, LEVELS)
    return np.stack([table[f"quantile_{level:g}"] for level in LEVELS])


def parts_sold(seed=0, rows=200):
    """Spare parts: one week of five, then about five."""
    generator = np.random.default_rng(seed)
    return (generator.random(rows) < 0.2) * (1 + generator.negative_binomial(3.0, 3.0 / 7.0, rows))


@pytest.fixture(scope="module")
def spare():
    return fitted(parts_sold())


def test_spare_parts_have_whole_quantiles_a_median_of_zero_and_a_limit_near_the_largest(spare):
    found, largest = quantiles(spare), parts_sold().max()
    assert np.array_equal(found, np.rint(found))
    assert np.all(np.diff(found, axis=0) >= 0.0)
    assert np.all(found[3] == 0.0)
    assert np.all(found[-1] < 1.5 * largest)
    assert spare.model_.likelihood_ == "hurdle"


def test_the_share_of_zeros_is_that_of_the_data(spare):
    grid = ((np.arange(100) + 0.5) / 100).tolist()
    table = spare.predict_quantiles(4, grid)
    zeros = np.mean([table[f"quantile_{level:g}"] == 0.0 for level in grid])
    assert abs(zeros - np.mean(parts_sold() == 0.0)) < 0.08


@pytest.mark.parametrize("likelihood", ["poisson", "negative-binomial", "hurdle"])
def test_no_likelihood_explodes_on_spare_parts(likelihood):
    y = parts_sold()
    table = fitted(y, likelihood=likelihood).forecast(26)
    assert table["mean"].max() < 3.0 * y.max()
    assert table["high_95"].max() < 10.0 * y.max()


def test_a_poisson_of_constant_rate_is_reported_as_such():
    model = fitted(np.random.default_rng(1).poisson(2.0, 150))
    assert model.model_.likelihood_ == "poisson"
    assert len(model.components_) == 0
    said = " ".join(str(model.explain()).split())
    assert "look like counts of a constant rate" in said
    assert "as a Poisson does" in said
    assert_allclose(model.forecast(5)["mean"], 2.0, atol=0.4)


def test_counts_that_vary_more_are_a_negative_binomial():
    y = np.random.default_rng(2).negative_binomial(1.0, 1.0 / 4.0, 200)
    model = fitted(y)
    assert model.model_.likelihood_ == "negative-binomial"
    assert 0.6 < model.model_.result_.fitted.likelihood.size < 1.8


def test_a_season_of_the_rate_is_found_and_goes_on():
    t = np.arange(72)
    rate = 3.0 * np.exp(0.9 * np.sin(2.0 * np.pi * t / 12.0))
    y = np.random.default_rng(3).poisson(rate).astype(float)
    series = pd.Series(y, pd.date_range("2018-01-01", periods=72, freq="MS"), name="sold")
    model = farrier.Forecaster().fit(series)
    assert "Per" in model.components_[0].formula
    mean = model.forecast(12)["mean"].to_numpy()
    assert np.corrcoef(mean, rate[:12])[0, 1] > 0.9


def test_a_rate_that_has_ended_is_forecast_near_zero():
    y = np.append(np.random.default_rng(4).poisson(2.0, 100), np.zeros(50))
    table = fitted(y).forecast(8)
    assert table["median"].max() == 0.0
    assert table["mean"].max() < 0.4


def test_more_rows_keep_the_structure_and_the_likelihood(spare):
    model = farrier.Forecaster().fit(weekly(parts_sold())[:-20])
    kernels = [kernel.formula() for kernel in model.model_.result_.fitted.kernels]
    model.update(weekly(parts_sold())[-20:])
    assert [kernel.formula() for kernel in model.model_.result_.fitted.kernels] == kernels
    assert model.model_.likelihood_ == "hurdle"
    assert_allclose(model.forecast(3)["mean"], spare.forecast(3)["mean"], rtol=0.3)


def test_files_keep_forecasts_and_words(spare, tmp_path):
    again = farrier.load(spare.save(tmp_path / "spare.farrier"))
    assert_allclose(again.forecast(5)["mean"], spare.forecast(5)["mean"])
    assert str(again.explain()) == str(spare.explain())


def test_a_long_series_of_counts_is_predicted_in_whole_numbers():
    t = np.arange(1100)
    y = np.random.default_rng(5).poisson(np.exp(0.8 * np.sin(2.0 * np.pi * t / 24.0)))
    series = pd.Series(y.astype(float), pd.date_range("2024-01-01", periods=len(y), freq="h"), name="calls")
    model = farrier.Forecaster().fit(series)
    table = model.predict_quantiles(24, LEVELS)
    assert model.model_.tier_ == "linear"
    assert model.model_.likelihood_ == "poisson"
    assert table["quantile_0.9"].max() <= 6.0
    assert np.ptp(table["quantile_0.9"]) >= 2.0


def test_paths_are_whole_and_have_the_share_of_zeros(spare):
    paths = np.asarray(spare.sample(4, count=400), float)[:, -400:]
    assert np.array_equal(paths, np.rint(paths))
    assert abs(np.mean(paths == 0.0) - np.mean(parts_sold() == 0.0)) < 0.08


def test_rare_counts_are_no_anomalies_and_huge_ones_are(spare):
    assert len(spare.anomalies()) < 0.05 * len(parts_sold())
    y = parts_sold().copy()
    y[100] = 90.0
    found = fitted(y).anomalies()
    assert 90.0 in found["value"].to_numpy()
    assert np.array_equal(found["high"], np.rint(found["high"]))


def test_the_distribution_function_agrees_with_the_quantiles(spare):
    result = spare.model_.result_
    X = result.inputs[:5]
    upper = result.fitted.quantiles(X, [0.9])[0]
    assert np.all(result.fitted.cumulative(X, upper) >= 0.9)
    assert np.all(result.fitted.cumulative(X, upper - 1.0) < 0.9)
