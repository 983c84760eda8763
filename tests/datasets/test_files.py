"""CSV and Parquet files: what is read, what is guessed, and what each refusal says."""

import gzip
import importlib.util
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.datasets import files, read_csv
from farrier.datasets.files import MIN_ROWS, choose_columns, read_table

SALES = [3.0, 5.0, 4.0, 6.0, 8.0, 7.0, 9.0, 11.0, 10.0, 12.0, 14.0, 13.0]
STAMPS = [f"2020-{month:02d}" for month in range(1, 13)]
MONTHS = "month,sales\n" + "".join(f"{stamp},{value:g}\n" for stamp, value in zip(STAMPS, SALES, strict=True))
YEAR = 2020 + (np.arange(12) + 0.5) / 12


def rows(*cells, count=12, first=1):
    """The lines given, and then lines of a number that counts up and one that does not, up to `count` of them."""
    lines = [*cells, *[f"{first + i},{5 * i % 13}" for i in range(len(cells), count)]]
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture
def write(tmp_path):
    def write(text, name="sales.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write


@pytest.fixture
def parquet(tmp_path):
    def parquet(columns, name="sales.parquet"):
        path = tmp_path / name
        pl.DataFrame(columns).write_parquet(path)
        return path

    return parquet


def message(path, **arguments):
    with pytest.raises(ValueError) as caught:
        read_csv(path, **arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# text


def test_a_file_of_months_becomes_a_series(write):
    series = read_csv(write(MONTHS))
    assert_allclose(series.time, YEAR, rtol=1e-15)
    assert_array_equal(series.y, SALES)
    assert series.labels == tuple(STAMPS)
    assert (series.name, series.time_name, series.target_name) == ("sales", "month", "sales")
    assert (series.title, series.unit, series.origin) == ("sales", "", "sales.csv")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_separators_and_line_ends_do_not_matter(write, mark, end):
    assert_array_equal(read_csv(write(MONTHS.replace(",", mark).replace("\n", end))).y, SALES)


def test_a_byte_order_mark_blank_lines_and_spaces_do_not_matter(write):
    text = MONTHS.replace("month,sales", "\ufeff\n month , sales\n").replace("2020-02,5", "2020-02 , 5\n  ,\n")
    series = read_csv(write(text))
    assert series.time_name == "month"
    assert_array_equal(series.y, SALES)


def test_a_separator_inside_quotes_does_not_count(write):
    text = MONTHS.replace(",", ";").replace(";sales", ';"sales, net, of, tax"')
    assert read_csv(write(text)).target_name == "sales, net, of, tax"


def test_a_gzipped_file_reads_as_the_plain_one(write, tmp_path):
    packed = tmp_path / "sales.csv.gz"
    packed.write_bytes(gzip.compress(MONTHS.encode()))
    plain, unpacked = read_csv(write(MONTHS)), read_csv(packed)
    assert unpacked.name == plain.name == "sales"
    assert_array_equal(unpacked.time, plain.time)
    assert_array_equal(unpacked.y, plain.y)


def test_rows_are_sorted_by_time_and_keep_their_labels(write):
    header, *lines = MONTHS.splitlines()
    series = read_csv(write("\n".join([header, *reversed(lines)])))
    assert_allclose(series.time, YEAR, rtol=1e-15)
    assert_array_equal(series.y, SALES)
    assert series.labels == tuple(STAMPS)


def test_days_become_decimal_years_and_numbers_stay_as_they_are(write):
    days = "".join(f"2021-01-{day:02d} 12:00,{day}\n" for day in range(1, 15))
    assert_allclose(read_csv(write(f"day,y\n{days}")).time, 2021 + (np.arange(14) + 0.5) / 365, rtol=1e-15)
    assert_array_equal(read_csv(write("year,y\n" + rows(first=1949))).time, np.arange(1949.0, 1961.0))
    numbers = read_csv(write("t,y\n" + rows("-0.5,1", "0,2", "1e3,3")))
    assert_array_equal(numbers.time[:3], [-0.5, 0.0, 4.0])
    assert numbers.labels[0] == "-0.5"
    assert numbers.time[-1] == 1000.0


def test_columns_are_numbers_with_nan_or_text_with_none(write):
    table = read_table(write("a,b,c,d\n1,x,2020-01,\n NA ,,2020-02,null\n?,z,2020-03,n/a\n"))
    assert list(table) == ["a", "b", "c", "d"]
    assert_array_equal(table["a"], [1.0, np.nan, np.nan])
    assert table["b"] == ["x", None, "z"]
    assert table["c"] == ["2020-01", "2020-02", "2020-03"]
    assert np.all(np.isnan(table["d"]))


def test_rows_without_a_target_are_left_out_and_counted(write):
    text = MONTHS + "2021-01,\n2021-02,NA\n2021-03,2\n2021-04\n"
    chosen = choose_columns(read_table(write(text)))
    assert chosen.left_out == 3
    assert_array_equal(chosen.y, [*SALES, 2.0])
    assert_array_equal(chosen.rows, [*range(12), 14])
    assert chosen.axis is not None
    assert (chosen.axis.frequency, chosen.axis.gaps) == ("monthly", 2)


# Parquet


def test_parquet_reads_as_the_text_does(write, parquet):
    plain, packed = read_csv(write(MONTHS)), read_csv(parquet({"month": STAMPS, "sales": SALES}))
    assert_array_equal(packed.time, plain.time)
    assert_array_equal(packed.y, plain.y)
    assert (packed.labels, packed.name) == (plain.labels, plain.name)


def test_dates_and_zones_of_parquet_are_kept(parquet):
    days = pl.Series(np.datetime64("2024-03-25") + np.arange(14))
    zoned = days.cast(pl.Datetime("us")).dt.replace_time_zone("Europe/Berlin")
    for stamps in (days, days.cast(pl.Datetime("ns")), zoned):
        chosen = choose_columns(read_table(parquet({"value": range(14), "when": stamps})))
        assert (chosen.kind, chosen.time, chosen.target) == ("series", "when", "value")
        assert chosen.axis is not None
        assert (chosen.axis.frequency, chosen.axis.gaps, chosen.axis.labels()[0]) == ("daily", 0, "2024-03-25")


def test_columns_of_parquet_are_numbers_with_nan_or_text_with_none(parquet):
    table = read_table(parquet({"a": [1, None], "b": ["x", None], "c": [True, False], "d": [date(2020, 1, 1), None]}))
    assert_array_equal(table["a"], [1.0, np.nan])
    assert table["b"] == ["x", None]
    assert_array_equal(table["c"], [1.0, 0.0])
    assert_array_equal(table["d"], np.array(["2020-01-01", "NaT"], dtype="M8[us]"))


def test_without_a_reader_of_parquet_one_is_recommended(parquet, monkeypatch):
    path = parquet({"a": [1]})
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert message(path) == "path: 'sales.parquet' is Parquet, and nothing here reads it: pip install polars or pyarrow"


class PanicException(BaseException):
    """What polars raises when its own code fails."""


@pytest.mark.parametrize("raised", [PanicException("assertion failed"), OSError("a bad page\nand more")])
def test_a_reader_of_parquet_that_fails_or_panics_is_told_in_one_line(parquet, monkeypatch, raised):
    def fail(*given, **settings):
        raise raised

    path = parquet({"a": [1]})
    monkeypatch.setattr(files.nw, "read_parquet", fail)
    assert message(path).startswith("path: 'sales.parquet' cannot be read as Parquet (a")


def test_an_interrupt_while_parquet_is_read_is_one(parquet, monkeypatch):
    path = parquet({"a": [1]})
    monkeypatch.setattr(files, "check_parquet", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        read_csv(path)


def test_parquet_that_cannot_be_used_is_refused_in_one_line(parquet, tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"month,sales\n")
    assert message(tmp_path / "broken.parquet").startswith("path: 'broken.parquet' cannot be read as Parquet (")
    assert message(parquet({"a": []})) == "path: 'sales.parquet' is empty: give columns with rows of numbers"
    assert message(parquet({"a": [1]})).startswith("path: 'sales.parquet' has one column, 'a': ")
    dated = {"day": [date(2020, 1, 1 + i) for i in range(12)], "y": [1.0, 2.0, None] * 4}
    assert message(parquet(dated)) == "table: 'sales.parquet' has 8 usable rows, and 4 without 'y': give at least 12"
    wrong = {"day": dated["day"], "sales": ["1"] * 7 + ["many"] * 5}
    assert message(parquet(wrong)).startswith("column 'sales', row 7: 'many' is not a number such as 1234.5: ")
    twice = {"t": [datetime(2020, 1, 1, 1 + i // 2) for i in range(12)], "y": range(12)}
    assert message(parquet(twice)).startswith("column 't', row 0 and row 1: '2020-01-01 01:00' comes twice: ")


# choosing


@pytest.mark.parametrize("word", ["time", "Date", "month", "year", "ds", "day", "WEEK"])
def test_with_two_columns_a_word_for_time_tells_which_is_which(write, word):
    series = read_csv(write(f"sales,{word}\n" + rows()))
    assert (series.time_name, series.target_name) == (word, "sales")


@pytest.mark.parametrize("header", ["a,b", "month,year", "month,sales"])
def test_with_two_columns_the_first_is_the_time_otherwise(write, header):
    assert_array_equal(read_csv(write(f"{header}\n" + rows())).time, np.arange(1.0, 13.0))


def test_with_two_columns_dates_are_the_time(write):
    text = "sales,when\n" + "".join(f"{i % 5},{stamp}\n" for i, stamp in enumerate(STAMPS))
    assert read_csv(write(text)).time_name == "when"


@pytest.mark.parametrize("chosen", [{"time": "b"}, {"target": "a"}, {"time": "b", "target": "a"}])
def test_with_two_columns_one_choice_settles_the_other(write, chosen):
    series = read_csv(write("a,b\n" + rows()), **chosen)
    assert (series.time_name, series.target_name) == ("b", "a")


def test_other_columns_may_hold_anything(write):
    header, *lines = MONTHS.splitlines()
    shops = [f"{'North' if i % 2 else ''},{line}" for i, line in enumerate(lines)]
    table = read_table(write("\n".join([f"shop,{header}", *shops])))
    for names in ({}, {"time": "month"}, {"target": "sales"}, {"time": "month", "target": "sales"}):
        chosen = choose_columns(table, **names)
        assert (chosen.kind, chosen.time, chosen.target) == ("series", "month", "sales")
        assert (chosen.inputs, chosen.ignored) == (("month",), ("shop",))
        assert_array_equal(chosen.y, SALES)
        assert_allclose(chosen.X[:, 0], YEAR, rtol=1e-15)


N = np.arange(20.0)


@pytest.mark.parametrize(
    ("table", "names", "expected"),
    [
        ({"age": N % 6, "cement": N, "strength": N}, {}, ("table", "strength", None, ("age", "cement"))),
        ({"y": N, "a": N % 6, "b": N}, {}, ("table", "y", None, ("a", "b"))),
        ({"a": N, "b": N, "c": N}, {"target": "a"}, ("table", "a", None, ("b", "c"))),
        ({"a": N, "b": N, "c": N}, {"time": "b", "target": "a"}, ("series", "a", "b", ("b",))),
        ({"a": N % 6, "b": N}, {}, ("table", "b", None, ("a",))),
        ({"year": N + 1900, "a": N, "y": N}, {}, ("series", "y", "year", ("year",))),
        ({"month": N % 12, "wind": N, "area": N}, {}, ("table", "area", None, ("month", "wind"))),
        ({"id": ["x"] * 20, "a": N, "b": N}, {}, ("table", "b", None, ("a",))),
        ({"a": N, "none": N * np.nan, "b": N}, {}, ("table", "b", None, ("a",))),
        ({"day": ["2020-01-01"] * 20, "a": N, "b": N}, {"time": "a", "target": "b"}, ("series", "b", "a", ("a",))),
        ({"a": list(range(20)), "b": list(range(20))}, {}, ("series", "b", "a", ("a",))),
    ],
)
def test_a_table_without_times_has_inputs_and_a_target(table, names, expected):
    chosen = choose_columns(table, **names)
    assert (chosen.kind, chosen.target, chosen.time, chosen.inputs) == expected
    assert chosen.X.shape == (20, len(chosen.inputs))
    assert set(table) == {chosen.target, *chosen.inputs, *chosen.ignored}


def test_a_table_is_no_series(write):
    text = "a,b,c\n" + "".join(f"{i % 3},{i},{i % 5}\n" for i in range(20))
    expected = "--time: no column of 'sales.csv' looks like times: choose one of 'a', 'b', 'c'"
    assert message(write(text)) == expected


# refusals

NUMBER = "is not a number such as 1234.5: correct it, or choose another column"
DATE = "is not a date such as 2024-03 or 2024-03-15 18:30: correct it"


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
        ("2020-01,3\n2020-02,5\n", "path: 'sales.csv' starts with numbers, 2020-01, 3: add a first line of names"),
        ("a,a\n1,2\n", "path: 'sales.csv' names the column 'a' 2 times: rename one"),
        ("a,b\n", "table: 'sales.csv' has 0 usable rows: give at least 12"),
        ("a,b\n" + rows(count=11), "table: 'sales.csv' has 11 usable rows: give at least 12"),
        ("a,b\n" + rows("1,"), "table: 'sales.csv' has 11 usable rows, and 1 without 'b': give at least 12"),
        ("a,b\n1,\n2,\n", "target: column 'b' has no value in any of its 2 rows: choose another"),
        (
            "a,b\n1,2\n2,1,234\n3,4\n",
            "line 3 has 3 cells where the header names 2 columns: put quotes around cells that contain the separator",
        ),
        ("a,b\n" + rows("1,2", "2,many"), f"column 'b', line 3: 'many' {NUMBER}"),
        ("a,b\n\n1,2\n\n2,many\n", f"column 'b', line 5: 'many' {NUMBER}"),
        ("a;b\n1;2\n2;3\n3;4,5,6\n", f"column 'b', line 4: '4,5,6' {NUMBER}"),
        ("a,b\n" + rows("1,2", "2,1_000"), f"column 'b', line 3: '1_000' {NUMBER}"),
        ("a,b\n" + rows("1,2", "2,-inf"), "column 'b', line 3: the cell is infinite: correct it or delete the row"),
        ("a,b\n" + rows("Jan 2020,2"), f"column 'a', line 2: 'Jan 2020' {DATE}"),
        (MONTHS.replace("2020-03", "2020-13"), f"column 'month', line 4: '2020-13' {DATE}"),
        ("a,b\n" + rows(",2"), "column 'a', line 2: the time is missing: fill it in or delete the row"),
        ("a,b\n" + rows("inf,2"), "column 'a', line 2: the time is not finite: correct it or delete the row"),
        (
            "year,b\n" + rows("4.0,1"),
            "column 'year', line 2 and line 5: '4' comes twice: keep one of the rows, or average them",
        ),
        (
            MONTHS.replace("2020-07", "2020-02"),
            "column 'month', line 3 and line 8: '2020-02' comes twice: keep one of the rows, or average them",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(write, text, expected):
    assert message(write(text)) == expected


SHOPS = "shop,month,sales\nNorth,2020-01,3\n"
PAIRS = "month,sales,costs,y2\n2020-01,3,4,5\n"


@pytest.mark.parametrize(
    ("text", "chosen", "expected"),
    [
        (
            PAIRS,
            {},
            "--target: 3 columns hold numbers: choose one of 'sales', 'costs', 'y2'; --regressors names others whose "
            "future is known",
        ),
        ("a,b,y\n2020-01,2021-01,3\n", {}, "--time: 'a', 'b' all look like times: choose one of them"),
        (
            SHOPS,
            {"time": "date"},
            "time: there is no column 'date': choose one of 'shop', 'month', 'sales'",
        ),
        (
            SHOPS,
            {"time": "month", "target": "Sale"},
            "target: there is no column 'Sale': did you mean 'sales'? Choose one of 'shop', 'month', 'sales'",
        ),
        (
            SHOPS,
            {"time": "month", "target": "month"},
            "target: 'month' is the time as well: choose another of 'shop', 'month', 'sales'",
        ),
        (SHOPS, {"target": "shop"}, f"column 'shop', line 2: 'North' {NUMBER}"),
        (
            "size,kind,label\n1,2,yes\n",
            {},
            f"column 'label', line 2: 'yes' {NUMBER}",
        ),
        (
            ",".join(f"c{i}" for i in range(15)) + "\n",
            {"time": "when"},
            "time: there is no column 'when': choose one of " + ", ".join(f"'c{i}'" for i in range(12)) + " and 3 more",
        ),
    ],
)
def test_columns_that_cannot_be_chosen_are_answered_with_those_that_can(write, text, chosen, expected):
    assert message(write(text), **chosen) == expected


def test_inputs_must_be_whole():
    table = {"a": [*range(19), None], "b": ["x"] * 20, "c": N}
    with pytest.raises(ValueError, match=r"^column 'a', row 19: the cell is empty: fill it in or delete the row$"):
        choose_columns(table | {"a2": N % 3}, target="c")
    with pytest.raises(ValueError, match=r"^target: 'c' is the only column of numbers in 'table', and no other looks"):
        choose_columns({"b": table["b"], "b2": table["b"], "c": N})


def test_twelve_rows_are_enough():
    assert MIN_ROWS == 12
    assert len(choose_columns({"t": N[:12], "y": N[:12]}).y) == 12


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^path: there is no file '.*absent\.csv': check the name"):
        read_csv(tmp_path / "absent.csv")


def test_a_folder_is_no_file(tmp_path):
    assert "is a folder: name one CSV, Excel or Parquet file in it" in message(tmp_path)


NOT_TEXT = {
    "sheet.csv": b"PK\x03\x04\xff\xfe\x00\x9c",
    "not-zipped.csv.gz": MONTHS.encode(),
    "cut-short.csv.gz": gzip.compress(MONTHS.encode())[:-9],
}


@pytest.mark.parametrize("name", NOT_TEXT)
def test_a_file_that_is_not_text_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(NOT_TEXT[name])
    assert message(tmp_path / name).startswith(f"path: '{name}' is not CSV text (")
