"""Numbers as people write them: what is a number, which mark is certain, and what decides the others."""

import pytest

from farrier.datasets.number_format import Evidence, decimal_mark, is_amount, read_amount, to_float

NUMBERS = {
    "1.234,50 €": (",", 1234.5),
    "€1.234,50": (",", 1234.5),
    "$1,234.56": (".", 1234.56),
    "-$5.25": (".", -5.25),
    "$-5.25": (".", -5.25),
    "(5.25)": (".", -5.25),
    "5.25-": (".", -5.25),
    "\u22123,5": (",", -3.5),
    "1\u00a0234,5": (",", 1234.5),
    "1'234.50": (".", 1234.5),
    "CHF 1\u2019234.50": (".", 1234.5),
    "12,5 %": (",", 12.5),
    "1.234.567": (",", 1234567.0),
    "1,234,567": (".", 1234567.0),
    "12,34,567.5": (".", 1234567.5),
    "0,125": (",", 0.125),
    "1234,567": (",", 1234.567),
    ",5": (",", 0.5),
    "1,5e3": (",", 1500.0),
}


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_read_with_the_mark_it_shows(text):
    mark, value = NUMBERS[text]
    amount = read_amount(text)
    assert amount is not None
    assert decimal_mark(amount) == (mark, True)
    assert to_float(amount, mark) == value
    assert to_float(amount, "." if mark == "," else ",") is None


@pytest.mark.parametrize("text", ["1.234", "1,234", "999,000", "-12.345"])
def test_three_digits_after_one_mark_are_decimals_or_thousands(text):
    amount = read_amount(text)
    assert amount is not None
    assert not decimal_mark(amount)[1]
    values = {to_float(amount, mark) for mark in ".,"}
    assert len(values) == 2
    assert min(map(abs, values)) * 1000 == max(map(abs, values))


@pytest.mark.parametrize(
    "text", ["", "abc", "1.2.3", "15.03.2024", "12 34", "1,23,4", "5 €%", "$5 €", "(5", "12.-", "1.5k", "--5", "1_000"]
)
def test_other_text_is_no_number(text):
    assert not is_amount(text)


def evidence(*texts):
    found = Evidence()
    for i, text in enumerate(texts):
        found.add(read_amount(text), i)
    return found


def test_a_certain_mark_in_the_column_decides_then_other_columns_then_the_separator():
    assert evidence("1.234", "1.5").settle([","], False) == "."
    assert evidence("1.234").settle([","], False) == ","
    assert evidence("1.234").settle([], True) == "."
    assert evidence("12", "7").settle([], False) == "."


def test_small_whole_numbers_beside_three_digits_show_thousands():
    assert evidence("980", "12", "1.234").settle([], False) == ","
    assert evidence("100", "101.234").settle([], False) is None
    assert evidence("1234", "980", "1.234").settle([], False) is None
    assert evidence("980", "1.234").settle([], True) is None
    assert evidence("$1.234").settle([], True) is None


def test_nothing_that_decides_or_two_marks_that_contradict_are_in_doubt():
    assert evidence("1.234", "2.345").settle([], False) is None
    assert evidence("1,234").settle([], True) is None
    assert evidence("1.5", "2,5").settle([], False) is None
    assert evidence("1.234").settle([".", ","], False) is None
