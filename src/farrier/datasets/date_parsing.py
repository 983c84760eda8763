"""One date as people write it: its numbers, the orders in which they can be read, and its time of day.

    parse("15.03.2024 18:30")            # Parsed(("15", "03", "2024"), orders dmy and mdy, "18:30")
    parse("Mar 2024"), parse("Q1 2024"), parse("20240315"), parse("2024-W05")
    parsed.moment("dmy")                 # datetime(2024, 3, 15, 18, 30), or None if there is no such day

date_format.py decides the order from all rows of a column.
"""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta

MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
)
"""Names of months in English, German, French, Spanish and Italian, without accents."""
YEARS = (1800, 2199)
"""The years that four digits of a date can mean; by judgement."""
CENTURY = {**dict.fromkeys(range(30), 2000), **dict.fromkeys(range(70, 100), 1900)}
"""The century of a year of two digits; 30 to 69 are in neither, since both are possible. By judgement."""

_TIME = re.compile(
    r"(?P<date>.*?)(?:[T,]\s*|\s+)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,6}))?)?"
    r"\s?(?P<half>[AaPp])?(?(half)\.?[Mm]\.?)"
)
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+", re.IGNORECASE)
_NUMBERS = re.compile(r"(\d{1,4})([./ -])\s?(\d{1,2})\2\s?(\d{1,4})")
_PAIR = re.compile(r"(\d{1,4})([./-])(\d{1,4})")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)?")
_NAMED = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?[ .-]*)?([^\W\d_]{3,10})\.?[ ,'-]*(?:(\d{1,2})(?:st|nd|rd|th)?,\s*)?(\d{4}|\d\d)"
)
_YEAR_FIRST = re.compile(r"(\d{4})[ -]([^\W\d_]{3,10})\.?(?:[ -](\d{1,2}))?")
_QUARTER = re.compile(r"(?:q([1-4])|([1-4])q)[ /.-]?(\d{4})|(\d{4})[ /.-]?q([1-4])")
_WEEK = re.compile(r"(\d{4})[ -]?w(\d\d?)(?:-([1-7]))?")


@dataclass(frozen=True)
class Parsed:
    """A date whose order is open."""

    kind: str
    """numbers, pair, compact, named, quarter or week: dates of a column are of one kind."""
    parts: tuple[int, ...]
    orders: tuple[str, ...]
    """The orders of year, month and day (y, m, d, and q for a quarter, w for a week) that the digits allow."""
    mark: str = ""
    """The text between the numbers."""
    clock: timedelta = timedelta()
    timed: str = ""
    """The detail of the time of day: "", "minutes", "seconds" or "microseconds"."""
    short: bool = False
    """Whether the year may have two digits."""

    def moment(self, order: str) -> datetime | None:
        """The instant at which the date begins, in one of the orders; None if there is no such date."""
        if order not in self.orders:
            return None
        found = dict(zip(order, self.parts, strict=True))
        year = full_year(found["y"]) if self.short and found["y"] < 100 else found["y"]
        try:
            if "w" in found:
                return datetime.fromisocalendar(year, found["w"], found.get("d", 1)) + self.clock
            month = 3 * found["q"] - 2 if "q" in found else found["m"]
            return datetime(year, month, found.get("d", 1)) + self.clock
        except ValueError:
            return None


def full_year(year: int) -> int:
    """A year of two digits with its century; of the years that can be in two centuries, the later."""
    return CENTURY.get(year, 2000) + year


def parse(text: str) -> Parsed | None:
    """A date with or without time of day; None if the text is none."""
    timed = _TIME.fullmatch(text)
    if timed is None:
        return _parse_date(text)
    hour, half = int(timed["hour"]), timed["half"]
    if hour > 23 or int(timed["minute"]) > 59 or int(timed["second"] or 0) > 59 or (half and not 1 <= hour <= 12):
        return None
    date = _parse_date(timed["date"])
    if date is None or not all("d" in order for order in date.orders):
        return None
    if half:
        hour = hour % 12 + 12 * (half in "Pp")
    fraction = int((timed["fraction"] or "").ljust(6, "0"))
    clock = timedelta(
        hours=hour, minutes=int(timed["minute"]), seconds=int(timed["second"] or 0), microseconds=fraction
    )
    detail = "microseconds" if fraction else "seconds" if timed["second"] else "minutes"
    return Parsed(date.kind, date.parts, date.orders, date.mark, clock, detail, date.short)


