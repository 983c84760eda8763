"""The made series of the suite follow the calendar that they name, and the true model is hard to beat."""

import numpy as np
import pytest
from benchmarks.calendar_suite import KINDS, true_forecast


@pytest.mark.parametrize("kind", KINDS)
def test_the_true_model_knows_the_series_without_noise(kind):
    made = KINDS[kind](np.random.default_rng(0))
    y = 50.0 + made.columns @ made.effects
    seen = np.setdiff1d(np.arange(len(y) - made.horizon), made.missing)
    np.testing.assert_allclose(true_forecast(made, y, seen), y[-made.horizon :], rtol=1e-9)


def test_events_lie_in_the_past_and_ahead():
    for kind in ("month ends", "holidays", "promotion"):
        made = KINDS[kind](np.random.default_rng(0))
        event = made.columns[:, -1].astype(bool)
        assert event[: -made.horizon].sum() > 2
        assert event[-made.horizon :].sum() > 1


def test_month_ends_are_those_of_the_calendar():
    made = KINDS["month ends"](np.random.default_rng(0))
    last = {str(day.date()) for day in made.index[made.columns[:, -1].astype(bool)]}
    assert {"2023-01-31", "2023-04-28", "2024-02-29"} <= last
