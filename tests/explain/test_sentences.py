"""One golden sentence for every row of the grammar, and laws that every sentence obeys."""

import itertools
import math
import random

import pytest

from farrier.explain import sentences
from farrier.explain.facts import Axis, Estimate, Factor, Facts, Target

MONTH = Axis("month", 1949.04, 1960.96, "years", spacing=1 / 12)
SERIES = {"month": MONTH}
TABLE = {
    "cement": Axis("cement", 100.0, 540.0, unit="kg"),
    "age": Axis("age", 1.0, 365.0, unit="days"),
    "water": Axis("water", 120.0, 250.0),
}
PASSENGERS = Target("passengers", "thousand")
GROWTH = Target("passengers", "thousand", "multiplicative")
STRENGTH = Target("strength", "MPa")
ILLNESS = Target("diabetes", scale="odds")
WEIGHT = Estimate(1.0, 0.5, 2.0)


def factor(kind, column="month", **parameters):
    return Factor(kind, (column,) if isinstance(column, str) else column, **parameters)


def smooth(length, column="month", kind="smooth"):
    return factor(kind, column, lengthscale=Estimate(length, 0.8 * length, 1.25 * length))


def periodic(period, within=0.7, column="month"):
    interval = Estimate(period, 0.992 * period, 1.008 * period)
    return factor("periodic", column, period=interval, lengthscale=Estimate(within, 0.8 * within, 1.25 * within))


def line(zero, column="month"):
    return factor("linear", column, location=Estimate(zero, zero - 1.0, zero + 0.8))


def change(kind, place, column="month", width=None):
    return factor(kind, column, location=Estimate(place, place - 0.15, place + 0.2), width=width)


def component(*factors, **known):
    """A component of which only the structure is known, and what else is given."""
    unknown = {
        "formula": "Lin * SE",
        "share": math.nan,
        "cumulative": math.nan,
        "sd": math.nan,
        "weight": WEIGHT,
        "evidence": None,
        "error_before": None,
        "error_after": None,
    }
    return Facts(factors=factors, **(unknown | known))


def errors(before, after):
    return {"error_before": before, "error_after": after}


NOISE = factor("noise")
YEAR, CYCLE = periodic(1.0), periodic(3.7, within=2.7)
LEFT, INSIDE, RIGHT = line(1945.0), line(1955.2), line(1965.0)
FROM, UNTIL = change("from", 1953.2, width=0.05), change("until", 1957.2, width=0.5)
GROWING, SHRINKING, SMALLEST = ({"amplitude": way} for way in ("growing", "shrinking", "smallest inside"))
RISING, FALLING = {"monotone": "rising"}, {"monotone": "falling"}
FLATTENS = "a forecast that flattens shows an unknown phase, not the end of the cycle."
BACK = "Beyond the data it drifts on smoothly and is back at the mean within about 3.2 years"
ENDED = "It ends before the data do, and adds nothing beyond them."
YEARLY = "A yearly pattern that repeats exactly every 12.0 months (11.9 to 12.1)"
ROUGHLY = "A yearly pattern that repeats roughly every 12.0 months (11.9 to 12.1)"
WITHIN = "Within each period it changes over about 1.3 months"

