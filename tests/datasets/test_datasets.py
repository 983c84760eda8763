"""The bundled series are what they say they are."""

import dataclasses
from datetime import datetime

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier import datasets


@pytest.fixture(params=datasets.names())
def bundled(request):
    return datasets.load(request.param)


def test_names_are_airline_and_co2():
    assert datasets.names() == ("airline", "co2")


def test_every_series_has_matching_shapes_and_says_what_it_is(bundled):
    N = len(bundled.labels)
    assert bundled.X.shape == (N, 1)
    assert bundled.y.shape == (N,)
    assert bundled.X.dtype == bundled.y.dtype == np.float64
    assert_array_equal(bundled.X[:, 0], bundled.time)
    assert np.all(np.isfinite(bundled.y))
    for text in (bundled.title, bundled.unit, bundled.origin, bundled.time_name, bundled.target_name):
        assert text


def test_times_increase_strictly(bundled):
    assert np.all(np.diff(bundled.time) > 0)


def test_time_is_the_middle_of_the_labelled_month(bundled):
    months = [datetime.strptime(label, "%Y-%m") for label in bundled.labels]
    assert_allclose(bundled.time, [month.year + (month.month - 0.5) / 12 for month in months], rtol=1e-15)


def test_airline_is_twelve_years_of_months():
    air = datasets.load("airline")
    assert len(air.y) == 144
    assert (air.labels[0], air.labels[-1]) == ("1949-01", "1960-12")
    assert (air.y[0], air.y[-1]) == (112.0, 432.0)
    assert (air.time_name, air.target_name, air.unit) == ("month", "passengers", "thousand passengers")
    assert_allclose(np.diff(air.time), 1 / 12, rtol=1e-9)


def test_airline_adds_up():
    # checksum over the whole series, so that no cell can be lost or changed
    assert datasets.load("airline").y.sum() == 40363.0


def test_co2_leaves_out_the_months_without_a_measurement():
    co2 = datasets.load("co2")
    every = {f"{year}-{month:02d}" for year in range(1958, 2002) for month in range(1, 13)}
    missing = every - set(co2.labels) - {"1958-01", "1958-02"}
    assert missing == {"1958-06", "1958-10", "1964-02", "1964-03", "1964-04"}
    assert (co2.labels[0], co2.labels[-1]) == ("1958-03", "2001-12")


def test_co2_rises_through_the_known_range():
    co2 = datasets.load("co2")
    assert co2.unit == "ppm"
    assert 310 < co2.y.min() < 316
    assert 370 < co2.y.max() < 375
    slope = np.polyfit(co2.time, co2.y, 1)[0]
    assert 1.2 < slope < 1.5  # ppm a year


def test_a_dataset_cannot_be_changed_by_assignment():
    with pytest.raises(dataclasses.FrozenInstanceError):
        datasets.load("airline").unit = "people"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", ["airlin", "Airline", "airlines"])
def test_an_unknown_name_is_answered_with_the_known_and_the_nearest(name):
    with pytest.raises(ValueError) as caught:
        datasets.load(name)
    assert str(caught.value) == (
        f"name: no bundled dataset is called '{name}', only airline, co2: did you mean 'airline'?"
    )


def test_a_name_like_no_other_is_answered_without_a_guess():
    with pytest.raises(ValueError, match=r"^name: no bundled dataset is called 'wheat', only airline, co2$"):
        datasets.load("wheat")
