"""Words for what changes in a series: growth that ends, a break of the slope, a shock that heals.

growth that slows: it levels off near 49,000 (46,000 to 55,000)
a break of the slope on 6 November (4 to 8 November): since then it falls by 2.0 a day, before that it rose by 0.8
a shock: it fell by 600 in the week of 15 March 2020; half of that is recovered within 18 weeks (15 to 22)
"""

import math
from collections.abc import Mapping

from farrier.explain.facts import Axis, Estimate, Factor, Facts, Target
from farrier.explain.numbers import (
    close_up,
    known,
    length,
    moment,
    moments,
    number,
    preposition,
    rate,
    scaled,
    significant,
)
from farrier.explain.parts import Parts, axis_of, given, scale_of
from farrier.explain.wandering import AHEAD, NOUNS

OPEN = 1.0
"""Width of the interval of a level, over the distance of the level from the first row, above which the level is open.
[ratio; by judgement]"""
LEVEL = 0.01
"""A slope below this part of that on the other side of a break is level. [ratio; by judgement]"""
WEEK = 7.0, 0.5
"""The days of a week, and how much a step may differ from them."""


def noun(facts: Facts, parts: Parts, axes: Mapping[str, Axis], target: Target, *, brief: bool) -> str:
    """What a change is."""
    factor = parts.changes[0]
    axis = axis_of(factor.columns, axes)
    if factor.kind == "saturating":
        return _growth(facts, target, brief=brief)
    when = _when(factor, axis, brief=brief)
    return (
        _bend(facts, axis, target, when, brief=brief)
        if factor.kind == "bend"
        else _shock(facts, factor, axis, target, when, brief=brief)
    )


def course(facts: Facts, parts: Parts) -> str:
    """What it does beyond the data."""
    kind = parts.changes[0].kind
    if kind == "saturating":
        return f"{AHEAD} it goes on, ever more slowly" if facts.slows else f"{AHEAD} it goes on, and slows in the end"
    return f"the new slope goes on {AHEAD}" if kind == "bend" else f"what is left of it fades {AHEAD}"


def _growth(facts: Facts, target: Target, *, brief: bool) -> str:
    what = f"{NOUNS.get(facts.monotone or '', 'a trend')} that {'slows' if facts.slows else 'will end'}"
    level = given(facts.level)
    if brief or level is None:
        return what
    first, bracket, interval = number(level, target.unit).partition(" (")
    if facts.open_level:
        return f"{what}: the rows leave open where it levels off; it may be near {first}{bracket}{interval}"
    return f"{what}: it levels off near {first}{bracket}{interval}"


def _bend(facts: Facts, axis: Axis, target: Target, when: str, *, brief: bool) -> str:
    said = f"a break of the slope {when}"
    if brief or facts.slopes_around is None:
        return said
    before, after = facts.slopes_around
    flat = LEVEL * max(abs(before.value), abs(after.value))
    now, then = (_moves(one, axis, target, flat, past=past) for one, past in ((after, False), (before, True)))
    return f"{said}: since then it {now}, before that it {then}{scale_of(target)}"


def _moves(slope: Estimate, axis: Axis, target: Target, flat: float, *, past: bool) -> str:
    """'falls by 2.0 a day (1.8 to 2.2)'; what may be of either sign, or is as good as nothing, is level."""
    relative = target.scale == "multiplicative"
    change, unit = rate(slope, axis, relative=relative)
    if not change.low * change.high > 0.0 or abs(slope.value) < flat:
        return "was about level" if past else "is about level"
    verb = {True: ("rose", "fell"), False: ("rises", "falls")}[past][int(change.value < 0.0)]
    first, bracket, interval = number(_size(change, relative=relative), "%" if relative else target.unit).partition(
        " ("
    )
    return f"{verb} by {first} {unit}{bracket}{interval}"


def _size(change: Estimate, *, relative: bool) -> Estimate:
    """A change without its sign, in per cent if it is relative."""
    found = scaled(change, (-1.0 if change.value < 0.0 else 1.0) * (100.0 if relative else 1.0))
    return Estimate(found.value, min(found.low, found.high), max(found.low, found.high))


def _shock(facts: Facts, factor: Factor, axis: Axis, target: Target, when: str, *, brief: bool) -> str:
    said, size = f"a shock {when} that heals", given(facts.jump)
    if brief or size is None:
        return said
    relative, down = target.scale == "multiplicative", size.value < 0.0
    by = number(_size(size, relative=relative), "%" if relative else target.unit)
    said += f": it {'fell' if down else 'rose'} by {by}{scale_of(target)}"
    if factor.lengthscale is not None and known(factor.lengthscale.value):
        half = length(scaled(factor.lengthscale, math.log(2.0)), axis)
        said += f", and half of that was {'recovered' if down else 'lost again'} within {half}"
    return said


def _when(factor: Factor, axis: Axis, *, brief: bool) -> str:
    """'on 6 November 2024 (4 to 8 November 2024)', 'in the week of 15 March 2020'."""
    place = given(factor.location)
    if place is None:
        return "within the data"
    axis = close_up(axis, place)
    text, interval = (moment(place.value, axis), "") if brief else moments(place, axis)
    before = preposition(axis)
    weekly = axis.kind == "days" and abs(axis.spacing - WEEK[0]) < WEEK[1] and before == "on"
    return f"{'in the week of' if weekly else before} {text}{interval}"


def levels_off(facts: Facts) -> str:
    """Where growth ends, for the opening of a report: 'Growth slows; it levels off near 49,000 (46,000 to 55,000).'"""
    level = given(facts.level)
    if level is None or not facts.slows or facts.open_level:
        return ""
    what = "The decline" if facts.monotone == "falling" else "Growth"
    ends = f" ({significant(level.low)} to {significant(level.high)})" if known(level.low) and known(level.high) else ""
    return f"{what} slows; it levels off near {significant(level.value)}{ends}."
