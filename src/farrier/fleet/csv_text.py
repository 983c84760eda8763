"""Columns as comma separated text."""

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime, time
from typing import Any

import numpy as np

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of cells that spreadsheets run as formulas; from OWASP, "CSV injection"."""


def as_csv(columns: Mapping[str, Sequence[Any]], *, escape: bool = False) -> str:
    """Columns as comma separated text; floats with as many digits as give the same float again.

    With `escape`, text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    rows = [tuple(columns), *zip(*map(_dates, columns.values()), strict=True)]
    return "".join(_line([_cell(cell, escape=escape) for cell in row]) for row in rows)


def _line(cells: Sequence[str]) -> str:
    """One line. The csv module quotes a cell only for the ends of lines that it writes, so here for both."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().removesuffix("\r\n") + "\n"


def _dates(values: Sequence[Any]) -> Sequence[Any]:
    """Times as ISO text, as dates if all are midnight; other values unchanged."""
    times = list(values)
    if times and isinstance(times[0], np.datetime64):
        times = np.asarray(values).astype("M8[us]").tolist()
    if not times or not isinstance(times[0], datetime):
        return times
    dated = all(moment.tzinfo is None and moment.time() == time() for moment in times)
    return [(moment.date() if dated else moment).isoformat() for moment in times]


def _cell(value: Any, *, escape: bool) -> str:
    if isinstance(value, float | np.floating):
        return repr(float(value)).removesuffix(".0")
    text = str(value)
    return f"'{text}" if escape and isinstance(value, str) and text.startswith(FORMULA) else text
