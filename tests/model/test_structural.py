"""Laws of the structural model: it forecasts what it is made of, in any unit, with intervals that hold."""

from dataclasses import replace

import numpy as np
import pytest
from farrier.model.robust_structural import fit_robust_structural
from farrier.model.structural import (
    fit_structural,
    fitted_structural,
    structural_fit,
    structural_parts,
    structural_rows,
    useful_scales,
)
from farrier.search.settings import AveragingSettings, RowSettings, SearchSettings
from numpy.testing import assert_allclose, assert_array_equal

import farrier
from farrier.inference.exact_posterior import GaussianPosterior
from farrier.kernels.registry import CentredPeriodic, DayOfWeek
from farrier.model.members import shares_of
from farrier.model.target_scale import named
from farrier.search.beliefs import Beliefs
from farrier.search.clock import Clock
from farrier.search.learned_priors import GROWTHS

FEW = SearchSettings(averaging=AveragingSettings(draws=4))
RNG = np.random.default_rng(0)
N = 72
X = np.linspace(-1.7, 1.7, N)[:, None]
STEP = float(X[1, 0] - X[0, 0])
YEAR = 12 * STEP
BELIEFS = Beliefs(Clock.of(X[:, 0], [YEAR]))
Y = 50.0 + 0.2 * np.arange(N) + 5.0 * np.sin(2.0 * np.pi * np.arange(N) / 12) + 0.5 * RNG.standard_normal(N)


@pytest.fixture(scope="module")
def fitted():
    return fit_structural(X, Y, [YEAR], settings=FEW)


def test_it_is_made_of_what_ordinary_series_are_made_of_at_the_medians():
    parts = structural_parts(BELIEFS, FEW, (), BELIEFS.clock.seasons)
    assert [str(part.kernel) for part in parts] == ["Lin", "Damp", "RW", "Mat12", "Mat12 * Per0"]
    assert all(part.weight == part.scale == BELIEFS.scale(part.kernel) for part in parts)
    without = structural_parts(Beliefs(Clock.of(X[:, 0])), FEW, (), ())
    assert [str(part.kernel) for part in without] == ["Lin", "Damp", "RW", "Mat12"]


def test_the_season_and_the_trend_go_on(fitted):
    ahead = X[-1, 0] + STEP * np.arange(1, 13)
    truth = 50.0 + 0.2 * np.arange(N, N + 12) + 5.0 * np.sin(2.0 * np.pi * np.arange(N, N + 12) / 12)
    low, middle, high = fitted.quantiles(ahead[:, None], [0.025, 0.5, 0.975])
    assert np.sqrt(np.mean((middle - truth) ** 2)) < 1.5
    assert np.all((low < truth) & (truth < high))


def test_the_period_is_that_of_the_calendar(fitted):
    season = next(kernel for kernel in fitted.kernels if "Per" in str(kernel))
    (periodic,) = [factor for factor in season.products()[0] if "Per" in factor.symbol]
    assert float(periodic.period) == pytest.approx(YEAR, rel=1e-12)


def test_every_draw_has_its_own_noise_and_predictions_use_it(fitted):
    assert fitted.noises is not None
    mean, variance = fitted.observed(X[:3])
    f_mean, f_variance = fitted.posterior.draws(X[:3])
    # the mode, and draws by its share
    assert len(mean) == 1 + 2 * int(np.ceil(0.5 * fitted.share * FEW.averaging.draws))
    assert_allclose(mean, f_mean)
    assert_allclose(variance - f_variance, np.broadcast_to(fitted.noises[:, None], variance.shape))


def test_units_do_not_matter():
    ahead = X[-1:] + STEP
    one = fit_structural(X, Y, [YEAR], transform="identity", settings=FEW)
    other = fit_structural(X, 1000.0 * Y - 7.0, [YEAR], transform="identity", settings=FEW)
    assert_allclose(other.moments(ahead)[0], 1000.0 * one.moments(ahead)[0] - 7.0, rtol=1e-6)
    assert_allclose(other.bound, one.bound - N * np.log(1000.0), atol=1e-4)


