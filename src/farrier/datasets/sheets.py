"""The cells of a text file: separator, header, comment lines, title lines and footers.

    sheet = sheet_of("sales.csv", text)     # Sheet with header ["month", "sales"] and a list of cells for each row

The separator is the one of tab, semicolon, comma and bar that splits most lines into the same number of cells. Lines
above the header and below the rows that fill one cell only are left out, as are rows of totals; `notes` says which.
tables.py reads the cells as numbers and dates.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from farrier.data.quoting import quoted
from farrier.datasets.date_parsing import parse
from farrier.datasets.limits import check_columns
from farrier.datasets.number_format import is_amount
from farrier.series.columns import LISTED
from farrier.series.stamps import is_stamp

NO_CELL = frozenset(
    {
        "",
        "na",
        "n/a",
        "#n/a",
        "nan",
        "null",
        "none",
        "?",
        "n.a.",
        "nd",
        "k.a.",
        "-",
        "--",
        "\u2013",
        "\u2014",
        "..",
        "#div/0!",
    }
    | {"#value!", "#ref!", "#null!", "#num!", "#name?", "nat"}
)
"""The texts of cells without a value, in lower case; by judgement."""
SEPARATORS = "\t;,|"
"""In the order in which they are preferred."""
SAMPLE = 200
"""The number of lines from which the separator is found; by judgement."""
COMMENT = "#"
"""The first character of a line that is a comment."""

_TOTAL = re.compile(
    r"(?:grand |sub-?)?totals?\b.*|sums?|average|mean|gesamt\w*|summe|insgesamt|mittelwert|durchschnitt|somme|moyenne"
    r"|totale|media|suma|promedio",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sheet:
    """Names of columns, and rows of cells: text without outer spaces, or numbers of a spreadsheet; None if empty."""

    name: str
    header: list[str]
    rows: list[list[Any]]
    lines: list[int]
    """The line of each row in the file."""
    comma_separated: bool = False
    """Whether commas separate the cells, so that a point in a number is a decimal point."""
    notes: list[str] = field(default_factory=list)
    """What was left out, in words."""


def sheet_of(name: str, text: str) -> Sheet:
    """The cells of comma, semicolon, tab or bar separated text."""
    text = text.lstrip("\ufeff")
    lines = text.splitlines()
    separator = None
    if lines and re.fullmatch(r"sep=.", lines[0].strip(), re.IGNORECASE):  # Excel's way to name the separator
        separator = lines[0].strip()[-1]
    separator = separator or _separator(lines)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    found = []
    try:
        for row in reader:
            if any(map(str.strip, row)) and not (reader.line_num == 1 and row[0].lower().startswith("sep=")):
                found.append((reader.line_num, [cell.strip() for cell in row]))
    except csv.Error as error:
        raise ValueError(f"path: {name!r} is not CSV text ({error}): save it as CSV in UTF-8") from None
    return make_sheet(name, found, comma_separated=separator == ",")


def make_sheet(name: str, cells: Sequence[tuple[int, list[Any]]], *, comma_separated: bool) -> Sheet:
    """The sheet of numbered rows of cells, the header among them."""
    rows = _without_comments(cells)
    if not rows:
        raise ValueError(f"path: {name!r} is empty: give a line of column names, then rows of numbers")
    notes: list[str] = []
    width = Counter(_filled(row) for _, row in rows).most_common(1)[0][0]
    start = next((i for i, (_, row) in enumerate(rows) if _filled(row) > 1), 0) if width > 1 else 0
    if start:
        notes.append(f"{_lines([line for line, _ in rows[:start]])} above the header left out")
    (_, header), *rows = rows[start:]
    header = [str(cell or "") for cell in header]
    _check_header(name, header, rows[0][1] if rows else ())
    for line, row in rows:
        while len(row) > len(header) and row[-1] in ("", None):
            row.pop()
        if len(row) > len(header):
            raise ValueError(
                f"line {line} has {len(row)} cells where the header names {len(header)} columns: "
                "put quotes around cells that contain the separator"
            )
        row.extend([""] * (len(header) - len(row)))
    rows = _without_footers(rows, notes)
    sheet = Sheet(name, header, [_blank(row) for _, row in rows], [line for line, _ in rows], comma_separated, notes)
    return _without_unnamed(sheet)


def is_value(cell: Any) -> bool:
    """Whether a cell is a number, a date, or empty."""
    return (
        not isinstance(cell, str) or cell.lower() in NO_CELL or is_stamp(cell) or is_amount(cell) or bool(parse(cell))
    )


def _separator(lines: Sequence[str]) -> str:
    """The separator that splits most of the first lines into one number of cells, two or more."""
    sample = [line for line in lines[:SAMPLE] if line.strip() and not line.startswith(COMMENT)]
    if not sample:
        return ","

    def score(separator: str) -> tuple[float, int]:
        try:
            widths = Counter(len(row) for row in csv.reader(sample, delimiter=separator))
        except csv.Error:
            return 0.0, 0
        width, count = max(widths.items(), key=lambda item: (item[0] > 1, item[1]))
        return (count / len(sample), width) if width > 1 else (0.0, 0)

    return max(SEPARATORS, key=score) if any(score(mark)[1] for mark in SEPARATORS) else ","


def _without_comments(cells: Sequence[tuple[int, list[Any]]]) -> list[tuple[int, list[Any]]]:
    """The rows without comments; a comment just above the first row of values names the columns if it can."""
    kept = [(line, row) for line, row in cells if not str(row[0]).startswith(COMMENT) or str(row[0]).lower() in NO_CELL]
    above = [(line, row) for line, row in cells if kept and str(row[0]).startswith(COMMENT) and line < kept[0][0]]
    if above and all(map(is_value, kept[0][1])) and len(above[-1][1]) == len(kept[0][1]):
        line, row = above[-1]
        return [(line, [str(row[0]).lstrip("# "), *row[1:]]), *kept]
    return kept


def _filled(row: Sequence[Any]) -> int:
    return sum(cell not in ("", None) for cell in row)


def _check_header(name: str, header: Sequence[str], below: Sequence[Any]) -> None:
    check_columns(name, len(header))
    dated = any(_is_day(cell) and _is_day(str(under)) for cell, under in zip(header, below, strict=False))
    if dated or all(is_value(cell) for cell in header):
        raise ValueError(f"path: {name!r} starts with numbers, {', '.join(header[:LISTED])}: add a first line of names")
    column, times = Counter(filter(None, header)).most_common(1)[0]
    if times > 1:
        raise ValueError(f"path: {name!r} names the column {quoted(column)} {times} times: rename one")


def _is_day(cell: str) -> bool:
    parsed = parse(cell)
    return parsed is not None and all("d" in order for order in parsed.orders)


def _without_footers(rows: Sequence[tuple[int, list[Any]]], notes: list[str]) -> list[tuple[int, list[Any]]]:
    """The rows without notes below them, and without totals."""
    kept = list(rows)
    footers = []
    while len(kept) > 1 and _filled(kept[-1][1]) == 1 and len(kept[-1][1]) > 1 and not all(map(is_value, kept[-1][1])):
        footers.append(kept.pop()[0])
    if footers:
        notes.append(f"{_lines(footers[::-1])} below the rows left out")
    labels = [next((k for k, cell in enumerate(row) if cell not in ("", None)), 0) for _, row in kept]
    worded = [
        i for i, (_, row) in enumerate(kept) if isinstance(row[labels[i]], str) and _TOTAL.fullmatch(row[labels[i]])
    ]
    among_values = {place: _holds_values([row[place] for _, row in kept]) for place in {labels[i] for i in worded}}
    last = len(kept) - 1
    totals = {kept[i][0] for i in worded if among_values[labels[i]] or (i == last and worded == [last])}
    if totals:
        notes.append(f"the row{'s' if len(totals) > 1 else ''} of totals ({_lines(sorted(totals))}) left out")
    return [(line, row) for line, row in kept if line not in totals]


def _holds_values(cells: Sequence[Any]) -> bool:
    """Whether more than half of the cells are numbers or dates."""
    return 2 * sum(map(is_value, cells)) > len(cells)


def _without_unnamed(sheet: Sheet) -> Sheet:
    """The sheet without columns that have no name and are empty, or only count the rows."""
    dropped = set()
    for place, name in enumerate(sheet.header):
        cells = [row[place] for row in sheet.rows]
        if name or len(sheet.header) - len(dropped) < 2:
            continue
        counts = len(sheet.header) > 2 and any(
            [str(cell) for cell in cells] == [str(i + first) for i in range(len(cells))] for first in (0, 1)
        )
        if counts or all(cell is None for cell in cells):
            dropped.add(place)
    if not dropped:
        return sheet
    keep = [place for place in range(len(sheet.header)) if place not in dropped]
    header, rows = [sheet.header[i] for i in keep], [[row[i] for i in keep] for row in sheet.rows]
    return Sheet(sheet.name, header, rows, sheet.lines, sheet.comma_separated, sheet.notes)


def _blank(row: Sequence[Any]) -> list[Any]:
    return [None if isinstance(cell, str) and cell.lower() in NO_CELL else cell for cell in row]


def _lines(lines: Sequence[int]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]}"
    whole = list(lines) == list(range(lines[0], lines[-1] + 1))
    return f"lines {lines[0]} to {lines[-1]}" if whole else f"lines {', '.join(map(str, lines))}"