def _parse_date(text: str) -> Parsed | None:
    text = _WEEKDAY.sub("", text.strip(), count=1).lower()
    if not text or not text[-1].isalnum() or not any(map(str.isdigit, text)):
        return None
    for read in (_numbers, _pair, _compact, _named, _year_first, _quarter, _week):
        parsed = read(text)
        if parsed is not None:
            return parsed
    return None


def _numbers(text: str) -> Parsed | None:
    found = _NUMBERS.fullmatch(text)
    if found is None:
        return None
    parts = found[1], found[3], found[4]
    numbers = tuple(map(int, parts))
    lengths = tuple(map(len, parts))
    if lengths[0] == 4 and lengths[2] <= 2 and _in_range(numbers[0]):
        return Parsed("numbers", numbers, ("ymd", "ydm"), found[2])
    if lengths[2] == 4 and lengths[0] <= 2 and _in_range(numbers[2]):
        return Parsed("numbers", numbers, ("dmy", "mdy"), found[2])
    if lengths[0] <= 2 and lengths[2] <= 2:
        orders = tuple(o for o in ("dmy", "mdy", "ymd") if lengths[o.index("y")] == 2)
        return Parsed("numbers", numbers, orders, found[2], short=True) if orders else None
    return None


def _pair(text: str) -> Parsed | None:
    found = _PAIR.fullmatch(text)
    if found is None:
        return None
    numbers = int(found[1]), int(found[3])
    if len(found[1]) == 4 and len(found[3]) <= 2 and _in_range(numbers[0]):
        return Parsed("pair", numbers, ("ym",), found[2])
    if len(found[3]) == 4 and len(found[1]) <= 2 and _in_range(numbers[1]):
        return Parsed("pair", numbers, ("my",), found[2])
    if len(found[1]) <= 2 and len(found[3]) == 2 and found[2] != ".":
        return Parsed("short pair", numbers, ("my", "ym"), found[2], short=True)
    return None


def _compact(text: str) -> Parsed | None:
    found = _COMPACT.fullmatch(text)
    if found is None or not _in_range(int(found[1])):
        return None
    parts = tuple(int(part) for part in found.groups() if part)
    return Parsed("compact", parts, ("ymd" if found[3] else "ym",))


def _named(text: str) -> Parsed | None:
    found = _NAMED.fullmatch(text)
    if found is None or (month := month_number(found[2])) is None or (found[1] and found[3]):
        return None
    day = found[1] or found[3]
    year, short = int(found[4]), len(found[4]) == 2
    if not short and not _in_range(year):
        return None
    parts = (month, year) if day is None else (int(day), month, year)
    kind = "named" if day or not short else "short named"
    return Parsed(kind, parts, ("my" if day is None else "dmy",), short=short)


def _year_first(text: str) -> Parsed | None:
    found = _YEAR_FIRST.fullmatch(text)
    if found is None or (month := month_number(found[2])) is None or not _in_range(int(found[1])):
        return None
    parts = (int(found[1]), month, *([int(found[3])] if found[3] else []))
    return Parsed("named", parts, ("ymd" if found[3] else "ym",))


def _quarter(text: str) -> Parsed | None:
    found = _QUARTER.fullmatch(text)
    if found is None or not _in_range(int(found[3] or found[4])):
        return None
    return Parsed("quarter", (int(found[3] or found[4]), int(found[1] or found[2] or found[5])), ("yq",))


def _week(text: str) -> Parsed | None:
    found = _WEEK.fullmatch(text)
    if found is None or not _in_range(int(found[1])):
        return None
    parts = (int(found[1]), int(found[2]), *([int(found[3])] if found[3] else []))
    return Parsed("week", parts, ("ywd" if found[3] else "yw",))


def month_number(name: str) -> int | None:
    """The number of a month from its name, or from three or more of its first letters if they fit one month only."""
    plain = "".join(
        letter for letter in unicodedata.normalize("NFD", name.lower()) if not unicodedata.combining(letter)
    )
    if len(plain) < 3:
        return None
    found = {i for names in MONTHS for i, month in enumerate(names.split(), 1) if month.startswith(plain)}
    return found.pop() if len(found) == 1 else None


def _in_range(year: int) -> bool:
    return YEARS[0] <= year <= YEARS[1]
