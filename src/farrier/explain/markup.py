"""Pieces of HTML for the report: escaped text, numbers, tables, and figures that the scripts fill.

Every function returns HTML. Arguments are plain text unless their docstring says HTML. A missing number is a dash.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from farrier.explain.numbers import fixed, per_cent, significant

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def text(value: Any) -> str:
    """The escaped text of a value; empty for None."""
    return "" if value is None else escape(str(value))


def prose(value: Any) -> str:
    """The same for sentences: a number and its per cent sign stay on one line."""
    return text(value).replace(" %", "\N{NO-BREAK SPACE}%")


def join(pieces: Iterable[str]) -> str:
    """Pieces of HTML in one string."""
    return "".join(pieces)


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits; whole numbers with all digits."""
    if value is None:
        return DASH
    return (f"{value:,}" if isinstance(value, int) else significant(value, digits)).replace("-", MINUS)


def tenths(value: float | None) -> str:
    """A number with one decimal, for nats."""
    return DASH if value is None else fixed(value, 1).replace("-", MINUS)


def share(value: float | None) -> str:
    """A share in per cent."""
    return DASH if value is None else per_cent(value).replace("-", MINUS).replace(" %", "\N{NO-BREAK SPACE}%")


def estimate(value: Mapping[str, Any] | None) -> str:
    """A number, with its interval on a second line; a number that was not given an interval stands alone."""
    if not value:
        return DASH
    if value.get("low") == value.get("high"):
        return number(value.get("value"))
    return f"{number(value.get('value'))}<small>{number(value.get('low'))} to {number(value.get('high'))}</small>"


def extremes(values: Iterable[Any]) -> tuple[str, str]:
    """The smallest and the largest number among the values."""
    real = [value for value in values if isinstance(value, int | float)]
    return (number(min(real)), number(max(real))) if real else (DASH, DASH)


def fixed_columns(rows: Sequence[Sequence[float | None]], places: int) -> list[list[str]]:
    """Rows of numbers with so many decimals."""
    return [[DASH if value is None else fixed(value, places).replace("-", MINUS) for value in row] for row in rows]


def bar(part: float | None) -> str:
    """A bar that is filled to a part of its length."""
    return f'<span class="bar"><i style="--share: {min(max(part or 0.0, 0.0), 1.0):.4f}"></i></span>'


def legend(keys: Iterable[tuple[str, str]]) -> str:
    """The legend of a chart from pairs (class, word). Screen readers skip it and read the alternative text."""
    items = join(f'<li><i class="{look}"></i>{word}</li>' for look, word in keys)
    return f'<ul class="legend" aria-hidden="true">{items}</ul>'


def figure(
    chart: str, says: str, caption: str = "", *, size: str = "", keys: str = "", rows: int = 0, **data: Any
) -> str:
    """A figure that report.js draws: `chart` is its kind, `says` the alternative text.

    `caption` and the legend `keys` are HTML. `data` goes to the script. `rows` sets the height of a chart with rows.
    """
    attributes = join(f' data-{key}="{text(value)}"' for key, value in data.items())
    height = f' style="height: {22 * rows + 52}px"' if rows else ""
    caption = f"<figcaption>{caption}</figcaption>" if caption else ""
    return (
        f'<figure role="img" aria-label="{text(says)}" data-chart="{chart}"{attributes}>{keys}'
        f'<div class="plot {size}"{height}><noscript><p>{text(says)} Not drawn: scripts are off.</p></noscript>'
        f"</div>{caption}</figure>\n"
    )


def foldout(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, words: int, look: str = "") -> str:
    """A table that opens on demand; cells are HTML, the first `words` columns text and the others numbers.

    `look` names a class of the style sheet.
    """
    kinds = [' class="words"' if i < words else "" for i in range(len(heads))]
    top = join(f'<th scope="col"{kind}>{head}</th>' for head, kind in zip(heads, kinds, strict=True))
    body = join(
        f"<tr>{join(f'<td{kind}>{cell}</td>' for cell, kind in zip(row, kinds, strict=True))}</tr>" for row in rows
    )
    style = f' class="{look}"' if look else ""
    return (
        f"<details{style}><summary>{title}</summary>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )
