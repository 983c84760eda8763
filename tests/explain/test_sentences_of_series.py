"""One golden sentence for every row of the grammar of one input."""

import pytest

from farrier.explain import sentences
from farrier.explain.facts import Estimate
from tests.explain.components import (
    BACK,
    CYCLE,
    ENDED,
    FALLING,
    FLATTENS,
    FROM,
    GROWING,
    INSIDE,
    LEFT,
    NOISE,
    PASSENGERS,
    RIGHT,
    RISING,
    ROUGHLY,
    SERIES,
    SHRINKING,
    SMALLEST,
    UNTIL,
    WITHIN,
    YEAR,
    YEARLY,
    component,
    factor,
    periodic,
    smooth,
)

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
        "A fall of the level from March 1957 on",
        "A fall of the level from March 1957 on (January to May 1957). The change takes about 6.0 months.",
        "The new level stays beyond the data.",
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
