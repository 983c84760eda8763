"""Words for patterns of the calendar: when they are high and low, and by how much.

    a weekly pattern: lowest on Sundays (-30), highest on Fridays (+12)
    a weekly pattern: lowest on Sundays (-12), mostly about +2.1 otherwise
    lower weekends: -42 (-44 to -40) beside working days
    holidays: Christmas Day +120 (95 to 145), Easter Monday -30 (-41 to -19)

The levels with their intervals are in `Facts.profile`.
"""

from collections.abc import Sequence

from farrier.explain import odds
from farrier.explain.facts import Estimate, Facts, Level, Round, Target
from farrier.explain.numbers import count, known, listing, number, ordinal, scaled, significant
from farrier.explain.parts import Parts, scale_of

NOUNS = {
    "weekday": "a weekly pattern",
    "month": "a yearly pattern, month by month",
    "monthday": "a pattern of the days of the month",
    "holiday": "holidays",
}
"""What a pattern is, where that does not depend on its levels."""
ALIKE = 0.01
"""Levels of a round closer than this part of its range are alike. [ratio; by judgement]"""
TOGETHER = {
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"): "on working days",
    ("Saturday", "Sunday"): "at weekends",
}
"""What days of the week that are alike are called."""
FEWEST = 5
"""Fewest levels of which most may be alike, by judgement."""
TOLD = 4
"""Most events that a sentence names, by judgement."""


def noun(facts: Facts, parts: Parts, target: Target, *, brief: bool) -> str:
    """What the pattern is; in full also its levels."""
    kind = parts.calendar[0].kind
    if kind in ("weekend", "monthend"):
        return _contrast(facts, kind, target, brief=brief)
    levels = [level for level in facts.profile if known(level.value.value)]
    single = kind == "holiday" and len(levels) == 1
    name = levels[0].name if single else NOUNS[kind]
    if brief or not levels:
        return name
    if kind == "holiday":
        return f"{name}: {signed(levels[0].value, target, interval=True) if single else _events(levels, target)}"
    low, high = (choose(levels, key=lambda level: level.value.value) for choose in (min, max))
    low_text, high_text = (f"{_on(kind, one.name)} ({signed(one.value, target)})" for one in (low, high))
    usual = _usual(levels, low, high, target)
    if usual is not None:
        end = f"lowest {low_text}" if usual[0] is high else f"highest {high_text}"
        return f"{name}: {end}, {usual[1]}{scale_of(target)}"
    return f"{name}: lowest {low_text}, highest {high_text}{scale_of(target)}"


def modifiers(parts: Parts) -> list[str]:
    """What a pattern adds where a cycle is the noun: its shape differs between kinds of days."""
    if not parts.calendar or not parts.periodic:
        return []
    between = {
        "weekday": "from one day of the week to the next",
        "weekend": "between working days and days off",
        "month": "from month to month",
        "monthday": "with the day of the month",
        "monthend": "at the ends of months",
        "holiday": "on holidays",
    }
    return [f"its shape differs {listing([between[factor.kind] for factor in parts.calendar])}"]


def extremes(profile: Sequence[Level], target: Target) -> str:
    """Where one round of the calendar is highest and lowest: 'highest in July (+23 %), lowest in November (-18 %)'."""
    low, high = (choose(profile, key=lambda level: level.value.value) for choose in (min, max))
    alike = ALIKE * (high.value.value - low.value.value)
    said, known_as = [], []
    for one in (high, low):
        same = tuple(level.name for level in profile if abs(level.value.value - one.value.value) <= alike)
        known_as.append(TOGETHER.get(same))
        said.append(f"{known_as[-1] or _when(one.name)} ({signed(one.value, target)})")
    ends = [f"highest {said[0]}", f"lowest {said[1]}"]
    usual = None if any(known_as) else _usual(profile, low, high, target)
    if usual is not None:
        ends = [ends[1 if usual[0] is high else 0], usual[1]]
    return f"{', '.join(ends)}{scale_of(target)}"


