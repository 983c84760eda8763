"""Laws of tables: what each column is, from frames, arrays and cells; what is left out, and why."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from farrier.data.input_columns import CategoryInput, DateInput, LeftOut, NumberInput
from farrier.data.table_inputs import Cells, TableInputs

N = 24
RNG = np.random.default_rng(0)
NUMBER = RNG.standard_normal(N)
CITY = [("Berlin", "Munich", "Rome")[i % 3] for i in range(N)]


def table_of(X):
    found = TableInputs.of(X)
    assert found is not None
    return found


def one(name, values):
    """The column of this name beside a number."""
    return table_of(Cells({name: values, "number": NUMBER, "city": CITY})).columns[0]


COLUMNS = {
    "text": (CITY, CategoryInput),
    "truth values": ([i % 2 == 0 for i in range(N)], CategoryInput),
    "numbers": (NUMBER, NumberInput),
    "texts of numbers": ([str(x) for x in NUMBER], NumberInput),
    "dates": ([date(2024, 1, 1) + timedelta(days=31 * i) for i in range(N)], None),
    "text of its own in every row": ([f"a{i}" for i in range(N)], LeftOut),
    "nearly its own": ([f"a{i // 1.5}" for i in range(N)], LeftOut),
    "a counter": (np.arange(100.0, 100.0 + N), NumberInput),
    "the same": (["x"] * N, LeftOut),
    "the same number": (np.ones(N), LeftOut),
    "empty": ([None] * N, LeftOut),
    "empty numbers": (np.full(N, np.nan), LeftOut),
    "the year": (np.arange(1990.0, 1990.0 + N), NumberInput),
    "distinct whole numbers": (RNG.permutation(np.arange(N)) * 7.0, NumberInput),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_what_their_cells_say(name):
    values, kind = COLUMNS[name]
    if kind is None:
        values, kind = np.array(values, "M8[us]"), DateInput
    assert type(one(name, values)) is kind


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "PassengerId", "Unnamed: 0", "row", "order no"])
def test_whole_numbers_that_are_called_identifiers_are_left_out(name):
    shuffled = RNG.permutation(np.arange(N)) * 7.0
    assert isinstance(one(name, shuffled), LeftOut)
    assert isinstance(one(name, shuffled // 14), NumberInput)  # values that come twice identify nothing
    assert isinstance(one("width", shuffled), NumberInput)


def frames():
    columns = {
        "number": NUMBER,
        "city": [None if i == 5 else city for i, city in enumerate(CITY)],
        "good": [i % 2 == 0 for i in range(N)],
        "sold": [date(2023, 1, 1) + timedelta(days=20 * i) for i in range(N)],
        "age": [None if i < 4 else float(i % 7) for i in range(N)],
    }
    pandas = pd.DataFrame(columns)
    pandas["sold"] = pd.to_datetime(pandas["sold"])
    yield pandas
    yield pandas.assign(city=pandas["city"].astype("category"), good=pandas["good"].astype("boolean"))
    yield pl.DataFrame(columns)
    yield pl.DataFrame(columns).with_columns(pl.col("city").cast(pl.Categorical))
    yield np.array(list(zip(*columns.values(), strict=True)), object)
    yield [list(row) for row in zip(*columns.values(), strict=True)]


def test_frames_and_arrays_of_the_same_cells_are_the_same_inputs():
    first, *others = (table_of(frame).encode(frame) for frame in frames())
    assert first.shape == (N, 8)
    for other in others:
        assert_array_equal(other, first)


def test_a_table_of_numbers_without_empty_cells_needs_no_table():
    X = np.column_stack([NUMBER, NUMBER**2])
    assert TableInputs.of(X) is None
    assert TableInputs.of(pd.DataFrame(X, columns=["a", "b"])) is None
    assert TableInputs.of(X.tolist()) is None
    assert TableInputs.of(pd.DataFrame({"id": np.arange(N), "x": NUMBER})) is None
    assert TableInputs.of(np.arange(N)) is None
    assert TableInputs.of(np.full((N, 1), np.nan)) is None  # a single number is checked elsewhere


def test_new_rows_are_encoded_by_name_and_an_array_by_position():
    frame = pd.DataFrame({"city": CITY, "number": NUMBER})
    table = table_of(frame)
    turned = frame[["number", "city"]]
    assert_array_equal(table.encode(turned), table.encode(frame))
    assert_array_equal(table.encode(frame.to_numpy(object)), table.encode(frame))
    assert table.coded == (0,)
    assert table.names == ("city", "number")
    assert table.levels[0] == ("Berlin", "Munich", "Rome")


def test_few_empty_cells_have_no_effect_of_their_own():
    few, many = (np.where(np.arange(N) < count, np.nan, NUMBER) for count in (2, 3))
    assert one("age", few).inputs == ("age",)
    assert one("age", many).inputs == ("age", "age missing")


def test_mistakes_are_one_line():
    with pytest.raises(ValueError, match=r"^X: column 'a' holds text \(such as 'x'\) among numbers: correct it\.$"):
        one("a", [*NUMBER[:-1], "x"])
    with pytest.raises(ValueError, match=r"^X: no column can explain anything \('a': the same in every row\)"):
        table_of(Cells({"a": ["x"] * N}))
    with pytest.raises(ValueError, match="which is no cell: give numbers or text"):
        table_of(pd.DataFrame({"a": [[1]] * N, "b": NUMBER}))


def test_the_summary_is_one_line():
    table = table_of(Cells({"id": np.arange(float(N)), "city": [*CITY[:-1], None], "size": NUMBER}))
    assert table.summary() == (
        "numbers: 'size'; categories: 'city'; left out: 'id' (every row has its own value, so it identifies rows); "
        "1 empty cell kept"
    )
