"""How much of the variance each input of a table and each interaction carries, in words and as bars of the report."""

from collections.abc import Mapping
from typing import Any

from farrier.explain.markup import join, text
from farrier.explain.numbers import listing, per_cent
from farrier.explain.variance_shares import Share, variance_shares
from farrier.inference.likelihoods import Gaussian
from farrier.model.result import Result

TITLE = "What carries the variance"
SMALLEST = 0.01
"""Share below which an input or an interaction is not told, by judgement."""


def variance_of(result: Result) -> dict[str, Any] | None:
    """The shares of a fitted table as text and numbers; None if there are none."""
    fitted = result.explained
    if len(result.columns) < 2 or fitted.tier == "stochastic" or not isinstance(fitted.likelihood, Gaussian):
        return None
    found = variance_shares(fitted, result.inputs)
    shares = [
        {"inputs": [result.columns[d] for d in one.inputs], "value": one.value, "low": one.low, "high": one.high}
        for one in found.shares
    ]
    told = [_said(one, result.columns) for one in found.shares if one.value >= SMALLEST]
    on = "" if found.scale == "identity" else f", on the {found.scale} scale"
    rest = f"; all other interactions carry {per_cent(found.rest)}" if found.rest >= SMALLEST else ""
    sentence = f"Of the variance of what is predicted{on}, {listing(told)}{rest}." if told else ""
    return {"shares": shares, "rest": found.rest, "scale": found.scale, "sentence": sentence}


def _said(share: Share, columns: tuple[str, ...]) -> str:
    names = [columns[d] for d in share.inputs]
    who = names[0] if len(names) == 1 else f"the interaction of {listing(names)}"
    return f"{who} carries {per_cent(share.value)} ({per_cent(share.low)} to {per_cent(share.high)})"


def section(story: Mapping[str, Any]) -> str:
    """The section of the report: a bar for each input and each interaction that carries something."""
    found = story.get("variance") or {}
    told = [one for one in found.get("shares") or [] if one["value"] >= SMALLEST]
    if not told:
        return ""
    rows = join(_row(" \N{MULTIPLICATION SIGN} ".join(one["inputs"]), one["value"], _interval(one)) for one in told)
    if found["rest"] >= SMALLEST:
        rows += _row("all other interactions", found["rest"], per_cent(found["rest"]))
    about = "Inputs count as independent of each other; the shares add up to 100\N{NO-BREAK SPACE}%."
    table = f'<div class="scroll"><table class="levels"><tbody>{rows}</tbody></table></div>'
    return f'<p>{text(found["sentence"])}</p>{table}<p class="small quiet">{about}</p>'


def _interval(one: Mapping[str, Any]) -> str:
    return f"{per_cent(one['value'])} ({per_cent(one['low'])} to {per_cent(one['high'])})"


def _row(name: str, value: float, said: str) -> str:
    bar = f'<i class="above" style="left: 0%; width: {100.0 * min(value, 1.0):.1f}%"></i>'
    return f'<tr><th scope="row">{text(name)}</th><td class="bars">{bar}</td><td>{text(said)}</td></tr>'
