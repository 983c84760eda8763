"""Laws of the changes of a series: each kind enters where it is, none where it is not, and one row is no shock."""

import numpy as np
import pandas as pd
import pytest

from farrier import Forecaster
from farrier.kernels.registry import Bend, Saturating, Shock, Step
from farrier.search.series_changes import BARS, MOST, is_change

ROWS = 120
T = np.arange(ROWS, dtype=float)
NOISE = np.random.default_rng(7).normal(0.0, 1.0, ROWS)


def fit(y):
    """The kernels that predict a monthly series."""
    model = Forecaster().fit(pd.Series(y, pd.date_range("2012-01-01", periods=len(y), freq="MS")))
    return model, [k.products()[0][0] for k in model.result_.fitted.kernels if is_change(k)]


COURSES = {
    Saturating: 100.0 / (1.0 + np.exp(-(T - 70.0) / 14.0)),
    Bend: 100.0 + 0.1 * T - 0.5 * np.maximum(T - 69.5, 0.0),
    Shock: 100.0 - np.where(T >= 50, 14.0 * 0.5 ** ((T - 50.0) / 10.0), 0.0),
    Step: 100.0 + np.where(T >= 40, 8.0, 0.0),
}


@pytest.mark.parametrize("family", COURSES, ids=lambda family: family.__name__)
def test_a_change_is_found_as_what_it_is(family):
    assert set(COURSES) == set(BARS)
    _, found = fit(COURSES[family] + NOISE)
    assert [type(one) for one in found] == [family]


@pytest.mark.parametrize("family", COURSES, ids=lambda family: family.__name__)
def test_a_change_is_found_in_other_units(family):
    y = COURSES[family] + NOISE
    (one,), (other,) = fit(y)[1], fit(-1e4 * y + 3e5)[1]
    assert type(one) is type(other)
    for name, value in one.parameters().items():
        assert getattr(other, name) == pytest.approx(value, abs=1e-3), name


@pytest.mark.parametrize(
    "y",
    [
        np.cumsum(NOISE + 0.2),
        0.3 * T + NOISE,
        5.0 * np.sin(2.0 * np.pi * T / 12.0) + NOISE,
        100.0 + NOISE,
    ],
    ids=["walk", "line", "season", "noise"],
)
def test_nothing_is_found_where_nothing_changes(y):
    assert fit(y)[1] == []


@pytest.mark.parametrize("place", [20, 60, 119])
def test_one_row_is_no_change(place):
    y = 100.0 + NOISE
    y[place] += 25.0
    assert fit(y)[1] == []


def test_two_rows_far_off_are_no_change_either_where_they_lie_apart():
    y = 100.0 + NOISE
    y[[30, 31]] += 20.0
    y[[80]] -= 20.0
    assert not any(isinstance(one, Saturating | Bend) for one in fit(y)[1])


def test_a_break_and_a_shock_are_found_together():
    _, found = fit(COURSES[Bend] + 3.0 * COURSES[Shock] + NOISE)
    assert {type(one) for one in found} == {Bend, Shock}
    assert len(found) <= MOST


def test_a_forecast_starts_from_what_holds_now():
    # the line before the break goes the other way
    model, _ = fit(COURSES[Bend] + NOISE)
    ahead = model.forecast(12)
    expected = 100.0 + 0.1 * (ROWS + np.arange(12)) - 0.5 * (ROWS + np.arange(12) - 69.5)
    assert np.abs(ahead["mean"] - expected).max() < 2.0


def test_growth_that_ends_has_a_wider_forecast_the_less_of_it_is_seen():
    widths = []
    for seen in (70, 110):
        model, found = fit((COURSES[Saturating] + 0.5 * NOISE)[:seen])
        assert any(isinstance(one, Saturating) for one in found)
        far = model.forecast(60).iloc[-1]
        assert far["low_95"] < 100.0 / (1.0 + np.exp(-(seen + 59.0 - 70.0) / 14.0)) < far["high_95"]
        widths.append(far["high_80"] - far["low_80"])
    assert widths == sorted(widths, reverse=True)


def test_an_update_keeps_the_change():
    y = COURSES[Bend] + NOISE
    index = pd.date_range("2012-01-01", periods=ROWS, freq="MS")
    model = Forecaster().fit(pd.Series(y[:-3], index[:-3]))
    model.update(pd.Series(y[-3:], index[-3:]))
    assert any(isinstance(k.products()[0][0], Bend) for k in model.result_.fitted.kernels)


def test_a_shock_is_found_beside_a_level_that_wanders():
    level = np.cumsum(np.random.default_rng(2).normal(0.0, 1.0, ROWS))
    shock = np.where(T >= 50, 20.0 * 0.5 ** ((T - 50.0) / 8.0), 0.0)
    assert fit(100.0 + level + 0.5 * NOISE)[1] == []
    _, found = fit(100.0 + level - shock + 0.5 * NOISE)
    assert [type(one) for one in found] == [Shock]


def test_growth_is_not_judged_by_a_part_of_the_rows():
    # the last rows alone look like growth that ends; those before them have another level
    t = np.arange(600.0)
    y = np.where(t < 300, 100.0 + 30.0 * np.sin(t / 40.0), 100.0 + 80.0 / (1.0 + np.exp(-(t - 420.0) / 40.0)))
    y = y + np.random.default_rng(4).normal(0.0, 1.0, 600)
    model = Forecaster().fit(pd.Series(y, pd.date_range("2020-01-01", periods=600)))
    kernels = [k.products()[0][0] for k in model.result_.fitted.kernels]
    assert not any(isinstance(one, Saturating | Bend) for one in kernels)
