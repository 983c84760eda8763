"""Laws of a backtest as people read it: two lines with true numbers, words of the calendar, plots."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.explain.backtest import Backtest
from farrier.series.backtests import QUANTILES, backtest, season_of
from farrier.series.observed import Layout, Observed

Y = 10.0 + np.arange(36.0) % 12


def past_of(stamps, y=Y, known=(24, 30), horizon=6, again=False, peer=None):
    """A backtest whose median is 2 too high, with intervals of 1 and 3 on each side."""
    observed = Observed.of(Layout("month", "sold"), stamps, np.asarray(y))
    season, period = season_of(observed.axis, None)
    seen = observed.y[observed.present]

    def forecast(count, rows):
        ends = np.array([0.0, -1.0, 1.0, -3.0, 3.0] + [0.0] * (len(QUANTILES) - 5))
        return seen[rows][:, None] + 2.0 + ends

    return Backtest(observed, backtest(seen, list(known), horizon, season, forecast, peer), period, again)


MONTHS = np.arange("2018-01", "2021-01", dtype="M8[M]")


def test_two_lines_say_error_coverage_origins_and_structure():
    first, second = str(past_of(MONTHS)).splitlines()
    assert first == (
        "In 2 past forecasts of 6 months the error was 2.00 on average, against 0 for last year's value and 6.00 "
        "for the last value."
    )
    assert second == (
        "95 % intervals held 100 % of the values, 80 % intervals 0 %. The forecasts start after 2019-12 and 2020-06; "
        "the structure was found before the first one and kept. AutoETS is not compared: statsforecast is not "
        "installed."
    )


def test_one_forecast_and_a_peer_are_said():
    said = str(past_of(MONTHS, known=[30], peer=lambda past, season, horizon: np.full(horizon, past[-1])))
    assert "In one past forecast of 6 months" in said
    assert "for the last value and " in said
    assert "for AutoETS." in said
    assert "statsforecast" not in said
    assert "The forecast starts after 2020-06, with the structure found in the rows up to then." in said


def test_many_origins_are_said_by_their_ends():
    said = str(past_of(MONTHS, known=range(20, 35, 3), horizon=2, again=True))
    assert "after 5 dates from 2019-08 to 2020-08; the structure was searched again each time." in said


@pytest.mark.parametrize(
    ("stamps", "words"),
    [
        (np.arange("2020-01-01", "2020-02-06", dtype="M8[D]"), ("6 days", "last week's value")),
        (np.arange("2024-01-01T00:00", "2024-01-01T06:00", dtype="M8[10m]"), ("6 steps of ten minutes",)),
        (np.arange(36.0), ("6 values", "for the last value")),
        (np.arange("2018-01-01", "2018-01-02T12", dtype="M8[h]"), ("6 hours", "the last value")),
    ],
)
def test_steps_and_seasons_have_their_names(stamps, words):
    assert all(each in str(past_of(stamps)) for each in words)


def test_where_values_are_missing_steps_are_values():
    y = Y.copy()
    y[5] = np.nan
    found = past_of(MONTHS, y, known=[23, 29])
    assert "2 past forecasts of 6 values" in str(found)
    assert "after 2019-12 and 2020-06" in str(found)


def test_plots_show_the_forecasts_and_the_errors_by_step():
    found = past_of(MONTHS)
    top, below = found.plot()
    drawn = {line.get_label(): line.get_ydata() for line in below.get_lines()}
    assert list(drawn) == ["the forecast", "last year's value", "the last value"]
    for name, errors in found.errors.items():
        assert_allclose(drawn[name], errors)
    (forecast,) = (line for line in top.get_lines() if line.get_label() == "forecast")
    assert_allclose(forecast.get_ydata(), Y[24:30] + 2.0)
    top.figure.draw_without_rendering()
