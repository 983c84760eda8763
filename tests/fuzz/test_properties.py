"""Laws of the estimators for all inputs that hypothesis can think of: a right result, or one clear line."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from farrier import Forecaster, Regressor
from farrier.cli.screen import LONGEST, shortened
from farrier.datasets import choose_columns, read_table
from farrier.fleet.csv_text import FORMULA, as_csv
from farrier.series.calendar import TimeAxis
from tests.fuzz.outcomes import judged

FEW = settings(max_examples=15, deadline=None, derandomize=True)
"""For fits, which take about a tenth of a second."""
MANY = settings(max_examples=60, deadline=None, derandomize=True)
"""For everything else."""

FLOATS = st.floats(allow_nan=True, allow_infinity=True, width=64)
COLUMNS = arrays.arrays(np.float64, st.integers(0, 24), elements=FLOATS)
ORDINARY = st.floats(-1e6, 1e6)


def one_of(call):
    """The outcome of a call; anything but a result or a clear line fails."""
    outcome, about = judged(call)
    assert outcome in ("result", "refused"), about
    return outcome


@FEW
@given(COLUMNS, st.floats(-300, 300).map(lambda power: 10.0**power))
def test_any_float_as_target_gives_finite_predictions_or_a_line(y, unit):
    X = np.arange(float(len(y)))[:, None]

    def call():
        with np.errstate(all="ignore"):
            scaled = y * unit
        mean, std = Regressor().fit(X, scaled).predict(X, return_std=True)
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all()

    one_of(call)


@FEW
@given(COLUMNS)
def test_any_float_as_time_gives_finite_forecasts_or_a_line(times):
    y = np.sin(np.arange(float(len(times))))

    def call():
        found = Forecaster().fit(times, y).forecast(2)
        assert all(np.isfinite(found[name]).all() for name in ("mean", "low_95", "high_95"))

    one_of(call)


@settings(FEW, max_examples=6)
@given(st.lists(ORDINARY, min_size=8, max_size=20, unique=True), st.integers(-40, 40).map(lambda power: 10.0**power))
def test_the_unit_of_the_target_is_a_unit(y, unit):
    X, y = np.arange(float(len(y)))[:, None], np.array(y)
    here, there = (Regressor(scale="identity").fit(X, y * factor).predict(X) / factor for factor in (1.0, unit))
    # the number of draws of each model follows its share, whose last digits are those of rounding
    np.testing.assert_allclose(here, there, atol=0.02 * float(np.std(y)))


@MANY
@given(
    st.datetimes(),
    st.sampled_from(["D", "MS", "ME", "QS", "YS", "B", "h", "7min", "W", "13D"]),
    st.integers(1, 30),
    st.integers(0, 400),
)
def test_the_future_continues_the_calendar_or_ends_with_it(start, frequency, count, horizon):
    try:
        stamps = pd.date_range(start, periods=count, freq=frequency, unit="us")
    except (pd.errors.OutOfBoundsDatetime, OverflowError, ValueError):
        return

    def call():
        after = TimeAxis.of(stamps, "t").future(horizon).stamps
        assert len(after) == horizon
        assert after.is_monotonic_increasing
        assert after.is_unique
        assert not horizon or after[0] > stamps[-1]

    one_of(call)


@MANY
@given(st.lists(st.floats(-1e12, 1e12), min_size=2, max_size=30, unique=True))
def test_labels_tell_times_apart(times):
    axis = TimeAxis.of(np.array(times), "t")
    assert len(set(axis.labels())) == len(times)


@MANY
@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
@pytest.mark.filterwarnings("ignore")
def test_any_bytes_are_a_table_or_a_line(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(data)
    one_of(lambda: choose_columns(read_table(path)))


@MANY
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)), st.booleans())
def test_a_written_forecast_holds_the_same_floats(values, escape):
    _, *rows = csv.reader(io.StringIO(as_csv({"mean": values}, escape=escape)))
    assert [float(row[0]) for row in rows] == values


@MANY
@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1))
def test_escaped_text_is_no_formula_and_keeps_its_characters(texts):
    _, *rows = csv.reader(io.StringIO(as_csv({"id": texts}, escape=True), newline=""))
    for (cell,), text in zip(rows, texts, strict=True):
        assert not cell.startswith(FORMULA)
        assert cell.removeprefix("'" if text.startswith(FORMULA) else "") == text


@MANY
@given(st.text(max_size=3000))
def test_shortened_lines_are_one_line_of_short_words(text):
    line = shortened(text)
    assert len(line.splitlines()) <= 1
    assert max(map(len, line.split()), default=0) <= LONGEST + 10
