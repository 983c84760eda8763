"""Laws of the step that a user chooses: irregular times go on with it; other times refuse it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier import Forecaster
from farrier.series.calendar import TimeAxis

DATES = np.array(["2024-01-01", "2024-01-02", "2024-01-05", "2024-01-31"], "M8[D]")
AXIS = TimeAxis.of(DATES, "day")


@pytest.mark.parametrize(
    ("step", "then"),
    [
        ("day", ["2024-02-01", "2024-02-02"]),
        ("2 weeks", ["2024-02-14", "2024-02-28"]),
        ("36 h", ["2024-02-01", "2024-02-03"]),
        ("month", ["2024-02-29", "2024-03-31"]),
        ("quarter", ["2024-04-30", "2024-07-31"]),
        ("2 years", ["2026-01-31", "2028-01-31"]),
    ],
)
def test_irregular_times_go_on_with_the_chosen_step(step, then):
    assert AXIS.frequency == "irregular"
    assert_array_equal(AXIS.stepped(step).future(2).stamps, np.array(then, "M8[D]"))


def test_plain_numbers_take_a_number():
    axis = TimeAxis.of(np.array([0.0, 1.0, 1.3, 9.0]), "x").stepped(0.5)
    assert_allclose(axis.future(2).numbers, [9.5, 10.0])


@pytest.mark.parametrize("step", ["fortnight", "0 days", "", "-1 day", 3.0])
def test_what_is_no_step_is_refused(step):
    with pytest.raises(ValueError, match=r"step=.*: it is not a step"):
        AXIS.stepped(step)


def test_times_on_a_grid_refuse_a_step():
    with pytest.raises(ValueError, match=r"step='week': the times of 'day' are daily: leave it out"):
        TimeAxis.of(np.arange("2024-01-01", "2024-02-01", dtype="M8[D]"), "day").stepped("week")


def test_a_forecaster_keeps_the_step_when_rows_are_added():
    times = np.array([0.0, 1.0, 1.5, 4.0, 5.0, 7.5])
    forecaster = Forecaster(kernels=["Lin"], step=2.0).fit(times, times)
    assert_allclose(forecaster.forecast(2)["time"], [9.5, 11.5])
    assert "step=2.0" in forecaster.result_.recipe.code
    assert_allclose(forecaster.update([9.0], [9.0]).forecast(2)["time"], [11.0, 13.0])
