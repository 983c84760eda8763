"""Blocks cover every row once; what cannot be read is refused in one line."""

import numpy as np
import pytest

from farrier.out_of_core.blocks import Mapped
from farrier.out_of_core.sources import open_rows
from tests.out_of_core.rows import X, Y


def test_blocks_cover_every_row_once_in_order():
    source = open_rows(X, y=Y, rows=40)
    assert [block.number for block in source.blocks] == [0, 1, 2, 3]
    assert source.count == len(X)
    np.testing.assert_array_equal(np.concatenate([block.cells()["x0"] for block in source.blocks]), X[:, 0])
    np.testing.assert_array_equal(np.concatenate([block.cells()["y"] for block in source.blocks]), Y)


def test_a_view_of_a_memory_map_is_held(tmp_path):
    made = np.memmap(tmp_path / "x.dat", "f8", "w+", 0, X.shape)
    made[:] = X
    assert isinstance(open_rows(made, y=Y).blocks[0].X, Mapped)
    (block,) = open_rows(made[5:], y=Y[5:]).blocks
    np.testing.assert_array_equal(block.cells()["x0"], X[5:, 0])


def test_a_source_takes_one_of_its_columns_as_target():
    source = open_rows(X).with_target("x1")
    assert (source.columns, source.target) == (("x0",), "x1")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"data": [[1.0]]}, "data: list is not read in blocks"),
        ({"data": X, "y": Y[1:]}, "y: give an array of 150 numbers"),
        ({"data": "no-such.parquet"}, "data: 'no-such.parquet' is no Parquet or Arrow file"),
        ({"data": "some.parquet", "y": Y}, "y: a file holds its target"),
        ({"data": np.empty((0, 2))}, "data: 'X' has no rows"),
    ],
)
def test_what_cannot_be_read_is_refused(given, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        open_rows(**given)


def test_files_in_hidden_folders_are_passed_over(tmp_path):
    hidden = tmp_path / "data" / ".cache" / "deeper"
    hidden.mkdir(parents=True)
    (hidden / "rows.parquet").write_bytes(b"not for reading")
    with pytest.raises(ValueError, match="is a folder without Parquet or Arrow files"):
        open_rows(tmp_path / "data", target="y")
