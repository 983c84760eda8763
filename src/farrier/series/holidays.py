"""Holidays by country, or as the user gives them: days with names, over a range of years.

read_holidays("DE", None, 2020, 2030)                       # the package `holidays`; "DE-BY" for one state
read_holidays(None, {"2024-11-29": "Black Friday"}, ...)    # dates and names, or a list of dates
"""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

import numpy as np

from farrier.data.extras import MissingExtraError
from farrier.data.quoting import quoted

UNNAMED = "holiday"
"""The name of a holiday that was given without one."""
OBSERVED = " (observed)"
"""What the package `holidays` adds to the name of a day off in lieu of a holiday."""


def read_holidays(country: str | None, given: Any, first: int, last: int) -> dict[date, str]:
    """The holidays of the years `first` to `last`, by date; what the user gives comes before the country's."""
    found = {} if country is None else _of_country(country, first, last)
    return dict(sorted((found | _given(given)).items()))


def days_of(holidays: Mapping[date, str]) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """The dates as days since 1970-01-01, the number of each name from 1, and the names in order of appearance."""
    titles = tuple(dict.fromkeys(holidays.values()))
    days = np.array(list(holidays), dtype="M8[D]").astype(np.int64)
    return days, np.array([titles.index(name) + 1 for name in holidays.values()], np.int64), titles


def _of_country(country: str, first: int, last: int) -> dict[date, str]:
    try:
        import holidays
    except ImportError as error:
        raise MissingExtraError(
            f"country={quoted(country)} needs the package holidays: pip install 'farrier[calendar]', or give holidays=."
        ) from error
    if not isinstance(country, str):
        raise ValueError(f"country: {quoted(country)} is not a code such as 'DE', 'US' or 'DE-BY': give one.")
    code, _, part = country.upper().partition("-")
    known = holidays.list_supported_countries()
    if code not in known:
        raise ValueError(f"country: {quoted(country)} is not known: give an ISO code such as 'DE', 'US' or 'DE-BY'.")
    if part and part not in known[code]:
        raise ValueError(f"country: {code} has no part {quoted(part)}: give one of {', '.join(known[code]) or 'none'}.")
    languages = holidays.list_localized_countries().get(code, ())
    language = next((one for one in ("en_US", "en_GB", "en") if one in languages), None)
    years = range(first, last + 1)
    found = holidays.country_holidays(code, subdiv=part or None, years=years, language=language)
    return {day: _short(name) for day, name in found.items()}


def _short(name: str) -> str:
    """The first name of a day, without a mark that it stands in for another day."""
    return name.split("; ")[0].removesuffix(OBSERVED)


def _given(given: Any) -> dict[date, str]:
    if given is None:
        return {}
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ValueError(f"holidays: {quoted(given)} is not a list of dates, nor a dict of dates and names: give one.")
    pairs = given.items() if isinstance(given, Mapping) else ((day, UNNAMED) for day in given)
    return {_date(day): str(name) for day, name in pairs}


def _date(day: Any) -> date:
    """A date from a date, a time, or ISO text."""
    try:
        if isinstance(day, np.datetime64):
            day = day.astype("M8[D]").item()
        if isinstance(day, str):
            day = datetime.fromisoformat(day.strip())
        if isinstance(day, datetime):
            day = day.date()
    except ValueError:
        day = str(day)
    if type(day) is not date:
        raise ValueError(f"holidays: {quoted(day)} is not a date such as 2024-12-25: correct it.")
    return day
