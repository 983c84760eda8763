"""Dates as people write them: the order is found from all rows, or the column is in doubt."""

from datetime import datetime

import pytest

from farrier.datasets.date_format import DateFormat, read_dates
from farrier.datasets.date_parsing import month_number, parse


def read(*cells, wanted=None, name="date"):
    return read_dates(name, list(cells), [f"line {i + 2}" for i in range(len(cells))], DateFormat.of(wanted))


@pytest.mark.parametrize(
    ("text", "order", "moment"),
    [
        ("15.03.2024 18:30", "dmy", datetime(2024, 3, 15, 18, 30)),
        ("3/15/24 1:05 PM", "mdy", datetime(2024, 3, 15, 13, 5)),
        ("12:00 am", None, None),
        ("3/15/2024 12:05 a.m.", "mdy", datetime(2024, 3, 15, 0, 5)),
        ("2024/3/5", "ymd", datetime(2024, 3, 5)),
        ("15. 3. 2024", "dmy", datetime(2024, 3, 15)),
        ("Mon, 15 Mar 2024", "dmy", datetime(2024, 3, 15)),
        ("March 15, 2024", "dmy", datetime(2024, 3, 15)),
        ("3rd March 2024", "dmy", datetime(2024, 3, 3)),
        ("15-Mar-24", "dmy", datetime(2024, 3, 15)),
        ("Q3 2024", "yq", datetime(2024, 7, 1)),
        ("3Q2024", "yq", datetime(2024, 7, 1)),
        ("2024-W05", "yw", datetime(2024, 1, 29)),
        ("20240315", "ymd", datetime(2024, 3, 15)),
        ("05.2024", "my", datetime(2024, 5, 1)),
        ("32.01.2024", "dmy", None),
        ("15.03.2024 25:00", None, None),
        ("1.5", None, None),
        ("Mark 2024", None, None),
    ],
)
def test_a_date_is_read_in_its_order_or_not_at_all(text, order, moment):
    parsed = parse(text)
    assert (None if parsed is None or order is None else parsed.moment(order)) == moment
    assert (parsed is None) == (order is None)


def test_months_are_known_by_enough_of_their_first_letters():
    assert [month_number(name) for name in ("Sept", "M\u00e4rz", "ao\u00fbt", "dic", "Juil")] == [9, 3, 8, 12, 7]
    assert [month_number(name) for name in ("jui", "ma", "foo")] == [None, None, None]


def test_one_day_after_the_twelfth_decides_for_all_rows():
    assert read("01/02/2024", "13/02/2024").cells == ["2024-02-01", "2024-02-13"]
    assert read("01/02/2024", "02/13/2024").cells == ["2024-01-02", "2024-02-13"]


def test_equal_steps_decide_where_the_calendar_does_not():
    monthly = read("01/01/2024", "01/02/2024", "01/03/2024", "01/04/2024", "01/06/2025")
    assert "--date-format" in monthly.doubt
    whole = [f"01/{i % 12 + 1:02d}/{2020 + i // 12}" for i in range(15)]
    assert read(*whole).cells[1] == "2020-02-01"
    assert not read(*whole).doubt


def test_the_option_overrules_and_what_does_not_fit_it_is_named():
    assert read("01/02/2024", "03/04/2024", wanted="mdy").cells == ["2024-01-02", "2024-03-04"]
    assert read("01/02/2024", "03/04/2024", wanted="dd/mm/yyyy").cells == ["2024-02-01", "2024-04-03"]
    assert "line 3: '13/04/2024'" in read("01/02/2024", "13/04/2024", wanted="mdy").doubt
    assert read("1|2|2024", wanted="%d|%m|%Y").cells == ["2024-02-01"]
    assert read("2024-02-01", wanted="dmy") is None


@pytest.mark.parametrize("wanted", ["foo", "dm", "%d.%m", "mmd"])
def test_an_unknown_format_is_refused(wanted):
    with pytest.raises(ValueError, match=r"^--date-format: "):
        DateFormat.of(wanted)


@pytest.mark.parametrize(
    "cells",
    [("1949.04", "1949.13", "1949.21"), ("1610.5", "1611.5", "1612.5"), ("200101", "300101"), ("5", "6"), ("a", "b")],
)
def test_numbers_and_words_are_no_dates(cells):
    assert read(*cells) is None


def test_years_with_months_as_decimals_are_months_also_without_the_last_zero():
    written = [f"{2019 + i // 12}.{i % 12 + 1:02d}".removesuffix("0") for i in range(24)]
    assert read(*written).cells == [f"{2019 + i // 12}-{i % 12 + 1:02d}" for i in range(24)]
    assert "quarters" in read("2020.1", "2020.2", "2020.3", "2020.4").doubt


def test_years_of_two_digits_that_may_be_in_two_centuries_are_in_doubt():
    assert "1949 or 2049" in read("15.03.49", "16.03.49").doubt
    assert read("15.03.99", "16.03.01").cells == ["1999-03-15", "2001-03-16"]
    assert "1949 or 2049" in read("15.03.49", wanted="%d.%m.%y").doubt
    found = read("15.03.49", wanted="%d.%m.19%y")
    assert (found.cells, found.doubt) == (["1949-03-15"], "")
