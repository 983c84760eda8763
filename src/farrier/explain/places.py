"""Where a component holds, and how its size changes along an input.

A window reads "from March 1974 on", "until ..." or "where age is above 12.3 days"; a linear factor makes a size that
grows, shrinks, or is smallest where the line is zero.
"""

from collections.abc import Mapping

from farrier.explain.facts import Axis, Estimate, Facts
from farrier.explain.numbers import is_time, listing, moment, moments, ordinal, preposition
from farrier.explain.parts import Parts, axis_of, given

GROWTH = ("", "linearly", "quadratically", "cubically")
TURNS = {"growing": "grows", "shrinking": "shrinks"}


def window(parts: Parts, axes: Mapping[str, Axis], *, brief: bool) -> str:
    """Where the component holds: ' from March 1974 on', ' where age is above 12.3 days'; empty if everywhere."""
    said = ""
    for column in dict.fromkeys(factor.columns[:1] for factor in parts.windows):
        axis = axis_of(column, axes)
        here = [factor for factor in parts.windows if factor.columns[:1] == column]
        starts = [place for f in here if f.kind == "from" and (place := given(f.location))]
        ends = [place for f in here if f.kind == "until" and (place := given(f.location))]
        start = _place(max(starts, key=lambda e: e.value), axis, brief=brief) if starts else None
        end = _place(min(ends, key=lambda e: e.value), axis, brief=brief) if ends else None
        said += (" and" if said else "") + (_dates if is_time(axis) else _bounds)(start, end, axis)
    return said


def growth(facts: Facts, parts: Parts, axes: Mapping[str, Axis]) -> str:
    """How a size changes: 'grows linearly', 'is smallest in 1955 (1954 to 1956) and grows linearly from there'."""
    k = len(parts.lines)
    way = GROWTH[k] if k < len(GROWTH) else f"with the {ordinal(k)} power"
    columns = [c for line in parts.lines for c in line.columns if c not in parts.columns[:1]]
    along = f" with {listing(list(dict.fromkeys(columns)))}" if columns else ""
    if facts.amplitude in TURNS:
        return f"{TURNS[facts.amplitude]} {way}{along}"
    place = smallest(facts, parts, axes, brief=False)
    return f"is smallest {place} and grows {way} away from there" if place else f"changes {way}{along}"


def smallest(facts: Facts, parts: Parts, axes: Mapping[str, Axis], *, brief: bool) -> str:
    """Where a size is smallest within the data: 'in 1955', or only '1955' after 'away from'; empty if nowhere."""
    if facts.amplitude != "smallest inside":
        return ""
    places = [(at, axis_of(line.columns, axes)) for line in parts.lines if (at := given(line.location))]
    inside = [(at, axis) for at, axis in places if axis.low <= at.value <= axis.high]
    if brief:
        texts = [f"{'' if is_time(a) else f'{a.name} = '}{moment(at.value, a)}" for at, a in inside]
    else:
        texts = [f"{preposition(a)} {''.join(moments(at, a))}" for at, a in inside]
    return listing(list(dict.fromkeys(texts))) if texts else ""


def turn(facts: Facts, parts: Parts, axes: Mapping[str, Axis]) -> str:
    """The short form of how a size changes, for titles."""
    place = smallest(facts, parts, axes, brief=True)
    return TURNS.get(facts.amplitude or "", f"grows away from {place}" if place else "changes")


def title_growth(facts: Facts, parts: Parts, axes: Mapping[str, Axis], noun: str) -> str:
    """What a title adds about the size of a noun; after a length it must not seem to be the length that grows."""
    if not parts.lines:
        return ""
    if not any(character.isdigit() for character in noun):
        return f" whose size {turn(facts, parts, axes)}"
    place = smallest(facts, parts, axes, brief=True)
    if facts.amplitude in TURNS:
        return f", {facts.amplitude} in size"
    return f", growing away from {place}" if place else ", changing in size"


def _dates(start: tuple[str, str] | None, end: tuple[str, str] | None, axis: Axis) -> str:
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
    return (moment(location.value, axis), "") if brief else moments(location, axis)
