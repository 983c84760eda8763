"""Words for categories: which levels are high and low, and by how much.

    the effect of city: Munich +150 (120 to 180), Berlin -50 (-70 to -30), beside the mean
    the effect of garden: True +12 (5 to 19) beside False
    an effect of size that differs between the levels of city: steepest for Munich (+0.4 (0.2 to 0.6) a unit of size)

The levels with their intervals are in `Facts.profile`, slopes of levels in `Facts.slopes`.
"""

from collections.abc import Mapping, Sequence

from farrier.explain.calendar_words import signed
from farrier.explain.facts import Axis, Estimate, Facts, Level, Target
from farrier.explain.interactions import by_column
from farrier.explain.numbers import count, known, listing
from farrier.explain.parts import Parts, scale_of

TOLD = 5
"""Most levels that a sentence names; of more, the highest and the lowest. By judgement."""


def phrase(facts: Facts, parts: Parts, axes: Mapping[str, Axis], target: Target, place: str, *, brief: bool) -> str:
    """What a component with a category is."""
    categories = list(dict.fromkeys(factor.columns[0] for factor in parts.categories))
    others = [column for column in parts.columns if column not in categories]
    if others:
        return _differing(facts, parts, axes, target, categories, others, brief=brief) + place
    if len(categories) > 1:
        name = f"an interaction of {listing(categories)}{place}"
        return name if brief else f"{name}: one effect for each combination of levels"
    if _is_flag(facts) and facts.contrast is not None:
        return _empty(facts.contrast, categories[0], target, brief=brief)
    name = f"the effect of {categories[0]}{place}"
    levels = [level for level in facts.profile if known(level.value.value)]
    if brief or not levels:
        return name
    return f"{name}: {_effects(facts, levels, target)}"


def course(facts: Facts, parts: Parts) -> str:
    """What it does for a level that is not among the rows."""
    if _is_flag(facts):
        return "it is the same wherever the cell is empty"
    categories = list(dict.fromkeys(factor.columns[0] for factor in parts.categories))
    return f"for a level of {listing(categories)} that is not among the rows it adds the mean, with a wide interval"


def _is_flag(facts: Facts) -> bool:
    """Whether it is the effect of empty cells: one level, beside the rows without it."""
    return len(facts.profile) == 1 and facts.contrast is not None


def _empty(contrast: Estimate, column: str, target: Target, *, brief: bool) -> str:
    """Rows whose cell is empty, beside those whose cell is not; the input is called 'age missing'."""
    name = f"the effect of {column}"
    if brief:
        return name
    said = signed(contrast, target, interval=True)
    return f"{name}: {said} beside the mean of the rows that have it{scale_of(target)}"


def _effects(facts: Facts, levels: Sequence[Level], target: Target) -> str:
    """The effects of the levels, highest first; of two, the difference."""
    if len(levels) == 2 and facts.contrast is not None:
        first, second = sorted(level.name for level in levels)
        said = signed(facts.contrast, target, interval=True)
        return f"{second} {said} beside {first}{scale_of(target)}"
    shown = levels if len(levels) <= TOLD else [*levels[: TOLD // 2], *levels[-(TOLD // 2) :]]
    said = ", ".join(f"{level.name} {signed(level.value, target, interval=True)}" for level in shown)
    between = f", {count(len(levels) - len(shown))} others between them" if len(shown) < len(levels) else ""
    return f"{said}{between}, beside the mean{scale_of(target)}"


def _differing(
    facts: Facts,
    parts: Parts,
    axes: Mapping[str, Axis],
    target: Target,
    categories: Sequence[str],
    others: list[str],
    *,
    brief: bool,
) -> str:
    """An effect of numbers that differs between levels."""
    name = f"an effect of {listing(others)} that differs between the levels of {listing(list(categories))}"
    if brief:
        return name
    slopes = [level for level in facts.slopes if known(level.value.value)]
    if slopes and len(others) == 1:
        high, low = (
            f"{level.name} ({signed(level.value, target, interval=True)} a unit of {others[0]})"
            for level in (slopes[0], slopes[-1])
        )
        beside = f"beside the mean slope{scale_of(target)}"
        return f"{name}: a line for each, rising most for {high} and least for {low}, {beside}"
    return f"{name}: for each level a curve of its own, {' and '.join(by_column(parts, axes))}"
