"""Growth that ends, breaks of the slope and shocks that heal in words: golden sentences, and the truth beside them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from farrier import Forecaster
from farrier.explain import course_words, sentences
from farrier.explain.facts import Axis, Estimate, Factor, Facts, Target
from tests.search.test_series_changes import COURSES, NOISE, ROWS, Bend, Saturating, Shock

AXIS = Axis("month", 2012.0, 2022.0, "years", spacing=1 / 12, timed=True)
DAYS = Axis("day", 19000.0, 19300.0, "days", spacing=1.0, timed=True)
WEEKS = replace(DAYS, spacing=7.0)
TARGET = Target("sales")
NOTHING = Estimate(1.0, 1.0, 1.0)
PLAIN = Facts("", (), 0.9, 0.9, 1.0, NOTHING, None, None, None, monotone="rising")


def say(facts, axis=AXIS, target=TARGET):
    """The title, the sentence and the future of a component."""
    axes = {axis.name: axis}
    return [words(facts, axes, target) for words in (sentences.title, sentences.sentence, sentences.future)]


def test_growth_that_slows():
    factor = Factor("saturating", ("month",))
    facts = replace(PLAIN, factors=(factor,), level=Estimate(49012.0, 46031.0, 55020.0), slows=True)
    title, sentence, future = say(facts)
    assert title == "Growth that slows"
    assert sentence.startswith("Growth that slows: it levels off near 49,000 (46,000 to 55,000).")
    assert future == "Beyond the data it goes on, ever more slowly."
    assert course_words.levels_off(facts) == "Growth slows; it levels off near 49,000 (46,000 to 55,000)."
    wide = replace(facts, open_level=True)
    assert "the rows leave open where it levels off" in say(wide)[1]
    assert course_words.levels_off(wide) == ""
    assert say(replace(facts, slows=False))[0] == "Growth that will end"
    assert say(replace(facts, monotone="falling"))[0] == "A decline that slows"


def test_a_break_of_the_slope():
    factor = Factor("bend", ("day",), location=Estimate(19100.0, 19098.0, 19103.0))
    slopes = Estimate(0.8, 0.7, 0.9), Estimate(-2.0, -2.2, -1.8)
    facts = replace(PLAIN, factors=(factor,), slopes_around=slopes)
    title, sentence, future = say(facts, DAYS)
    assert title == "A break of the slope on 18 April 2022"
    assert sentence.startswith("A break of the slope on 18 April 2022 (16 to 21 April 2022): since then it falls by ")
    assert "a month (" in sentence
    assert "before that it rose by" in sentence
    assert future == "The new slope goes on beyond the data."
    level = replace(facts, slopes_around=(Estimate(0.01, -0.1, 0.1), slopes[1]))
    assert "before that it was about level" in say(level, DAYS)[1]
    same = replace(facts, slopes_around=(Estimate(1e-9, 1e-9, 1e-9), slopes[1]))
    assert "before that it was about level" in say(same, DAYS)[1]


def test_a_line_beside_a_break_is_the_one_before_it():
    facts = replace(PLAIN, factors=(Factor("linear", ("day",)),), slope=Estimate(1.0, 0.9, 1.1), bent=True)
    title, sentence, future = say(facts, DAYS)
    assert title == "A linear rise before the slope breaks"
    assert "before the slope breaks" in sentence
    assert future == "Beyond the data it goes on as the break of the slope has changed it."


def test_a_shock_that_heals():
    place, length = Estimate(19100.0, 19100.0, 19100.0), Estimate(181.8, 150.0, 220.0)
    factor = Factor("shock", ("day",), location=place, lengthscale=length)
    facts = replace(PLAIN, factors=(factor,), jump=Estimate(-600.0, -650.0, -550.0))
    title, sentence, future = say(facts, WEEKS)
    assert title == "A shock in the week of 18 April 2022 that heals"
    assert ": it fell by 600 (550 to 650), and half of that was recovered within" in sentence
    assert future == "What is left of it fades beyond the data."
    up = say(replace(facts, jump=Estimate(0.12, 0.1, 0.14)), DAYS, replace(TARGET, scale="multiplicative"))[1]
    assert "it rose by 12.0 % (10.0 to 14.0), and half of that was lost again within" in up


def test_a_product_of_a_change_has_no_words():
    factors = (Factor("bend", ("day",)), Factor("smooth", ("day",)))
    assert "no wording yet" in say(replace(PLAIN, factors=factors, formula="Bend * SE"), DAYS)[1]


@pytest.fixture(scope="module")
def told():
    """The facts and the changepoints of a monthly series of each kind."""
    found = {}
    for family in (Saturating, Bend, Shock):
        y = COURSES[family] + NOISE
        model = Forecaster().fit(pd.Series(y, pd.date_range("2012-01-01", periods=ROWS, freq="MS"), name="sales"))
        found[family] = model, model.explain().findings.facts, model.changepoints_
    return found


def test_the_level_of_growth_holds_the_truth(told):
    model, (facts, *_), changes = told[Saturating]
    assert facts.slows
    assert facts.level.low < 100.0 < facts.level.high
    said = model.explain().to_dict(horizon=12)["expect"]
    assert any(one.startswith("Growth slows; it levels off near") for one in said)
    assert len(changes) == 0


def test_slopes_around_a_break_hold_the_truth(told):
    _, facts, changes = told[Bend]
    (before, after) = next(one.slopes_around for one in facts if one.slopes_around)
    assert before.low < 1.2 < before.high
    assert after.low < -4.8 < after.high
    (row,) = changes.to_dict("records")
    assert row["kind"] == "slope"
    assert row["low"] <= pd.Timestamp("2017-11-01") <= row["high"]
    assert row["after"] == pytest.approx(-0.4, abs=0.05)
    assert np.isnan(row["change"])


def test_size_and_half_life_of_a_shock_hold_the_truth(told):
    _, facts, changes = told[Shock]
    one = next(one for one in facts if one.factors[0].kind == "shock")
    assert one.jump.low < -14.0 < one.jump.high
    (row,) = changes.to_dict("records")
    assert (row["kind"], changes.index[0]) == ("shock", pd.Timestamp("2016-03-01"))
    assert row["half"] == pytest.approx(10.0, abs=2.0)
    assert row["change"] == pytest.approx(-14.0, abs=2.0)
