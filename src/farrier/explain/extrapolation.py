"""What a component does beyond the data, as a clause.

Lines and periodic patterns continue, random walks stay where they are, damped trends level off, smooth variation
returns to the mean, and a component whose window has ended stays at zero. The mean of a drifting cycle flattens because
its phase becomes uncertain, not because the cycle ends.
"""

from collections.abc import Mapping

from farrier.explain import category_words, course_words, interactions, wandering
from farrier.explain.facts import Axis, Facts, Target
from farrier.explain.numbers import is_time, length, listing, moment
from farrier.explain.parts import Parts, axis_of, barely_periodic, given, of_table, pace, steady
from farrier.explain.wandering import AHEAD


def course(facts: Facts, parts: Parts, axes: Mapping[str, Axis], target: Target) -> str:
    """What the component does beyond the data, as a clause."""
    axis = axis_of(parts.columns, axes)
    if parts.wordless:
        return f"what it does {AHEAD} shows in the forecast alone"
    if ended := _ended(parts, axes):
        return ended
    if parts.changes:
        return course_words.course(facts, parts)
    if parts.noise:
        grows = f"{AHEAD}, and its spread {_onward(facts, parts, axes)}" if parts.lines else f"as it is {AHEAD}"
        if not parts.lines and (parts.walks or parts.damped):
            grows = f"{AHEAD}, and its spread keeps growing"
        return f"it goes on {grows}"
    if parts.categories:
        return category_words.course(facts, parts)
    if of_table(parts, axes) and parts.columns and any(axis.timed for axis in axes.values()):
        return f"a forecast takes it from the future values of {listing(list(parts.columns))}"
    if facts.contrast is not None and not facts.profile:
        return f"it is the same wherever {axis.name} is {axis.high:g}"
    if parts.interaction:
        return interactions.course(parts)
    if parts.periodic:
        return _cycle(facts, parts, axes)
    if parts.calendar and not parts.smooth:
        grows = f", and its size {_onward(facts, parts, axes)}" if parts.lines else ""
        return f"it goes on with the calendar {AHEAD}{grows}"
    if parts.smooth:
        return _smooth(facts, parts, axis)
    if parts.walks or parts.damped:
        return wandering.course(parts)
    if parts.alone == "line":
        if facts.bent:
            return f"{AHEAD} it goes on as the break of the slope has changed it"
        if target.scale == "transformed":
            return f"it continues {AHEAD}, faster where {target.name or 'y'} is higher"
        way = "at the same rate" if target.scale == "multiplicative" else "in a straight line"
        return f"it continues {way} {AHEAD}"
    if parts.lines:
        return f"it continues {AHEAD} along the same curve, ever more steeply"
    if parts.windows and all(factor.kind == "from" for factor in parts.windows):
        return f"the new level stays {AHEAD}"
    return f"it stays as it is {AHEAD}"


def _cycle(facts: Facts, parts: Parts, axes: Mapping[str, Axis]) -> str:
    grows = f", and its amplitude {_onward(facts, parts, axes)}" if parts.lines else ""
    if barely_periodic(parts):
        return f"it is soon back at the mean {AHEAD}"
    if steady(parts, axis_of(parts.columns, axes)):
        return f"it repeats {AHEAD}, hardly changed at first{grows}"
    if parts.smooth:
        one = len(parts.periodic) == 1
        goes, cycle = ("the cycle goes on", "cycle") if one else ("the cycles go on", "cycles")
        return f"{goes} {AHEAD}{grows}; a forecast that flattens shows an unknown phase, not the end of the {cycle}"
    if parts.walks or parts.damped:
        return f"it repeats {AHEAD} as it was last, ever less certain{grows}"
    return f"it repeats {AHEAD}{grows}" if grows else f"it repeats unchanged {AHEAD}"


def _smooth(facts: Facts, parts: Parts, axis: Axis) -> str:
    speed, lengthscale = pace(parts.shortest(), axis), parts.shortest()
    grows = parts.walks or parts.damped or (parts.lines and facts.amplitude != "shrinking")
    uncertain = ", while its possible size keeps growing" if grows else ""
    if speed == "fast":
        return f"it is forgotten almost at once {AHEAD}{uncertain}"
    back = ", then back to the mean"
    if speed == "middle" and lengthscale:
        back = f" and is back at the mean within about {length(lengthscale, axis, brief=True)}"
    how = "drifts on" if parts.rough else "drifts on smoothly"
    return f"{AHEAD} it {how}{back}{uncertain}"


def _onward(facts: Facts, parts: Parts, axes: Mapping[str, Axis]) -> str:
    """What the size does beyond the data. A size that shrinks to zero grows again after that."""
    if facts.amplitude != "shrinking":
        return "keeps growing" if facts.amplitude in ("growing", "smallest inside") else "keeps changing"
    places = [(at, axis_of(line.columns, axes)) for line in parts.lines if (at := given(line.location))]
    later = [(at.value, axis) for at, axis in places if at.value > axis.high]
    if not later or len(parts.columns) > 1:
        return "keeps shrinking"
    value, axis = min(later, key=lambda place: place[0])
    where = moment(value, axis) if is_time(axis) else f"{axis.name} = {moment(value, axis)}"
    return f"keeps shrinking until {where} and grows again after that"


def _ended(parts: Parts, axes: Mapping[str, Axis]) -> str:
    """The clause for a component whose window ends within the data; empty if none does."""
    for factor in parts.windows:
        axis, place = axis_of(factor.columns, axes), given(factor.location)
        if factor.kind == "until" and place and place.value < axis.high:
            if is_time(axis):
                return "it ends before the data do, and adds nothing beyond them"
            return f"it adds nothing where {axis.name} is above {moment(place.value, axis)}"
    return ""
