"""Files as people have them, with known truth: each is either read right, or refused with the option that settles it.

`FILES` maps a name to a `Case`; `write` turns one into a file. The truth is a list of times and values; the writers
below write it in the formats of real exports. Cases that are refused say which words the one line must have, and which
options then read the file right.
"""

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

Rows = list[tuple[datetime, float]]


def _value(i: int) -> float:
    return round(1500 + 37.25 * i + 400 * ((i * 7) % 5), 2)


MONTHS: Rows = [(datetime(2019 + i // 12, i % 12 + 1, 1), _value(i)) for i in range(30)]
DAYS: Rows = [(datetime(2023, 1, 20) + timedelta(days=i), _value(i)) for i in range(40)]
EARLY_DAYS: Rows = [(datetime(2023, m, d), _value(12 * m + d)) for m in (1, 2, 4) for d in (1, 2, 5, 7, 9, 12)]
"""No day after the 12th and no equal steps: day and month cannot be told apart."""
HOURS: Rows = [(datetime(2024, 3, 14) + timedelta(hours=i), _value(i)) for i in range(60)]
QUARTERS: Rows = [(datetime(2015 + i // 4, 3 * (i % 4) + 1, 1), _value(i)) for i in range(24)]
WEEKS: Rows = [(datetime(2023, 1, 2) + timedelta(weeks=i), _value(i)) for i in range(20)]
YEARS: Rows = [(datetime(1980 + i, 1, 1), _value(i)) for i in range(20)]
WHOLE: Rows = [(time, float(round(1000 + value))) for time, value in MONTHS]
MIXED: Rows = [(time, float(round(value / 3))) for time, value in MONTHS]
LONG_AGO: Rows = [(time.replace(year=time.year - 70), value) for time, value in MONTHS]
THREE: Rows = [(time, round(value + 0.125 + 0.001 * (i % 9), 3)) for i, (time, value) in enumerate(MONTHS)]


@dataclass(frozen=True)
class Case:
    """The bytes of a file and what must come of it."""

    suffix: str
    data: bytes
    rows: Rows
    refused: str = ""
    """Words of the line that refuses the file; empty if it is read."""
    options: tuple[dict[str, Any], ...] = ()
    """Options with which a refused file is read right."""
    said: tuple[str, ...] = ()
    """Words of the notes on how it was read."""
    names: dict[str, str] = field(default_factory=dict)


def point(value: float) -> str:
    return f"{value:.2f}"


def comma(value: float) -> str:
    return f"{value:.2f}".replace(".", ",")


def thousands_point(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(".,", ",."))


def thousands_comma(value: float) -> str:
    return f"{value:,.2f}"


def text(
    rows: Rows,
    date: str | Callable[[datetime], str] = "%Y-%m-%d",
    value: Callable[[float], str] = point,
    mark: str = ",",
    header: str = "date{}sales",
    end: str = "\n",
    before: str = "",
    after: str = "",
) -> str:
    """The rows as lines of text."""
    stamp = (lambda time: time.strftime(date)) if isinstance(date, str) else date
    lines = [header.format(mark), *(f"{stamp(time)}{mark}{value(number)}" for time, number in rows)]
    return before + end.join(lines) + end + after


def case(content: str | bytes, rows: Rows, *said: str, encoding: str = "utf-8", **more: Any) -> Case:
    data = content if isinstance(content, bytes) else content.encode(encoding)
    return Case(more.pop("suffix", ".csv"), data, rows, said=said, **more)


def refused(content: str, rows: Rows, words: str, *options: dict[str, Any]) -> Case:
    return Case(".csv", content.encode(), rows, words, options)


def quoted(write: Callable[[float], str]) -> Callable[[float], str]:
    return lambda value: f'"{write(value)}"'


def excel(rows: Rows, *, title: bool = False, sheets: int = 1, as_text: bool = False) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for i in range(sheets):
        sheet = book.active if i == 0 else book.create_sheet(f"Sheet{i + 1}")
        sheet.title = "Sheet" if i == 0 else sheet.title
        if title:
            sheet.append(["Sales of the company"])
            sheet.append([])
        sheet.append(["date", "sales"])
        for time, value in rows:
            sheet.append([time.strftime("%d.%m.%Y"), thousands_point(value)] if as_text else [time, value])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def split(rows: Rows, header: str, *formats: Callable[[datetime], str], mark: str = ",") -> str:
    lines = [header.replace(",", mark)]
    for time, value in rows:
        lines.append(mark.join([*(write(time) for write in formats), point(value)]))
    return "\n".join(lines) + "\n"


def _whole(value: float) -> str:
    return f"{value:.0f}"


def _sum(rows: Rows) -> float:
    return sum(value for _, value in rows)


EURO = text(MONTHS, "%d.%m.%Y", lambda v: thousands_point(v) + " €", ";")
US = text(DAYS, "%m/%d/%Y", quoted(lambda v: "$" + thousands_comma(v)))
GERMAN = ("Jan", "Feb", "M\u00e4rz", "Apr", "Mai", "Juni", "Juli", "Aug", "Sept", "Okt", "Nov", "Dez")
DMY, MDY, COMMA, POINT = {"date_format": "dmy"}, {"date_format": "mdy"}, {"decimal": "comma"}, {"decimal": "point"}

FILES: dict[str, Case] = {
    # separators, decimal marks, thousands
    "semicolon_decimal_comma": case(text(DAYS, "%d.%m.%Y", comma, ";"), DAYS, "day.month.year", "decimal comma"),
    "tab_decimal_comma": case(text(DAYS, "%Y-%m-%d", comma, "\t"), DAYS, "decimal comma", suffix=".tsv"),
    "bar": case(text(DAYS, mark="|"), DAYS),
    "thousands_points": case(
        text(MONTHS, "%d.%m.%Y", thousands_point, ";"), MONTHS, "decimal comma", "thousands points"
    ),
    "thousands_commas_quoted": case(text(MONTHS, value=quoted(thousands_comma)), MONTHS, "thousands commas"),
    "thousands_spaces": case(
        text(MONTHS, "%d/%m/%Y", lambda v: f"{v:,.2f}".replace(",", "\u202f").replace(".", ","), ";"), MONTHS
    ),
    "thousands_apostrophes": case(text(MONTHS, value=lambda v: f"{v:,.2f}".replace(",", "'"), mark=";"), MONTHS),
    "comma_separated_quoted_decimal_commas": case(text(DAYS, value=quoted(comma)), DAYS, "decimal comma"),
    "thousands_beside_small_numbers": case(
        text(MIXED, value=lambda v: f"{v:,.0f}".replace(",", "."), mark=";"), MIXED, "thousands points"
    ),
    "only_thousands_points": refused(
        text(WHOLE, value=lambda v: f"{v:,.0f}".replace(",", "."), mark=";"), WHOLE, "--decimal", COMMA
    ),
    "only_thousands_commas": refused(text(WHOLE, value=quoted(lambda v: f"{v:,.0f}")), WHOLE, "--decimal", POINT),
    "three_decimals": case(text(THREE, value=lambda v: f"{v:.3f}", mark=";"), THREE),
    "three_decimals_in_doubt": refused(
        text([(t, v / 10) for t, v in THREE], value=lambda v: f"{v:.3f}", mark="\t"),
        [(t, round(v / 10, 3)) for t, v in THREE],
        "--decimal",
        POINT,
    ),
    "mixed_decimal_marks": refused(
        text(MONTHS[:20], value=point, mark=";") + text(MONTHS[20:], value=comma, mark=";", header=""), [], "decimal"
    ),
    "scientific": case(text(DAYS, value=lambda v: f"{v:.6e}"), DAYS),
    # signs
    "euro": case(EURO, MONTHS, "decimal comma"),
    "dollar": case(US, DAYS, "month/day/year", "thousands commas"),
    "pound_latin_1": case(text(DAYS, "%d/%m/%Y", lambda v: "£" + point(v)), DAYS, "Windows-1252", encoding="latin-1"),
    "euro_windows": case(EURO, MONTHS, "Windows-1252", encoding="cp1252"),
    "per_cent": case(text(MONTHS, value=lambda v: f"{comma(v)} %", mark=";"), MONTHS),
    "accounting_negatives": case(
        text([(t, v - 2500) for t, v in MONTHS], value=quoted(lambda v: f"({-v:,.2f})" if v < 0 else f"{v:,.2f}")),
        [(t, v - 2500) for t, v in MONTHS],
    ),
    "two_currencies": refused(
        text(MONTHS[:20], value=lambda v: f"${point(v)}")
        + text(MONTHS[20:], value=lambda v: f"€{point(v)}", header=""),
        [],
        "one unit",
    ),
    # dates
    "month_day_year": case(text(DAYS, "%m/%d/%y"), DAYS, "month/day/year"),
    "day_month_year_dashes": case(text(DAYS, "%d-%m-%Y"), DAYS, "day-month-year"),
    "day_or_month": refused(text(EARLY_DAYS, "%d/%m/%Y"), EARLY_DAYS, "--date-format", DMY),
    "month_or_day": refused(
        text(EARLY_DAYS, "%m/%d/%Y"), EARLY_DAYS, "--date-format", MDY, {"date_format": "%m/%d/%Y"}
    ),
    "first_of_month_day_first": case(text(MONTHS, "%d/%m/%Y"), MONTHS, "day/month/year"),
    "first_of_month_month_first": case(text(MONTHS, "%m/%d/%Y"), MONTHS, "month/day/year"),
    "days_with_points": case(text(EARLY_DAYS, "%d.%m.%Y"), EARLY_DAYS, "day.month.year"),
    "orders_mixed": refused(
        text(DAYS[:20], "%d/%m/%Y") + text(DAYS[20:], "%m/%d/%Y", header=""), [], "different orders"
    ),
    "two_digit_years_of_two_centuries": refused(
        text(LONG_AGO, "%b-%y"), LONG_AGO, "--date-format", {"date_format": "%b-19%y"}
    ),
    "written_in_two_ways": refused(
        text(DAYS[:20], "%d/%m/%Y") + text(DAYS[20:], "%Y-%m-%d", header=""), [], "different ways"
    ),
    "per_cent_in_some_rows": refused(
        text(DAYS[:20], value=lambda v: f"{v:.2f}%") + text(DAYS[20:], header=""), [], "one unit"
    ),
    "german_month_names": case(
        text(MONTHS, lambda t: f"{GERMAN[t.month - 1]} {t.year}", mark=";"), MONTHS, "names of months"
    ),
    "month_names": case(text(MONTHS, "%b %Y"), MONTHS, "names of months"),
    "month_names_short_years": case(text(MONTHS, "%b-%y"), MONTHS),
    "long_dates": case(text(DAYS, '"%A, %B %d, %Y"'), DAYS),
    "compact_days": case(text(DAYS, "%Y%m%d"), DAYS, "yyyymmdd"),
    "compact_months": case(text(MONTHS, "%Y%m", header="period{}sales"), MONTHS, "yyyymm"),
    "month_slash_year": case(text(MONTHS, "%m/%Y"), MONTHS, "month/year"),
    "month_point_year": case(text(MONTHS, "%m.%Y", comma, ";"), MONTHS, "month.year"),
    "quarters": case(text(QUARTERS, lambda t: f"Q{(t.month + 2) // 3} {t.year}"), QUARTERS),
    "weeks": case(text(WEEKS, "%G-W%V"), WEEKS),
    "years": case(text(YEARS, "%Y", header="year{}sales"), YEARS),
    "hours_am_pm": case(text(HOURS, "%m/%d/%Y %I:%M %p"), HOURS, "month/day/year"),
    "hours_day_first": case(text(HOURS, "%d.%m.%Y %H:%M", comma, ";"), HOURS, "day.month.year"),
    # split times
    "date_and_time": case(
        split(HOURS, "date,time,load", *(lambda t, f=f: t.strftime(f) for f in ("%d/%m/%Y", "%H:%M"))),
        HOURS,
        "times from",
    ),
    "date_and_hour": case(
        split(HOURS, "date,hour,load", lambda t: t.strftime("%Y-%m-%d"), lambda t: str(t.hour)), HOURS, "times from"
    ),
    "year_and_month": case(split(MONTHS, "year,month,sales", lambda t: str(t.year), lambda t: str(t.month)), MONTHS),
    "year_and_month_name": case(
        split(MONTHS, "Month,Year,Sales", lambda t: t.strftime("%B"), lambda t: str(t.year)), MONTHS
    ),
    "year_month_day": case(
        split(DAYS, "year,month,day,sales", lambda t: str(t.year), lambda t: str(t.month), lambda t: str(t.day)), DAYS
    ),
    # the shape of the file
    "byte_order_mark": case(text(DAYS, end="\r\n"), DAYS, encoding="utf-8-sig"),
    "utf_16": case(text(DAYS, mark="\t"), DAYS, "UTF-16", encoding="utf-16"),
    "utf_16_without_mark": case(text(DAYS, mark="\t"), DAYS, "UTF-16", encoding="utf-16-le"),
    "blank_and_comment_lines": case(text(DAYS, before="# made by hand\n\n# twice\n", after="\n\n#end\n"), DAYS),
    "header_is_a_comment": case(text(DAYS, header="# date{}sales"), DAYS),
    "title_and_source": case(
        text(DAYS, before="Sales of the company\n\n", after="Source: the company\n"),
        DAYS,
        "above the header",
        "below the rows",
    ),
    "separator_named": case(text(DAYS, "%d.%m.%Y", comma, ";", before="sep=;\n"), DAYS),
    "total_row": case(
        text(DAYS, "%d.%m.%Y", comma, ";", after=f"Total;{comma(_sum(DAYS))}\n"), DAYS, "of totals (line 42)"
    ),
    "sum_without_a_word": case(text(DAYS, after=f",{point(_sum(DAYS))}\n"), DAYS, "row of sums (line 42)"),
    "trailing_separator": case(text(DAYS, value=lambda v: comma(v) + ";", mark=";", header="date{}sales;"), DAYS),
    "row_numbers": case(
        "\n".join([",date,sales", *(f"{i},{t:%Y-%m-%d},{v:.2f}" for i, (t, v) in enumerate(DAYS))]), DAYS
    ),
    "quoted_everything": case(text(DAYS, '"%d.%m.%Y"', quoted(thousands_point), ";", '"date"{}"sales, net"'), DAYS),
    "gzipped": case(gzip.compress(EURO.encode()), MONTHS, "decimal comma", suffix=".csv.gz"),
    "excel": case(excel(DAYS), DAYS, suffix=".xlsx"),
    "excel_with_title": case(excel(HOURS, title=True), HOURS, "above the header", suffix=".xlsx"),
    "excel_as_text": case(excel(DAYS, as_text=True), DAYS, "day.month.year", "decimal comma", suffix=".xlsx"),
    "excel_two_sheets": Case(".xlsx", excel(DAYS, sheets=2), DAYS, "--sheet", ({"sheet": "Sheet2"},)),
}


def write(name: str, folder: Path) -> Path:
    """The file of a case."""
    path = folder / f"{name}{FILES[name].suffix}"
    path.write_bytes(FILES[name].data)
    return path
