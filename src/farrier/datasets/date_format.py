"""A column of dates as people write them, as ISO text. The order of day, month and year is found from all rows.

    read_dates("day", ["15.03.2024", ...], rows, None)     # Dates(["2024-03-15", ...], "day.month.year")

Of several orders that fit all rows, the one whose steps are all equal is taken; dates with points have the day first.
If that does not decide, the column is in doubt: using it raises an error that names the option to give. Text that is no
date stays as it is, and is refused where the times are read.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from farrier.data.quoting import quoted
from farrier.datasets.date_parsing import CENTURY, Parsed, parse
from farrier.series.columns import TIME_WORDS, is_number
from farrier.series.stamps import NO_DATE, is_stamp

ORDERS = ("dmy", "mdy", "ymd", "ydm", "my", "ym")
"""The orders that the user can ask for."""
PARTS = {"d": "day", "m": "month", "y": "year"}
"""The parts of a date, by their letters in `ORDERS`."""
DISTINCT = 12
"""Fewest distinct numbers such as 20240315 or 03.2024 that are dates without a name that says so; by judgement."""
CLOCK = {"": 0, "minutes": 1, "seconds": 2, "microseconds": 3}
"""The details of a time of day, from coarse to fine."""


@dataclass(frozen=True)
class DateFormat:
    """The format that the user asks for: an order such as dmy, or a pattern of strptime."""

    text: str
    order: str = ""

    @classmethod
    def of(cls, text: str | None) -> "DateFormat | None":
        """From "dmy", "dd.mm.yyyy", "day/month/year", "%d.%m.%Y", or "%d.%m.19%y" for years of two digits."""
        if text is None:
            return None
        if "%" in text:
            if not re.search("%[YyGcxDF]", text):
                raise ValueError(f"--date-format: {quoted(text)} has no year: give a pattern such as %d.%m.%Y")
            return cls(text)
        words = re.sub("day|month|year", lambda word: word[0][0], text.strip().lower().split(" ")[0])
        order = re.sub(r"(.)\1*", r"\1", re.sub("[^a-z]", "", words))
        if order not in ORDERS:
            raise ValueError(
                f"--date-format: {quoted(text)} is unknown: give {', '.join(ORDERS)}, or a pattern like %d.%m.%Y"
            )
        return cls(text, order)


@dataclass(frozen=True)
class Dates:
    """A column of dates."""

    cells: list[str | None]
    """ISO text; text that is no date as it was."""
    words: str = ""
    """How the dates were written; empty for ISO text."""
    doubt: str = ""
    """Why the dates cannot be used, in one line with what to do; empty if they can."""


def read_dates(name: str, cells: Sequence[str | None], rows: Sequence[str], wanted: DateFormat | None) -> Dates | None:
    """The dates of a column; None if fewer than half of its cells are dates, or if they may as well be numbers."""
    present = [cell for cell in cells if cell is not None]
    if wanted is not None and not wanted.order:
        return _by_pattern(name, cells, rows, wanted)
    if all(map(is_number, present)):
        return _of_numbers(name, cells) if present else None
    if wanted is None and all(map(is_stamp, present)):
        return Dates(list(cells))
    parsed = [None if cell is None else parse(cell) for cell in cells]
    counts = Counter(_family(one) for one in parsed if one is not None)
    if not counts or 2 * counts.total() < len(present):
        return None
    family = counts.most_common(1)[0][0]
    if family[0] == "short pair" and wanted is None and name.lower() not in TIME_WORDS:
        return None
    of_family = [one if one is not None and _family(one) == family else None for one in parsed]
    found = _decide(name, cells, of_family, rows, wanted)
    stray = [i for i, one in enumerate(parsed) if one is not None and of_family[i] is None]
    if found is None or found.doubt or not stray:
        return found
    first = next(i for i, one in enumerate(of_family) if one is not None)
    return replace(found, doubt=_differ(name, cells, rows, (first, stray[0]), "are written in different ways"))


def _family(parsed: Parsed) -> tuple[str, str, bool, tuple[str, ...]]:
    return parsed.kind, parsed.mark, parsed.short, () if parsed.short else parsed.orders


def _decide(
    name: str,
    cells: Sequence[str | None],
    parsed: Sequence[Parsed | None],
    rows: Sequence[str],
    wanted: DateFormat | None,
) -> Dates | None:
    found = [one for one in parsed if one is not None]
    first = next(i for i, one in enumerate(parsed) if one is not None)
    possible = [order for order in found[0].orders if all(order in one.orders for one in found)]
    valid = [order for order in possible if all(one.moment(order) is not None for one in found)]
    if wanted is not None and len(found[0].orders) > 1:
        if wanted.order not in possible:
            return None
        order, doubt = wanted.order, ""
        if order not in valid:
            bad = next(i for i, one in enumerate(parsed) if one is not None and one.moment(order) is None)
            doubt = _unfit(name, cells[bad], rows[bad], wanted)
    else:
        valid = [order for order in valid if order != "ydm"]
        order, doubt = _choose(found, valid)
        if doubt:
            doubt = f"column {quoted(name)}, {rows[first]}: {quoted(cells[first])} {doubt}"
        elif not order:
            order, doubt = possible[0], _contradiction(name, cells, parsed, rows)
    if not doubt and found[0].short:
        doubt = _century(name, cells, parsed, rows, order)
    return Dates(_write(cells, parsed, order), _words(found[0], order), doubt)


def _unfit(name: str, cell: str | None, row: str, wanted: DateFormat) -> str:
    return f"column {quoted(name)}, {row}: {quoted(cell)} is no date by --date-format {wanted.text}: correct it"


def _choose(found: Sequence[Parsed], valid: Sequence[str]) -> tuple[str, str]:
    """The order of the dates, and why it is in doubt; ("", "") if none fits all rows."""
    if not valid:
        return "", ""
    steady = [order for order in valid if _is_regular([one.moment(order) for one in found])]
    if found[0].kind in ("short pair", "short named"):
        if found[0].kind == "short named" and steady:
            return valid[0], ""
        return valid[0], "may be a month and a year or a day: give --date-format my if it is month and year"
    if len(valid) == 1:
        return valid[0], ""
    if found[0].mark == "." and set(valid) == {"dmy", "mdy"}:
        return "dmy", ""
    if len(steady) == 1:
        return steady[0], ""
    names = " or ".join("".join(PARTS[part] + found[0].mark for part in order)[:-1] for order in valid)
    return valid[0], f"and all other rows can be {names}: give --date-format {' or '.join(valid)}"


def _contradiction(name: str, cells: Sequence[str | None], parsed: Sequence[Parsed | None], rows: Sequence[str]) -> str:
    """Why no order fits: a row that is no date in any order, or two rows of different orders."""
    shown: dict[str, int] = {}
    for i, one in enumerate(parsed):
        orders = [order for order in one.orders if order != "ydm" and one.moment(order)] if one is not None else ["any"]
        if not orders:
            return f"column {quoted(name)}, {rows[i]}: {quoted(cells[i])} {NO_DATE}"
        if one is not None and len(orders) == 1:
            shown.setdefault(orders[0], i)
    i, j = list(shown.values())[:2]
    return _differ(name, cells, rows, (i, j), "have day, month and year in different orders")


def _differ(name: str, cells: Sequence[str | None], rows: Sequence[str], places: tuple[int, int], what: str) -> str:
    one, other = (f"{quoted(cells[i])} in {rows[i]}" for i in sorted(places))
    return f"column {quoted(name)}: {one} and {other} {what}: write all dates alike"


def _century(
    name: str, cells: Sequence[str | None], parsed: Sequence[Parsed | None], rows: Sequence[str], order: str
) -> str:
    for i, one in enumerate(parsed):
        if one is not None:
            year = one.parts[order.index("y")]
            if year not in CENTURY:
                return _two_centuries(f"column {quoted(name)}, {rows[i]}: {quoted(cells[i])}", year)
    return ""


def _two_centuries(cell: str, year: int) -> str:
    return f"{cell} may be in 19{year:02d} or 20{year:02d}: give its century, as in --date-format %b-19%y"


def _is_regular(moments: Sequence[datetime | None]) -> bool:
    """Whether all steps are equal: in time, or in months on the same day of the month or on its last."""
    times = sorted({moment for moment in moments if moment is not None})
    if len(times) < 3:
        return False
    if len({later - earlier for earlier, later in pairwise(times)}) == 1:
        return True
    months = [12 * moment.year + moment.month for moment in times]
    ends = all((moment + timedelta(days=1)).day == 1 for moment in times)
    steps = {later - earlier for earlier, later in pairwise(months)}
    return (ends or len({moment.day for moment in times}) == 1) and len(steps) == 1 and steps != {0}


def _words(parsed: Parsed, order: str) -> str:
    match parsed.kind:
        case "numbers" | "pair" | "short pair":
            return parsed.mark.join(PARTS[part] for part in order)
        case "compact":
            return "yyyymmdd" if "d" in order else "yyyymm"
        case "quarter":
            return "quarters"
        case "week":
            return "ISO weeks"
    return "names of months"


def _write(cells: Sequence[str | None], parsed: Sequence[Parsed | None], order: str) -> list[str | None]:
    """The dates as ISO text, all with the same detail."""
    clock = max((one.timed for one in parsed if one is not None), key=CLOCK.__getitem__)
    written: list[str | None] = []
    for cell, one in zip(cells, parsed, strict=True):
        moment = None if one is None else one.moment(order)
        written.append(cell if moment is None else iso(moment, order, clock))
    return written


def iso(moment: datetime, order: str, clock: str) -> str:
    """A moment as ISO text down to the last part of `order`, or to the detail `clock` of the time of day."""
    if clock:
        return moment.isoformat(sep=" ", timespec=clock)
    if "q" in order:
        return f"{moment.year:04d}Q{(moment.month + 2) // 3}"
    if "d" in order or "w" in order:
        return moment.date().isoformat()
    return f"{moment.year:04d}-{moment.month:02d}" if "m" in order else f"{moment.year:04d}"


def _of_numbers(name: str, cells: Sequence[str | None]) -> Dates | None:
    """Dates that are numbers too: 20240315, 202403, 03.2024, 2024.03. All cells must be such dates."""
    present = [cell for cell in cells if cell is not None]
    if (first := parse(present[0])) is None:
        return None
    enough = len(set(present)) >= (3 if name.lower() in TIME_WORDS else DISTINCT)
    if first.kind == "pair" and first.orders == ("ym",):
        return _years_with_decimals(name, cells) if enough else None
    parsed = [None if cell is None else parse(cell) for cell in cells]
    found = [one for one in parsed if one is not None]
    alike = len(found) == len(present) and len({_family(one) for one in found}) == 1
    if not enough or not alike or any(one.moment(one.orders[0]) is None for one in found):
        return None
    return Dates(_write(cells, parsed, first.orders[0]), _words(first, first.orders[0]))


def _years_with_decimals(name: str, cells: Sequence[str | None]) -> Dates | None:
    """2024.01 to 2024.12, also without the last zero of 2024.10; decimal years are None."""
    parts = [None if cell is None else cell.partition(".")[::2] for cell in cells]
    decimals = {part[1] for part in parts if part is not None}
    padded = any(digits.startswith("0") for digits in decimals)
    months = {digits: int(digits.ljust(2, "0") if padded else digits or "0") for digits in decimals}
    if not all(1 <= month <= 12 for month in months.values()):
        return None
    if decimals == {"1", "2", "3", "4"}:
        doubt = (
            f"column {quoted(name)}: years with the decimals 1 to 4 may be quarters: write 2024Q1 for the first of 2024"
        )
        return Dates(list(cells), "", doubt)
    if len(set(months.values())) < 6 or (not padded and "1" in decimals and "10" not in decimals):
        return None
    written = [None if part is None else f"{part[0]}-{months[part[1]]:02d}" for part in parts]
    return Dates(list(written), "year.month")


def _by_pattern(name: str, cells: Sequence[str | None], rows: Sequence[str], wanted: DateFormat) -> Dates | None:
    """The dates in a pattern of strptime; None if fewer than half of the cells fit."""
    moments = [None if cell is None else _strptime(cell, wanted.text) for cell in cells]
    present = sum(cell is not None for cell in cells)
    if not present or 2 * sum(moment is not None for moment in moments) < present:
        return None
    clock = "microseconds" if "%f" in wanted.text else "seconds" if re.search("%[ScXT]", wanted.text) else ""
    clock = clock or ("minutes" if re.search("%[HIR]", wanted.text) else "")
    order = "d" if re.search("%[djcxUWVDF]", wanted.text) else "m" if re.search("%[mbB]", wanted.text) else "y"
    two_digits, doubt = re.search("(?<!19)(?<!20)%y", wanted.text), ""
    for i, (cell, moment) in enumerate(zip(cells, moments, strict=True)):
        if cell is not None and moment is None and not doubt:
            doubt = _unfit(name, cell, rows[i], wanted)
        elif moment is not None and two_digits and moment.year % 100 not in CENTURY and not doubt:
            doubt = _two_centuries(f"column {quoted(name)}, {rows[i]}: {quoted(cell)}", moment.year % 100)
    written = [
        cell if moment is None else iso(moment, order, clock) for cell, moment in zip(cells, moments, strict=True)
    ]
    return Dates(written, wanted.text, doubt)


def _strptime(text: str, pattern: str) -> datetime | None:
    try:
        if (century := re.search("(19|20)%y", pattern)) is None:
            return datetime.strptime(text, pattern)
        moment = datetime.strptime(text, pattern.replace(century[0], "%y"))
        return moment.replace(year=100 * int(century[1]) + moment.year % 100)
    except ValueError:
        return None
