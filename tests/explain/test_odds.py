"""Laws of odds: no effect changes nothing, opposite effects are reciprocal, and words give factors."""

import math

import pytest

from farrier.explain.facts import Axis, Estimate
from farrier.explain.odds import LARGEST, along, odds, times

AGE = Axis("age", 20.0, 90.0)


def test_no_effect_leaves_even_odds_and_opposite_effects_are_reciprocal():
    assert odds(0.0) == pytest.approx(1.0)
    assert odds(0.8) * odds(-0.8) == pytest.approx(1.0)
    assert odds(1e9) == odds(LARGEST)


def test_the_odds_are_those_of_the_normal_distribution():
    assert odds(1.0) == pytest.approx(0.8413447 / 0.1586553, rel=1e-5)


def test_words_give_the_factor_and_its_interval():
    assert times(Estimate(0.5, 0.3, 0.7)) == "odds times 2.24 (1.62 to 3.13)"
    assert times(Estimate(-0.5, -0.7, -0.3), interval=False) == "odds times 0.45"


def test_a_line_is_told_for_a_step_that_matters():
    assert along(Estimate(0.02, 0.01, 0.03), AGE) == "every 10 units of age: odds times 1.38 (1.17 to 1.62)"
    assert along(Estimate(0.5, 0.4, 0.6), AGE).startswith("every unit of age: odds times 2.24")
    assert along(Estimate(math.ulp(0.0), 0.0, 0.0), AGE).startswith("every 100 units of age: odds times 1.00")
    assert along(Estimate(0.5, 0.4, 0.6), Axis("dose", 0.0, 9.0, unit="mg")).startswith("every mg: ")