# factors, what else is known; title, sentence, future
ROWS = {
    "constant": (
        [factor("constant")],
        {},
        "A constant level",
        "A constant level.",
        "It stays as it is beyond the data.",
    ),
    "nothing": ([], {}, "A constant level", "A constant level.", "It stays as it is beyond the data."),
    "noise": (
        [NOISE],
        {"sd": 9.31},
        "Uncorrelated noise",
        "Uncorrelated noise with a standard deviation of about 9.3 thousand.",
        "It goes on as it is beyond the data.",
    ),
    "noise, stationary": (
        [NOISE, smooth(3.2), YEAR],
        {},
        "Uncorrelated noise",
        "Uncorrelated noise.",
        "It goes on as it is beyond the data.",
    ),
    "noise, growing": (
        [NOISE, LEFT],
        {"sd": 9.31, **GROWING},
        "Noise that grows",
        "Uncorrelated noise with a standard deviation of about 9.3 thousand. Its spread grows linearly.",
        "It goes on beyond the data, and its spread keeps growing.",
    ),
    "noise, shrinking": (
        [NOISE, factor("linear")],
        SHRINKING,
        "Noise that shrinks",
        "Uncorrelated noise. Its spread shrinks linearly.",
        "It goes on beyond the data, and its spread keeps shrinking.",
    ),
    "noise, smallest inside": (
        [NOISE, INSIDE],
        SMALLEST,
        "Noise that grows away from March 1955",
        "Uncorrelated noise. Its spread is smallest in March 1955 (March 1954 to January 1956) and grows linearly away "
        "from there.",
        "It goes on beyond the data, and its spread keeps growing.",
    ),
    "very smooth": (
        [smooth(30.0)],
        {},
        "A very smooth trend",
        "A very smooth trend.",
        "Beyond the data it drifts on smoothly, then back to the mean.",
    ),
    "very smooth, rising": (
        [smooth(30.0)],
        RISING,
        "A very smooth rising trend",
        "A very smooth rising trend.",
        "Beyond the data it drifts on smoothly, then back to the mean.",
    ),
    "smooth": (
        [smooth(3.2)],
        {},
        "Smooth variation over about 3.2 years",
        "Smooth variation over about 3.2 years (2.6 to 4.0).",
        f"{BACK}.",
    ),
    "smooth, falling": (
        [smooth(3.2)],
        FALLING,
        "A smooth fall that bends over about 3.2 years",
        "A smooth fall that bends over about 3.2 years (2.6 to 4.0).",
        f"{BACK}.",
    ),
    "fast": (
        [smooth(0.03)],
        {},
        "Fast variation over about 11.0 days",
        "Fast variation over about 11.0 days (8.8 to 13.7).",
        "It is forgotten almost at once beyond the data.",
    ),
    "rough": (
        [smooth(3.2, kind="rough")],
        {},
        "Rough variation over about 3.2 years",
        "Rough variation over about 3.2 years (2.6 to 4.0).",
        "Beyond the data it drifts on and is back at the mean within about 3.2 years.",
    ),
    "rough, slow": (
        [smooth(30.0, kind="rough")],
        RISING,
        "A slow and rough rise",
        "A slow and rough rise.",
        "Beyond the data it drifts on, then back to the mean.",
    ),
    "rough, fast": (
        [smooth(0.03, kind="rough")],
        {},
        "Fast, rough variation over about 11.0 days",
        "Fast, rough variation over about 11.0 days (8.8 to 13.7).",
        "It is forgotten almost at once beyond the data.",
    ),
    "smooth, growing": (
        [smooth(3.2), LEFT],
        GROWING,
        "Smooth variation over about 3.2 years, growing in size",
        "Smooth variation over about 3.2 years (2.6 to 4.0). Its size grows linearly.",
        f"{BACK}, while its possible size keeps growing.",
    ),
    "very smooth, shrinking quadratically": (
        [smooth(30.0), RIGHT, RIGHT],
        SHRINKING,
        "A very smooth trend whose size shrinks",
        "A very smooth trend. Its size shrinks quadratically.",
        "Beyond the data it drifts on smoothly, then back to the mean.",
    ),
    "smooth, smallest inside": (
        [smooth(3.2), INSIDE],
        SMALLEST,
        "Smooth variation over about 3.2 years, growing away from March 1955",
        "Smooth variation over about 3.2 years (2.6 to 4.0). Its size is smallest in March 1955 (March 1954 to January "
        "1956) and grows linearly away from there.",
        f"{BACK}, while its possible size keeps growing.",
    ),
    "line": (
        [LEFT],
        {"slope": Estimate(31.6, 29.1, 34.2)},
        "A linear rise",
        "A linear rise of 31.6 thousand a year (29.1 to 34.2).",
        "It continues in a straight line beyond the data.",
    ),
    "line, perhaps falling": (
        [LEFT],
        {"slope": Estimate(-31.6, -64.0, 1.2)},
        "A linear fall",
        "A linear fall of 31.6 thousand a year (-1.2 to 64.0), so that its direction is not certain.",
        "It continues in a straight line beyond the data.",
    ),
    "line, slope unknown": (
        [LEFT],
        {},
        "A linear trend",
        "A linear trend.",
        "It continues in a straight line beyond the data.",
    ),
    "quadratic": (
        [LEFT, INSIDE],
        {},
        "A quadratic trend",
        "A quadratic trend.",
        "It continues beyond the data along the same curve, ever more steeply.",
    ),
    "cubic": (
        [LEFT] * 3,
        RISING,
        "A rising cubic trend",
        "A rising cubic trend.",
        "It continues beyond the data along the same curve, ever more steeply.",
    ),
    "polynomial": (
        [LEFT] * 5,
        {},
        "A polynomial trend of degree 5",
        "A polynomial trend of degree 5.",
        "It continues beyond the data along the same curve, ever more steeply.",
    ),
    "periodic, yearly": (
        [YEAR],
        {},
        "A yearly pattern",
        f"{YEARLY}. {WITHIN}.",
        "It repeats unchanged beyond the data.",
    ),
    "periodic, sine": (
        [CYCLE],
        {},
        "A pattern that repeats every 3.7 years",
        "A pattern that repeats exactly every 3.70 years (3.67 to 3.73). It is close to a sine wave.",
        "It repeats unchanged beyond the data.",
    ),
    "periodic, growing": (
        [LEFT, YEAR],
        GROWING,
        "A yearly pattern whose size grows",
        f"{YEARLY}. {WITHIN}, and its amplitude grows linearly.",
        "It repeats beyond the data, and its amplitude keeps growing.",
    ),
    "periodic, shrinking cubically": (
        [YEAR, RIGHT, RIGHT, RIGHT],
        SHRINKING,
        "A yearly pattern whose size shrinks",
        f"{YEARLY}. {WITHIN}, and its amplitude shrinks cubically.",
        "It repeats beyond the data, and its amplitude keeps shrinking until January 1965 and grows again after that.",
    ),
    "periodic, smallest inside": (
        [CYCLE, INSIDE],
        SMALLEST,
        "A pattern that repeats every 3.7 years, growing away from March 1955",
        "A pattern that repeats exactly every 3.70 years (3.67 to 3.73). It is close to a sine wave, and its amplitude "
        "is smallest in March 1955 (March 1954 to January 1956) and grows linearly away from there.",
        "It repeats beyond the data, and its amplitude keeps growing.",
    ),
    "drifting": (
        [smooth(4.2), YEAR],
        {},
        "A yearly pattern whose shape drifts",
        f"{ROUGHLY}. {WITHIN}, and its shape drifts over about 4.2 years (3.4 to 5.2).",
        f"The cycle goes on beyond the data; {FLATTENS}",
    ),
    "drifting slowly": (
        [smooth(40.0), CYCLE],
        {},
        "A pattern that repeats roughly every 3.7 years",
        "A pattern that repeats roughly every 3.70 years (3.67 to 3.73). It is close to a sine wave, and its shape "
        "drifts slowly over the whole of the data.",
        f"The cycle goes on beyond the data; {FLATTENS}",
    ),
    "hardly drifting": (
        [smooth(60.0), CYCLE],
        {},
        "A pattern that repeats every 3.7 years",
        "A pattern that repeats almost exactly every 3.70 years (3.67 to 3.73). It is close to a sine wave, and its "
        "shape hardly drifts within the data.",
        "It repeats beyond the data, hardly changed at first.",
    ),
    "barely periodic": (
        [smooth(0.67 * 3.7), CYCLE],
        {},
        "Barely periodic variation, about every 3.7 years",
        "Barely periodic variation, about every 3.70 years (3.67 to 3.73). Each cycle is forgotten within about "
        "29.7 months (23.8 to 37.2), so that it may look like plain smooth variation.",
        "It is soon back at the mean beyond the data.",
    ),
    "barely periodic, longer than the data": (
        [smooth(10.0), periodic(20.0)],
        {},
        "Barely periodic variation, about every 20.0 years",
        "Barely periodic variation, about every 20.0 years (19.8 to 20.2). Each cycle is forgotten within about "
        "10.0 years (8.0 to 12.5), so that it may look like plain smooth variation.",
        "It is soon back at the mean beyond the data.",
    ),
    "drifting and growing": (
        [LEFT, smooth(4.2), YEAR],
        GROWING,
        "A yearly pattern whose shape drifts and whose size grows",
        f"{ROUGHLY}. {WITHIN}, its shape drifts over about 4.2 years (3.4 to 5.2), and its amplitude grows linearly.",
        f"The cycle goes on beyond the data, and its amplitude keeps growing; {FLATTENS}",
    ),
    "two periods": (
        [YEAR, CYCLE],
        {},
        "A pattern with two periods, 12.0 months and 3.7 years",
        "A pattern with two periods, 12.0 months (11.9 to 12.1) and 3.70 years (3.67 to 3.73). Within the first period "
        "it changes over about 1.3 months, and within the second period it is close to a sine.",
        "It repeats unchanged beyond the data.",
    ),
    "two periods, drifting": (
        [YEAR, CYCLE, smooth(4.2)],
        {},
        "A pattern with two periods, 12.0 months and 3.7 years",
        "A pattern with two periods, 12.0 months (11.9 to 12.1) and 3.70 years (3.67 to 3.73). Within the first period "
        "it changes over about 1.3 months, within the second period it is close to a sine, and its shape drifts over "
        "about 4.2 years (3.4 to 5.2).",
        "The cycles go on beyond the data; a forecast that flattens shows an unknown phase, not the end of the cycles.",
    ),
    "level, from": (
        [FROM],
        RISING,
        "A rise of the level from March 1953 on",
        "A rise of the level from March 1953 on (January to May 1953).",
        "The new level stays beyond the data.",
    ),
    "level, until": (
        [UNTIL],
        FALLING,
        "A higher level until March 1957",
        "A higher level until March 1957 (January to May 1957). The change takes about 6.0 months.",
        ENDED,
    ),
    "level, between": (
        [FROM, UNTIL],
        {},
        "A different level from March 1953 until March 1957",
        "A different level from March 1953 (January to May 1953) until March 1957 (January to May 1957). The changes "
        "take up to about 6.0 months.",
        ENDED,
    ),
    "periodic, from": (
        [FROM, YEAR],
        {},
        "A yearly pattern from March 1953 on",
        f"{YEARLY}, from March 1953 on (January to May 1953). {WITHIN}.",
        "It repeats unchanged beyond the data.",
    ),
    "periodic, growing, until": (
        [UNTIL, LEFT, YEAR],
        GROWING,
        "A yearly pattern whose size grows, until March 1957",
        f"{YEARLY}, until March 1957 (January to May 1957). {WITHIN}, its amplitude grows linearly, and the change "
        "takes about 6.0 months.",
        ENDED,
    ),
    "smooth, between": (
        [FROM, UNTIL, smooth(3.2)],
        {},
        "Smooth variation over about 3.2 years, from March 1953 until March 1957",
        "Smooth variation over about 3.2 years (2.6 to 4.0), from March 1953 (January to May 1953) until March 1957 "
        "(January to May 1957). The changes take up to about 6.0 months.",
        ENDED,
    ),
    "line, from": (
        [FROM, LEFT],
        {"slope": Estimate(31.6, 29.1, 34.2)},
        "A linear rise from March 1953 on",
        "A linear rise of 31.6 thousand a year (29.1 to 34.2), from March 1953 on (January to May 1953).",
        "It continues in a straight line beyond the data.",
    ),
    "no rule": (
        [factor("spline"), YEAR],
        {"formula": "Spline * Per"},
        "The component Spline * Per",
        "The component Spline * Per, for which there is no wording yet.",
        "What it does beyond the data shows in the forecast alone.",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_one_input(row):
    factors, known, title, sentence, future = ROWS[row]
    facts = component(*factors, **known)
    assert sentences.title(facts, SERIES, PASSENGERS) == title
    assert sentences.sentence(facts, SERIES, PASSENGERS) == sentence
    assert sentences.future(facts, SERIES, PASSENGERS) == future


CEMENT = factor("linear", "cement", location=Estimate(0.0, -5.0, 5.0))
SEVERAL = {
    "one input, rising": (
        [smooth(33.0, "age")],
        RISING,
        "The effect of age alone, rising throughout",
        "The effect of age alone, rising throughout: a smooth curve that bends over about 33.0 days (26.4 to 41.2).",
        "Beyond the data it drifts on smoothly and is back at the mean within about 33.0 days.",
    ),
    "one input, no unit": (
        [smooth(33.0, "water")],
        {},
        "The effect of water alone",
        "The effect of water alone: a smooth curve that bends over about 33.0 units of water (26.4 to 41.2).",
        "Beyond the data it drifts on smoothly and is back at the mean within about 33.0 units of water.",
    ),
    "one input, very smooth": (
        [smooth(330.0, "age")],
        FALLING,
        "The effect of age alone, falling throughout",
        "The effect of age alone, falling throughout: a very smooth curve.",
        "Beyond the data it drifts on smoothly, then back to the mean.",
    ),
    "one input, line": (
        [CEMENT],
        {"slope": Estimate(0.11, 0.1, 0.12), **RISING},
        "The effect of cement alone, rising throughout",
        "The effect of cement alone: a linear rise of 0.110 MPa per kg (0.100 to 0.120).",
        "It continues in a straight line beyond the data.",
    ),
    "one input, window": (
        [smooth(33.0, "age"), factor("from", "age", location=Estimate(28.0, 25.0, 31.0))],
        {},
        "The effect of age alone, where age is above 28.0 days",
        "The effect of age alone, where age is above 28.0 days (25.0 to 31.0): a smooth curve that bends over about "
        "33.0 days (26.4 to 41.2).",
        "Beyond the data it drifts on smoothly and is back at the mean within about 33.0 days.",
    ),
    "one input, window of another": (
        [smooth(33.0, "age"), factor("until", "water", location=Estimate(180.0, 170.0, 190.0))],
        {},
        "The effect of age, where water is below 180",
        "The effect of age, where water is below 180 (170 to 190): a smooth curve that bends over about 33.0 days "
        "(26.4 to 41.2).",
        "It adds nothing where water is above 180.",
    ),
    "level": (
        [factor("from", "age", location=Estimate(28.0, 25.0, 31.0))],
        RISING,
        "A rise of the level where age is above 28.0 days",
        "A rise of the level where age is above 28.0 days (25.0 to 31.0).",
        "The new level stays beyond the data.",
    ),
    "two inputs": (
        [CEMENT, smooth(33.0, "age")],
        {},
        "An interaction of cement and age",
        "An interaction of cement and age: linear in cement and smooth in age over about 33.0 days (26.4 to 41.2).",
        "Beyond the data it goes on as it is along cement and returns to the mean along age.",
    ),
    "two inputs, quadratic and periodic": (
        [CEMENT, CEMENT, periodic(7.0, column="age")],
        {},
        "An interaction of cement and age",
        "An interaction of cement and age: quadratic in cement and periodic in age every 7.00 days (6.94 to 7.06).",
        "Beyond the data it goes on as it is along cement and repeats along age.",
    ),
    "factors that share inputs": (
        [factor("linear", ("cement", "age")), smooth(33.0, "age"), periodic(0.5, column="water")],
        {},
        "An interaction of cement, age and water",
        "An interaction of cement, age and water: linear in cement and age; smooth in age over about 33.0 days "
        "(26.4 to 41.2); periodic in water every 0.500 units of water (0.496 to 0.504).",
        "Beyond the data it goes on as it is along cement, returns to the mean along age and repeats along water.",
    ),
    "three inputs in one factor": (
        [factor("smooth", ("cement", "age", "water"))],
        {},
        "An interaction of cement, age and water",
        "An interaction of cement, age and water: smooth in all of them.",
        "Beyond the data it returns to the mean.",
    ),
}


@pytest.mark.parametrize("row", SEVERAL)
def test_several_inputs(row):
    factors, known, title, sentence, future = SEVERAL[row]
    facts = component(*factors, **known)
    assert sentences.title(facts, TABLE, STRENGTH) == title
    assert sentences.sentence(facts, TABLE, STRENGTH) == sentence
    assert sentences.future(facts, TABLE, STRENGTH) == future


def test_many_inputs_are_counted():
    names = tuple("abcdefgh")
    axes = {name: Axis(name, 0.0, 1.0) for name in names}
    every, six = component(factor("smooth", names)), component(factor("smooth", names[:6]))
    assert sentences.title(every, axes, STRENGTH) == "An interaction of all eight inputs"
    assert sentences.title(six, axes, STRENGTH) == "An interaction of a, b, c and three more inputs"
    assert sentences.sentence(six, axes, STRENGTH) == "An interaction of a, b, c, d, e and f: smooth in all of them."


def said(*factors, axes=SERIES, target=PASSENGERS, **known):
    return sentences.sentence(component(*factors, **known), axes, target)


def test_where_components_multiply_sizes_are_relative():
    growth = said(LEFT, target=GROWTH, slope=Estimate(0.102, 0.098, 0.106))
    decline = said(LEFT, target=GROWTH, slope=Estimate(-0.031, -0.035, -0.027))
    assert growth == "Growth of 10.2 % a year (9.8 to 10.6)."
    assert decline == "A decline of 3.10 % a year (2.70 to 3.50)."
    assert sentences.title(component(LEFT, slope=Estimate(0.102, 0.098, 0.106)), SERIES, GROWTH) == "Steady growth"
    assert sentences.future(component(LEFT), SERIES, GROWTH) == "It continues at the same rate beyond the data."
    assert said(YEAR, target=GROWTH, sd=0.12).endswith("It moves passengers up and down by about 12 %.")
    assert said(LEFT, LEFT, target=GROWTH) == "A quadratic trend on the log scale."
    assert said(factor("constant"), target=GROWTH) == "A constant factor."
    assert said(NOISE, target=GROWTH, sd=1e-5) == "Uncorrelated noise with a standard deviation of under 0.1 %."
    assert said(NOISE, target=GROWTH, sd=0.034) == "Uncorrelated noise with a standard deviation of about 3.4 %."


def test_a_transformed_scale_is_named():
    target = Target("passengers", "thousand", "transformed")
    assert said(LEFT, target=target, slope=Estimate(0.21, 0.2, 0.22)) == (
        "A linear rise of 0.210 a year (0.200 to 0.220) on the transformed scale."
    )
    assert said(smooth(3.2), target=target, sd=0.313).endswith(
        "It moves passengers up and down by about 0.31 on the transformed scale."
    )


def test_classes_are_explained_by_chances():
    age = component(smooth(33.0, "age"), sd=0.84, **RISING)
    assert sentences.title(age, TABLE, ILLNESS) == "The effect of age alone, raising the chance of diabetes throughout"
    assert sentences.sentence(age, TABLE, ILLNESS) == (
        "The effect of age alone, raising the chance of diabetes throughout: a smooth curve that bends over about "
        "33.0 days (26.4 to 41.2). It typically turns an even chance of diabetes into 80 % or 20 %."
    )
    assert said(CEMENT, axes=TABLE, target=ILLNESS, slope=Estimate(0.01, 0.005, 0.015)) == (
        "The effect of cement alone: a linear rise of 0.0100 per kg (0.0050 to 0.0150) on the probit scale."
    )
    certain = said(CEMENT, smooth(33.0, "age"), axes=TABLE, target=Target("1", scale="odds"), sd=9.0)
    assert certain.endswith("It typically turns an even chance of class 1 into over 99.9 % or under 0.1 %.")


MEASURED = {
    "share": 0.12,
    "cumulative": 0.98,
    "sd": 31.2,
    "evidence": 25.13,
    "error_before": 40.13,
    "error_after": 12.24,
}


def test_a_sentence_ends_with_its_evidence():
    assert said(LEFT, YEAR, **GROWING, **MEASURED) == (
        f"{YEARLY}. {WITHIN}, and its amplitude grows linearly. It moves passengers up and down by about 31 thousand "
        "and carries 12 % of the variance, 98 % together with all that is larger; without it the log evidence falls by "
        "25.1, and adding it lowers the cross-validated error from 40.1 to 12.2."
    )
    assert said(smooth(30.0), **RISING, **MEASURED).startswith(
        "A very smooth rising trend. It moves passengers by about 31 thousand either way and carries 12 % of"
    )
    assert said(LEFT, slope=Estimate(31.6, 29.1, 34.2), share=0.85, cumulative=0.85) == (
        "A linear rise of 31.6 thousand a year (29.1 to 34.2). It carries 85 % of the variance."
    )


@pytest.mark.parametrize(
    ("known", "ending"),
    [
        ({"evidence": -3.2}, "Without it the log evidence rises by 3.2."),
        ({"evidence": 0.01}, "Without it the log evidence hardly changes."),
        ({"evidence": 1234.5}, "Without it the log evidence falls by 1234."),
        (errors(12.2, 12.2), "Adding it leaves the cross-validated error at 12.2."),
        (
            {"error_before": 12.2, "error_after": 12.23},
            "Adding it raises the cross-validated error from 12.20 to 12.23.",
        ),
    ],
)
def test_evidence_that_speaks_against_a_component_is_said(known, ending):
    assert said(smooth(30.0), **known) == f"A very smooth trend. {ending}"


@pytest.mark.parametrize(
    ("after", "ending"),
    [
        (2.4, "Adding it lowers the cross-validated error strongly, from 10.0 to 2.4."),
        (7.9, "Adding it lowers the cross-validated error somewhat, from 10.0 to 7.9."),
        (9.9, "Adding it lowers the cross-validated error a little, from 10.0 to 9.9."),
        (10.0, "Adding it does not help: the cross-validated error stays at 10.0."),
        (10.1, "Adding it does not help: the cross-validated error goes from 10.0 to 10.1."),
    ],
)
def test_with_several_inputs_the_drop_in_error_is_the_strength(after, ending):
    assert said(smooth(330.0, "age"), axes=TABLE, error_before=10.0, error_after=after).endswith(ending)


@pytest.mark.parametrize(
    ("share", "after", "flag"),
    [
        (0.2, 9.0, ""),
        (0.0002, 9.0, ""),
        (0.2, None, ""),
        (0.2, 9.999, "Short-lived, or noise: it does not lower the cross-validated error."),
        (
            0.0002,
            9.999,
            "Probably an artefact: it carries next to no variance and does not lower the cross-validated error.",
        ),
    ],
)
def test_weak_evidence_is_flagged(share, after, flag):
    assert sentences.flag(component(smooth(3.2), share=share, error_before=10.0, error_after=after)) == flag
    assert sentences.flag(component(NOISE, share=share, error_before=10.0, error_after=after)) == ""


TREND = component(
    LEFT, slope=Estimate(31.6, 29.1, 34.2), share=0.85, cumulative=0.85, evidence=99.0, **errors(120, 40.1)
)
SEASON = component(LEFT, YEAR, **GROWING, **MEASURED)
WIGGLE = component(smooth(3.2), share=0.006, cumulative=0.99, sd=5.1, evidence=1.2, **errors(12.24, 12.24))
NOISY = "What no component explains is noise with a standard deviation of about 9.3 thousand."


def test_a_summary_says_how_many_matter_and_what_they_are():
    assert sentences.summary([TREND, SEASON, WIGGLE], SERIES, PASSENGERS, 9.31, 144) == [
        "Three components were found in 144 rows; the two largest carry 98 % of the variance, and after the second the "
        "cross-validated error stops falling.",
        "The main ones are a linear rise and a yearly pattern whose size grows.",
        NOISY,
    ]
    assert sentences.summary([TREND, SEASON], SERIES, PASSENGERS, None, 144) == [
        "Two components were found in 144 rows; together they carry 98 % of the variance, and the cross-validated "
        "error falls with each of them.",
        "They are a linear rise and a yearly pattern whose size grows.",
    ]
    assert sentences.summary([TREND], SERIES, PASSENGERS, None, 1) == [
        "One component was found in one row; it carries 85 % of the variance.",
        "It is a linear rise.",
    ]
    large = component(smooth(3.2), LEFT, share=0.95, cumulative=0.95, **GROWING)
    assert sentences.summary([large, WIGGLE], SERIES, PASSENGERS, None, 144) == [
        "Two components were found in 144 rows; the largest alone carries 95 % of the variance.",
        "The largest is smooth variation over about 3.2 years, growing in size.",
    ]
    assert sentences.summary([WIGGLE, WIGGLE], SERIES, PASSENGERS, None, 144)[0].endswith(
        "and none of them lowers the cross-validated error."
    )
    assert sentences.summary([], SERIES, GROWTH, 0.093, 144) == [
        "No component stands out: the 144 rows look like a constant level and noise.",
        "What no component explains is noise with a standard deviation of about 9.3 %.",
    ]


def test_names_with_commas_are_listed_with_semicolons():
    growing = component(smooth(3.2), LEFT, share=0.5, cumulative=0.5, **GROWING)
    second = component(YEAR, share=0.2, cumulative=0.7)
    assert sentences.summary([growing, second], SERIES, PASSENGERS, None, 144)[1] == (
        "They are smooth variation over about 3.2 years, growing in size; and a yearly pattern."
    )


EXPLANATION = """\
Three components were found in 144 rows; the two largest carry 98 % of the variance, and
after the second the cross-validated error stops falling. The main ones are a linear
rise and a yearly pattern whose size grows.

1. A linear rise of 31.6 thousand a year (29.1 to 34.2). It carries 85 % of the
   variance; without it the log evidence falls by 99.0, and adding it lowers the
   cross-validated error from 120 to 40. It continues in a straight line beyond the
   data.

2. A yearly pattern that repeats exactly every 12.0 months (11.9 to 12.1). Within each
   period it changes over about 1.3 months, and its amplitude grows linearly. It moves
   passengers up and down by about 31 thousand and carries 12 % of the variance, 98 %
   together with all that is larger; without it the log evidence falls by 25.1, and
   adding it lowers the cross-validated error from 40.1 to 12.2. It repeats beyond the
   data, and its amplitude keeps growing.

3. Smooth variation over about 3.2 years (2.6 to 4.0). It moves passengers up and down
   by about 5.1 thousand and carries 0.6 % of the variance, 99 % together with all that
   is larger; without it the log evidence falls by 1.2, and adding it leaves the
   cross-validated error at 12.2. Beyond the data it drifts on smoothly and is back at
   the mean within about 3.2 years. Short-lived, or noise: it does not lower the
   cross-validated error.

What no component explains is noise with a standard deviation of about 9.3 thousand.

The rest, everything too small to name, carries 0.2 % of the variance."""


def test_the_whole_explanation():
    assert sentences.text([TREND, SEASON, WIGGLE], SERIES, PASSENGERS, 9.31, 144, 0.002) == EXPLANATION
    bare = sentences.text([], SERIES, PASSENGERS, None, 144, None)
    assert bare == "No component stands out: the 144 rows look like a constant level and noise."


KINDS = ("constant", "noise", "linear", "smooth", "rough", "periodic", "from", "until", "spline")
DAY = Axis("day", 19000.0, 19400.0, "days", spacing=1.0)
AXES = (SERIES, TABLE, {"x": Axis("x", 0.0, 0.0)}, {"day": DAY, "age": TABLE["age"]}, {"day": DAY})


def random_number(chance, axis):
    """A number of any size, now and then one that is not finite."""
    near = chance.uniform(axis.low, axis.high) + chance.gauss(0.0, 1.0 + 0.3 * (axis.high - axis.low))
    wild = (0.0, math.inf, -math.inf, math.nan, 1e-300, 1e300, -1e300)
    return chance.choice(
        (near, math.exp(chance.gauss(0.0, 4.0)), chance.choice(wild) if chance.random() < 0.2 else 1.0)
    )


def random_estimate(chance, axis):
    if chance.random() < 0.15:
        return None
    ends = sorted(random_number(chance, axis) for _ in range(3))
    return Estimate(ends[1], ends[0], ends[2])


def random_factor(chance, kind, axes):
    columns = tuple(chance.sample(list(axes), chance.randint(0 if kind == "constant" else 1, min(2, len(axes)))))
    axis = axes[columns[0]] if columns else Axis("x", 0.0, 1.0)
    location, length, period = (random_estimate(chance, axis) for _ in range(3))
    length, period = (
        e and Estimate(abs(e.value), min(abs(e.low), abs(e.value)), max(abs(e.high), abs(e.value)))
        for e in (length, period)
    )
    return Factor(kind, columns, location, chance.choice((None, abs(random_number(chance, axis)))), length, period)


def random_facts(chance, kinds, axes):
    axis = next(iter(axes.values()))
    number = lambda: chance.choice((None, random_number(chance, axis)))  # noqa: E731
    share, cumulative, sd = (abs(random_number(chance, axis)) for _ in range(3))
    return Facts(
        " * ".join(kinds),
        tuple(random_factor(chance, kind, axes) for kind in kinds),
        share,
        cumulative,
        sd,
        WEIGHT,
        number(),
        number(),
        number(),
        random_estimate(chance, axis),
        chance.choice((None, "rising", "falling")),
        chance.choice((None, "growing", "shrinking", "smallest inside")),
    )


def assert_reads(text):
    lowered = text.lower()
    words = [word.strip(".,:;()") for word in lowered.split()]
    assert text[0] == text[0].upper()
    assert not {"nan", "inf", "-inf", "true", "false"} & set(words), text
    assert "None" not in text
    assert not any(mark in text for mark in ("{", "}", "  ", "..", ",,", " ,", " .", ", .", "( ", "()", ":.")), text
    assert all(a != b for a, b in itertools.pairwise(words) if a.isalpha()), text
    assert not any(f" a {vowel}" in lowered for vowel in "aeio"), text
    assert text.count("(") == text.count(")"), text


@pytest.mark.parametrize("order", range(5))
def test_every_product_up_to_order_four_reads_well(order):
    chance = random.Random(order)
    for kinds in itertools.combinations_with_replacement(KINDS, order):
        for axes, scale in itertools.product(AXES, ("additive", "multiplicative", "transformed", "odds")):
            facts = random_facts(chance, kinds, axes)
            target = Target(chance.choice(("y", "rain")), chance.choice(("", "mm")), scale)
            title = sentences.title(facts, axes, target)
            assert_reads(title)
            assert not title.endswith(".")
            for text in (sentences.sentence(facts, axes, target), sentences.future(facts, axes, target)):
                assert_reads(text)
                assert text.endswith(".")
            flag = sentences.flag(facts)
            assert flag == "" or flag.endswith(".")


def test_any_explanation_reads_well():
    chance = random.Random(7)
    for _ in range(200):
        axes, kinds = chance.choice(AXES), [chance.choices(KINDS, k=chance.randint(1, 3)) for _ in range(5)]
        facts = [random_facts(chance, k, axes) for k in kinds[: chance.randint(0, 5)]]
        target = Target("y", "", chance.choice(("additive", "multiplicative", "odds")))
        noise, rest = (chance.choice((None, 0.1, math.nan, 3e7)) for _ in range(2))
        for line in sentences.summary(facts, axes, target, noise, 1000):
            assert_reads(line)
            assert line.endswith(".")
        text = sentences.text(facts, axes, target, noise, 1000, rest)
        assert all(len(line) <= sentences.WIDTH for line in text.splitlines())
        assert text.endswith(".")
