"""Laws of the fit of a series: the pool predicts what it is made of, in any unit, with intervals that hold."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

import farrier
from farrier.inference.horseshoe import PointHorseshoe
from farrier.inference.posteriors import GaussianPosterior
from farrier.inference.student_t import StudentT
from farrier.kernels.registry import CentredPeriodic, DayOfWeek
from farrier.model.members import SMALLEST_SHARE, shares_of
from farrier.model.problem import Problem
from farrier.model.series import fit_series, pool_fit, refit_series
from farrier.model.target_scale import named
from farrier.search.learned_priors import GROWTHS

RNG = np.random.default_rng(0)
N = 72
X = np.linspace(-1.7, 1.7, N)[:, None]
STEP = float(X[1, 0] - X[0, 0])
YEAR = 12 * STEP
Y = 50.0 + 0.2 * np.arange(N) + 5.0 * np.sin(2.0 * np.pi * np.arange(N) / 12) + 0.5 * RNG.standard_normal(N)
WHITE = 3.0 + 7.0 * np.random.default_rng(0).standard_normal(N)
NEW = np.linspace(-1.9, 2.3, 9)[:, None]


def months(y, X=X, **fields):
    return Problem(X, y, seasons=[YEAR], timed=True, **fields)


@pytest.fixture(scope="module")
def fitted():
    return fit_series(months(Y))


# what predicts


def test_the_season_and_the_trend_go_on(fitted):
    ahead = X[-1, 0] + STEP * np.arange(1, 13)
    truth = 50.0 + 0.2 * np.arange(N, N + 12) + 5.0 * np.sin(2.0 * np.pi * np.arange(N, N + 12) / 12)
    low, middle, high = fitted.quantiles(ahead[:, None], [0.025, 0.5, 0.975])
    assert np.sqrt(np.mean((middle - truth) ** 2)) < 1.5
    assert np.all((low < truth) & (truth < high))


def test_the_weights_are_under_a_horseshoe_that_the_level_has_no_part_in(fitted):
    assert isinstance(fitted.prior, PointHorseshoe)
    assert str(fitted.kernels[fitted.level]) == "1"
    assert_array_equal(fitted.prior.shrunk, np.arange(len(fitted.kernels)) != fitted.level)


def test_the_period_is_that_of_the_calendar(fitted):
    season = next(kernel for kernel in fitted.kernels if "Per" in str(kernel))
    (periodic,) = [factor for factor in season.products()[0] if "Per" in factor.symbol]
    assert float(periodic.period) == pytest.approx(YEAR, rel=1e-12)


def test_every_draw_has_its_own_noise_and_predictions_use_it(fitted):
    mean, variance = fitted.observed(X[:3])
    f_mean, f_variance = fitted.posterior.draws(X[:3])
    assert len(mean) == len(fitted.noises) > 1
    assert_allclose(mean, f_mean)
    assert_allclose(variance - f_variance, np.broadcast_to(fitted.noises[:, None], variance.shape))


def test_units_do_not_matter():
    ahead = X[-1:] + STEP
    one = fit_series(months(Y, scale="identity"))
    other = fit_series(months(1000.0 * Y - 7.0, scale="identity"))
    assert_allclose(other.moments(ahead)[0], 1000.0 * one.moments(ahead)[0] - 7.0, rtol=1e-6)
    assert_allclose(other.bound, one.bound - N * np.log(1000.0), atol=1e-4)


def test_white_noise_is_predicted_by_its_mean_and_its_bound_is_in_its_own_units():
    found = fit_series(months(WHITE))
    assert found.scale.transform.name == "identity"
    z, (mean, variance) = found.scale.forward(WHITE), found.posterior.joint(NEW)
    assert np.sqrt(np.mean(mean**2)) < 0.4
    assert np.all(np.diagonal(variance)[np.abs(NEW[:, 0]) < 1.7] < 0.3)
    assert 0.6 < found.noise_variance / z.var() < 1.2
    # of white noise no bound exceeds the density at the best mean and variance, and a good one is not far below
    best = multivariate_normal(np.full(N, WHITE.mean()), WHITE.var() * np.eye(N)).logpdf(WHITE)
    assert best - 15.0 < found.bound < best


def test_what_grows_by_factors_is_learned_on_the_logarithm():
    found = fit_series(months(np.exp(0.1 * Y)))
    assert found.scale.transform.name == "log"
    assert all(one.scale.transform.name == "log" for one in found.others)


def test_parts_add_up_to_the_prediction(fitted):
    components = fitted.posterior.components(NEW)[0]
    mean, _ = fitted.posterior.joint(NEW)
    assert_allclose(components.sum(axis=0), mean, rtol=1e-9, atol=1e-10)


# members


def fits_of(y, growth, names=("identity", "log"), near=None):
    beliefs = replace(months(y).beliefs, growth=growth)
    return [pool_fit(months(y), beliefs, named(name), near=near) for name in names]


def test_the_scales_of_the_target_are_averaged_by_their_evidence():
    wide = np.exp(0.02 * Y)
    fits = [fit for growth in GROWTHS for fit in fits_of(wide, growth, ("identity", "log", "square root"))]
    # a square root predicts and does not explain
    best, found = (
        max(fits, key=lambda one: (one.scale.transform.name != "square root", one.height)),
        fit_series(months(wide)),
    )
    assert (found.scale.transform.name, found.beliefs.growth) == (best.scale.transform.name, best.growth)
    assert found.bound == pytest.approx(max(one.height for one in fits), abs=0.05)
    members = {(found.beliefs.growth, found.scale.transform.name): found.share}
    members |= {(one.growth, one.scale.transform.name): one.share for one in found.others}
    for fit, share in zip(fits, shares_of(fits), strict=True):
        told = members.get((fit.growth, fit.scale.transform.name), 0.0)
        assert told == pytest.approx(share, abs=SMALLEST_SHARE)


def test_a_fit_from_the_values_of_another_pool_ends_where_it_would_have_ended():
    (other,), (alone,) = (fits_of(Y, growth, ["identity"]) for growth in ("line", "nothing"))
    for near in (other, alone):
        (after,) = fits_of(Y, "nothing", ["identity"], near.structure)
        assert after.structure.score == pytest.approx(alone.structure.score, abs=0.05)
    assert after.evaluator.steps < alone.evaluator.steps


def test_growth_that_fades_to_a_line_goes_on_and_growth_that_fades_to_nothing_ends(fitted):
    def rise(growth):
        (fit,) = fits_of(Y, growth, ["identity"])
        posterior = GaussianPosterior(
            fit.structure.model.pool,
            fit.structure.model.prior.w[None],
            np.full(N, fit.structure.noise),
            X,
            fit.scale.forward(Y),
        )
        near, far = posterior.draws(X[-1, 0] + YEAR * np.array([[20.0], [40.0]]))[0][0]
        return fit.scale.sd * (far - near)

    line, nothing = rise("line"), rise("nothing")
    # the truth rises by 0.2 a month
    assert line > 2.0 * nothing
    assert line > 0.2 * 20.0 * 12.0 / 2.0
    assert {one.growth for one in fitted.others} | {fitted.beliefs.growth} == set(GROWTHS)


def test_patterns_of_the_calendar_are_components_with_the_prior_of_a_season():
    week, days = DayOfWeek(), np.arange(float(N))
    pattern = np.array([3.0, -2.0, 0.0, 1.0, -4.0, 2.0, 0.0])[week.levels_at(days)]
    rescaled = (week.rescale(STEP, X[0, 0]), (CentredPeriodic(3.5, 0.7) * week).rescale(STEP, X[0, 0]))
    y = 50.0 + pattern + 0.3 * np.random.default_rng(1).standard_normal(N)
    series = Problem(X, y, seasons=[7.0 * STEP], calendar=rescaled, timed=True)
    found = fit_series(series)
    assert "Weekday" in [str(kernel) for kernel in found.kernels]
    beliefs = series.beliefs
    assert beliefs.scale(rescaled[0]) == beliefs.scale(CentredPeriodic(1.0, 0.7))
    assert_allclose(found.moments(X)[0], 50.0 + pattern, atol=0.8)


# rows


def rows_of(count, *seasons):
    x = np.arange(float(count))[:, None]
    y = np.sin(0.3 * x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(count)
    series = Problem(x, y, seasons=list(seasons), timed=True)
    return pool_fit(series, series.beliefs, named("identity")).evaluator.X[:, 0]


def test_a_long_series_is_fitted_to_its_last_rows():
    assert_array_equal(rows_of(320, 12.0), np.arange(20, 320))


def test_of_a_week_of_hours_every_second_run_is_taken_so_that_all_hours_of_the_day_are_seen():
    rows = rows_of(700, 24.0, 168.0)
    assert len(rows) == 300
    assert rows[-1] == 699
    assert_array_equal(np.unique(np.diff(rows)), [1, 6])
    assert len(np.unique(rows % 24)) == 24
    assert len(np.unique(rows % 168)) > 150


# long series


LONG = np.linspace(-1.7, 1.7, 400)[:, None]
ROUGH = np.cumsum(np.random.default_rng(3).standard_normal(400))
KNOWN = np.arange(400) % 5 != 2


@pytest.fixture(scope="module")
def long():
    return fit_series(Problem(LONG[KNOWN], ROUGH[KNOWN], engine="linear", scale="identity"))


def test_a_long_rough_series_is_predicted_from_the_rows_near_by(long):
    assert long.tier == "linear"
    found, sd = long.moments(LONG[~KNOWN])
    truth, there = ROUGH[~KNOWN], np.flatnonzero(~KNOWN)
    between = 0.5 * (ROUGH[there - 1] + ROUGH[there + 1])
    assert np.sqrt(np.mean((truth - found) ** 2)) < 1.2 * np.sqrt(np.mean((truth - between) ** 2))
    assert 0.85 < np.mean(np.abs(truth - found) < 1.96 * sd) <= 1.0


def test_the_parts_of_a_long_series_add_up_and_travel(long):
    mean, variance = long.parts(LONG[::7], range(len(long.kernels) - 1))
    assert np.all(variance >= 0)
    assert_allclose(long.scale.inverse(mean.sum(axis=0)), long.moments(LONG[::7])[0], atol=1e-8)
    kept = pickle.loads(pickle.dumps(long.posterior))
    assert_allclose(kept.draws(LONG[:3])[0], long.posterior.draws(LONG[:3])[0])


def test_more_rows_are_added_with_the_same_components(long):
    series = Problem(LONG, ROUGH, engine="linear")
    again = refit_series(long, series)
    assert again.tier == "linear"
    assert [str(k) for k in again.kernels] == [str(k) for k in long.kernels]
    errors = [np.abs(one.moments(LONG[~KNOWN])[0] - ROUGH[~KNOWN]).mean() for one in (again, long)]
    assert errors[0] < errors[1]


def test_a_long_series_is_predicted_in_linear_time_with_the_same_parameters():
    t = np.linspace(-1.7, 1.7, 200)[:, None]
    y = np.sin(2.0 * np.pi * t[:, 0] / 0.17) + t[:, 0] + 0.1 * np.random.default_rng(5).standard_normal(200)
    series = Problem(t, y, seasons=[0.17], timed=True)
    found = fit_series(replace(series, engine="linear", scale="identity"), likelihood="gaussian")
    exact = pool_fit(series, found.beliefs, named("identity"))
    model = exact.structure.model
    posterior = GaussianPosterior(model.pool, model.prior.w[None], np.full(200, model.noise), t, exact.scale.forward(y))
    ahead = np.linspace(1.2, 1.9, 30)[:, None]
    assert_allclose(found.moments(ahead)[0], exact.scale.inverse(posterior.draws(ahead)[0][0]), atol=5e-3)


def test_outliers_do_not_move_a_long_series_with_the_noise_that_was_asked_for():
    truth, out = np.sin(2.0 * LONG[:, 0]), np.random.default_rng(7).uniform(size=400) < 0.05
    y = truth + 0.1 * np.random.default_rng(2).standard_normal(400) + np.where(out, 5.0, 0.0)
    series = Problem(LONG, y, engine="linear", scale="identity")
    gaussian, robust = (fit_series(series, likelihood=likelihood) for likelihood in ("gaussian", "student-t"))
    assert not isinstance(gaussian.likelihood, StudentT)
    assert isinstance(robust.likelihood, StudentT)
    errors = [np.abs(one.quantiles(LONG, [0.5])[0] - truth)[~out].mean() for one in (gaussian, robust)]
    assert errors[1] < min(0.06, 0.5 * errors[0])
    low, high = robust.quantiles(LONG, [0.1, 0.9])
    inside = (low < y) & (high > y)
    assert 0.7 < inside[~out].mean() < 0.95
    assert not inside[out].any()
    assert robust.bound > gaussian.bound + 100.0
    again = refit_series(robust, Problem(LONG[:300], y[:300], engine="linear"))
    assert isinstance(again.likelihood, StudentT)
    assert np.abs(again.quantiles(LONG[:300], [0.5])[0] - truth[:300])[~out[:300]].mean() < 0.08


# through the estimators


def test_a_summary_is_the_mean_and_the_quantiles():
    model = farrier.Regressor(likelihood="gaussian").fit(X[:40], Y[:40])
    mean, quantiles = model.predict_summary(X[-3:], (0.1, 0.5))
    assert_allclose(mean, model.predict(X[-3:]), rtol=1e-9)
    assert_allclose(quantiles, model.predict_quantiles(X[-3:], (0.1, 0.5)), rtol=1e-9)
    with pytest.raises(ValueError, match="quantiles lie between 0 and 1, got 1"):
        model.predict_summary(X[-3:], (1.0,))
