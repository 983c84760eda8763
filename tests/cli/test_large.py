"""`farrier explain` reads a large table in blocks, and everything else as before."""

import numpy as np
import pytest
from typer.testing import CliRunner

from farrier.cli import large
from farrier.cli.app import app
from farrier.cli.large import LargeTable, open_large
from farrier.out_of_core.sources import open_rows
from tests.out_of_core.rows import X, Y


@pytest.mark.parametrize("name", ["airline", "no-such.parquet", "some.csv"])
def test_what_is_no_large_table_is_read_as_a_whole(tmp_path, name):
    (tmp_path / "some.csv").write_text("x,y\n1,2\n")
    assert open_large(str(tmp_path / name), None, 1) is None


def test_a_cluster_needs_dask(monkeypatch):
    monkeypatch.setattr(large, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"^--cluster: Dask is not installed"):
        LargeTable(open_rows(X), "tcp://127.0.0.1:1").fit("x1", {})


def test_a_parquet_file_of_many_rows_is_explained(tmp_path, monkeypatch):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(large, "FEWEST_BLOCK_ROWS", 100)
    monkeypatch.setattr(large, "BLOCK_ROWS", 40)
    path = tmp_path / "many_rows.parquet"
    parquet.write_table(pyarrow.table({"a": X[:, 0], "b": X[:, 1], "price": Y}), path)
    found = CliRunner().invoke(app, ["explain", str(path), "--target", "price", "--scale", "identity"])
    assert found.exit_code == 0, found.output
    assert "reading 150 rows in 4 blocks" in found.output
    assert "150 rows, of which a random sample of 152 is shown" in found.output


def test_kernels_of_the_paper_are_fitted_to_minibatches(tmp_path, monkeypatch):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(large, "FEWEST_BLOCK_ROWS", 100)
    monkeypatch.setattr(large, "BLOCK_ROWS", 40)
    path = tmp_path / "many_rows.parquet"
    parquet.write_table(pyarrow.table({"a": X[:, 0], "b": X[:, 1], "price": Y}), path)

    def refused(model, source, **options):
        raise ValueError(f"{model.method} {model.kernels}")

    monkeypatch.setattr(large, "fit_estimator", refused)
    found = CliRunner().invoke(app, ["explain", str(path), "--target", "price", "--kernels", "paper"])
    assert "stochastic paper" in found.output


def test_a_small_parquet_file_is_not_read_in_blocks(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"a": X[:, 0], "price": Y}), tmp_path / "few.parquet")
    assert open_large(str(tmp_path / "few.parquet"), None, 1) is None


def test_the_sample_of_a_folder_has_rows_of_all_its_files(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for i in range(3):
        parquet.write_table(pyarrow.table({"a": np.full(5, float(i)), "y": Y[:5]}), tmp_path / f"part-{i}.parquet")
    found = open_large(str(tmp_path), None, 1)
    assert found is not None
    assert set(found[1]["a"]) == {0.0, 1.0, 2.0}
