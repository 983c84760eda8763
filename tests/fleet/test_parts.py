"""A folder is continued exactly where it was left, and by nobody else."""

import json

import numpy as np
import polars as pl
import pytest

from farrier.fleet import parts
from farrier.fleet.one_series import Outcome
from farrier.fleet.parts import Folder
from tests.fleet.series import months

RUN = {"id": "shop", "time": "month", "horizon": 2, "fingerprint": "abc"}


def outcome(name):
    return Outcome(name, None, months(2), {"mean": np.array([1.0, 2.0])}, "Lin", 16, 0.5)


def ids_in(folder):
    tables = [pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))]
    return [name for table in tables for name in table["shop"].unique(maintain_order=True)]


def test_what_was_added_is_there_when_the_folder_is_opened_again(tmp_path):
    with Folder(tmp_path, RUN) as folder:
        folder.add(outcome("a"))
        folder.flush()
        folder.add(outcome("b"))
    with Folder(tmp_path, RUN) as folder:
        assert list(folder.records) == ["a", "b"]
        assert folder.records["b"].structure == "Lin"
        folder.add(outcome("c"))
    assert ids_in(tmp_path) == ["a", "b", "c"]
    found = pl.read_parquet(tmp_path / "part-00002.parquet")
    assert found.columns == ["shop", "month", "mean"]
    assert found["month"].dtype == pl.Datetime("us")


def test_an_exception_keeps_what_is_finished(tmp_path):
    def interrupted():
        with Folder(tmp_path, RUN) as folder:
            folder.add(outcome("a"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ids_in(tmp_path) == ["a"]


@pytest.mark.parametrize("file", [1, 2], ids=["at the list", "at the part"])
@pytest.mark.parametrize("written", [False, True], ids=["before", "after"])
def test_a_part_that_is_interrupted_anywhere_is_written_once(tmp_path, monkeypatch, file, written):
    real, calls = parts.write_whole, []

    def interrupted(path, content):
        calls.append(path)
        if len(calls) != file or written:
            real(path, content)
        if len(calls) == file:
            raise KeyboardInterrupt

    with Folder(tmp_path, RUN) as folder:
        monkeypatch.setattr(parts, "write_whole", interrupted)
        folder.add(outcome("a"))
        with pytest.raises(KeyboardInterrupt):
            folder.flush()
    monkeypatch.undo()
    with Folder(tmp_path, RUN) as folder:
        assert list(folder.records) == ["a"]
    assert ids_in(tmp_path) == ["a"]


def test_a_list_without_its_part_does_not_count_and_drafts_go(tmp_path):
    with Folder(tmp_path, RUN) as folder:
        folder.add(outcome("a"))
    (tmp_path / "part-00000.parquet").unlink()
    draft = tmp_path / ".part-00000.parquet.0123abcd"
    draft.write_bytes(b"half")
    with Folder(tmp_path, RUN) as folder:
        assert not folder.records
        assert not draft.exists()
        folder.add(outcome("a"))
    assert ids_in(tmp_path) == ["a"]


def test_a_part_without_its_list_is_refused(tmp_path):
    with Folder(tmp_path, RUN) as folder:
        folder.add(outcome("a"))
    (tmp_path / "_part-00000.json").write_text("{")
    with pytest.raises(ValueError, match=r"_part-00000\.json.*delete that part too"):
        Folder(tmp_path, RUN)


@pytest.mark.parametrize(
    ("name", "value", "why"), [("horizon", 3, "a run with horizon 2, not 3"), ("fingerprint", "x", "other rows")]
)
def test_another_run_is_refused(tmp_path, name, value, why):
    with Folder(tmp_path, RUN):
        pass
    with pytest.raises(ValueError, match=why):
        Folder(tmp_path, {**RUN, name: value})


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"holds other files, such as 'thesis\.txt'"):
        Folder(tmp_path, RUN)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_two_runs_in_one_folder_are_refused(tmp_path):
    with Folder(tmp_path, RUN), pytest.raises(ValueError, match="another run is at work"):
        Folder(tmp_path, RUN)
    with Folder(tmp_path, RUN):
        pass


def test_parts_are_csv_where_nothing_writes_parquet(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "WRITERS", ())
    with Folder(tmp_path, RUN) as folder:
        folder.add(outcome("a"))
    assert (tmp_path / "part-00000.csv").read_text().splitlines()[:2] == ["shop,month,mean", "a,2020-01-01,1"]
    monkeypatch.undo()
    with pytest.raises(ValueError, match="a run with parts 'csv', not 'parquet'"):
        Folder(tmp_path, RUN)


def test_text_times_are_timestamps_in_parquet(tmp_path):
    texts = Outcome("a", None, ["2020-01", "2020-02"], {"mean": np.zeros(2)})
    with Folder(tmp_path, RUN, dated=True) as folder:
        folder.add(texts)
    assert pl.read_parquet(tmp_path / "part-00000.parquet")["month"].dtype == pl.Datetime("us")


def test_errors_and_digest_stand_beside_the_parts(tmp_path):
    with Folder(tmp_path, RUN) as folder:
        folder.finish({"bad": "too short"}, {"series": 1})
        assert (tmp_path / "_errors.csv").read_text() == "shop,error\nbad,too short\n"
        folder.finish({}, {"series": 2})
    assert not (tmp_path / "_errors.csv").exists()
    assert json.loads((tmp_path / "_digest.json").read_text()) == {"series": 2}
