"""The levels of a category in the report: a table with a bar and an interval for each, highest first."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from farrier.explain.calendar_words import signed
from farrier.explain.facts import Estimate, Target
from farrier.explain.markup import foldout, join, text

SHOWN = 24
"""Most levels with a bar: of more, the highest and the lowest. By judgement."""


def bars(story: Mapping[str, Any], part: Mapping[str, Any]) -> str:
    """The bars of a component's levels, and of many levels a table of all."""
    levels = part.get("profile") or []
    far = max((abs(level["value"]) for level in levels), default=0.0)
    if not far:
        return ""
    target = story.get("target") or {}
    y = Target(str(target.get("name") or ""), str(target.get("unit") or ""), str(target.get("scale") or "additive"))
    shown = levels if len(levels) <= SHOWN else [*levels[: SHOWN // 2], *levels[-(SHOWN // 2) :]]
    rows = join(_row(level, far, y) for level in shown)
    table = f'<div class="scroll"><table class="levels"><tbody>{rows}</tbody></table></div>'
    return table if len(shown) == len(levels) else table + _all(levels, y)


def _row(level: Mapping[str, Any], far: float, y: Target) -> str:
    """A bar to the right of the middle for what is above the mean, to the left for what is below."""
    part = 50.0 * abs(level["value"]) / far
    above = level["value"] >= 0.0
    style = f"left: {50.0 if above else 50.0 - part:.1f}%; width: {part:.1f}%"
    bar = f'<i class="{"above" if above else "below"}" style="{style}"></i>'
    # an interval stays on one line
    said = re.sub(r"\(.*\)", lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text(_said(level, y)))
    return f'<tr><th scope="row">{text(level["name"])}</th><td class="bars">{bar}</td><td>{said}</td></tr>'


def _all(levels: Sequence[Mapping[str, Any]], y: Target) -> str:
    cells = [(text(level["name"]), text(_said(level, y))) for level in levels]
    return foldout(f"All {len(levels)} levels", ("Level", "Effect, 95 % interval"), cells, words=1)


def _said(level: Mapping[str, Any], y: Target) -> str:
    return signed(Estimate(level["value"], level["low"], level["high"]), y, interval=True)
