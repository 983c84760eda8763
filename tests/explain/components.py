"""Components by what is known of them, and the axes and targets that all tests of wording speak of."""

import math

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

CEMENT = factor("linear", "cement", location=Estimate(0.0, -5.0, 5.0))
