"""Golden sentences of categories: which levels are high and low, by how much, and what holds for a new level."""

import pytest

from farrier.explain import report_figures, sentences
from farrier.explain.facts import Axis, Estimate, Level, Target
from tests.explain.components import component, factor, line, smooth

AXES = {
    "city": Axis("city", 0.0, 3.0, "category"),
    "lift": Axis("lift", 0.0, 1.0, "category"),
    "age missing": Axis("age missing", 0.0, 1.0, "category"),
    "size": Axis("size", 40.0, 150.0),
}
PRICE, SHARE = Target("price", "EUR"), Target("price", "EUR", "multiplicative")
CHURN = Target("churned = yes", scale="odds")


def level(name, value, width=30.0):
    return Level(name, Estimate(value, value - width, value + width))


CITIES = (level("Munich", 150.0), level("Rome", 10.0), level("Berlin", -50.0))
MANY = tuple(level(f"c{i}", 50.0 - 10.0 * i, 5.0) for i in range(9))
LIFT = (level("True", 6.0, 2.0), level("False", -6.0, 2.0))
EMPTY = Estimate(12.0, 3.0, 21.0)
SLOPES = (level("Munich", 2.0, 0.4), level("Berlin", -1.0, 0.4))


@pytest.mark.parametrize(
    ("facts", "target", "title", "said"),
    [
        (
            component(factor("category", "city"), profile=CITIES),
            PRICE,
            "The effect of city",
            "The effect of city: Munich +150 EUR (120 to 180), Rome +10.0 EUR (-20.0 to 40.0), Berlin -50.0 EUR "
            "(-80.0 to -20.0), beside the mean.",
        ),
        (
            component(factor("category", "city"), profile=MANY),
            PRICE,
            "The effect of city",
            "The effect of city: c0 +50.0 EUR (45.0 to 55.0), c1 +40.0 EUR (35.0 to 45.0), c7 -20.0 EUR (-25.0 to "
            "-15.0), c8 -30.0 EUR (-35.0 to -25.0), five others between them, beside the mean.",
        ),
        (
            component(factor("category", "lift"), profile=LIFT, contrast=Estimate(12.0, 5.0, 19.0)),
            PRICE,
            "The effect of lift",
            "The effect of lift: True +12.0 EUR (5.0 to 19.0) beside False.",
        ),
        (
            component(factor("category", "lift"), profile=LIFT, contrast=Estimate(0.12, 0.05, 0.19)),
            SHARE,
            "The effect of lift",
            "The effect of lift: True +12.0 % (5.0 to 19.0) beside False.",
        ),
        (
            component(factor("category", "lift"), profile=LIFT, contrast=Estimate(0.5, 0.3, 0.7)),
            CHURN,
            "The effect of lift",
            "The effect of lift: True odds times 2.24 (1.62 to 3.13) beside False.",
        ),
        (
            component(factor("category", "age missing"), profile=(Level("missing", EMPTY),), contrast=EMPTY),
            PRICE,
            "The effect of age missing",
            "The effect of age missing: +12.0 EUR (3.0 to 21.0) beside the mean of the rows that have it.",
        ),
        (
            component(factor("category", "city"), line(0.0, "size"), slopes=SLOPES),
            PRICE,
            "An effect of size that differs between the levels of city",
            "An effect of size that differs between the levels of city: a line for each, rising most for Munich (+2.00 "
            "EUR (1.60 to 2.40) a unit of size) and least for Berlin (-1.00 EUR (-1.40 to -0.60) a unit of size), "
            "beside the mean slope.",
        ),
        (
            component(factor("category", "city"), smooth(20.0, "size")),
            PRICE,
            "An effect of size that differs between the levels of city",
            "An effect of size that differs between the levels of city: for each level a curve of its own, smooth in "
            "size over about 20.0 units of size (16.0 to 25.0).",
        ),
        (
            component(factor("category", "city"), factor("category", "lift")),
            PRICE,
            "An interaction of city and lift",
            "An interaction of city and lift: one effect for each combination of levels.",
        ),
    ],
)
def test_sentences(facts, target, title, said):
    assert sentences.title(facts, AXES, target) == title
    assert sentences.sentence(facts, AXES, target) == said


def test_a_level_that_was_never_seen_counts_as_the_mean():
    facts = component(factor("category", "city"), profile=CITIES)
    assert sentences.future(facts, AXES, PRICE) == (
        "For a level of city that is not among the rows it adds the mean, with a wide interval."
    )
    empty = component(factor("category", "age missing"), profile=(Level("missing", EMPTY),), contrast=EMPTY)
    assert sentences.future(empty, AXES, PRICE) == "It is the same wherever the cell is empty."


def test_a_line_on_a_chance_is_told_as_odds():
    facts = component(line(0.0, "size"), slope=Estimate(0.02, 0.01, 0.03), monotone="rising")
    assert sentences.sentence(facts, AXES, CHURN) == (
        "The effect of size alone: a line, every 10 units of size: odds times 1.38 (1.17 to 1.62)."
    )


def test_the_bars_of_the_report_show_odds():
    part = {"profile": [{"name": "yes", "value": 0.5, "low": 0.3, "high": 0.7}]}
    assert "odds times 2.24 (1.62 to 3.13)" in report_figures.profile({"target": {"scale": "odds"}}, part)