def test_a_long_series_is_fitted_to_its_last_rows_and_predicted_from_all():
    settings = SearchSettings(rows=RowSettings(search=40), averaging=AveragingSettings(draws=2))
    fit = structural_fit(X, Y, BELIEFS, named("identity"), settings)
    assert_allclose(fit.rows, Y[-40:])
    assert_allclose(fit.evaluator.X, X[-40:])
    posterior = fit_structural(X, Y, [YEAR], settings=settings).posterior.posteriors[0]
    assert isinstance(posterior, GaussianPosterior)
    assert len(posterior.y) == N


def rows_of(count, *seasons):
    X = np.arange(float(count))[:, None]
    return structural_rows(X, Beliefs(Clock.of(X[:, 0], seasons)), SearchSettings())


def test_the_last_rows_serve_if_they_hold_the_longest_season_often_enough():
    assert_array_equal(rows_of(520, 52.0), np.arange(220, 520))
    assert_array_equal(rows_of(250, 24.0, 168.0), np.arange(250))
    assert_array_equal(rows_of(400), np.arange(100, 400))


def test_of_a_week_of_hours_every_second_row_is_taken():
    found = rows_of(700, 24.0, 168.0)
    assert_array_equal(found, np.arange(101, 700, 2))


def test_rows_are_not_left_out_where_the_shortest_season_would_not_show():
    # three years are 1,096 days: every fourth day would not show a week
    assert_array_equal(rows_of(1000, 7.0, 365.25), np.arange(700, 1000))


def test_the_scales_of_the_target_are_averaged_by_their_evidence():
    wide = np.exp(0.02 * Y)
    names = ("identity", "log")
    fits = [
        structural_fit(X, wide, replace(BELIEFS, growth=growth), named(name), FEW)
        for growth in GROWTHS
        for name in names
    ]
    heights = np.array([fit.height for fit in fits])
    found = fit_structural(X, wide, [YEAR], settings=FEW)
    best = fits[int(np.argmax(heights))]
    assert (found.scale.transform.name, found.beliefs.growth) == (best.scale.transform.name, best.kind[1])
    assert found.bound == pytest.approx(max(heights), abs=0.05)
    members = {(found.beliefs.growth, found.scale.transform.name): found.share}
    members |= {(one.growth, one.scale.transform.name): one.share for one in found.others}
    for fit, share in zip(fits, shares_of(fits, FEW.averaging), strict=True):
        told = members.get((fit.kind[1], fit.scale.transform.name), 0.0)
        assert told == pytest.approx(share, abs=FEW.averaging.smallest_share)


def test_a_fit_from_the_values_of_another_model_ends_where_it_would_have_ended():
    other = structural_fit(X, Y, replace(BELIEFS, growth="line"), named("identity"), FEW)
    beliefs = replace(BELIEFS, growth="nothing")
    alone = structural_fit(X, Y, beliefs, named("identity"), FEW)
    after, again = (
        structural_fit(X, Y, beliefs, named("identity"), FEW, near=near) for near in (other.structure, alone.structure)
    )
    assert after.structure.score == pytest.approx(alone.structure.score, abs=0.05)
    assert again.structure.score == pytest.approx(alone.structure.score, abs=0.05)
    assert again.evaluator.steps < alone.evaluator.steps


def test_the_second_model_is_fitted_on_scales_that_have_a_share_in_the_first():
    fits = [structural_fit(X, np.exp(0.3 * Y), BELIEFS, named(name), FEW) for name in ("identity", "log")]
    assert [one.name for one in useful_scales(fits, FEW)] == ["log"]
    assert [one.name for one in useful_scales(fits[:1], FEW)] == ["identity"]


def test_growth_that_fades_to_a_line_goes_on_and_growth_that_fades_to_nothing_ends(fitted):
    def rise(growth):
        beliefs = replace(BELIEFS, growth=growth)
        found = fitted_structural([structural_fit(X, Y, beliefs, named("identity"), FEW)], X, Y)
        far, near = found.moments(np.array([[X[-1, 0] + 40.0 * YEAR], [X[-1, 0] + 20.0 * YEAR]]))[0]
        return far - near

    line, nothing = rise("line"), rise("nothing")
    # the truth rises by 0.2 a month
    assert line > 2.0 * nothing
    assert line > 0.2 * 20.0 * 12.0 / 2.0
    assert {one.growth for one in fitted.others} | {fitted.beliefs.growth} == set(GROWTHS)


# through the estimators


