"""Laws of Student-t noise of a series: outliers are found, hardly change forecasts, and ordinary rows have none."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import farrier
from farrier import Forecaster, Regressor
from farrier.inference.noise import Noise
from farrier.inference.student_t import StudentT
from farrier.model.outliers import Doubt
from farrier.model.problem import Problem
from farrier.model.series import fit_series
from farrier.model.student_t_noise import noise_after
from tests.model.test_noise_choice import CLEAN, TIMES, N, T, made, rows_of

SEEDS = range(4)


def forecaster_of(y, **settings):
    return Forecaster(**settings).fit(TIMES[:-12], y[:-12])


def test_gross_outliers_are_found_and_forecasts_bear_them():
    found = false = all_rows = 0
    errors = []
    for seed in SEEDS:
        y, rows = made(seed, 3)
        forecaster = forecaster_of(y)
        assert forecaster.model_.likelihood_ == "student-t"
        told = rows_of(forecaster)
        found, false, all_rows = found + len(told & rows), false + len(told - rows), all_rows + len(rows)
        medians = [forecaster.forecast(12)["median"], forecaster_of(made(seed, 0)[0]).forecast(12)["median"]]
        errors.append([np.abs(median - CLEAN[-12:]).mean() for median in medians])
    assert found >= 0.9 * all_rows
    assert false <= 0.01 * len(SEEDS) * N
    assert np.mean(errors, axis=0)[0] < 1.25 * np.mean(errors, axis=0)[1]


def test_gaussian_series_stay_gaussian():
    kept = [forecaster_of(made(seed, 0)[0]).model_.likelihood_ for seed in range(20)]
    assert kept.count("gaussian") >= 19


def test_a_random_walk_stays_gaussian():
    walks = [np.cumsum(np.random.default_rng(seed).standard_normal(N)) for seed in range(5)]
    assert all(forecaster_of(walk).model_.likelihood_ == "gaussian" for walk in walks)


def test_ordinary_rows_have_the_same_fit_as_with_gaussian_noise():
    series = Problem(((T - 50.0) / 29.0)[:, None], made(0, 0)[0], seasons=[12 / 29.0], timed=True)
    one, other = fit_series(series), fit_series(series, likelihood="gaussian")
    assert one.bound == other.bound
    assert one.record == other.record


def noise_of(y):
    """Whether Student-t noise is kept for a series without a season."""
    series = Problem(((T - 50.0) / 29.0)[:, None], y, seasons=[], timed=True, scale="identity")
    return isinstance(fit_series(series).likelihood, StudentT)


def test_a_walk_with_a_few_large_steps_has_no_outliers_and_a_smooth_one_may():
    steps = np.random.default_rng(0).standard_t(2.5, N)
    assert not noise_of(np.cumsum(steps))
    smooth = np.cumsum(0.1 * np.clip(steps, -2.0, 2.0))
    smooth[[20, 50, 70]] += 6.0
    assert noise_of(smooth)


def test_expected_variances_are_those_of_a_gamma_precision():
    degrees, square = 4.0, np.array([0.0, 1.0, 9.0])
    # g given a residual r of scale one is Gamma((d + 1) / 2, (d + r^2) / 2)
    factors = Noise(degrees=degrees).expecting(square).each
    assert_allclose(1.0 / factors, ((degrees + 1) / 2) / ((degrees + square) / 2))


def test_suspicious_rows_have_a_large_variance_and_no_part_in_the_scale_of_the_target():
    y, rows = made(1, 3)
    series = Problem(((T - 50.0) / 29.0)[:, None], y, seasons=[12 / 29.0], timed=True)
    noise = noise_after(Doubt.of(fit_series(series, likelihood="gaussian"), series.X, y))
    assert set(np.flatnonzero(~noise.ordinary)) == rows
    assert noise.each[sorted(rows)].min() > 5.0 * np.median(noise.each)


@pytest.fixture(scope="module")
def spoilt():
    y, _ = made(1, 3)
    return forecaster_of(y), y


def test_the_decision_is_recorded_and_told(spoilt):
    forecaster, _ = spoilt
    (decision,) = [one for one in forecaster.result_.fitted.record if one.formula == "noise: Student-t"]
    assert decision.action == "kept"
    assert "Three of 88 rows are outliers" in str(forecaster.explain())


def test_a_file_and_new_rows_keep_the_noise(spoilt, tmp_path):
    forecaster, y = spoilt
    again = farrier.load(forecaster.save(tmp_path / "quick.farrier"))
    assert_allclose(again.forecast(3)["high_95"], forecaster.forecast(3)["high_95"])
    again.update(TIMES[-12:], y[-12:])
    assert again.model_.likelihood_ == "student-t"
    assert again.likelihood == "auto"
    assert again.model_.likelihood == "auto"


def test_new_outliers_do_not_change_a_gaussian_model_s_noise():
    y, _ = made(2, 0)
    forecaster = forecaster_of(y)
    assert forecaster.update(TIMES[-12:], y[-12:] + 60.0 * (T[-12:] == T[-5])).model_.likelihood_ == "gaussian"


def test_intervals_of_a_students_t_are_narrower_than_those_of_gaussian_noise(spoilt):
    ours, theirs = spoilt[0].forecast(12), forecaster_of(spoilt[1], likelihood="gaussian").forecast(12)
    assert np.all(ours["high_80"] - ours["low_80"] < 0.7 * (theirs["high_80"] - theirs["low_80"]))


def test_a_students_t_can_be_asked_for():
    model = Regressor(likelihood="student-t").fit(T[:60, None], made(0, 0)[0][:60])
    assert model.likelihood_ == "student-t"
    assert "asked for" in [decision.reason for decision in model.record_]


def test_sales_that_are_mostly_zero_are_counts_with_a_hurdle():
    generator = np.random.default_rng(0)
    y = np.where(generator.uniform(size=N) < 0.25, generator.poisson(4.0, N), 0).astype(float)
    assert forecaster_of(y).model_.likelihood_ == "hurdle"


def test_outliers_of_a_long_series_get_a_student_t_and_narrow_intervals():
    generator, t = np.random.default_rng(0), np.arange(1500)
    y = 20.0 + 5.0 * np.sin(2.0 * np.pi * t / 1440.0) + 0.3 * generator.standard_normal(1500)
    rows = np.append(generator.choice(1300, 7, replace=False), [1370, 1450])
    spoilt = y.copy()
    spoilt[rows] += 15.0
    index = pd.date_range("2024-01-01", periods=1500, freq="min")
    model = Forecaster().fit(pd.Series(spoilt, index))
    assert model.model_.tier_ == "linear"
    assert model.model_.likelihood_ == "student-t"
    table = model.forecast(30)
    assert (table["high_95"] - table["low_95"]).mean() < 3.0
    assert set(index[rows]) <= set(model.outliers().index)
    assert Forecaster().fit(pd.Series(y, index)).model_.likelihood_ == "gaussian"
