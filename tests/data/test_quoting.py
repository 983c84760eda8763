"""Names in errors are short, whatever the user gives."""

import numpy as np
import pandas as pd
import pytest

from farrier import Regressor
from farrier.data.quoting import SHOWN, one_line, quoted


def test_short_names_are_shown_whole():
    assert quoted("month") == "'month'"
    assert quoted(("a", 1)) == "('a', 1)"
    assert quoted("x" * SHOWN) == repr("x" * SHOWN)


def test_long_names_are_cut_and_counted():
    assert quoted("x" * 20_000) == f"{'x' * SHOWN!r}... (20,000 characters)"
    assert len(quoted(["x"] * 20_000)) < 2 * SHOWN


@pytest.mark.parametrize("cells", [[1.0, 1.0, 1.0], [1.0, np.inf, 2.0]])
def test_errors_about_a_table_cut_its_names_and_cells(cells):
    with pytest.raises(ValueError) as caught:
        Regressor().fit(pd.DataFrame({"n" * 20_000: cells}), [1.0, 2.0, 3.0])
    assert len(str(caught.value)) < 400


def test_what_is_no_text_is_shown_in_one_line():
    assert quoted(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"


def test_texts_of_other_libraries_become_one_line_and_keep_their_ends():
    assert one_line("Expected:\n  2D\tarray ") == "Expected: 2D array"
    cut = one_line("begin " + "x" * 5000 + " end")
    assert cut.startswith("begin x")
    assert cut.endswith("x end")
    assert len(cut) < 450