def _usual(levels: Sequence[Level], low: Level, high: Level, target: Target) -> tuple[Level, str] | None:
    """The end from which most levels cannot be told apart, and what they are about; None if there is no such end.

    Of days that are all alike but one, the highest is so by chance: it has no name. There is no such end where another
    level, too, is nearer to the one that differs than to the usual ones.
    """
    near = {
        id(end): [one.value.value for one in levels if end.value.low <= one.value.value <= end.value.high]
        for end in (low, high)
    }
    blunt = [end for end in (low, high) if 2 * (len(near[id(end)]) - 1) >= len(levels)]
    if len(blunt) != 1 or len(levels) < FEWEST:
        return None
    values = near[id(blunt[0])]
    mean = sum(values) / len(values)
    sharp = high if blunt[0] is low else low
    nearer = [one for one in levels if abs(one.value.value - sharp.value.value) < abs(one.value.value - mean)]
    if nearer != [sharp]:
        return None
    return blunt[0], f"mostly about {signed(Estimate(mean, mean, mean), target)} otherwise"


def together(found: Round, target: Target) -> str:
    """One sentence on all patterns of a round."""
    n = len(found.components)
    who = f"Together the {count(n)} {found.name} patterns are" if n > 1 else f"The {found.name} pattern is"
    return f"{who} {extremes(found.profile, target)}."


def _when(name: str) -> str:
    return f"at {name}" if ":" in name else f"on {name}s" if name.endswith("day") else f"in {name}"


def signed(estimate: Estimate, target: Target, *, interval: bool = False) -> str:
    """A level with its sign: '+12', '-3.1 %', '+120 (95 to 145)'; on a chance 'odds times 2.1'."""
    if target.scale == "odds":
        return odds.times(estimate, interval=interval)
    relative = target.scale == "multiplicative"
    found = scaled(estimate, 100.0) if relative else estimate
    unit = "%" if relative else target.unit
    said = number(found, unit) if interval else f"{significant(found.value, 2)} {unit}".rstrip()
    return f"{'+' if found.value > 0 and not said.startswith('-') else ''}{said}"


def _contrast(facts: Facts, kind: str, target: Target, *, brief: bool) -> str:
    """'Lower weekends: -42 (-44 to -40) beside working days'."""
    difference, names = facts.contrast, [level.name for level in facts.profile]
    what = "weekends" if kind == "weekend" else "month ends"
    if difference is None or not known(difference.value) or not names:
        return f"a pattern of {what}"
    noun = f"{'lower' if difference.value < 0 else 'higher'} {names[-1] if kind == 'weekend' else what}"
    if brief:
        return noun
    said = f"{signed(difference, target, interval=True)}{scale_of(target)}"
    return f"{noun}: {said} {'beside' if kind == 'weekend' else 'on'} {names[0]}"


def _events(levels: list[Level], target: Target) -> str:
    """The largest events whose sign is certain, and how many others there are."""
    certain = [level for level in levels if level.value.low > 0 or level.value.high < 0] or levels
    largest = sorted(certain, key=lambda level: -abs(level.value.value))[:TOLD]
    said = ", ".join(f"{level.name} {signed(level.value, target, interval=True)}" for level in largest)
    others = len(levels) - len(largest)
    more = "" if not others else ", and one other" if others == 1 else f", and {others} others"
    return f"{said}{scale_of(target)}{more}"


def _on(kind: str, name: str) -> str:
    if kind == "month":
        return f"in {name}"
    return f"on the {_day(int(name))}" if kind == "monthday" else f"on {name}s"


def _day(day: int) -> str:
    """The day of a month as people write it: 1st, 2nd, 31st."""
    said = ordinal(day)
    if said[0].isdigit():
        return said
    return f"{day}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(day, 'th') }"
