"""What is said of scales, sizes and evidence, and the whole explanation."""

import pytest

from farrier.explain import sentences
from farrier.explain.facts import Axis, Estimate, Target
from tests.explain.components import (
    CEMENT,
    GROWING,
    GROWTH,
    ILLNESS,
    LEFT,
    NOISE,
    PASSENGERS,
    RISING,
    SERIES,
    STRENGTH,
    TABLE,
    WITHIN,
    YEAR,
    YEARLY,
    component,
    errors,
    factor,
    smooth,
)


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
    assert said(YEAR, target=GROWTH, sd=0.12, swing=0.33).endswith(
        "It moves passengers by about 33 % from low to high."
    )
    assert said(LEFT, LEFT, target=GROWTH) == "A curved trend."
    assert said(factor("constant"), target=GROWTH) == "A constant factor."
    assert said(NOISE, target=GROWTH, sd=1e-5) == "Uncorrelated noise with a standard deviation of under 0.1 %."
    assert said(NOISE, target=GROWTH, sd=0.034) == "Uncorrelated noise with a standard deviation of about 3.4 %."


def test_large_relative_sizes_are_factors():
    assert said(smooth(3.2), target=GROWTH, sd=0.3, swing=1.08).endswith(
        "It moves passengers by a factor of about 2.1 from low to high."
    )
    ending = said(smooth(3.2), target=GROWTH, error_before=1.2, error_after=0.084)
    assert ending.endswith("lowers the cross-validated error from a factor of 2.2 to 8.4 %.")


def test_components_that_cancel_are_said_to():
    both = [component(smooth(3.2), share=share, cumulative=1.0, sd=4.0, swing=9.0) for share in (1.44, 1.21)]
    assert (
        "It moves passengers by about 9.0 thousand from low to high and varies 1.2 times as much as passengers itself"
        in (sentences.sentence(both[0], SERIES, PASSENGERS))
    )
    opening = sentences.summary(both, SERIES, PASSENGERS, None, 144)[0]
    assert opening == (
        "Two components were found in 144 rows; some of them pull against each other, so that their shares add "
        "up to more than the whole."
    )


def test_sizes_on_a_transformed_scale_are_told_in_units_at_a_typical_level():
    target = Target("passengers", "thousand", "transformed", typical=261.3)
    assert said(LEFT, target=target, slope=Estimate(21.0, 20.0, 22.0)) == (
        "A steady rise of 21.0 thousand a year (20.0 to 22.0) where passengers is near 260 thousand."
    )
    assert said(smooth(3.2), target=target, sd=10.0, swing=31.3).endswith(
        "It moves passengers by about 31 thousand from low to high where passengers is near 260 thousand."
    )
    assert sentences.future(component(LEFT), SERIES, target) == (
        "It continues beyond the data, faster where passengers is higher."
    )


def test_classes_are_explained_by_chances():
    age = component(smooth(33.0, "age"), sd=0.84, **RISING)
    assert sentences.title(age, TABLE, ILLNESS) == "The effect of age alone, raising the chance of diabetes throughout"
    assert sentences.sentence(age, TABLE, ILLNESS) == (
        "The effect of age alone, raising the chance of diabetes throughout: a smooth curve that bends over about "
        "33.0 days (26.4 to 41.2). It typically turns an even chance of diabetes into 80 % or 20 %."
    )
    assert said(CEMENT, axes=TABLE, target=ILLNESS, slope=Estimate(0.01, 0.005, 0.015)) == (
        "The effect of cement alone: a line, every 10 kg: odds times 1.17 (1.08 to 1.27)."
    )
    certain = said(CEMENT, smooth(33.0, "age"), axes=TABLE, target=Target("1", scale="odds"), sd=9.0)
    assert certain.endswith("It typically turns an even chance of class 1 into over 99.9 % or under 0.1 %.")


MEASURED = {
    "share": 0.12,
    "cumulative": 0.98,
    "sd": 11.0,
    "swing": 31.2,
    "evidence": 25.13,
    "error_before": 40.13,
    "error_after": 12.24,
}


