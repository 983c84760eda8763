"""Laws of the structural model among outliers: they are found, hardly change forecasts, and ordinary rows have none."""

import numpy as np
import pytest
from farrier.model.robust_structural import fit_robust_structural, ordinary_gain
from farrier.model.structural import fit_structural
from numpy.testing import assert_allclose

import farrier
from farrier import Forecaster, Regressor
from farrier.model.outliers import Doubt
from farrier.model.row_noise import noise_after
from tests.model.test_robust import CLEAN, TIMES, N, T, made, rows_of

SEEDS = range(4)


def quick(y, **settings):
    return Forecaster(search="quick", **settings).fit(TIMES[:-12], y[:-12])


def test_gross_outliers_are_found_and_forecasts_bear_them():
    found = false = all_rows = 0
    errors = []
    for seed in SEEDS:
        y, rows = made(seed, 3)
        forecaster = quick(y)
        assert forecaster.model_.likelihood_ == "student-t"
        told = rows_of(forecaster)
        found, false, all_rows = found + len(told & rows), false + len(told - rows), all_rows + len(rows)
        medians = [forecaster.forecast(12)["median"], quick(made(seed, 0)[0]).forecast(12)["median"]]
        errors.append([np.abs(median - CLEAN[-12:]).mean() for median in medians])
    assert found >= 0.9 * all_rows
    assert false <= 0.01 * len(SEEDS) * N
    assert np.mean(errors, axis=0)[0] < 1.25 * np.mean(errors, axis=0)[1]


def test_gaussian_series_stay_gaussian():
    kept = [quick(made(seed, 0)[0]).model_.likelihood_ for seed in range(20)]
    assert kept.count("gaussian") >= 19


def test_a_random_walk_stays_gaussian():
    walks = [np.cumsum(np.random.default_rng(seed).standard_normal(N)) for seed in range(5)]
    assert all(quick(walk).model_.likelihood_ == "gaussian" for walk in walks)


def test_ordinary_rows_have_the_same_fit_as_with_gaussian_noise():
    X, y = ((T - 50.0) / 29.0)[:, None], made(0, 0)[0]
    one, other = fit_robust_structural(X, y, [12 / 29.0]), fit_structural(X, y, [12 / 29.0])
    assert one.bound == other.bound
    assert one.record == other.record


def gain_of(y):
    """What Student-t noise gains for the ordinary components of a series without a season."""
    X = ((T - 50.0) / 29.0)[:, None]
    gaussian = fit_structural(X, y, transform="identity")
    return ordinary_gain(gaussian, X, y, (), (), noise_after(Doubt.of(gaussian, X, y)))


def test_a_walk_with_a_few_large_steps_is_no_reason_for_another_search_and_outliers_are():
    steps = np.random.default_rng(0).standard_t(2.5, N)
    walk = np.cumsum(steps)
    assert gain_of(walk) < 0.0
    smooth = np.cumsum(0.1 * np.clip(steps, -2.0, 2.0))
    smooth[[20, 50, 70]] += 6.0
    assert gain_of(smooth) > 20.0


@pytest.fixture(scope="module")
def spoilt():
    y, _ = made(1, 3)
    return quick(y), y


def test_the_decision_is_recorded_and_told(spoilt):
    forecaster, _ = spoilt
    *_, decision = forecaster.result_.fitted.record
    assert (decision.action, decision.formula) == ("kept", "noise: Student-t")
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
    forecaster = quick(y)
    assert forecaster.update(TIMES[-12:], y[-12:] + 60.0 * (T[-12:] == T[-5])).model_.likelihood_ == "gaussian"


def test_intervals_of_a_students_t_are_narrower_than_those_of_gaussian_noise(spoilt):
    ours, theirs = spoilt[0].forecast(12), quick(spoilt[1], likelihood="gaussian").forecast(12)
    assert np.all(ours["high_80"] - ours["low_80"] < 0.7 * (theirs["high_80"] - theirs["low_80"]))


def test_a_students_t_can_be_asked_for():
    model = Regressor(search="quick", likelihood="student-t").fit(T[:60, None], made(0, 0)[0][:60])
    assert model.likelihood_ == "student-t"
    assert model.record_[-1].reason == "asked for"


def test_sales_that_are_mostly_zero_keep_gaussian_noise():
    generator = np.random.default_rng(0)
    y = np.where(generator.uniform(size=N) < 0.25, generator.poisson(4.0, N), 0).astype(float)
    assert quick(y).model_.likelihood_ == "gaussian"
