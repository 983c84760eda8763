"""Laws of tables of text, dates and numbers: target, classes, rows that are used, and when it is a series."""

import numpy as np
import pytest

from farrier.datasets import choose_table, read_table
from farrier.series.columns import Table

N = 24
NUMBERS = np.arange(float(N)) % 7
CITY = [("a", "b", None)[i % 3] for i in range(N)]
DAYS = [f"2024-01-{1 + i:02d}" for i in range(N)]


def table_of(**columns):
    return Table("flats.csv", columns)


def chosen_of(table, target, **settings):
    found = choose_table(table, None, target, **settings)
    assert found is not None
    return found


def test_all_columns_but_the_target_are_inputs_and_rows_without_target_are_left_out():
    price = np.where(np.arange(N) < 3, np.nan, NUMBERS)
    found = chosen_of(table_of(city=CITY, size=NUMBERS, price=price), "price")
    assert found.kind == "table"
    assert list(found.cells) == ["city", "size"]
    assert found.cells["city"] == CITY[3:]
    assert (found.left_out, len(found.y)) == (3, N - 3)


def test_a_target_of_text_is_classes():
    answer = [("no", "yes")[i % 2] for i in range(N)]
    found = chosen_of(table_of(size=NUMBERS, churned=[None, *answer[1:]]), "churned")
    assert found.kind == "classes"
    assert found.labels == tuple(answer[1:])
    assert set(found.y) == {0.0, 1.0}


def test_numbers_are_classes_if_asked_for():
    found = chosen_of(table_of(size=NUMBERS, churned=np.arange(N) % 2.0), "churned", classes=True)
    assert set(found.labels) == {"0", "1"}


def test_dates_that_come_once_are_a_series_and_others_an_input():
    assert choose_table(table_of(day=DAYS, size=NUMBERS, price=NUMBERS), None, "price") is None
    assert choose_table(table_of(day=DAYS, price=NUMBERS), "day", "price") is None
    found = chosen_of(table_of(day=[*DAYS[:-1], DAYS[0]], size=NUMBERS, price=NUMBERS), "price")
    assert found.cells["day"].dtype == np.dtype("M8[us]")
    assert chosen_of(table_of(day=DAYS, rain=["no", "yes"] * (N // 2)), "rain").cells["day"].dtype.kind == "M"


def test_two_columns_of_dates_are_inputs_if_the_target_is_named():
    table = table_of(built=DAYS, sold=DAYS[::-1], price=NUMBERS)
    assert list(chosen_of(table, "price").cells) == ["built", "sold"]
    with pytest.raises(ValueError, match="all look like times: choose one of them"):
        choose_table(table, None, None)


def test_an_empty_target_is_left_to_the_reader_of_series():
    assert choose_table(table_of(size=NUMBERS, a=[None] * N), None, "a") is None
    assert choose_table(table_of(day=DAYS, sales=["many"] * N), None, "sales") is None


def test_mistakes_are_one_line(tmp_path):
    with pytest.raises(ValueError, match="target: column 'a' is 'x' in every row: there is nothing to explain"):
        choose_table(table_of(size=NUMBERS, a=["x"] * N), None, "a")
    with pytest.raises(ValueError, match="holds 24 different texts, and at most 20 can be classes"):
        choose_table(table_of(size=NUMBERS, a=[f"x{i}" for i in range(N)]), None, "a")
    with pytest.raises(ValueError, match="has 5 usable rows, and 19 without 'price': give at least 12"):
        choose_table(table_of(size=NUMBERS, price=np.where(np.arange(N) < 5, 1.0, np.nan), c=CITY), None, "price")
    path = tmp_path / "flats.csv"
    path.write_text("size,price\n" + "\n".join(f"{i % 5},{i if i != 13 else 'x'}" for i in range(20)))
    with pytest.raises(ValueError, match="column 'price', line 15: 'x' is not a number"):
        choose_table(read_table(path), None, "price")
