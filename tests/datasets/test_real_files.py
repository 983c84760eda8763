"""Files as people have them are read right, or refused in one line that names the option; none is read wrong."""

import contextlib
import sys
from datetime import datetime

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.datasets import choose_columns, read_table
from tests.datasets.real_files import FILES, Rows, write

READ = [name for name, case in FILES.items() if not case.refused]
REFUSED = [name for name, case in FILES.items() if case.refused]


def check(table, rows: Rows) -> None:
    """The table has the times and the values of the truth, and nothing else."""
    chosen = choose_columns(table)
    assert chosen.kind == "series"
    assert_allclose(chosen.y, [value for _, value in rows], rtol=1e-6)
    assert [begin(label) for label in chosen.axis.labels()] == [time for time, _ in rows]


def begin(label: str) -> datetime:
    """The instant at which the time of a label begins."""
    if "Q" in label:
        year, quarter = label.split("Q")
        return datetime(int(year), 3 * int(quarter) - 2, 1)
    return datetime.fromisoformat(label + {4: "-01-01", 7: "-01"}.get(len(label), ""))


def test_there_are_forty_files_and_more():
    assert len(FILES) >= 40


@pytest.mark.parametrize("name", READ)
def test_a_file_is_read_right_and_what_was_understood_is_said(name, tmp_path):
    case = FILES[name]
    table = read_table(write(name, tmp_path))
    check(table, case.rows)
    for words in case.said:
        assert words in "; ".join(table.notes)


def test_without_openpyxl_the_extra_is_recommended(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ValueError, match=r"^path: 'excel.xlsx' is an Excel file, .*: pip install \"farrier\[excel\]\""):
        read_table(write("excel", tmp_path))


@pytest.mark.parametrize("name", ["old.xls", "sheet.ods"])
def test_other_spreadsheets_are_refused(name, tmp_path):
    (tmp_path / name).write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(ValueError, match=r"save it as \.xlsx or CSV$"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_can_be_read_in_two_ways_is_refused_and_the_option_reads_it_right(name, tmp_path):
    case, path = FILES[name], write(name, tmp_path)
    with pytest.raises(ValueError) as caught:
        choose_columns(read_table(path))
    assert case.refused in str(caught.value)
    assert "\n" not in str(caught.value)
    for options in case.options:
        check(read_table(path, **options), case.rows)


@pytest.mark.parametrize("name", READ)
def test_the_wrong_option_never_reads_other_numbers_without_an_error(name, tmp_path):
    """An option either changes nothing, or the file is refused: numbers that fit both marks are in doubt without it."""
    values = [value for _, value in FILES[name].rows]
    for decimal in ("comma", "point"):
        with contextlib.suppress(ValueError):
            found = choose_columns(read_table(write(name, tmp_path), decimal=decimal)).y
            # small numbers beside 1.234 show that points separate thousands, and the option overrules that
            assert np.allclose(found, values, rtol=1e-6) or name == "thousands_beside_small_numbers"
