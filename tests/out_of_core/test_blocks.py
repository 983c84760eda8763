"""A block reads its own rows, wherever they are."""

import numpy as np
import pytest

from farrier.out_of_core.blocks import ArrayBlock, Mapped, array_cells
from tests.out_of_core.rows import X, Y


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_a_memory_map_are_read_from_its_file(tmp_path, order):
    path = tmp_path / "x.dat"
    made = np.memmap(path, "f4", "w+", 16, X.shape, order)
    made[:] = X
    made.flush()
    mapped = Mapped(str(path), "<f4", X.shape, 16, order == "F")
    np.testing.assert_array_equal(mapped.rows(3, 4), X[3:7].astype("f4"))


def test_a_held_array_has_the_rows_of_its_block():
    cells = ArrayBlock(0, X[10:20], Y[10:20], 10, 10).cells()
    np.testing.assert_array_equal(cells["x1"], X[10:20, 1])
    np.testing.assert_array_equal(cells["y"], Y[10:20])


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((2, 2), complex), np.array([["a"]])])
def test_what_is_no_table_of_numbers_is_refused(wrong):
    with pytest.raises(ValueError, match=r"^X: an array of .* is no table of numbers"):
        array_cells(wrong)
