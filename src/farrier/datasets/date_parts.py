"""Times that are split over columns: a date and a time of day, or year and month, quarter, day, hour.

    join_parts({"year": ..., "month": ..., "sales": ...})     # the column "year month" with ISO text

Columns are joined only if the first of them repeats, and if the joined times differ from row to row, or do so together
with a column of text that identifies series.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from farrier.datasets.date_format import iso
from farrier.datasets.date_parsing import YEARS, month_number, parse

WORDS = {
    "y": frozenset({"year", "yr", "yyyy", "jahr", "annee", "année", "ano", "año", "anno"}),
    "m": frozenset({"month", "mon", "mm", "mth", "monat", "mois", "mes", "mese"}),
    "q": frozenset({"quarter", "qtr", "quartal", "trimestre"}),
    "d": frozenset({"day", "dd", "tag", "jour", "dia", "día", "giorno"}),
    "h": frozenset({"hour", "hr", "hh", "stunde", "heure", "hora", "ora"}),
}
"""Names of columns that hold a part of a time, in lower case; by judgement."""
RANGES = {"y": YEARS, "m": (1, 12), "q": (1, 4), "d": (1, 31), "h": (0, 23)}
"""The numbers that each part can have."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Joined:
    """A column of joined times in the place of its parts."""

    columns: dict[str, Any]
    name: str
    parts: tuple[str, ...]


def join_parts(columns: Mapping[str, Any]) -> Joined | None:
    """The columns with the parts of times joined; None if there are no such parts."""
    found = _date_and_clock(columns) or _numbered(columns)
    if found is None:
        return None
    parts, times = found
    if not _identifies(times, [values for name, values in columns.items() if name not in parts]):
        return None
    name = " ".join(parts)
    joined = {}
    for column, values in columns.items():
        if column == min(parts, key=list(columns).index):
            joined[name] = times
        elif column not in parts:
            joined[column] = values
    return Joined(joined, name, parts)


def _date_and_clock(columns: Mapping[str, Any]) -> tuple[tuple[str, ...], list[str | None]] | None:
    """A column of days that repeat, and one of times of day."""
    days = [name for name, values in columns.items() if _all(values, _DAY.fullmatch) and _repeats(values)]
    clocks = [name for name, values in columns.items() if _all(values, _clock)]
    hours = _part(columns, "h")
    if len(days) != 1 or len(clocks) + (hours is not None) != 1:
        return None
    if hours is not None:
        name, numbers = hours
        times = [None if hour is None else f"{hour:02d}:00" for hour in numbers]
    else:
        name, times = clocks[0], [None if cell is None else _clock(cell) for cell in columns[clocks[0]]]
    pairs = zip(columns[days[0]], times, strict=True)
    return (days[0], name), [None if day is None or time is None else f"{day} {time}" for day, time in pairs]


def _clock(text: str) -> str | None:
    """A time of day as HH:MM or HH:MM:SS; None if the text is none."""
    parsed = parse(f"2000-01-01 {text}")
    if parsed is None or not parsed.timed:
        return None
    moment = parsed.moment("ymd")
    return None if moment is None else moment.time().isoformat(timespec=parsed.timed)


def _numbered(columns: Mapping[str, Any]) -> tuple[tuple[str, ...], list[str | None]] | None:
    """A column of years that repeat, and months (then also days and hours) or quarters."""
    found = {part: _part(columns, part) for part in WORDS}
    year, month, quarter = found["y"], found["m"], found["q"]
    if year is None or not _repeats(year[1]) or (month is None and quarter is None):
        return None
    order = "ymdh" if month is not None else "yq"
    used = []
    for part in order:
        if found[part] is None:
            break
        used.append(found[part])
    times = [_moment(order, numbers) for numbers in zip(*(numbers for _, numbers in used), strict=True)]
    return tuple(name for name, _ in used), times


def _moment(order: str, numbers: Sequence[int | None]) -> str | None:
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    parts = dict(zip(order, known, strict=False))
    month = 3 * parts["q"] - 2 if "q" in parts else parts["m"]
    try:
        moment = datetime(parts["y"], month, parts.get("d", 1), parts.get("h", 0))
    except ValueError:
        return "-".join(map(str, numbers))  # no such day: refused where the times are read
    return iso(moment, "".join(parts), "minutes" if "h" in parts else "")


def _part(columns: Mapping[str, Any], part: str) -> tuple[str, list[int | None]] | None:
    """The only column whose name and numbers are those of a part of a time."""
    low, high = RANGES[part]
    found = []
    for name, values in columns.items():
        if name.lower() not in WORDS[part]:
            continue
        numbers = [_whole(value, part) for value in values]
        present = [number for number in numbers if number is not None]
        missing = sum(value is None or value != value for value in values)
        if present and len(present) + missing == len(numbers) and all(low <= number <= high for number in present):
            found.append((name, numbers))
    return found[0] if len(found) == 1 else None


def _whole(value: Any, part: str) -> int | None:
    if isinstance(value, str):
        text = value.lower().rstrip(".")
        if part == "m":
            return month_number(text)
        return int(text[1]) if part == "q" and re.fullmatch("q[1-4]", text) else None
    return int(value) if value is not None and value == value and float(value).is_integer() else None


def _all(values: Any, test: Any) -> bool:
    """Whether all cells of a column of text, at least one, pass a test."""
    if isinstance(values, np.ndarray):
        return False
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(value, str) and test(value) for value in present)


def _repeats(values: Sequence[Any]) -> bool:
    present = [value for value in values if value is not None]
    return len(set(present)) < len(present)


def _identifies(times: Sequence[str | None], others: Sequence[Any]) -> bool:
    """Whether each time comes once, or once for each text of one other column."""
    if not _repeats(times):
        return True
    texts = [values for values in others if _all(values, str)]
    return any(not _repeats(list(zip(times, values, strict=True))) for values in texts)
