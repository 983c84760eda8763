"""Laws of the floor and of the mean: nothing below the floor, quantiles in order, a mean that does not explode."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier import Forecaster, Regressor, load
from farrier.model.fitted import Member

TIMES = np.arange("2015-01", "2021-01", dtype="M8[M]")
T = np.arange(len(TIMES))
FALLING = np.maximum(30.0 - 0.5 * T + np.random.default_rng(0).standard_normal(len(T)), 0.0)
"""A fall that ends at zero."""
LEVELS = (0.005, 0.025, 0.1, 0.3, 0.5, 0.7, 0.9, 0.975, 0.995)


@pytest.fixture(scope="module")
def falling():
    return Forecaster(scale="identity").fit(TIMES, FALLING)


def test_data_without_negative_values_get_no_negative_forecast(falling):
    ahead = falling.forecast(24)
    assert min(np.min(ahead[name]) for name in ahead if name != "time") == 0.0
    assert_array_equal(falling.model_.predict_quantiles([[2030.0]], [0.001, 0.01])[0, 0], 0.0)


def test_without_a_floor_the_same_model_goes_below_zero(falling):
    free = Forecaster(scale="identity", floor=None).fit(TIMES, FALLING)
    below, ahead = free.forecast(24), falling.forecast(24)
    assert below["low_95"].min() < 0.0
    for name in ("median", "low_80", "high_80", "low_95", "high_95"):
        assert_allclose(ahead[name], np.maximum(below[name], 0.0), rtol=1e-9)
    # what is clipped only moves up
    assert np.all(ahead["mean"] >= below["mean"])


def test_quantiles_never_cross(falling):
    for model in (falling, Forecaster(scale="log").fit(TIMES, FALLING + 0.1)):
        table = model.predict_quantiles(60, LEVELS)
        found = np.column_stack([table[f"quantile_{level:g}"] for level in LEVELS])
        assert np.all(np.diff(found, axis=1) >= 0.0)
        assert np.isfinite(found).all()


def test_a_floor_clips_what_structures_on_several_scales_predict(falling):
    own, log = falling.result_.fitted, Forecaster(scale="log").fit(TIMES, FALLING + 0.1).result_.fitted
    both = replace(own, share=0.5, others=(Member(0.5, log.posterior, log.noises, log.scale, log.kernels),))
    X = falling.result_.inputs[-12:] + 0.5
    free, clipped = replace(both, floor=None).quantiles(X, LEVELS), both.quantiles(X, LEVELS)
    assert free.min() < 0.0
    assert_array_equal(clipped, np.maximum(free, 0.0))
    mean, sd = both.moments(X)
    assert np.all((clipped[1] < mean) & (mean < clipped[-2]) & (sd > 0.0))


def test_one_negative_value_is_enough_for_no_floor():
    y = FALLING.copy()
    y[-1] = -0.1
    assert Forecaster().fit(TIMES, y).result_.fitted.floor is None


def test_a_floor_follows_new_rows():
    forecaster = Forecaster(kernels=["Lin"], scale="identity").fit(TIMES[:60], FALLING[:60] + 1.0)
    assert forecaster.result_.fitted.floor == 0.0
    assert forecaster.update(TIMES[60:], -np.arange(12.0) - 1.0).result_.fitted.floor is None


def test_a_floor_is_saved(falling, tmp_path):
    assert load(falling.save(tmp_path / "falling.farrier")).result_.fitted.floor == 0.0


def test_a_floor_above_the_data_is_refused():
    with pytest.raises(ValueError, match=r"floor=1: y has the value 0 below it: give at most that, or None"):
        Regressor(kernels=["Lin"], floor=1.0).fit(T[:, None], FALLING)


def test_mean_and_covariance_agree_where_there_is_a_floor():
    X = T[:, None].astype(float)
    model = Regressor(kernels=["Lin"], scale="identity", floor="auto").fit(X, FALLING)
    free = Regressor(kernels=["Lin"], scale="identity").fit(X, FALLING)
    for one, other in zip(model.predict(X, return_cov=True), free.predict(X, return_cov=True), strict=True):
        assert_allclose(one, other, rtol=1e-12)


def test_where_intervals_are_narrow_the_mean_of_logarithms_is_that_of_all_values():
    y = np.exp(0.02 * T + 0.05 * np.random.default_rng(1).standard_normal(len(T)))
    model = Regressor(kernels=["Lin"], scale="log").fit(T[:, None], y)
    fitted = model.result_.fitted
    mean, variance = fitted.observed(model.result_.at(np.array([[10.0], [50.0]])))
    exact = np.exp(fitted.scale.mean + fitted.scale.sd * mean + 0.5 * fitted.scale.sd**2 * variance).mean(axis=0)
    assert_allclose(model.predict([[10.0], [50.0]]), exact, rtol=1e-3)


def test_where_a_logarithm_meets_wide_intervals_the_mean_stays_inside_them():
    fitted = Regressor(kernels=["Lin"], scale="log").fit(T[:, None], np.exp(0.02 * T + np.sin(T))).result_.fitted
    inputs = np.linspace(-3.0, 9.0, 25)[:, None]
    # the same model with logarithms of twenty times the spread
    wide = replace(fitted, scale=replace(fitted.scale, sd=20.0 * fitted.scale.sd))
    mean, _ = wide.moments(inputs)
    low, median, high = wide.quantiles(inputs, [0.025, 0.5, 0.975])
    assert np.all((low < mean) & (mean < high) & (mean >= median))


def test_nothing_lies_above_a_cap():
    y = 10.0 - FALLING / 3.0
    forecaster = Forecaster(scale="identity", cap=10.0).fit(TIMES, y)
    free = Forecaster(scale="identity").fit(TIMES, y)
    ahead, above = forecaster.forecast(24), free.forecast(24)
    assert above["high_95"].max() > 10.0
    for name in ("median", "low_80", "high_80", "low_95", "high_95"):
        assert_allclose(ahead[name], np.minimum(above[name], 10.0), rtol=1e-9)
    assert np.all(ahead["mean"] <= above["mean"])
    assert "Forecasts do not go above 10" in " ".join(str(forecaster.explain()).split())


def test_a_cap_below_the_data_is_refused():
    with pytest.raises(ValueError, match=r"cap=1: y has the value .* above it: give at least that, or None"):
        Regressor(kernels=["Lin"], cap=1.0).fit(T[:, None], FALLING)


def test_growth_slows_towards_a_cap():
    # half of the cap is seen: without a cap the forecast goes on
    t = np.arange(100.0)
    y = 50_000.0 / (1.0 + np.exp(-(t - 90.0) / 14.0)) * (1.0 + 0.01 * np.random.default_rng(3).normal(size=100))
    times = np.arange("2015-01", "2023-05", dtype="M8[M]")
    capped = Forecaster(cap=50_000).fit(times, y)
    ahead = capped.forecast(60)
    truth = 50_000.0 / (1.0 + np.exp(-(100.0 + np.arange(60) - 90.0) / 14.0))
    assert_allclose(ahead["median"], truth, rtol=0.08)
    assert np.max(ahead["high_95"]) <= 50_000.0
    assert "slows towards the cap of 50000" in str(capped.explain())
    assert Forecaster(scale="log").fit(times, y).forecast(60)["median"][-1] > 60_000.0
