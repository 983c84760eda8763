"""Words about counts: how often they are above zero, how large they then are, and what a forecast expects."""

import numpy as np
import pandas as pd
import pytest

import farrier


def weekly(y):
    return pd.Series(np.asarray(y, float), pd.date_range("2020-01-05", periods=len(y), freq="W"), name="sold")


@pytest.fixture(scope="module")
def seldom():
    y = np.zeros(150)
    y[np.random.default_rng(0).choice(150, 30, replace=False)] = np.tile([3.0, 5.0, 5.0, 6.0, 6.0], 6)
    return farrier.Forecaster().fit(weekly(y))


def test_spare_parts_are_told_as_one_week_of_five(seldom):
    said = " ".join(str(seldom.explain()).split())
    assert "look like counts of a constant rate" in said
    assert "Sold is above zero in about one week of five (20 %), and then about 5.0" in said
    assert "80 % of these lie between 3 and 6" in said
    assert "Forecasts do not go below 0" not in said
    assert "noise" not in said


def test_a_report_expects_an_average_and_zeros(seldom, tmp_path):
    said = " ".join(seldom.explain().to_dict()["expect"])
    assert said.startswith(("Expect sold of 0.9", "Expect sold of 1"))
    assert "on average over the next 25 weeks" in said
    assert "Zero is the likeliest value of every week." in said
    assert "95 of 100 values should lie between 0 and " in said
    assert seldom.report(tmp_path / "spare.html").is_file()


def test_what_is_always_the_same_has_no_interval():
    y = (np.random.default_rng(1).random(120) < 0.15) * 10.0
    said = " ".join(str(farrier.Forecaster().fit(weekly(y)).explain()).split())
    assert ", and then always 10." in said


def test_counts_with_zeros_say_how_many():
    y = np.random.default_rng(2).poisson(0.9, 120)
    said = " ".join(str(farrier.Forecaster().fit(weekly(y)).explain()).split())
    assert f"Sold is {y.mean():.2g} a week on average, and zero in {100 * np.mean(y == 0):.0f} % of the weeks." in said


def test_a_rate_that_has_fallen_says_what_it_is_now():
    y = np.append(np.random.default_rng(3).poisson(2.0, 100), np.zeros(30))
    model = farrier.Forecaster(likelihood="poisson").fit(weekly(y))
    said = " ".join(str(model.explain()).split())
    assert f"Sold is {y.mean():.2g} a week on average (0 over the last 16)" in said
