"""Words for the window in which a component is active, and for how its size changes along an input.

Changepoints give a window: "from March 1974 on", "until ...", "where age is above 12.3 days". A linear factor makes the
size grow, shrink, or be smallest where the line is zero.
"""

from collections.abc import Mapping

from farrier.explain.facts import Axis, Estimate, Facts
from farrier.explain.numbers import close_up, is_time, listing, moment, moments, ordinal, preposition
from farrier.explain.parts import Parts, axis_of, given

GROWTH = ("", "linearly", "quadratically", "cubically")
"""The adverb for so many linear factors."""
VERBS = {"growing": "grows", "shrinking": "shrinks"}
"""The verb for each `Facts.amplitude`."""


def window(parts: Parts, axes: Mapping[str, Axis], *, brief: bool) -> str:
    """Where the component is active: ' from March 1974 on', ' where age is above 12.3 days'; empty if everywhere."""
    said = ""
    for column in dict.fromkeys(factor.columns[:1] for factor in parts.windows):
        axis = axis_of(column, axes)
        here = [factor for factor in parts.windows if factor.columns[:1] == column]
        starts = [place for f in here if f.kind == "from" and (place := given(f.location))]
        ends = [place for f in here if f.kind == "until" and (place := given(f.location))]
        start = _place(max(starts, key=lambda e: e.value), axis, brief=brief) if starts else None
        end = _place(min(ends, key=lambda e: e.value), axis, brief=brief) if ends else None
        said += (" and" if said else "") + (_dates(start, end) if is_time(axis) else _bounds(start, end, axis))
    return said


def growth(facts: Facts, parts: Parts, axes: Mapping[str, Axis]) -> str:
    """How the size changes: 'grows linearly', 'is smallest in 1955 (1954 to 1956) and grows linearly from there'."""
    k = len(parts.lines)
    way = GROWTH[k] if k < len(GROWTH) else f"with the {ordinal(k)} power"
    columns = [c for line in parts.lines for c in line.columns if c not in parts.columns[:1]]
    along = f" with {listing(list(dict.fromkeys(columns)))}" if columns else ""
    if facts.amplitude in VERBS:
        return f"{VERBS[facts.amplitude]} {way}{along}"
    place = smallest(facts, parts, axes, brief=False)
    return f"is smallest {place} and grows {way} away from there" if place else f"changes {way}{along}"


def smallest(facts: Facts, parts: Parts, axes: Mapping[str, Axis], *, brief: bool) -> str:
    """Where the size is smallest within the data: 'in 1955', or '1955' if brief; empty if nowhere."""
    if facts.amplitude != "smallest inside":
        return ""
    places = [(at, axis_of(line.columns, axes)) for line in parts.lines if (at := given(line.location))]
    inside = [(at, axis) for at, axis in places if axis.low <= at.value <= axis.high]
    if brief:
        texts = [f"{'' if is_time(a) else f'{a.name} = '}{moment(at.value, a)}" for at, a in inside]
    else:
        texts = [f"{preposition(a)} {''.join(moments(at, a))}" for at, a in inside]
    return listing(list(dict.fromkeys(texts))) if texts else ""


def brief_growth(facts: Facts, parts: Parts, axes: Mapping[str, Axis]) -> str:
    """How the size changes in a word or two, for titles."""
    place = smallest(facts, parts, axes, brief=True)
    return VERBS.get(facts.amplitude or "", f"grows away from {place}" if place else "changes")


def title_growth(facts: Facts, parts: Parts, axes: Mapping[str, Axis], noun: str) -> str:
    """What a title says about the size. After a number it names the size, so that the number does not seem to grow."""
    if not parts.lines:
        return ""
    if not any(character.isdigit() for character in noun):
        return f" whose size {brief_growth(facts, parts, axes)}"
    place = smallest(facts, parts, axes, brief=True)
    if facts.amplitude in VERBS:
        return f", {facts.amplitude} in size"
    return f", growing away from {place}" if place else ", changing in size"


def _dates(start: tuple[str, str] | None, end: tuple[str, str] | None) -> str:
    if start and end:
        return f" from {''.join(start)} until {''.join(end)}"
    if start:
        return f" from {start[0]} on{start[1]}"
    return f" until {''.join(end)}" if end else " in a part of the data"


def _bounds(start: tuple[str, str] | None, end: tuple[str, str] | None, axis: Axis) -> str:
    if start and end:
        return f" where {axis.name} lies between {''.join(start)} and {''.join(end)}"
    if start or end:
        return f" where {axis.name} is {'above' if start else 'below'} {''.join(start or end or ())}"
    return f" for a part of the values of {axis.name}"


def _place(location: Estimate, axis: Axis, *, brief: bool) -> tuple[str, str]:
    axis = close_up(axis, location)
    return (moment(location.value, axis), "") if brief else moments(location, axis)