def test_a_sentence_ends_with_its_evidence():
    assert said(LEFT, YEAR, **GROWING, **MEASURED) == (
        f"{YEARLY}. {WITHIN}, and its amplitude grows linearly. It moves passengers by about 31 thousand from low "
        "to high and carries 12 % of the variance (98 % with those above); the evidence for it is very strong, and "
        "adding it lowers the cross-validated error from 40.1 to 12.2."
    )
    assert said(smooth(30.0), **RISING, **MEASURED).startswith(
        "A very smooth rising trend. It moves passengers by about 31 thousand from end to end and carries 12 % of"
    )
    assert said(LEFT, slope=Estimate(31.6, 29.1, 34.2), share=0.85, cumulative=0.85) == (
        "A linear rise of 31.6 thousand a year (29.1 to 34.2). It carries 85 % of the variance."
    )


@pytest.mark.parametrize(
    ("known", "ending"),
    [
        ({"evidence": -3.2}, "Others could take its place."),
        ({"evidence": 0.01}, "The evidence for it is weak."),
        ({"evidence": 1234.5}, "The evidence for it is very strong."),
        (errors(12.2, 12.2), "Adding it leaves the cross-validated error at 12.2."),
        ({"evidence": 4.0, "error_before": 12.2, "error_after": 12.23}, "The evidence for it is strong."),
    ],
)
def test_how_strong_the_evidence_is_is_said(known, ending):
    assert said(smooth(30.0), **known) == f"A very smooth trend. {ending}"


@pytest.mark.parametrize(
    ("after", "ending"),
    [
        (5.9, "Adding it lowers the cross-validated error strongly, from 10.0 to 5.90."),
        (8.9, "Adding it lowers the cross-validated error somewhat, from 10.0 to 8.90."),
        (9.9, "Adding it lowers the cross-validated error a little, from 10.0 to 9.90."),
        (10.0, "Adding it does not help: the cross-validated error stays at 10.0."),
        (10.1, "a very smooth curve."),
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
        (0.2, 9.999, "Short-lived, or noise: it does not lower the error on rows left out."),
        (
            0.0002,
            9.999,
            "Probably an artefact: it carries next to no variance and does not lower the error on rows left out.",
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
WIGGLE = component(smooth(3.2), share=0.006, cumulative=0.99, sd=2.1, swing=5.1, evidence=1.2, **errors(12.24, 12.24))
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
   variance; the evidence for it is very strong, and adding it lowers the
   cross-validated error from 120 to 40.1. It continues in a straight line beyond the
   data.

2. A yearly pattern that repeats exactly every 12.0 months (11.9 to 12.1). Within each
   period it changes over about 1.3 months, and its amplitude grows linearly. It moves
   passengers by about 31 thousand from low to high and carries 12 % of the variance
   (98 % with those above); the evidence for it is very strong, and adding it lowers the
   cross-validated error from 40.1 to 12.2. It repeats beyond the data, and its
   amplitude keeps growing.

3. Smooth variation over about 3.2 years (2.6 to 4.0). It moves passengers by about 5.1
   thousand from low to high and carries 0.6 % of the variance (99 % with those above);
   the evidence for it is moderate, and adding it leaves the cross-validated error at
   12.2. Beyond the data it drifts on smoothly and is back at the mean within about 3.2
   years. Short-lived, or noise: it does not lower the error on rows left out.

What no component explains is noise with a standard deviation of about 9.3 thousand.

The rest, everything too small to name, carries 0.2 % of the variance."""


def test_the_whole_explanation():
    assert sentences.text([TREND, SEASON, WIGGLE], SERIES, PASSENGERS, 9.31, 144, 0.002) == EXPLANATION
    bare = sentences.text([], SERIES, PASSENGERS, None, 144, None)
    assert bare == "No component stands out: the 144 rows look like a constant level and noise."
