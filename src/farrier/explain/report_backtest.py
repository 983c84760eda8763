"""The section of the report about past forecasts: the two lines, the pictures, and a table by step ahead."""

from collections.abc import Mapping, Sequence
from typing import Any

from farrier.explain.markup import figure, foldout, join, legend, number, text
from farrier.explain.numbers import capital
from farrier.explain.report_figures import HINT, measure

Story = Mapping[str, Any]

TITLE = "How good were such forecasts in the past?"
SHOWN = 12
"""Most steps ahead in a table that is open; a longer one opens on demand. By judgement."""
LOOKS = ("ahead", "line", "other", "further")
"""The classes of the lines in the legend, in the order of the methods."""
INSIDE = ("inside_80", "inside_95")
"""The columns with the parts of the values inside intervals."""
MEANINGS = (
    ("Error", "the mean distance from the forecast, which is the median, to the value that came true."),
    ("CRPS", "the same for the whole distribution, in the same units: lower is better."),
    ("MSIS", "the width of the 95 % intervals and a fine for values outside; units do not matter, lower is better."),
    ("In 80 %, in 95 %", "the part of the values that came true inside these intervals."),
)


def section(story: Story) -> str:
    """The section as HTML; empty if there was no backtest."""
    past = story.get("backtest")
    if not past:
        return ""
    said = join(f"<p>{text(sentence)}</p>" for sentence in past["sentences"])
    meanings = join(f"<dt>{word}</dt><dd>{meaning}</dd>" for word, meaning in MEANINGS)
    return f'{said}{_pictures(story, past)}{_table(past)}<dl class="meaning">{meanings}</dl>'


def _pictures(story: Story, past: Story) -> str:
    forecasts, errors = past["forecasts"], past["errors"]
    starts = " and ".join(str(one["origin"]) for one in forecasts)
    says = (
        f"Chart of {measure(story)} and {len(forecasts)} past forecasts, made after {starts}, with 80 % and 95 % bands."
    )
    keys = [("dot", "data"), ("ahead", "forecast of that time"), ("band80", "80 % band"), ("band95", "95 % band")]
    caption = "<b>Past forecasts and what came true.</b> Each one knew only the rows before its beginning."
    first = figure("past", says, caption + HINT, size="tall", keys=legend(keys), y=measure(story))
    ends = ", ".join(f"{name} {number(values[-1])}" for name, values in errors.items())
    says = f"Chart of the mean absolute error by step ahead. At the last step: {ends}."
    keys = zip(LOOKS, (text(name) for name in errors), strict=False)
    caption = "<b>The mean absolute error</b> by step ahead: lower is better."
    x = f"{past['step_name']}s ahead"
    return first + figure("bystep", says, caption, keys=legend(keys), x=x, y=f"error, {measure(story)}")


def _table(past: Story) -> str:
    steps, every = past["steps"], past["summary"]
    named = {name: capital(name.removeprefix("the ")) for name in past["errors"]}
    heads = [f"{capital(past['step_name'])}s ahead", "Error", *list(named.values())[1:], "CRPS", "MSIS"]
    heads += ["In 80 %", "In 95 %"]
    others = list(past["errors"].values())[1:]
    columns = [past["errors"]["the forecast"], *others, steps["crps"], steps["msis_95"]]
    rows = [
        (str(i + 1), *(number(values[i]) for values in columns), *(_part(steps[name][i]) for name in INSIDE))
        for i in range(len(columns[0]))
    ]
    means = [sum(values) / len(values) for values in (columns[0], *others)]
    whole = ("all", *map(number, [*means, every["crps"], every["msis_95"]]), *(_part(every[name]) for name in INSIDE))
    if len(rows) <= SHOWN:
        return _open(heads, [*rows, whole])
    return _open(heads, [whole]) + foldout(f"All {len(rows)} steps", [text(head) for head in heads], rows, words=0)


def _open(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = join(f'<th scope="col">{text(head)}</th>' for head in heads)
    cells = [
        join(f'<td data-label="{text(head)}">{cell}</td>' for head, cell in zip(heads, row, strict=True))
        for row in rows
    ]
    body = join(f"<tr>{row}</tr>" for row in cells)
    return f'<div class="scroll"><table class="cards"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _part(value: float | None) -> str:
    return number(value) if value is None else f"{round(100 * value)}\N{NO-BREAK SPACE}%"
