"""Excel files: the cells of one sheet, through openpyxl (`pip install "farrier[excel]"`).

Dates become ISO text, numbers stay numbers, and formulas give the values that Excel saved last.
"""

import importlib
import io
from datetime import date, datetime, time
from typing import Any

from farrier.data.quoting import quoted
from farrier.datasets.limits import TooLargeError, check_archive, check_cells
from farrier.datasets.sheets import Sheet, make_sheet
from farrier.series.columns import list_names

MISSING = 'is an Excel file, and openpyxl is not installed: pip install "farrier[excel]", or save it as CSV'
"""What is said of an Excel file if openpyxl is not installed."""


def read_excel(name: str, data: bytes, wanted: str | None) -> Sheet:
    """The cells of the sheet called `wanted`, or of the only sheet with cells."""
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ImportError:
        raise ValueError(f"path: {name!r} {MISSING}") from None
    try:
        check_archive(name, data)
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        cells = {sheet.title: _cells(name, sheet) for sheet in book.worksheets}
    except TooLargeError:
        raise
    except Exception as error:  # openpyxl raises exceptions of zipfile, xml and its own
        reason = str(error).split("\n")[0]
        raise ValueError(f"path: {name!r} cannot be read as Excel ({reason}): save it again, or as CSV") from None
    filled = [title for title, rows in cells.items() if rows]
    if wanted is not None and wanted not in cells:
        raise ValueError(f"--sheet: {name!r} has no sheet {quoted(wanted)}: choose one of {list_names(cells)}")
    if wanted is None and len(filled) > 1:
        raise ValueError(f"path: {name!r} has {len(filled)} sheets: give --sheet, one of {list_names(filled)}")
    title = wanted if wanted is not None else filled[0] if filled else ""
    return make_sheet(name, cells.get(title, []), comma_separated=False)


def _cells(name: str, sheet: Any) -> list[tuple[int, list[Any]]]:
    """The rows with at least one value, by their number in the sheet, without empty columns at the left and right."""
    sheet.reset_dimensions()  # the size that a file declares may be wrong, and rows would be filled up to it
    rows, count = [], 0
    for i, values in enumerate(sheet.iter_rows(values_only=True), 1):
        row = [_plain(value) for value in values]
        while row and row[-1] == "":
            row.pop()
        count += len(row)
        check_cells(name, count)
        if row:
            rows.append((i, row))
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
