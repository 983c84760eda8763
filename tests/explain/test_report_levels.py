"""Laws of the bars of levels: each has its name and interval, the farthest fills its side, many are folded."""

from farrier.explain.report_levels import SHOWN, bars

STORY = {"target": {"name": "price", "unit": "EUR", "scale": "additive"}}


def level(name, value):
    return {"name": name, "value": value, "low": value - 1.0, "high": value + 1.0}


def test_each_level_has_its_bar_and_its_interval():
    page = bars(STORY, {"profile": [level("Munich", 10.0), level("<b>", -5.0)]})
    assert '<th scope="row">Munich</th>' in page
    assert 'class="above" style="left: 50.0%; width: 50.0%"' in page
    assert 'class="below" style="left: 25.0%; width: 25.0%"' in page
    # the interval stays on one line
    assert "+10.0 EUR (9.0\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}11.0)" in page
    assert "&lt;b&gt;" in page


def test_of_many_levels_the_ends_are_drawn_and_all_are_listed():
    page = bars(STORY, {"profile": [level(f"c{i}", 50.0 - i) for i in range(100)]})
    assert page.count('<th scope="row">') == SHOWN
    assert "All 100 levels" in page
    assert "c50" in page


def test_without_levels_there_is_nothing():
    assert bars(STORY, {"profile": []}) == ""
    assert bars(STORY, {}) == ""
