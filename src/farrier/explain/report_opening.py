"""The opening of the report, its first screen and its one printed page: what to expect, then why.

A series opens with the forecast: sentences, the chart, and a small table that can be downloaded as CSV. A table of
inputs opens with how well they predict, and with the pictures of the largest effects.
"""

import base64
import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from farrier.explain import report_figures
from farrier.explain.markup import bar, fixed_columns, join, prose, share, text
from farrier.explain.numbers import capital, table_decimals

Story = Mapping[str, Any]

UNTITLED = "A report by Farrier"
SHOWN = 8
"""Most rows of the small table of the forecast, the first and the last among them; by judgement."""
EFFECTS = 4
"""Most effects that are pictured in the opening, by judgement."""
COLUMNS = ("median", "low80", "high80", "low95", "high95")
"""The columns of the forecast in the story; the CSV names them low_80 ..., and has the mean too."""


def opening(story: Story) -> str:
    """The section as HTML."""
    subtitle, series = story.get("subtitle"), story.get("kind") == "series"
    return join(
        [
            f'<section class="overview" id="summary"><h1>{text(story.get("title") or UNTITLED)}</h1>',
            f'<p class="dataline">{text((story.get("data") or {}).get("sentence"))}</p>',
            _expect(story),
            f'<div class="first">{report_figures.main(story)}{forecast(story)}</div>' if series else _effects(story),
            "<h2>Why</h2>" if story.get("expect") else "",
            f'<p class="summary">{prose(" ".join(story.get("summary") or []))}</p>',
            f'<p class="subtitle">{text(subtitle)}</p>' if subtitle else "",
            _list(story),
            _rounds(story),
            "</section>",
        ]
    )


def _expect(story: Story) -> str:
    said = story.get("expect") or []
    past = (story.get("backtest") or {}).get("sentences") or []
    if not said:
        return ""
    more = [*said[1:], *(story.get("shared") or []), *past[:1]]
    rest = f'<p class="expects">{prose(" ".join(more))}</p>' if more else ""
    return f'<p class="expect">{prose(said[0])}</p>{rest}'


def _list(story: Story) -> str:
    rows = join(
        f'<li><span class="count">{i}</span><a href="#component-{i}">{text(part.get("title"))}</a>'
        f'{bar(part.get("share"))}<span class="amount">{share(part.get("share"))}</span></li>'
        for i, part in enumerate(story.get("components") or [], 1)
    )
    return f'<ol class="parts" aria-label="The components and their share of the variation">{rows}</ol>' if rows else ""


def _rounds(story: Story) -> str:
    """One year, week or day of all repeating patterns together."""
    return join(
        f'<h3 class="round">One {text(one.get("name"))}</h3>'
        f'<p class="small quiet">{prose(one.get("sentence"))}</p>{report_figures.profile(story, one)}'
        for one in story.get("rounds") or []
    )


def _effects(story: Story) -> str:
    """The pictures of the largest effects of a table."""
    parts = list(enumerate(story.get("components") or [], 1))
    drawn = [(i, part) for i, part in parts if part.get("effect") or part.get("profile")][:EFFECTS]
    pictures = join(
        f'<div><h3><a href="#component-{i}">{text(part.get("title"))}</a></h3>'
        f'<p class="small quiet">{prose(capital(str(part.get("shape") or "") if part.get("effect") else ""))}</p>'
        f"{report_figures.effect(story, i, part) or report_figures.profile(story, part)}</div>"
        for i, part in drawn
    )
    return f'<div class="effects">{pictures}</div>' if pictures else ""


def forecast(story: Story) -> str:
    """The small table of the forecast, with a link that downloads all of it as CSV; empty without a forecast."""
    future = (story.get("series") or {}).get("future") or {}
    count = len(future.get("x") or [])
    if not count or any(len(future.get(name) or []) != count for name in COLUMNS):
        return ""
    labels = future.get("label") or [str(x) for x in future["x"]]
    rows = _chosen(count)
    ends = ([value for value in future[name] if value is not None] for name in ("low80", "high80"))
    cells = fixed_columns([[future[name][i] for name in COLUMNS] for i in rows], table_decimals(*ends))
    body = join(
        f'<tr><th scope="row">{text(labels[i])}</th><td>{median}</td><td>{low80} to {high80}</td>'
        f'<td class="wide">{low95} to {high95}</td></tr>'
        for i, (median, low80, high80, low95, high95) in zip(rows, cells, strict=True)
    )
    name = str(((story.get("axes") or [{}])[0]).get("name") or "time")
    left = f"{len(rows)} of {count} steps" if len(rows) < count else f"All {count} steps" if count > 1 else "One step"
    link = f'<a download="forecast.csv" href="{_link(as_csv(name, labels, future))}">Download all as CSV</a>'
    return (
        '<div class="steps"><div class="scroll"><table><thead><tr>'
        f'<th scope="col">{text(name)}</th><th scope="col">forecast</th><th scope="col">80 %</th>'
        f'<th scope="col" class="wide">95 %</th></tr></thead><tbody>{body}</tbody></table></div>'
        f'<p class="quiet">{left}, with the intervals that should hold 80 and 95 % of the values. {link}</p></div>'
    )


def as_csv(name: str, labels: Sequence[str], future: Story) -> str:
    """The whole forecast as comma separated text."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    ends = ("low80", "high80", "low95", "high95")
    columns = [future.get("mean") or future["median"], future["median"], *(future[end] for end in ends)]
    writer.writerow([name, "mean", "median", "low_80", "high_80", "low_95", "high_95"])
    writer.writerows(zip(labels, *columns, strict=True))
    return file.getvalue()


def _chosen(count: int) -> list[int]:
    """The steps that are shown: all, or evenly chosen ones."""
    if count <= SHOWN:
        return list(range(count))
    return sorted({round(i * (count - 1) / (SHOWN - 1)) for i in range(SHOWN)})


def _link(content: str) -> str:
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(content.encode()).decode()
