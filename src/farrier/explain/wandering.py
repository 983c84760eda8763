"""Words for random walks and damped trends: what they are, what they add to other factors, and where they go.

A walk is told by its typical move over a unit of time, a damped trend by the part of its growth that fades over one.
The unit is that of the spacing of the rows, or a longer one where next to nothing fades in it.
"""

import math

from farrier.explain.facts import Axis, Estimate, Facts, Target
from farrier.explain.numbers import FACTOR, MOST_LOG, known, number, per_cent, scaled, significant, units_from_spacing
from farrier.explain.parts import Parts, given, scale_of

AHEAD = "beyond the data"
"""The words for the times after the last row."""
NOUNS = {"rising": "growth", "falling": "a decline"}
"""The noun for each direction of a trend."""
LEAST_FADE = 0.01
"""A longer unit is taken where growth fades by less than this in the first one. [part of itself; by judgement]"""
TOLD_FADE = (0.001, 0.99)
"""Parts that fade in one unit, between which they are told with their interval. [part of itself; by judgement]"""


def level(*, brief: bool) -> str:
    """The noun of a random walk."""
    return "a wandering level" if brief else "a level that wanders"


def trend(facts: Facts, parts: Parts, axis: Axis, *, brief: bool) -> str:
    """The noun of a damped trend: 'growth that fades by 12 % a month (8 to 15)'."""
    way = facts.monotone or facts.overall
    noun = f"{NOUNS.get(way or '', 'a trend')} that fades"
    if brief:
        return noun
    end = f", {facts.heading} at the end of the data" if facts.heading in NOUNS and facts.heading != way else ""
    return f"{noun}{_fades(parts, axis)}{end}"


def moves(facts: Facts, axis: Axis, target: Target) -> list[str]:
    """How far a walk goes in one unit: 'it typically moves by about 3.2 thousand a month (2.8 to 3.7)'."""
    move = given(facts.move)
    if move is None or move.value <= 0:
        return []
    unit, size = units_from_spacing(axis)[0]
    # what is independent adds up in its variance
    root, relative = math.sqrt(size), target.scale == "multiplicative"
    if not relative:
        return [_moved(number(scaled(move, root), target.unit, 2), unit, target)]
    logs = [root * math.log1p(max(end, 0.0)) if known(end) else math.nan for end in (move.value, move.low, move.high)]
    if not logs[0] < MOST_LOG:
        return []
    over = Estimate(*(math.expm1(log) if log < MOST_LOG else math.nan for log in logs))
    if over.value >= FACTOR:
        return [f"it typically moves by a factor of about {significant(1 + over.value, 2)} {unit}"]
    return [_moved(number(scaled(over, 100.0), "%", 2), unit, target)]


def modifiers(parts: Parts) -> list[str]:
    """What a walk or a damped trend adds where another factor is the noun."""
    if parts.noise:
        return ["its spread keeps growing"] if parts.walks or parts.damped else []
    subject, other = "its shape" if parts.periodic else "its size", bool(parts.periodic or parts.smooth)
    said = [f"{subject} wanders"] if parts.walks and other else []
    return said + ([f"{subject} changes at a pace that fades"] if parts.damped and (other or parts.walks) else [])


def course(parts: Parts) -> str:
    """Where a walk or a damped trend goes."""
    if parts.lines:
        return f"{AHEAD} it goes on along a {'line' if parts.walks else 'curve'}, ever less certain"
    if parts.walks:
        return f"{AHEAD} it stays at its last value, ever less certain"
    return f"{AHEAD} it goes on, ever more slowly, and levels off"


def _moved(said: str, unit: str, target: Target) -> str:
    first, bracket, interval = said.partition(" (")
    return f"it typically moves by about {first} {unit}{bracket}{interval}{scale_of(target)}"


def _fades(parts: Parts, axis: Axis) -> str:
    """' by 12 % a month (8 to 15)'; empty if nobody knows."""
    found = [p for factor in parts.damped if (p := given(factor.damping)) and p.value > 0]
    if not found:
        return ""
    damping, units = max(found, key=lambda p: p.value), units_from_spacing(axis)
    fades = [(_over(damping, size), unit) for unit, size in units]
    fade, unit = next((one for one in fades if one[0].value >= LEAST_FADE), fades[-1])
    if not TOLD_FADE[0] <= fade.value <= TOLD_FADE[1]:
        return f" by {per_cent(min(fade.value, 0.9999))} {unit}"
    first, bracket, interval = number(scaled(fade, 100.0), "%", 2).partition(" (")
    return f" by {first} {unit}{bracket}{interval}"


def _over(damping: Estimate, size: float) -> Estimate:
    """The part of the growth that fades over a distance."""
    return Estimate(*(-math.expm1(-max(p, 0.0) * size) for p in (damping.value, damping.low, damping.high)))
