"""A small file cannot fill the memory: what it unpacks to is counted before it is kept."""

import gzip
import io
import sys
import tracemalloc
import zipfile
from types import SimpleNamespace

import numpy as np
import openpyxl
import polars as pl
import pytest

from farrier.datasets import limits, read_table
from farrier.datasets.limits import FREE_BYTES, read_bytes


def test_a_bomb_is_refused_before_it_is_in_memory(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"t,y\n")
        for _ in range(64):
            file.write(b"1,1\n" * 2**18)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"'bomb.csv.gz' unpacks to more than [0-9,]+ bytes of text: give fewer rows"):
        read_table(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * FREE_BYTES


def test_an_ordinary_gzipped_table_is_read_whole(tmp_path):
    text = ("t,y\n" + "".join(f"{i},{np.sin(i):.6f}\n" for i in range(2000))).encode()
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(text))
    assert read_bytes(path) == text
    assert len(read_table(path)["y"]) == 2000


def test_plain_text_has_a_limit_too(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 100)
    path = tmp_path / "long.csv"
    path.write_text("t,y\n" + "1,2\n" * 100)
    with pytest.raises(ValueError, match=r"'long\.csv' holds more than 100 bytes"):
        read_table(path)


def test_a_header_of_very_many_names_is_refused(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(20_000)) + "\n")
    with pytest.raises(ValueError, match=r"has 20,000 columns: give at most 10,000"):
        read_table(path)


def test_parquet_is_counted_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_CELLS", 1000)
    path = tmp_path / "many.parquet"
    pl.DataFrame({"t": np.arange(600), "y": np.zeros(600)}).write_parquet(path)
    with pytest.raises(ValueError, match=r"has 600 rows of 2 columns: give at most 1,000 cells"):
        read_table(path)


def test_standard_input_has_the_limits_of_a_file(monkeypatch):
    def given(data):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        return read_table("-")

    rows = b"t,y\n" + b"1,2\n" * 100
    assert len(given(gzip.compress(rows))["y"]) == 100
    with pytest.raises(ValueError, match=r"'standard input' unpacks to more than [0-9,]+ bytes"):
        given(gzip.compress(rows + b"1,1\n" * 2**23))
    with pytest.raises(ValueError, match=r"'standard input' is not CSV text"):
        given(gzip.compress(rows)[:-20])
    monkeypatch.setattr(limits, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match=r"'standard input' holds more than 100 bytes"):
        given(rows)


def test_a_workbook_is_counted_before_and_while_it_is_read(tmp_path, monkeypatch):
    path, book = tmp_path / "book.xlsx", openpyxl.Workbook()
    for i in range(600):
        book.active.append([i, i * i])
    book.save(path)
    monkeypatch.setattr(limits, "MOST_CELLS", 1000)
    with pytest.raises(ValueError, match=r"'book\.xlsx' has more than 1,000 cells: give fewer rows"):
        read_table(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet2.xml", b" " * 2 * FREE_BYTES)
    with pytest.raises(ValueError, match=r"'book\.xlsx' unpacks to more than [0-9,]+ bytes: give fewer rows"):
        read_table(path)


def test_a_workbook_may_declare_any_size_and_is_read_by_its_cells(tmp_path):
    path, book = tmp_path / "plain.xlsx", openpyxl.Workbook()
    for row in (("t", "y"), *((i, float(i % 7)) for i in range(20))):
        book.active.append(row)
    book.save(path)
    declared = tmp_path / "declared.xlsx"
    for size in ("A1", "A1:XFD1048576"):
        with zipfile.ZipFile(path) as source, zipfile.ZipFile(declared, "w", zipfile.ZIP_DEFLATED) as copy:
            for part in source.namelist():
                copy.writestr(part, source.read(part).replace(b'ref="A1:B21"', f'ref="{size}"'.encode()))
        assert {name: len(read_table(declared)[name]) for name in "ty"} == {"t": 20, "y": 20}


def test_one_long_text_for_every_row_is_counted_by_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 10_000)
    path = tmp_path / "dictionary.parquet"
    pl.DataFrame({"t": np.arange(200), "y": np.arange(200.0), "note": ["x" * 100] * 200}).write_parquet(path)
    assert path.stat().st_size < 10_000
    with pytest.raises(ValueError, match=r"'dictionary\.parquet' unpacks to more than 10,000 bytes of text"):
        read_table(path)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_what_free_memory_cannot_hold_is_refused_before_its_cells_are_made(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"long.{suffix}"
    text = "t,y\n" + "".join(f"{i},{i % 7}\n" for i in range(500))
    if suffix == "parquet":
        pl.DataFrame({"t": np.arange(500), "y": np.arange(500) % 7}).write_parquet(path)
    else:
        path.write_bytes(gzip.compress(text.encode()) if suffix == "csv.gz" else text.encode())
    assert len(read_table(path)["y"]) == 500
    monkeypatch.setattr(limits, "available_bytes", lambda: 50_000)
    with pytest.raises(ValueError, match=r"takes about .* of memory while it is read, and 0\.0 GB are free"):
        read_table(path)
