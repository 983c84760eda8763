"""One golden sentence for every row of the grammar of several inputs."""

import pytest

from farrier.explain import sentences
from farrier.explain.facts import Estimate
from tests.explain.components import CEMENT, FALLING, RISING, STRENGTH, TABLE, component, factor, periodic, smooth

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