@pytest.fixture(scope="module")
def forecaster():
    months = np.datetime64("2015-01") + np.arange(N)
    return farrier.Forecaster(search="quick").fit(months, Y)


def test_a_quick_forecast_is_explained_saved_and_updated(forecaster, tmp_path):
    ahead = forecaster.forecast(3)
    assert "yearly pattern" in str(forecaster.explain())
    again = farrier.load(forecaster.save(tmp_path / "quick.farrier"))
    assert_allclose(again.forecast(3)["mean"], ahead["mean"])
    again.update([np.datetime64("2021-01")], [60.0])
    assert "73 rows" in str(again.explain())


@pytest.mark.parametrize("search", ["full", "quick"])
def test_a_summary_is_the_mean_and_the_quantiles(search):
    model = farrier.Regressor(search=search, likelihood="gaussian").fit(X[:40], Y[:40])
    mean, quantiles = model.predict_summary(X[-3:], (0.1, 0.5))
    assert_allclose(mean, model.predict(X[-3:]), rtol=1e-9)
    assert_allclose(quantiles, model.predict_quantiles(X[-3:], (0.1, 0.5)), rtol=1e-9)
    with pytest.raises(ValueError, match="quantiles lie between 0 and 1, got 1"):
        model.predict_summary(X[-3:], (1.0,))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"prior": "none"}, "search='quick' needs prior='horseshoe', got 'none': try search='full'"),
        ({"kernels": ["SE"]}, r"search='quick' needs kernels='auto', got \['SE'\]"),
        ({"method": "collapsed"}, "search='quick' needs method='auto'"),
    ],
)
def test_what_the_quick_model_does_not_do_is_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        farrier.Regressor(search="quick", **setting).fit(X, Y)


def test_several_inputs_are_refused():
    with pytest.raises(ValueError, match="needs one input, which is time, got 2"):
        farrier.Regressor(search="quick").fit(np.hstack([X, X**2]), Y)


def test_patterns_of_the_calendar_are_components_with_the_prior_of_a_season():
    week, days = DayOfWeek(), np.arange(float(N))
    pattern = np.array([3.0, -2.0, 0.0, 1.0, -4.0, 2.0, 0.0])[week.levels_at(days)]
    rescaled = (week.rescale(STEP, X[0, 0]), (CentredPeriodic(3.5, 0.7) * week).rescale(STEP, X[0, 0]))
    y = 50.0 + pattern + 0.3 * np.random.default_rng(1).standard_normal(N)
    fitted = fit_structural(X, y, [7.0 * STEP], calendar=rescaled, settings=FEW)
    assert "Weekday" in [str(kernel) for kernel in fitted.kernels]
    beliefs = Beliefs(Clock.of(X[:, 0], [7.0 * STEP]))
    assert beliefs.scale(rescaled[0]) == beliefs.scale(CentredPeriodic(1.0, 0.7))
    assert_allclose(fitted.moments(X)[0], 50.0 + pattern, atol=0.8)


def test_a_long_series_is_predicted_in_linear_time_with_the_same_parameters():
    t = np.linspace(-1.7, 1.7, 240)
    y = np.sin(2.0 * np.pi * t / 0.17) + t + 0.1 * np.random.default_rng(5).standard_normal(240)
    few = SearchSettings(averaging=AveragingSettings(draws=0))
    long = replace(few, rows=RowSettings(exact=200))
    beliefs = Beliefs(Clock.of(t, [0.17]))
    # a long series is predicted by one of the models
    exact, found = (
        fitted_structural([structural_fit(t[:, None], y, beliefs, named("identity"), one)], t[:, None], y)
        for one in (few, long)
    )
    assert (exact.tier, found.tier) == ("exact", "linear")
    ahead = np.linspace(1.2, 1.9, 30)[:, None]
    for one, other in zip(found.moments(ahead), exact.moments(ahead), strict=True):
        assert_allclose(one, other, atol=2e-3)
    mean, _ = found.parts(ahead, range(found.survivors))
    assert_allclose(found.scale.inverse(mean.sum(axis=0)), found.moments(ahead)[0], atol=1e-8)
    robust = fit_robust_structural(t[:, None], y, [0.17], chosen=True, transform="identity", settings=long)
    assert robust.tier == "linear"
    assert_allclose(robust.moments(ahead)[0], found.moments(ahead)[0], atol=0.1)
