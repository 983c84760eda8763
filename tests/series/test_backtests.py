"""Laws of backtests: origins, naive errors by hand, coverage, CRPS and MSIS of each step."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.series.backtests import QUANTILES, backtest, origins, season_of
from farrier.series.calendar import TimeAxis
from farrier.series.scores import msis

Y = np.arange(40.0) % 4 + 0.1 * np.arange(40.0)


def test_origins_end_one_horizon_before_the_end():
    assert origins(40, 3, 5) == [25, 30, 35]


def test_by_default_the_first_origin_knows_half_of_the_rows():
    assert origins(144) == [102, 116, 130]
    assert origins(40, horizon=8) == [24, 32]
    assert origins(40, horizon=30) == [10]


@pytest.mark.parametrize(
    ("rows", "folds", "horizon", "words"),
    [
        (40, 0, 5, "folds: 0: give a whole number, 1 or more"),
        (40, 3, 0, "horizon: 0: give a whole number, 1 or more"),
        (40, None, 2.5, "horizon: 2.5: give a whole number, 1 or more"),
        (20, 3, 5, "20 rows leave 5 before the first origin, and 8 are needed: try a horizon of at most 4"),
        (9, 3, 1, "folds=3: 9 rows are too few: try fewer folds"),
    ],
)
def test_what_cannot_be_tested_is_refused(rows, folds, horizon, words):
    with pytest.raises(ValueError, match=words):
        origins(rows, folds, horizon)


def certain(median, half_80, half_95):
    """Quantiles that are all the median, except the ends of the intervals."""
    found = np.repeat(median[:, None], len(QUANTILES), axis=1)
    return found + np.array([0.0, -half_80, half_80, -half_95, half_95] + [0.0] * (len(QUANTILES) - 5))


def test_errors_and_coverage_are_those_of_each_step():
    seen = []

    def forecast(count, rows):
        seen.append(count)
        # right at the first step, one too high at the second; intervals of half a unit and of two units
        return certain(Y[rows] + np.array([0.0, 1.0]), 0.5, 2.0)

    past = backtest(Y, [32, 34, 36], 2, 4, forecast, None)
    found = past.figures(0)
    assert seen == [32, 34, 36]
    assert "auto_ets_error" not in found
    assert_allclose(found["error"], [0.0, 1.0])
    # a distribution of one value has its absolute error as CRPS
    assert_allclose(found["crps"], [0.0, 1.0], atol=1e-12)
    assert_allclose(found["inside_80"], [1.0, 0.0])
    assert_allclose(found["inside_95"], [1.0, 1.0])
    assert_allclose(found["last_season_error"], [0.4, 0.4])
    last = np.mean([[abs(Y[k] - Y[k - 1]), abs(Y[k + 1] - Y[k - 1])] for k in (32, 34, 36)], axis=0)
    assert_allclose(found["last_value_error"], last)
    assert_allclose(past.figures((0, 1))["error"], 0.5)
    assert_allclose(past.figures(1)["error"], [0.5, 0.5, 0.5])


def test_the_interval_score_is_that_of_the_competitions():
    wrong = Y + np.where(np.arange(40) % 3 == 0, 5.0, 0.0)
    past = backtest(Y, [30, 35], 5, 4, lambda count, rows: certain(wrong[rows], 0.5, 1.0), None)
    expected = [msis(Y[k : k + 5], wrong[k : k + 5] - 1, wrong[k : k + 5] + 1, Y[:k], 4) for k in (30, 35)]
    assert_allclose(past.figures(1)["msis_95"], expected, rtol=1e-12)


def test_a_peer_gets_the_known_values_and_the_season():
    seen = []

    def peer(known, season, horizon):
        seen.append((len(known), season, horizon))
        return np.zeros(horizon)

    past = backtest(Y, [30, 32], 2, 4, lambda count, rows: certain(Y[rows], 1.0, 2.0), peer)
    assert seen == [(30, 4, 2), (32, 4, 2)]
    assert_allclose(past.figures(0)["auto_ets_error"], np.abs([Y[[30, 32]].mean(), Y[[31, 33]].mean()]))


def test_without_a_season_its_error_is_missing():
    found = backtest(Y, [30], 2, None, lambda count, rows: certain(Y[rows], 1.0, 2.0), None).figures(0)
    assert np.isnan(found["last_season_error"]).all()
    assert np.isfinite(found["msis_95"]).all()


def test_rows_that_repeat_exactly_give_no_scaled_score():
    y = np.arange(40.0) % 4
    found = backtest(y, [30], 2, 4, lambda count, rows: certain(y[rows], 1.0, 2.0), None).figures(0)
    assert np.isnan(found["msis_95"]).all()
    assert_array_equal(found["last_season_error"], 0.0)


@pytest.mark.parametrize(
    ("stamps", "expected"),
    [
        (np.arange("2015-01", "2020-01", dtype="M8[M]"), (12, 1.0)),
        (np.arange("2020-01-01", "2020-03-01", dtype="M8[D]"), (7, 7.0)),
        (np.arange("2020-01-01", "2020-01-08", dtype="M8[h]"), (24, 1.0)),
        (np.busday_offset("2020-01-01", np.arange(60)), (5, 7.0)),
        (np.arange(30.0), (None, None)),
    ],
)
def test_the_season_is_the_shortest_of_the_calendar(stamps, expected):
    assert season_of(TimeAxis.of(stamps, "time"), None) == expected


def test_a_season_of_the_user_comes_first():
    assert season_of(TimeAxis.of(np.arange(0.0, 60.0, 2.0), "time"), [10.0, 30.0]) == (5, 10.0)
