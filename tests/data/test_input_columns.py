"""Laws of columns: each encodes other rows as it encoded the fitted ones; empty and unseen cells have their place."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.data.input_columns import CategoryInput, DateInput, LeftOut, NumberInput

DATES = np.array(["2024-02-29T12:00", "NaT", "2023-01-01"], "M8[us]")


def test_an_empty_cell_of_a_number_counts_as_the_mean_and_is_flagged():
    column = NumberInput("age", 4, 30.0, True)
    number, flag = column.encode(np.array([20.0, np.nan]))
    assert_array_equal(number, [20.0, 30.0])
    assert_array_equal(flag, [0.0, 1.0])
    assert column.inputs == ("age", "age missing")
    assert column.levels == ((), ("known", "missing"))
    assert NumberInput("age", 0, 30.0, False).inputs == ("age",)


def test_text_where_numbers_were_fitted_is_refused():
    column = NumberInput("age", 0, 30.0, False)
    assert_array_equal(column.encode(["20", None])[0], [20.0, 30.0])
    with pytest.raises(ValueError, match="X: column 'age' holds text \\(such as 'old'\\) where numbers were fitted"):
        column.encode([1.0, "old"])
    with pytest.raises(ValueError, match="contains inf at row 1"):
        column.encode([1.0, np.inf])
    with pytest.raises(ValueError, match="holds dates where numbers were fitted"):
        column.encode(DATES)


def test_levels_keep_their_codes_and_an_unseen_one_has_its_own():
    column = CategoryInput("city", 1, ("Berlin", "Munich", "missing"))
    assert_array_equal(column.encode(["Munich", None, "Berlin", "Rome"])[0], [1.0, 2.0, 0.0, 3.0])
    assert_array_equal(CategoryInput("big", 0, ("False", "True")).encode([True, False, None])[0], [1.0, 0.0, 2.0])
    assert_array_equal(CategoryInput("zone", 0, ("1", "2.5")).encode([2.5, 1.0])[0], [1.0, 0.0])


def test_a_date_is_time_and_parts_of_the_calendar():
    column = DateInput("sold", 1, 19000.0, True, True, True)
    days, flag, month, weekday = column.encode(DATES)
    assert_allclose(days, [19782.5, 19000.0, 19358.0])
    assert_array_equal(flag, [0.0, 1.0, 0.0])
    assert_array_equal(month, [1.0, 12.0, 0.0])
    assert_array_equal(weekday, [3.0, 7.0, 6.0])  # a Thursday and a Sunday
    assert column.inputs == ("sold", "sold missing", "sold (month)", "sold (day of the week)")
    with pytest.raises(ValueError, match="X: column 'sold' holds no dates"):
        column.encode(["x"])


def test_notes_tell_what_was_done_with_empty_cells():
    assert NumberInput("age", 0, 30.0, False).note == ""
    assert NumberInput("age", 1, 30.0, False).note == "one empty cell counts as 30, the mean"
    assert NumberInput("age", 4, 30.0, True).note == (
        "4 empty cells count as 30, the mean, and an effect of being empty is tried"
    )
    assert CategoryInput("city", 2, ("a", "missing")).note == "2 empty cells are a level of their own"
    assert DateInput("sold", 0, 0.0, False, True, True).role == "a date: time, month and day of the week"
    assert DateInput("sold", 0, 0.0, False, False, False).role == "a date: time"
    assert LeftOut("id", 0, "it counts the rows").encode([1, 2]) == []
