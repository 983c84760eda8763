"""CSV files: what is read, what is guessed, and what each refusal says."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.datasets import read_csv
from farrier.datasets.files import decimal_year

MONTHS = "month,sales\n2020-01,3\n2020-02,5\n2020-03,4\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="sales.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write


def message(path, **arguments):
    with pytest.raises(ValueError) as caught:
        read_csv(path, **arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_of_months_becomes_a_series(write):
    series = read_csv(write(MONTHS))
    assert_allclose(series.time, 2020 + np.array([0.5, 1.5, 2.5]) / 12, rtol=1e-15)
    assert_array_equal(series.y, [3.0, 5.0, 4.0])
    assert series.labels == ("2020-01", "2020-02", "2020-03")
    assert (series.name, series.time_name, series.target_name) == ("sales", "month", "sales")
    assert (series.title, series.unit, series.origin) == ("sales", "", "sales.csv")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_separators_and_line_ends_do_not_matter(write, mark, end):
    series = read_csv(write(MONTHS.replace(",", mark).replace("\n", end)))
    assert_array_equal(series.y, [3.0, 5.0, 4.0])


def test_a_byte_order_mark_blank_lines_and_spaces_do_not_matter(write):
    series = read_csv(write("\ufeff\n month , sales\n\n2020-01, 3\n2020-02 ,5\n  ,\n2020-03,4\n\n"))
    assert series.time_name == "month"
    assert_array_equal(series.y, [3.0, 5.0, 4.0])


def test_a_separator_inside_quotes_does_not_count(write):
    series = read_csv(write('month;"sales, net, of, tax"\n2020-01;3\n2020-02;5\n2020-03;4\n'))
    assert series.target_name == "sales, net, of, tax"


def test_a_gzipped_file_reads_as_the_plain_one(write, tmp_path):
    packed = tmp_path / "sales.csv.gz"
    packed.write_bytes(gzip.compress(MONTHS.encode()))
    plain, unpacked = read_csv(write(MONTHS)), read_csv(packed)
    assert unpacked.name == plain.name == "sales"
    assert_array_equal(unpacked.time, plain.time)
    assert_array_equal(unpacked.y, plain.y)


def test_rows_are_sorted_by_time_and_keep_their_labels(write):
    series = read_csv(write("t,y\n3,30\n1,10\n2,20\n"))
    assert_array_equal(series.time, [1.0, 2.0, 3.0])
    assert_array_equal(series.y, [10.0, 20.0, 30.0])
    assert series.labels == ("1", "2", "3")


@pytest.mark.parametrize(
    ("stamp", "year"),
    [
        ("2021-07", 2021 + 6.5 / 12),
        ("2021-01-01", 2021.0),
        ("2021-12-31", 2021 + 364 / 365),
        ("2020-12-31", 2020 + 365 / 366),
        ("2021-01-01 12:00", 2021 + 0.5 / 365),
        ("2021-01-01T06:00:00", 2021 + 0.25 / 365),
        ("2021-01-01T12:00:00+06:00", 2021 + 0.25 / 365),
        ("1900-03-01", 1900 + 59 / 365),
    ],
)
def test_stamps_become_decimal_years(stamp, year):
    assert_allclose(decimal_year(stamp), year, rtol=1e-15)


def test_bare_years_and_other_numbers_stay_as_they_are(write):
    assert_array_equal(read_csv(write("year,y\n1949,1\n1950,2\n1951,3\n")).time, [1949.0, 1950.0, 1951.0])
    assert_array_equal(read_csv(write("t,y\n-0.5,1\n0,2\n1e3,3\n")).time, [-0.5, 0.0, 1000.0])


@pytest.mark.parametrize("word", ["time", "Date", "month", "year", "ds", "day", "WEEK"])
def test_with_two_columns_a_word_for_time_tells_which_is_which(write, word):
    series = read_csv(write(f"sales,{word}\n3,1\n5,2\n4,3\n"))
    assert (series.time_name, series.target_name) == (word, "sales")


@pytest.mark.parametrize("header", ["a,b", "month,year", "month,sales"])
def test_with_two_columns_the_first_is_the_time_otherwise(write, header):
    series = read_csv(write(f"{header}\n1,3\n2,5\n3,4\n"))
    assert_array_equal(series.time, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("chosen", [{"time": "b"}, {"target": "a"}, {"time": "b", "target": "a"}])
def test_with_two_columns_one_choice_settles_the_other(write, chosen):
    series = read_csv(write("a,b\n3,1\n5,2\n4,3\n"), **chosen)
    assert (series.time_name, series.target_name) == ("b", "a")


def test_other_columns_may_hold_anything(write):
    path = write("shop,month,sales\nNorth,2020-01,3\n,2020-02,5\nSouth,2020-03,4\n")
    assert_array_equal(read_csv(path, time="month", target="sales").y, [3.0, 5.0, 4.0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "path: 'sales.csv' is empty: give a line of column names, then rows of numbers"),
        ("\n \n", "path: 'sales.csv' is empty: give a line of column names, then rows of numbers"),
        (
            "sales\n1\n2\n3\n",
            "path: 'sales.csv' has one column, 'sales': give a column of times and one of values, "
            "separated by commas, semicolons or tabs",
        ),
        (
            "2020-01,3\n2020-02,5\n",
            "path: 'sales.csv' starts with numbers, 2020-01, 3: add a first line of names",
        ),
        ("a,a\n1,2\n", "path: 'sales.csv' names the column 'a' 2 times: rename one"),
        ("a,b\n", "path: 'sales.csv' has too few rows, 0: give at least 3"),
        ("a,b\n1,2\n2,3\n", "path: 'sales.csv' has too few rows, 2: give at least 3"),
        (
            "a,b\n1,2\n2,1,234\n3,4\n",
            "line 3 has 3 cells where the header names 2 columns: put quotes around text that contains the separator",
        ),
        ("a,b\n1,2\n2,many\n3,4\n", "column 'b', line 3: 'many' is not a number such as 1234.5: correct it"),
        ("a;b\n1;2\n2;3\n3;4,5\n", "column 'b', line 4: '4,5' is not a number such as 1234.5: correct it"),
        (
            "a,b\n1,2\n2,1_000\n3,4\n",
            "column 'b', line 3: '1_000' is not a number such as 1234.5: correct it",
        ),
        (
            "a,b\nJan 2020,2\nFeb 2020,3\n",
            "column 'a', line 2: 'Jan 2020' is not a date such as 2024-03 or 2024-03-15 18:30: correct it",
        ),
        (
            "a,b\n2020-12,2\n2020-13,3\n2021-01,4\n",
            "column 'a', line 3: '2020-13' is not a date such as 2024-03 or 2024-03-15 18:30: correct it",
        ),
        ("a,b\n1,2\n\n2,\n3,4\n", "column 'b', line 4: the cell is empty: fill it in or delete the row"),
        ("a,b\n1,2\n2\n3,4\n", "column 'b', line 3: the cell is empty: fill it in or delete the row"),
        ("a,b\n,2\n2,3\n3,4\n", "column 'a', line 2: the cell is empty: fill it in or delete the row"),
        ("a,b\n1,2\n2,nan\n3,4\n", "column 'b', line 3: 'nan' is not finite: correct it or delete the row"),
        ("a,b\n1,2\n2,-inf\n3,4\n", "column 'b', line 3: '-inf' is not finite: correct it or delete the row"),
        ("a,b\nnan,2\n2,1\n3,4\n", "column 'a', line 2: 'nan' is not finite: correct it or delete the row"),
        (
            "a,b\n2,1\n1,2\n3,4\n2.0,5\n",
            "column 'a', lines 2 and 5: '2.0' is one time twice: keep one of the rows, or average them",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(write, text, expected):
    assert message(write(text)) == expected


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, "time: None, with 3 columns: choose one of 'shop', 'month', 'sales'"),
        ({"time": "month"}, "target: None, with 3 columns: choose one of 'shop', 'month', 'sales'"),
        ({"time": "date"}, "time: there is no column 'date': choose one of 'shop', 'month', 'sales'"),
        (
            {"time": "month", "target": "Sales"},
            "target: there is no column 'Sales': choose one of 'shop', 'month', 'sales'",
        ),
        (
            {"time": "month", "target": "month"},
            "target: 'month' is the time as well: choose another of 'shop', 'month', 'sales'",
        ),
    ],
)
def test_columns_that_cannot_be_chosen_are_answered_with_those_that_can(write, chosen, expected):
    assert message(write("shop,month,sales\nNorth,2020-01,3\n"), **chosen) == expected


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^path: there is no file '.*absent\.csv': check the name"):
        read_csv(tmp_path / "absent.csv")


def test_a_folder_is_no_file(tmp_path):
    assert "is a folder: name one CSV file in it" in message(tmp_path)


NOT_TEXT = {
    "sheet.csv": b"PK\x03\x04\xff\xfe\x00\x9c",
    "not-zipped.csv.gz": MONTHS.encode(),
    "cut-short.csv.gz": gzip.compress(MONTHS.encode())[:-9],
}


@pytest.mark.parametrize("name", NOT_TEXT)
def test_a_file_that_is_not_text_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(NOT_TEXT[name])
    assert message(tmp_path / name).startswith(f"path: '{name}' is not CSV text (")
