"""The effect of an event is reported in total, whichever components share it."""

from datetime import date

import numpy as np
import pytest

from farrier import Regressor
from farrier.kernels.registry import AnyHoliday, Constant, DayOff, Holiday, Weekend

FIRST = (date(2024, 1, 1) - date(1970, 1, 1)).days
X = FIRST + np.arange(200.0)
OFF = (X + 3) % 7 >= 5
SALES = np.array([FIRST + day for day in (9, 31, 54, 80, 94, 131, 151, 172)])  # working days, one of them a Sunday
FEASTS = np.array([FIRST + day for day in (3, 66, 102, 144)])
Y = 500.0 + 30.0 * OFF + 100.0 * np.isin(X, SALES) + 20.0 * np.isin(X, FEASTS)
Y = Y + 2.0 * np.random.default_rng(0).standard_normal(200)
DAYS = np.sort(np.concatenate([SALES, FEASTS]))
NAMED = Holiday(holidays=DAYS, called=np.where(np.isin(DAYS, SALES), 1, 2), titles=("sale", "feast"))


def told(*kernels):
    model = Regressor(kernels=[*kernels, Constant()]).fit(X[:, None], Y)
    return {facts.formula: facts for facts in model.explain().findings.facts}, str(model.explain())


@pytest.mark.parametrize(
    "others", [[Weekend()], [DayOff(holidays=DAYS)], [DayOff(holidays=DAYS), AnyHoliday(holidays=DAYS)]]
)
def test_an_event_is_told_in_total_beside_days_off(others):
    """Days off are 30 higher: as one of them, a sale on a working day had 70 of its own."""
    facts, printed = told(NAMED, *others)
    levels = {level.name: level.value for level in facts["Holiday"].profile}
    for name, truth in (("sale", 100.0), ("feast", 20.0)):
        assert levels[name].low < truth < levels[name].high
        assert levels[name].value == pytest.approx(truth, abs=2.5)
        assert levels[name].high - levels[name].low < 8.0
    assert "igher weekends: +" in printed
    if len(others) == 2:
        (together,) = facts["Anyholiday"].profile
        assert together.value.value == pytest.approx((8 * 100.0 + 4 * 20.0) / 12, abs=2.5)


def test_days_off_alone_keep_their_holidays():
    facts, printed = told(DayOff(holidays=DAYS))
    assert [level.name for level in facts["Dayoff"].profile] == ["working days", "weekends and holidays"]
    assert "igher weekends and holidays: +" in printed


def test_an_event_without_an_ordinary_day_beside_it_is_told_as_it_is():
    """All rows are holidays: there is nothing to compare with."""
    days = X[:14]
    every = Holiday(holidays=days, called=1.0 + np.arange(14) % 2, titles=("odd", "even"))
    y = np.arange(14) % 2 + 0.01 * np.random.default_rng(1).standard_normal(14)
    model = Regressor(kernels=[every, DayOff(holidays=days)]).fit(days[:, None], y)
    (facts,) = [one for one in model.explain().findings.facts if one.formula == "Holiday"]
    assert [level.name for level in facts.profile] == ["odd", "even"]
