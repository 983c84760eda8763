"""The story of a fit as one HTML file that needs nothing but a browser.

`html` turns a story, one plain dictionary, into a page. `write` writes the page to a file in one step. This file makes
all words and tables, so the page can be read without scripts. The browser draws the charts from the story, which is in
the page as JSON: charts.js draws a chart, pointing.js handles the pointer and the keyboard, report.js chooses the chart
of each figure. The page loads nothing: its content security policy forbids it and lets only these scripts run. All text
of the story is escaped. Numbers that are not finite are null in the JSON and a dash on the page.
"""

import base64
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from numbers import Integral, Real
from pathlib import Path
from string import Template
from typing import Any

from farrier.data.writing import write_whole
from farrier.explain import report_backtest, report_figures, report_repeat, variance
from farrier.explain.facts import Axis, Estimate
from farrier.explain.markup import DASH, estimate, foldout, join, number, prose, share, tenths, text
from farrier.explain.numbers import capital, say_period, sized
from farrier.explain.report_opening import UNTITLED, opening

Story = Mapping[str, Any]

SCRIPTS = ("charts.js", "pointing.js", "report.js")
VERDICTS = {
    "good": ("✓", "Fine", "fine"),
    "doubtful": ("?", "Doubtful", "doubtful"),
    "bad": ("!", "A problem", "with a problem"),
    "none": (DASH, "No verdict", "without a verdict"),
}
"""For each verdict: its sign, the words beside the sign, the words after a count."""
PRINTING = '<label class="printing"><input type="checkbox" id="print-all"> print every section</label>'
"""A page alone is printed unless this is ticked; report.css hides the rest."""
MEANINGS = (
    ("Share", "the part of all variation that it carries. Components overlap, so shares need not add up to 100 %."),
    ("Together", "the part that this row and the rows above it explain between them."),
    ("Error", "the typical error on data left out of the fit, before and after it is added, from the top down."),
    ("Evidence", "what the model loses when it is taken out, in nats: above 3 it is clearly needed, near 0 it is not."),
    ("Weight", "how strongly the model turns it on, with a 95 % interval. Candidates nobody needs are pulled to 0."),
)


def write(story: Story, path: str | os.PathLike[str]) -> Path:
    """Write the page to `path` in one step; if writing fails, the old file stays."""
    return write_whole(path, html(story))


