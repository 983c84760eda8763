"""Excel files: the cells of one sheet, through openpyxl (`pip install "farrier[excel]"`).

Dates become ISO text, numbers stay numbers, and formulas give the values that Excel saved last.
"""

import importlib
import io
from datetime import date, datetime, time
from typing import Any

from farrier.datasets.sheets import Sheet, make_sheet

MISSING = 'is an Excel file, and openpyxl is not installed: pip install "farrier[excel]", or save it as CSV'


def read_excel(name: str, data: bytes, wanted: str | None) -> Sheet:
    """The cells of the sheet called `wanted`, or of the only sheet with cells."""
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ImportError:
        raise ValueError(f"path: {name!r} {MISSING}") from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except Exception as error:  # openpyxl raises exceptions of zipfile, xml and its own
        reason = str(error).split("\n")[0]
        raise ValueError(f"path: {name!r} cannot be read as Excel ({reason}): save it again, or as CSV") from None
    cells = {sheet.title: _cells(sheet) for sheet in book.worksheets}
    filled = [title for title, rows in cells.items() if rows]
    if wanted is not None and wanted not in cells:
        raise ValueError(f"--sheet: {name!r} has no sheet {wanted!r}: choose one of {', '.join(map(repr, cells))}")
    if wanted is None and len(filled) > 1:
        raise ValueError(
            f"path: {name!r} has {len(filled)} sheets: give --sheet, one of {', '.join(map(repr, filled))}"
        )
    title = wanted if wanted is not None else filled[0] if filled else ""
    return make_sheet(name, cells.get(title, []), comma_separated=False)


def _cells(sheet: Any) -> list[tuple[int, list[Any]]]:
    """The rows with at least one value, by their number in the sheet, without empty columns at the left and right."""
    rows = [(i, [_plain(value) for value in row]) for i, row in enumerate(sheet.iter_rows(values_only=True), 1)]
    rows = [(i, row) for i, row in rows if any(cell != "" for cell in row)]
    width = max((len(row) for _, row in rows), default=0)
    used = [k for k in range(width) if any(k < len(row) and row[k] != "" for _, row in rows)]
    return [(i, [row[k] if k < len(row) else "" for k in used]) for i, row in rows]


def _plain(value: Any) -> Any:
    match value:
        case None:
            return ""
        case bool():
            return float(value)
        case int() | float():
            return value
        case datetime():
            whole = value.time() == time()
            return value.date().isoformat() if whole else value.isoformat(sep=" ", timespec="seconds")
        case date():
            return value.isoformat()
        case time():
            return value.isoformat(timespec="minutes")
    return str(value).strip()
