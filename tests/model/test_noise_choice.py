"""Laws of the choice of the noise: Student-t among gross outliers, Gaussian without, and forecasts that bear them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtri

import farrier
from farrier import Forecaster, Regressor
from farrier.model.problem import Problem
from farrier.model.series import fit_series
from farrier.search.learned_priors import GROWTHS

N = 100
T = np.arange(N)
TIMES = np.datetime64("2010-01") + T
CLEAN = 50.0 + 0.3 * T + 8.0 * np.sin(2.0 * np.pi * T / 12)


def made(seed, outliers):
    """Twelve rows to forecast at the end; outliers of 6 to 20 standard deviations of the noise in the others."""
    generator = np.random.default_rng(seed)
    y = CLEAN + 2.0 * generator.standard_normal(N)
    rows = generator.choice(N - 12, outliers, replace=False)
    y[rows] += 2.0 * generator.choice([-1.0, 1.0], outliers) * generator.uniform(6.0, 20.0, outliers)
    return y, set(rows.tolist())


def rows_of(forecaster):
    return set((forecaster.outliers()["time"] - TIMES[0]).astype(int).tolist())


@pytest.fixture(scope="module")
def spoilt():
    y, rows = made(1, 3)
    return Forecaster().fit(TIMES[:-12], y[:-12]), y, rows


def test_gross_outliers_are_found_and_told(spoilt):
    forecaster, _, rows = spoilt
    assert forecaster.model_.likelihood_ == "student-t"
    assert rows_of(forecaster) == rows
    (decision,) = [one for one in forecaster.result_.fitted.record if one.formula == "noise: Student-t"]
    assert (decision.action, decision.reason) == ("kept", "evidence of the noise")
    assert decision.gain > 20.0
    said = " ".join(str(forecaster.explain()).split())
    assert "Three of 88 rows are outliers" in said
    assert str(TIMES[min(rows)]) in said
    assert "a linear rise and a yearly pattern" in said


def test_the_same_kinds_of_members_predict_as_with_gaussian_noise(spoilt):
    fitted = spoilt[0].result_.fitted
    assert {fitted.beliefs.growth} | {one.growth for one in fitted.others} == set(GROWTHS)


def test_every_member_has_the_tails_of_a_student_t(spoilt):
    fitted = spoilt[0].result_.fitted
    inputs = np.array([[2.0]])
    for share in (1.0 - 1e-9, 1e-9):
        # once the first member predicts, once the others
        rest = (1.0 - share) / sum(one.share for one in fitted.others)
        others = tuple(replace(one, share=rest * one.share) for one in fitted.others)
        quartile, beyond = np.diff(
            replace(fitted, share=share, others=others).quantiles(inputs, (0.5, 0.75, 0.9999))[:, 0]
        )
        assert (quartile + beyond) / quartile > 1.5 * ndtri(0.9999) / ndtri(0.75)


def test_outliers_have_a_low_precision_and_ordinary_rows_nearly_one(spoilt):
    forecaster, _, rows = spoilt
    factors = forecaster.result_.fitted.posterior.posteriors[0].noise
    relative = factors / np.median(factors)
    assert min(relative[sorted(rows)]) > 10.0
    assert np.mean(np.delete(relative, sorted(rows)) < 3.0) > 0.95


def test_a_forecast_is_close_to_that_without_outliers(spoilt):
    forecaster, _, _ = spoilt
    without = Forecaster().fit(TIMES[:-12], made(1, 0)[0][:-12])
    assert without.model_.likelihood_ == "gaussian"
    errors = [np.abs(one.forecast(12)["median"] - CLEAN[-12:]).mean() for one in (forecaster, without)]
    assert errors[0] < errors[1] + 0.5
    misled = Forecaster(likelihood="gaussian").fit(TIMES[:-12], spoilt[1][:-12])
    assert errors[0] < np.abs(misled.forecast(12)["median"] - CLEAN[-12:]).mean()


def test_the_noise_comes_back_from_a_file_and_stays_with_new_rows(spoilt, tmp_path):
    forecaster, y, rows = spoilt
    again = farrier.load(forecaster.save(tmp_path / "spoilt.farrier"))
    assert_allclose(again.outliers()["sds"], forecaster.outliers()["sds"])
    again.update(TIMES[-12:], y[-12:])
    assert again.model_.likelihood_ == "student-t"
    assert again.likelihood == "auto"
    assert rows <= rows_of(again)


def test_ordinary_rows_have_the_model_of_gaussian_noise_and_no_decision():
    y, _ = made(2, 0)
    chosen, gaussian = (Regressor(likelihood=name).fit(T[:, None], y) for name in ("auto", "gaussian"))
    assert chosen.likelihood_ == "gaussian"
    assert chosen.record_ == gaussian.record_
    assert_allclose(chosen.predict(T[:, None]), gaussian.predict(T[:, None]), rtol=1e-12)
    assert len(chosen.outliers()["row"]) == 0


def test_white_noise_is_gaussian():
    for seed in range(4):
        y = np.random.default_rng(seed).standard_normal(60)
        assert Regressor().fit(T[:60, None], y).likelihood_ == "gaussian"


def test_a_students_t_that_is_asked_for_is_kept():
    y, _ = made(3, 0)
    model = Regressor(likelihood="student-t").fit(T[:60, None], y[:60])
    assert model.likelihood_ == "student-t"
    assert "asked for" in [decision.reason for decision in model.record_]


def test_an_outlier_below_zero_leaves_only_the_identity():
    y, _ = made(4, 0)
    y[[20, 50, 70]] = [-40.0, 160.0, -60.0]
    fitted = fit_series(Problem((T[:, None] - 50.0) / 29.0, y, timed=True))
    assert fitted.scale.transform.name == "identity"
    assert fitted.record[-1].formula == "noise: Student-t"
