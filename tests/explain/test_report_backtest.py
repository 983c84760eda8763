"""The section about past forecasts: sentences, pictures, a table by step ahead that opens on demand if it is long."""

import pytest

from farrier.explain.report import html, plain
from farrier.explain.report_backtest import TITLE, section
from tests.explain import stories
from tests.explain.test_backtest import MONTHS, past_of


def test_without_a_backtest_there_is_no_section():
    assert section({"backtest": None}) == ""
    assert TITLE not in html(stories.series() | {"backtest": None})


@pytest.mark.parametrize(("known", "horizon", "folded"), [([24, 30], 6, 0), ([20], 14, 1)])
def test_every_step_has_a_row_and_there_is_one_for_all(known, horizon, folded):
    past = plain(past_of(MONTHS, known=known, horizon=horizon).to_dict(), "backtest")
    page = section(stories.series() | {"backtest": past})
    assert page.count("<tr>") == 1 + horizon + 1 + folded
    assert page.count("<details") == folded
    assert 'data-chart="past"' in page
    assert 'data-chart="bystep"' in page
    assert "Months ahead" in page
    assert "2.00" in page
