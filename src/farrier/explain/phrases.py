"""The noun phrase of a component, and the clauses that modify it.

A phrase is "article, adjectives, noun, window". There are two lengths: `brief` for titles, and the full phrase with
every hyperparameter and its interval. Other facts become clauses, such as "its amplitude grows linearly", which
sentences.py joins into a second sentence. Texts here start with a small letter and end without a full stop.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from farrier.explain import calendar_words, category_words, course_words, odds, wandering
from farrier.explain.facts import Axis, Estimate, Facts, Target
from farrier.explain.interactions import POWERS, interaction, shape
from farrier.explain.numbers import (
    calendar_name,
    count,
    length,
    listing,
    moment,
    number,
    ordinal,
    rate,
    say_period,
    scaled,
    sized,
)
from farrier.explain.parts import (
    GRADUAL,
    SINE,
    Parts,
    axis_of,
    barely_periodic,
    drifting,
    given,
    of_table,
    pace,
    scale_of,
    steady,
)
from farrier.explain.windows import VERBS, brief_growth, growth, smallest, title_growth, window

NEVER = Estimate(math.inf, math.inf, math.inf)
"""A length that nobody knows."""
ROUNDING = 1e-9
"""A value below this part of the range of an input is zero, by judgement."""
DIRECTIONS = {"rising": "rise", "falling": "fall"}
"""The noun for each `Facts.monotone`."""


LARGEST_FACTOR = 1000
"""Factor above which its size says nothing but that the lowest is next to nothing. [ratio; by judgement]"""


def phrase(facts: Facts, parts: Parts, axes: Mapping[str, Axis], target: Target, *, brief: bool) -> str:
    """What the component is, as one noun phrase."""
    if parts.wordless:
        name = f"the component {facts.formula}".rstrip()
        return name if brief else f"{name}, for which there is no wording yet"
    place = window(parts, axes, brief=brief)
    if parts.categories:
        return category_words.phrase(facts, parts, axes, target, place, brief=brief)
    if parts.interaction:
        name = interaction(parts, axes, brief=brief) + place
        return name if brief else f"{name}: {_lines(facts, axes, target) or shape(parts, axes)}"
    if of_table(parts, axes) and not (parts.noise or parts.calendar) and parts.alone not in ("constant", "level"):
        return _effect(facts, parts, axes, target, place, brief=brief)
    noun = _noun(facts, parts, axes, target, brief=brief)
    if not place or parts.alone == "level":
        return noun + place
    comma = not brief or any(character.isdigit() for character in noun) or " whose " in noun
    return f"{noun}{',' if comma else ''}{place}"


def _lines(facts: Facts, axes: Mapping[str, Axis], target: Target) -> str:
    """The slopes of a linear effect of several inputs: 'month +14.4 a year (14.1 to 14.7), promo +25.1 per unit'."""
    said = []
    for column, slope in facts.plane:
        if target.scale == "odds":
            said.append(odds.along(slope, axis_of((column,), axes)))
            continue
        change, unit = rate(slope, axis_of((column,), axes), relative=target.scale == "multiplicative")
        first, bracket, interval = calendar_words.signed(change, target, interval=True).partition(" (")
        said.append(f"{column} {first} {unit.replace(f' of {column}', '')}{bracket}{interval}")
    return f"a straight line along each: {', '.join(said)}{scale_of(target)}" if said else ""


def clauses(facts: Facts, parts: Parts, axes: Mapping[str, Axis], target: Target) -> list[str]:
    """The further facts, each a clause with its own verb."""
    if parts.wordless or parts.interaction or parts.categories:
        return []
    axis = axis_of(parts.columns, axes)
    said = [] if parts.noise else _shapes(facts, parts, axis, target) + _drift(parts, axis)
    said += calendar_words.modifiers(parts)
    if parts.calendar and parts.smooth and not parts.periodic:
        said.append(f"its size changes over about {length(parts.shortest() or NEVER, axis)}")
    said += wandering.modifiers(parts) or wandering.moves(facts, axis, target)
    if parts.lines and (parts.noise or parts.periodic or parts.calendar or parts.smooth or parts.walks or parts.damped):
        subject = "spread" if parts.noise else "amplitude" if parts.periodic else "size"
        said.append(f"its {subject} {growth(facts, parts, axes)}")
    widths = [(f.width, axis_of(f.columns, axes)) for f in parts.windows if f.width is not None]
    gradual = [(w, a) for w, a in widths if math.isfinite(w) and w > max(a.spacing, GRADUAL * (a.high - a.low))]
    if gradual:
        width, along = max(gradual, key=lambda pair: pair[0])
        takes = "the change takes about" if len(parts.windows) == 1 else "the changes take up to about"
        said.append(f"{takes} {length(Estimate(width, width, width), along, brief=True)}")
    return said


def amount(size: float, target: Target, where: str = "") -> str:
    """A size of y: 'about 31 passengers', 'about 12 %', 'a factor of about 2.1'; `where` follows it."""
    relative = target.scale == "multiplicative"
    beyond = relative and size >= LARGEST_FACTOR
    said = sized(size, relative=relative, digits=2).replace("a factor of", "a factor of about")
    said = f"a factor of more than {LARGEST_FACTOR:,}" if beyond else said
    said = f"about {said}" if said[0].isdigit() or said[0] == "-" else said
    return f"{said if relative else f'{said} {target.unit}'.rstrip()}{where}{scale_of(target)}"


def periods(parts: Parts, axis: Axis, *, brief: bool) -> list[str]:
    """The known periods, in words."""
    return [say_period(period, axis, brief=brief) for f in parts.periodic if (period := given(f.period))]


def _noun(facts: Facts, parts: Parts, axes: Mapping[str, Axis], target: Target, *, brief: bool) -> str:
    """The phrase for a component of one input, without its window."""
    axis = axis_of(parts.columns, axes)
    curve = of_table(parts, axes)
    if parts.changes:
        return course_words.noun(facts, parts, axes, target, brief=brief)
    if parts.noise:
        return _noise(facts, parts, axes, target, brief=brief)
    if parts.periodic:
        return _pattern(facts, parts, axes, axis, brief=brief)
    if parts.calendar:
        noun = calendar_words.noun(facts, parts, target, brief=brief)
        return noun + title_growth(facts, parts, axes, noun) if brief else noun
    if parts.smooth:
        noun = _variation(facts, parts, axis, brief=brief, curve=curve)
        return noun + title_growth(facts, parts, axes, noun) if brief else noun
    if parts.walks or parts.damped:
        noun = wandering.level(brief=brief) if parts.walks else wandering.trend(facts, parts, axis, brief=brief)
        return noun + title_growth(facts, parts, axes, noun) if brief else noun
    if len(parts.lines) == 1:
        return _line(facts, axis, target, brief=brief)
    if parts.lines:
        direction = f"{facts.monotone} " if facts.monotone in DIRECTIONS else ""
        k = len(parts.lines)
        noun = "curve" if curve else "trend"
        if target.scale in ("multiplicative", "transformed"):
            return f"a {direction}curved {noun}"
        return f"a {direction}{POWERS[k]} {noun}" if k < len(POWERS) else f"a polynomial {noun} of degree {k}"
    if parts.windows:
        return _level(facts, parts, target, brief=brief)
    return "a constant factor" if target.scale == "multiplicative" else "a constant level"


def _noise(facts: Facts, parts: Parts, axes: Mapping[str, Axis], target: Target, *, brief: bool) -> str:
    if not brief:
        size = f" with a standard deviation of {amount(facts.sd, target)}" if math.isfinite(facts.sd) else ""
        return f"uncorrelated noise{size}"
    if not parts.lines:
        return "uncorrelated noise"
    place = smallest(facts, parts, axes, brief=True)
    return f"noise that {VERBS.get(facts.amplitude or '', f'grows away from {place}' if place else 'changes in size')}"


def _pattern(facts: Facts, parts: Parts, axes: Mapping[str, Axis], axis: Axis, *, brief: bool) -> str:
    lengths = periods(parts, axis, brief=brief)
    if len(parts.periodic) > 1:
        among = f", {listing(lengths)}" if len(lengths) == len(parts.periodic) else ""
        noun = f"a pattern with {count(len(parts.periodic))} periods{among}"
    elif barely_periodic(parts):
        noun = f"barely periodic variation, about every {lengths[0]}"
    else:
        period = next((given(factor.period) for factor in parts.periodic), None)
        name = calendar_name(period, axis) if period else "periodic"
        noun = f"{'an' if name == 'hourly' else 'a'} {f'{name} ' if name else ''}pattern"
        if brief and name:
            drifts = ["whose shape drifts"] if drifting(parts, axis) else []
            grows = [f"whose size {brief_growth(facts, parts, axes)}"] if parts.lines else []
            return " ".join([noun, *([listing(drifts + grows)] if drifts or grows else [])])
        every = "" if brief else "almost exactly" if steady(parts, axis) else "exactly"
        every = "roughly" if drifting(parts, axis) else every
        if lengths:
            noun = " ".join(f"{noun} that repeats {every} every {lengths[0]}".split())
    return noun + title_growth(facts, parts, axes, noun) if brief else noun


def _variation(facts: Facts, parts: Parts, axis: Axis, *, brief: bool, curve: bool) -> str:
    lengthscale = parts.shortest()
    speed, way = pace(lengthscale, axis), DIRECTIONS.get(facts.monotone or "", "")
    kind = "rough" if parts.rough else "smooth"
    if speed == "slow" and parts.rough:
        return f"a slow and rough {way or 'drift'}"
    if speed == "slow":
        return f"a very smooth {f'{facts.monotone} ' if way else ''}{'curve' if curve else 'trend'}"
    if lengthscale is None or speed == "unknown":
        return f"a {kind} {way}" if way else f"{kind} variation"
    way = way or ("curve" if curve else "")
    over = f"over about {length(lengthscale, axis, brief=brief)}"
    if speed == "fast":
        return f"fast{', rough' if parts.rough else ''} variation {over}"
    return f"a {kind} {way} that bends {over}" if way else f"{kind} variation {over}"


def _line(facts: Facts, axis: Axis, target: Target, *, brief: bool) -> str:
    slope, relative = given(facts.slope), target.scale == "multiplicative"
    # what is a line on another scale is none in units of y
    straight = "steady" if target.scale == "transformed" else "linear"
    until = " before the slope breaks" if facts.bent else ""
    way = facts.monotone if slope is None else "falling" if slope.value < 0 else "rising"
    if brief or slope is None:
        steady = {"rising": "steady growth", "falling": "a steady decline"}.get(way or "", "a steady trend")
        return (steady if relative else f"a {straight} {DIRECTIONS.get(way or '', 'trend')}") + until
    if target.scale == "odds":
        doubt = ", so that its direction is not certain" if slope.low < 0 < slope.high else ""
        return f"a line, {odds.along(slope, axis)}{doubt}"
    noun = f"a {straight} {DIRECTIONS[way or 'rising']}"
    if relative:
        noun = "a decline" if way == "falling" else "growth"
    change, unit = rate(slope, axis, relative=relative)
    change = scaled(change, (-1 if way == "falling" else 1) * (100 if relative else 1))
    said = number(change, "%" if relative else target.unit)
    first, bracket, interval = said.partition(" (")
    doubt = ", so that its direction is not certain" if change.low < 0 < change.high else ""
    return f"{noun} of {first} {unit}{bracket}{interval}{scale_of(target)}{until}{doubt}"


def _level(facts: Facts, parts: Parts, target: Target, *, brief: bool) -> str:
    starts = any(factor.kind == "from" for factor in parts.windows)
    ends = any(factor.kind == "until" for factor in parts.windows)
    jump = given(facts.jump)
    size = "" if brief or jump is None else calendar_words.signed(jump, target, interval=True)
    size += scale_of(target) if size else ""
    way = facts.monotone or ("" if jump is None else "rising" if jump.value > 0 else "falling")
    if starts and not ends:
        return f"a {DIRECTIONS.get(way, 'change')} of the level{f', {size},' if size else ''}"
    if ends and not starts:
        other = {"rising": "lower", "falling": "higher"}.get(way, "different")
    else:
        other = "different" if jump is None else "higher" if jump.value > 0 else "lower"
    return f"a {other} level{f', {size},' if size else ''}"


def _shapes(facts: Facts, parts: Parts, axis: Axis, target: Target) -> list[str]:
    """Clauses on the shape within each period."""
    said = []
    if barely_periodic(parts):
        return said
    if parts.periodic and facts.profile and not facts.partial:
        last = "in the last round of the data " if parts.lines or drifting(parts, axis) else ""
        return [f"{last}it is {calendar_words.extremes(facts.profile, target)}"]
    for i, factor in enumerate(parts.periodic):
        period, within = given(factor.period), given(factor.lengthscale)
        if within is None or (period is None and within.value <= SINE):
            continue
        where = "within each period" if len(parts.periodic) == 1 else f"within the {ordinal(i + 1)} period"
        if within.value > SINE or period is None:
            said.append("it is close to a sine wave" if len(parts.periodic) == 1 else f"{where} it is close to a sine")
        else:
            size = within.value * period.value / (2 * math.pi)
            said.append(f"{where} it changes over about {length(Estimate(size, size, size), axis, brief=True)}")
    return said


def _drift(parts: Parts, axis: Axis) -> list[str]:
    """Clauses on how fast the shape of a pattern changes from period to period."""
    lengthscale = parts.shortest()
    if not parts.periodic or not parts.smooth:
        return []
    if lengthscale is not None and barely_periodic(parts):
        over, plain = length(lengthscale, axis), "rough" if parts.rough else "smooth"
        return [f"each cycle is forgotten within about {over}, so that it may look like plain {plain} variation"]
    if steady(parts, axis):
        return ["its shape hardly drifts within the data"]
    if lengthscale is None or pace(lengthscale, axis) == "slow":
        return ["its shape drifts slowly over the whole of the data"]
    return [f"its shape drifts {'in a rough way ' if parts.rough else ''}over about {length(lengthscale, axis)}"]


def _effect(facts: Facts, parts: Parts, axes: Mapping[str, Axis], target: Target, place: str, *, brief: bool) -> str:
    """The phrase for a component of one input of a table."""
    alone = all(factor.columns[:1] == parts.columns for factor in parts.windows)
    name = f"the effect of {parts.columns[0] if parts.columns else 'all inputs'}{' alone' if alone else ''}"
    if facts.contrast is not None:
        return _contrast(facts.contrast, parts.columns[0], axes, target, brief=brief)
    straight = parts.alone == "line"
    way = facts.monotone or facts.overall
    if way in DIRECTIONS and (brief or not straight):
        verb = "raising" if way == "rising" else "lowering"
        said = f"{verb} {chance(target)}" if target.scale == "odds" else way
        name += f", {said} throughout" if facts.monotone else f", {said} on the whole"
    name += f",{place}" if place else ""
    if brief:
        return name
    noun = _noun(facts if straight else replace(facts, monotone=None), parts, axes, target, brief=False)
    axis = axis_of(parts.columns, axes)
    if facts.straight is not None and target.scale == "odds":
        return f"{name}: nearly a straight line, {odds.along(facts.straight, axis)}"
    if facts.straight is not None:
        change, unit = rate(facts.straight, axis, relative=target.scale == "multiplicative")
        first, bracket, interval = calendar_words.signed(change, target, interval=True).partition(" (")
        return f"{name}: nearly a straight line, {first} {unit}{bracket}{interval}{scale_of(target)}"
    if facts.turn is not None:
        looks = "U-shaped" if facts.turn.kind == "lowest" else "hump-shaped"
        noun += f", {looks}, {facts.turn.kind} near {moment(facts.turn.at, axis)}"
    return f"{name}: {noun}"


def _contrast(contrast: Estimate, column: str, axes: Mapping[str, Axis], target: Target, *, brief: bool) -> str:
    """The phrase for an input of two values: 'the effect of promo: +55 (53 to 57) where promo is 1'."""
    axis = axis_of((column,), axes)
    where = f"where {'it' if brief else column} is {axis.high:g}"
    # standardising and back leaves next to nothing of zero
    where += "" if abs(axis.low) < ROUNDING * (axis.high - axis.low) else f" beside {axis.low:g}"
    if brief and target.scale == "odds":
        return f"the effect of {column}, {'raising' if contrast.value > 0 else 'lowering'} {chance(target)} {where}"
    if brief:
        return f"the effect of {column}, {'higher' if contrast.value > 0 else 'lower'} {where}"
    said = calendar_words.signed(contrast, target, interval=True)
    doubt = ", so that its direction is not certain" if contrast.low < 0 < contrast.high else ""
    return f"the effect of {column}: {said} {where}{calendar_words.scale_of(target)}{doubt}"


def chance(target: Target) -> str:
    """'The chance of rain', 'the chance of class 1'."""
    name = target.name or "the second class"
    return f"the chance of {f'class {name}' if name.lstrip('-').replace('.', '', 1).isdigit() else name}"
