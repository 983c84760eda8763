"""Laws of holidays: the package's by country, the user's before them, and one clear line for what is neither."""

import builtins
from datetime import date, datetime

import numpy as np
import pytest

from farrier.data.extras import MissingExtraError
from farrier.series.holidays import days_of, read_holidays


def test_holidays_of_a_country_are_those_of_the_package_in_all_years():
    found = read_holidays("DE", None, 2024, 2026)
    assert found[date(2024, 12, 25)] == found[date(2026, 12, 25)] == "Christmas Day"
    assert date(2024, 6, 5) not in found
    assert list(found) == sorted(found)


def test_a_part_of_a_country_adds_its_own():
    assert date(2024, 1, 6) in read_holidays("DE-BY", None, 2024, 2024)
    assert date(2024, 1, 6) not in read_holidays("de", None, 2024, 2024)


def test_what_the_user_gives_is_added_and_renames():
    found = read_holidays("DE", {"2024-12-25": "Xmas", datetime(2024, 11, 29, 8): "Black Friday"}, 2024, 2024)
    assert found[date(2024, 12, 25)] == "Xmas"
    assert found[date(2024, 11, 29)] == "Black Friday"


@pytest.mark.parametrize(
    "day", [date(2024, 2, 29), "2024-02-29", np.datetime64("2024-02-29T07"), datetime(2024, 2, 29)]
)
def test_dates_of_any_type_are_read(day):
    assert read_holidays(None, [day], 2024, 2024) == {date(2024, 2, 29): "holiday"}


@pytest.mark.parametrize(
    ("country", "given", "line"),
    [
        ("XX", None, r"country: 'XX' is not known: give an ISO code"),
        ("DE-XX", None, r"country: DE has no part 'XX': give one of BB"),
        (49, None, r"country: 49 is not a code such as 'DE'"),
        (None, ["soon"], r"holidays: 'soon' is not a date such as 2024-12-25: correct it"),
        (None, [7], r"holidays: 7 is not a date such as"),
        (None, "2024-12-25", r"holidays: '2024-12-25' is not a list of dates, nor a dict"),
        (None, 5, r"holidays: 5 is not a list of dates"),
    ],
)
def test_what_is_no_holiday_gets_one_line(country, given, line):
    with pytest.raises(ValueError, match=line):
        read_holidays(country, given, 2024, 2024)


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "holidays":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        MissingExtraError, match=r"country='DE' needs the package holidays: pip install 'farrier\[calendar\]'"
    ):
        read_holidays("DE", None, 2024, 2024)


def test_days_and_names_become_numbers():
    days, called, titles = days_of({date(1970, 1, 2): "a", date(1970, 1, 3): "b", date(1971, 1, 1): "a"})
    assert (days.tolist(), called.tolist(), titles) == ([1, 2, 365], [1, 2, 1], ("a", "b"))
