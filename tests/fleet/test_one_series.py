"""One series: errors are outcomes that name the row, and the structure holds what matters."""

import numpy as np
import pytest

from farrier.fleet.one_series import Job, Plan, forecast_series
from tests.fleet.series import months, values

PLAN = Plan.of(time="month", target="sales", horizon=2, levels=(80, 95), settings={})


def test_the_columns_are_those_of_the_plan():
    found = forecast_series(Job("a", months(), values("a")), PLAN)
    assert tuple(found.columns) == PLAN.columns == ("mean", "median", "low_80", "high_80", "low_95", "high_95")
    assert all(len(column) == 2 for column in found.columns.values())
    assert found.seconds > 0


def test_an_error_names_the_row():
    cells = [*values("a")[:15], "n/a?"]
    found = forecast_series(Job("a", months(), cells, [f"line {i}" for i in range(2, 18)]), PLAN)
    assert found.error == (
        "column 'sales', line 17: 'n/a?' is not a number such as 1234.5: correct it, or choose another column"
    )
    assert not found.columns


@pytest.mark.parametrize("name", [None, float("nan")])
def test_rows_without_a_name_are_no_series(name):
    assert "fill in the id" in forecast_series(Job(name, months(), values("a")), PLAN).error


def test_an_unexpected_exception_is_an_outcome_too():
    found = forecast_series(Job("a", object(), np.ones(4)), PLAN)
    assert found.error.startswith("TypeError: ")
