"""Laws that every sentence obeys, whatever the component."""

import itertools
import math
import random

import pytest

from farrier.explain import sentences
from farrier.explain.facts import Axis, Estimate, Factor, Facts, Target
from tests.explain.components import SERIES, TABLE, WEIGHT

KINDS = ("constant", "noise", "linear", "smooth", "rough", "periodic", "walk", "damped", "from", "until", "spline")
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
    location, *others = (random_estimate(chance, axis) for _ in range(4))
    length, period, damping = (positive(one) for one in others)
    width = chance.choice((None, abs(random_number(chance, axis))))
    return Factor(kind, columns, location, width, length, period, damping)


def positive(estimate):
    """The estimate without signs."""
    if estimate is None:
        return None
    size = abs(estimate.value)
    return Estimate(size, min(abs(estimate.low), size), max(abs(estimate.high), size))


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
        positive(random_estimate(chance, axis)) if kinds == ("walk",) else None,
        *chance.choices((None, "rising", "falling"), k=2),
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


PLACES = list(itertools.product(AXES, ("additive", "multiplicative", "transformed", "odds")))
"""Inputs and the scale of the target."""


@pytest.mark.parametrize("order", range(5))
def test_every_product_up_to_order_four_reads_well(order):
    chance = random.Random(order)
    every = 1 if order < 3 else 5  # of the many products of high order each is seen in four places, in turn
    for i, kinds in enumerate(itertools.combinations_with_replacement(KINDS, order)):
        for axes, scale in PLACES[i % every :: every]:
            facts = random_facts(chance, kinds, axes)
            target = Target(chance.choice(("y", "rain")), chance.choice(("", "mm")), scale, 3.1)
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