def html(story: Story) -> str:
    """The page as text."""
    story = plain(story, "story")
    sections = [
        ("numbers", "The components in numbers", _table(story) + _fitted(story)),
        ("components", "One component at a time", join(_component(story, i, part) for i, part in _parts(story))),
        ("variance", variance.TITLE, variance.section(story)),
        ("past", report_backtest.TITLE, report_backtest.section(story)),
        ("ahead", _ahead_title(story), _ahead(story)),
        ("columns", "The columns", _columns(story.get("columns") or [])),
        ("outliers", "Outliers", _outliers(story.get("outliers") or [])),
        ("checks", "Checks", _checks(story)),
        ("weights", "Weights before and after shrinkage", _weights(story.get("weights") or [])),
        ("record", "What was tried", _record(story.get("record") or [])),
        ("repeat", "How to repeat it", report_repeat.section(story.get("repeat") or {})),
    ]
    sections = [section for section in sections if section[-1]]
    links = join(
        f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in [("summary", "Summary", ""), *sections]
    )
    script = join(_asset(name) for name in SCRIPTS)
    return Template(_asset("report.html")).substitute(
        title=text(story.get("title") or UNTITLED),
        style=_asset("report.css"),
        overview=opening(story),
        contents=f'<nav class="contents" aria-label="Contents"><ul>{links}</ul>{PRINTING}</nav>',
        sections=join(f'<section id="{name}"><h2>{title}</h2>\n{body}</section>\n' for name, title, body in sections),
        # a "<" could end the script element
        story=json.dumps(story, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        script=script,
        script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _table(story: Story) -> str:
    """All components in one table; row 0 is the mean without components."""
    parts = _parts(story)
    if not parts:
        return "<p>No component was found: the mean alone describes these data as well as anything that was tried.</p>"
    heads = ("Share", "Together", "Error before", "Error after", "Evidence", "Weight")
    nothing = "0\N{NO-BREAK SPACE}%"
    error = _error(story)
    rows = [("0. The mean alone", (nothing, nothing, DASH, error(parts[0][1].get("error_before")), DASH, DASH))]
    for i, part in parts:
        cells = (
            share(part.get("share")),
            share(part.get("cumulative")),
            error(part.get("error_before")),
            error(part.get("error_after")),
            tenths(part.get("evidence")),
            estimate(part.get("weight")),
        )
        rows.append((f'{i}. <a href="#component-{i}">{text(part.get("title"))}</a>', cells))
    body = join(
        f'<tr><th scope="row">{name}</th>'
        + join(f'<td data-label="{head}">{cell}</td>' for head, cell in zip(heads, cells, strict=True))
        + "</tr>"
        for name, cells in rows
    )
    top = join(f'<th scope="col">{head}</th>' for head in heads)
    meanings = join(f"<dt>{word}</dt><dd>{meaning}</dd>" for word, meaning in MEANINGS)
    return (
        '<div class="scroll"><table class="cards"><thead><tr><th scope="col" class="words">Component</th>'
        f'{top}</tr></thead><tbody>{body}</tbody></table></div><dl class="meaning">{meanings}</dl>'
    )


def _fitted(story: Story) -> str:
    """Observed against fitted values; a series has its chart in the opening."""
    return "" if story.get("kind") == "series" else report_figures.main(story)


def _component(story: Story, i: int, part: Story) -> str:
    errors = [part.get(key) for key in ("error_before", "error_after")]
    facts = [
        ("Share", share(part.get("share"))),
        ("Together", share(part.get("cumulative"))),
        ("Low to high", _size(story.get("target") or {}, part.get("swing", part.get("sd")))),
        ("Period", _period(story, part.get("period"))),
        ("Error", " → ".join(map(_error(story), errors)) if None not in errors else ""),
        ("Evidence", tenths(part.get("evidence")) if part.get("evidence") is not None else ""),
        ("Weight", estimate(part.get("weight")) if part.get("weight") else ""),
    ]
    listed = join(f"<div><dt>{name}</dt><dd>{fact}</dd></div>" for name, fact in facts if fact)
    written = " = ".join(f"<code>{text(part[key])}</code>" for key in ("formula", "kernel") if part.get(key))
    return join(
        [
            f'<article class="component" id="component-{i}"><h3>{i}. {text(part.get("title"))}</h3>',
            f"<p>{text(part.get('sentence'))}</p>",
            f'<p class="flag"><b>Caution.</b> {text(part["flag"])}</p>' if part.get("flag") else "",
            f'<dl class="facts">{listed}</dl>',
            report_figures.profile(story, part),
            report_figures.component(story, i, part),
            f'<p class="kernel">For specialists: {written}</p>' if written else "",
            "</article>\n",
        ]
    )


def _error(story: Story) -> Callable[[float | None], str]:
    """The function that formats errors as sentences do."""
    relative = (story.get("target") or {}).get("scale") == "multiplicative"
    return lambda error: DASH if error is None else prose(sized(error, relative=relative))


def _size(target: Story, swing: float | None) -> str:
    """The distance from low to high, as sentences say it."""
    if swing is None:
        return DASH
    scale = target.get("scale")
    if scale == "multiplicative":
        return prose(sized(swing, relative=True))
    note = "of the score" if scale == "odds" else target.get("unit")
    return f"{number(swing, 2)}<small>{text(note)}</small>"


def _period(story: Story, period: Story | None) -> str:
    said = [value for key in ("value", "low", "high") if (value := (period or {}).get(key)) is not None]
    if len(said) < 3:
        return ""
    known = {key: value for key, value in (story.get("axes") or [{}])[0].items() if value is not None}
    axis = Axis(**({"name": "x", "low": 0.0, "high": 0.0} | known))
    value, _, interval = say_period(Estimate(*said), axis).partition(" (")
    return f"{text(value)}<small>{text(interval.rstrip(')'))}</small>"


def _ahead_title(story: Story) -> str:
    if story.get("kind") != "series":
        return "What it assumes beyond the data"
    future = (story.get("series") or {}).get("future") or {}
    return "What the forecast assumes" if future.get("x") else "What a forecast would assume"


def _ahead(story: Story) -> str:
    rows = join(
        f'<li value="{i}"><b>{text(part.get("title"))}</b>{text(part["future_sentence"])}</li>'
        for i, part in _parts(story)
        if part.get("future_sentence")
    )
    lead = "Each component goes on in its own way. If you know better about one of them, do not trust the sum."
    notes = join(f"<p>{text(note)}</p>" for note in story.get("notes") or [])
    return (f'<p>{lead}</p><ol class="assumptions">{rows}</ol>' if rows else "") + _structures(story) + notes


def _structures(story: Story) -> str:
    """The structures that share the forecast as a table; empty if there is only one."""
    found = story.get("structures") or []
    if len(found) < 2:
        return ""
    lead = "Several structures explain the rows about as well. Each has its share in the forecast, by its evidence."
    rows = [
        (
            f"<code>{text(one.get('formula'))}</code>" + (" (explained here)" if one.get("explains") else ""),
            text(one.get("scale")),
            share(one.get("share")),
            number(one.get("end")),
        )
        for one in found
    ]
    heads = ("Structure", "Scale", "Share", "Last step")
    return f"<p>{lead}</p>{foldout(f'The {len(found)} structures that share the forecast', heads, rows, words=2)}"


def _checks(story: Story) -> str:
    checks = story.get("checks") or []
    if not checks:
        return "<p>No checks were made, so nothing here says whether what is left over is chance.</p>"
    verdicts = [check["verdict"] if check.get("verdict") in VERDICTS else "none" for check in checks]
    counts = [(verdicts.count(key), words) for key, (_, _, words) in VERDICTS.items()]
    tally = ", ".join(f"{count} {word}" for count, word in counts if count)
    tests = sum(1 for check in checks if check.get("p") is not None)
    corrected = f"p corrected for {tests} checks" if tests > 1 else "p corrected"
    cards = []
    for i, (check, verdict) in enumerate(zip(checks, verdicts, strict=True)):
        name, (sign, word, _) = capital(str(check.get("name") or "check")), VERDICTS[verdict]
        numbers = (("statistic", check.get("statistic")), ("p", check.get("p")), (corrected, check.get("p_corrected")))
        small = " · ".join(f"{key} {number(value, 2)}" for key, value in numbers if value is not None)
        cards.append(
            f'<article class="check"><h3>{text(name)}</h3><p class="verdict {verdict}">{sign} {word}</p>'
            f"<p>{text(check.get('sentence'))}</p>{report_figures.check(story, i)}"
            f'<p class="small quiet">{small}</p></article>'
        )
    lead = (
        "If the explanation is complete, what it leaves over is pure chance. Each check looks for one way in which it"
    )
    return f'<p>{lead} is not. Of {len(checks)}: {tally}.</p><div class="checks">{join(cards)}</div>'


def _outliers(rows: list[Story]) -> str:
    if not rows:
        return ""
    lead = (
        "Rows that are far from what all other rows make expected, in units of the target and in standard deviations."
    )
    cells = [
        (text(row.get("label")), number(row.get("value")), number(row.get("expected")), tenths(row.get("sds")))
        for row in rows
    ]
    many = f"All {len(rows)} outliers" if len(rows) > 1 else "The one outlier"
    heads = ("Row", "Value", "Expected", "Standard deviations")
    return f"<p>{lead}</p>{foldout(many, heads, cells, words=1)}"


def _columns(rows: list[Story]) -> str:
    if not rows:
        return ""
    body = join(
        f'<tr><th scope="row" class="words">{text(row.get("name"))}</th><td class="words">{text(row.get("role"))}</td>'
        f'<td class="words">{text(row.get("note"))}</td></tr>'
        for row in rows
    )
    heads = join(f'<th scope="col" class="words">{head}</th>' for head in ("Column", "Used as", "Note"))
    return (
        "<p>What was done with each column of the table.</p>"
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _weights(rows: list[Story]) -> str:
    if not rows:
        return ""
    kept = sum(1 for row in rows if row.get("kept"))
    lead = (
        f"{len(rows)} candidates took part. The fit pulls each weight towards zero unless the data hold it up; "
        f"{kept} stayed in the explanation. A weight alone does not say how much a component matters: "
        "what it adds does, and that is the share in the table above."
    )
    cells = [
        (
            f"<code>{text(row.get('formula'))}</code>",
            number(row.get("before")),
            number(row.get("after")),
            f"{number(row.get('low'))} to {number(row.get('high'))}",
            "yes" if row.get("kept") else "no",
        )
        for row in rows
    ]
    table = foldout("The weights as a table", ("Formula", "Before", "After", "95 % interval", "Kept"), cells, words=1)
    return f"<p>{lead}</p>{report_figures.weights(rows)}{table}"


def _record(rows: list[Story]) -> str:
    if not rows:
        return ""
    lead = "The way from what predicts to what explains: what was tried, and why; the gain is in nats of evidence."
    cells = [
        (
            number(row.get("round")),
            text(row.get("action")),
            f"<code>{text(row.get('formula'))}</code>",
            text(row.get("reason")),
            tenths(row.get("gain")),
        )
        for row in rows
    ]
    many = f"All {len(rows)} steps" if len(rows) > 1 else "The one step"
    return f"<p>{lead}</p>{foldout(many, ('Round', 'Action', 'Formula', 'Reason', 'Gain'), cells, words=4)}"


def _parts(story: Story) -> list[tuple[int, Story]]:
    return list(enumerate(story.get("components") or [], 1))


def plain(value: Any, where: str) -> Any:
    """The value in plain types only; numbers that are not finite become None."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry, f"{where}[{key!r}]") for key, entry in value.items()}
    if isinstance(value, Iterable):
        return [plain(entry, f"{where}[{i}]") for i, entry in enumerate(value)]
    raise TypeError(
        f"{where}: a {type(value).__name__} has no place in a story: only numbers, text, lists, dictionaries"
    )


def _asset(name: str) -> str:
    return resources.files("farrier.explain").joinpath(name).read_text(encoding="utf-8")
