"""The simple methods of `farrier compare` are what they say, and finished methods survive Ctrl-C."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.cli import compare, rivals

X = np.arange(48.0)[:, None]
SEASON = np.tile([1.0, 5.0, 2.0, 0.0], 12)


def test_the_last_value_and_the_last_season_are_repeated():
    ahead = X[:6] + 48.0
    last, spread = rivals.predict("last-value", X, SEASON, ahead, [4.0], 0)
    season, _ = rivals.predict("last-season", X, SEASON, ahead, [4.0], 0)
    assert_allclose(last, 0.0)
    assert_allclose(spread[3], 2.0 * spread[0])
    assert_allclose(season, [1.0, 5.0, 2.0, 0.0, 1.0, 5.0])


def test_a_season_must_come_twice():
    assert rivals.season_of(X[:, 0], [4.0, 12.0, 365.0]) == 12
    assert rivals.season_of(X[:, 0], []) == 1


def test_boosting_learns_a_table():
    inputs = np.random.default_rng(0).uniform(-1.0, 1.0, (200, 2))
    mean, sd = rivals.predict("boosting", inputs, inputs[:, 0], inputs[:20], [], 0)
    assert np.abs(mean - inputs[:20, 0]).mean() < 0.1
    assert 0.0 < sd[0] < 0.3


def test_methods_of_libraries_that_are_not_there_are_left_out(monkeypatch):
    monkeypatch.setattr(rivals.importlib.util, "find_spec", lambda name: None)
    assert rivals.available("series") == ["last-value", "last-season"]
    assert rivals.available("table") == ["boosting"]


def test_prophet_gets_the_dates_of_the_times():
    months = 2020.0 + (np.arange(14) + 0.5) / 12.0
    assert rivals.dates_of(months, "years").astype("M8[D]").tolist() == [
        *(np.datetime64("2020-01") + np.arange(14)).astype("M8[D]").tolist()
    ]
    hours = np.arange(5) / 24.0
    assert_array_equal(rivals.dates_of(hours, "days"), np.datetime64("1970-01-01T00") + np.arange(5))
    with pytest.raises(ValueError, match=r"prophet needs dates"):
        rivals.dates_of(hours, "number")


@pytest.mark.parametrize("name", [*rivals.STATSFORECAST, "prophet"])
def test_methods_of_other_libraries_follow_a_season_with_intervals(name):
    pytest.importorskip("prophet" if name == "prophet" else "statsforecast")
    months = (2015.0 + (np.arange(60) + 0.5) / 12.0)[:, None]
    y = 100.0 + 20.0 * np.sin(2.0 * np.pi * np.arange(60) / 12.0) + np.random.default_rng(0).normal(size=60)
    mean, sd = rivals.predict(name, months[:48], y[:48], months[48:], [1.0], 0, "years")
    assert np.abs(mean - y[48:]).mean() < 5.0
    assert np.all((sd > 0.3) & (sd < 20.0))


def test_origins_roll_and_the_first_knows_half_of_the_rows():
    splits = compare.rolling(40, 0.1, 3)
    assert [(len(train), test[0], test[-1]) for train, test in splits] == [(28, 28, 31), (32, 32, 35), (36, 36, 39)]
    assert len(compare.rolling(10, 0.4, 3)) == 1


def test_origins_are_pooled_and_one_failure_is_one_of_all():
    good, bad = compare.Outcome("a", 1.0, rmse=3.0, coverage=1.0), compare.Outcome("a", 2.0, failure="no")
    both = compare.pooled([good, compare.Outcome("a", 1.0, rmse=4.0, coverage=0.5)])
    assert both.rmse == pytest.approx(np.sqrt(12.5))
    assert (both.coverage, both.seconds) == (0.75, 2.0)
    assert compare.pooled([good, bad]).failure == "no"


def test_finished_methods_are_printed_after_ctrl_c(monkeypatch, capsys):
    from farrier.cli.source import Reading, open_source

    def run(name, *rest):
        if name != "farrier":
            raise KeyboardInterrupt
        return compare.Outcome(name, 1.0, rmse=12.3, log_likelihood=-4.0, coverage=0.9)

    monkeypatch.setattr(compare, "run_apart", run)
    source = open_source("airline", Reading(), quiet=True)
    with pytest.raises(KeyboardInterrupt):
        compare.compare(source, [], 0.1, 60.0, 0, origins=2, quiet=True)
    said = capsys.readouterr().out
    assert "farrier" in said
    assert "12.3" in said
    assert "from 2 origins" in said
