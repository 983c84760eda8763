"""A folder of forecasts is whole whatever ends the run or its workers; what is missing is said."""

import json
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from farrier.cli.fleet import Pace, spoken
from farrier.cli.screen import Live
from farrier.estimators.progress_bar import Bar
from tests.fleet.series import csv_of, monthly
from tests.fuzz import fleets

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
NAMED = ("--id", "shop", "--horizon", "2", "--levels", "80", "--jobs", "1")


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    """A file, its forecasts by an undisturbed run, and the seconds that took."""
    folder = tmp_path_factory.mktemp("shops")
    data = folder / "shops.csv"
    data.write_text(csv_of(fleets.NAMES))
    begin = time.monotonic()
    return data, fleets.undisturbed(data, folder / "whole"), time.monotonic() - begin


@POSIX
@pytest.mark.parametrize("kind", fleets.KINDS)
def test_no_series_is_lost_or_doubled_and_no_process_left_whatever_is_killed(shops, tmp_path, kind):
    data, expected, seconds = shops
    fleets.disturbed(data, tmp_path / "out", kind, 0.75 * seconds, expected)


def test_a_folder_is_written_continued_and_refused_to_others(run, tmp_path):
    data, out = tmp_path / "shops.csv", tmp_path / "out"
    data.write_text(csv_of(["north", "south"]) + "new,2020-01,3\n")
    code, _, err = run("forecast", data, *NAMED, "--out", f"{out}/")
    assert code == 1
    assert f"1 of 3 series is missing: see {out / '_errors.csv'}" in err
    found = pl.read_parquet(out / "part-00000.parquet")
    assert found.columns == ["shop", "month", "mean", "median", "low_80", "high_80"]
    assert sorted(set(found["shop"])) == ["north", "south"]
    assert (out / "_errors.csv").read_text() == "shop,error\nnew,series: 1 value: give at least 4.\n"
    assert json.loads((out / "_digest.json").read_text())["forecast"] == 2
    code, _, err = run("forecast", data, *NAMED, "--out", out)
    assert code == 1
    assert "2 of 3 series are in" in err
    assert sorted(path.name for path in out.glob("part-*")) == ["part-00000.parquet"]
    code, _, err = run("forecast", data, *NAMED, "--out", out, "--levels", "90")
    assert code == 2
    assert "holds a run with levels [80.0], not [80.0, 90.0]" in err


def test_numbers_are_those_of_the_plain_output(run, shops):
    data, expected, _ = shops
    code, out, _ = run("forecast", data, *NAMED, "--quiet")
    assert code == 0
    found = pl.read_csv(out.encode())
    assert found["shop"].to_list() == [name for name in fleets.NAMES for _ in range(2)]
    for column in ("mean", "low_80"):
        assert found[column].to_list() == expected[column].to_list()


def test_numbers_as_ids_and_bad_cells_stop_no_other_series(run, tmp_path):
    data = tmp_path / "shops.csv"
    rows = [(1, *row[1:]) for row in monthly("a")] + [(2, *row[1:]) for row in monthly("b")]
    rows[20] = (2, rows[20][1], "closed")
    data.write_text("shop,month,sales\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    code, out, err = run("forecast", data, *NAMED)
    assert code == 1
    assert [line.split(",")[0] for line in out.splitlines()] == ["shop", "1", "1"]
    assert "no forecast of '2': column 'sales', line 22: 'closed' is not a number" in err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--id", "shop", "--out", "{folder}/none/out/"), "there is no folder"),
        (("--id", "shop", "--out", "{folder}/shops.csv/"), "is a file: name a folder"),
        (("--id", "shop", "--out", "{folder}"), "holds other files, such as 'shops.csv'"),
        (
            ("--target", "sales", "--out", "{folder}/out/"),
            "is a folder: name a file in it, or the column of many series",
        ),
        (("--id", "shop", "--jobs", "100000"), "memory: "),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_work(run, tmp_path, options, why, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    monkeypatch.setattr("farrier.fleet.memory.available_bytes", lambda: 2**29)
    data = tmp_path / "shops.csv"
    data.write_text(csv_of("abc"))
    code, _, err = run("forecast", data, "--horizon", "2", *(option.format(folder=tmp_path) for option in options))
    assert code == 2
    assert why in err


def test_a_file_with_a_header_alone_is_refused(run, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("unique_id,ds,y\n")
    for more in ((), ("--out", f"{tmp_path / 'folder'}/")):
        code, _, err = run("forecast", path, "--id", "unique_id", "--horizon", "3", *more)
        assert code == 2
        assert "has no rows" in err
        assert [one.name for one in tmp_path.iterdir()] == ["empty.csv"]


def test_the_pace_says_the_rate_and_what_is_left(monkeypatch):
    said, now = [], [100.0]
    monkeypatch.setattr("farrier.cli.fleet.monotonic", lambda: now[0])
    monkeypatch.setattr(Live, "doing", lambda self, phase, steps="", **more: said.append(steps))
    monkeypatch.setattr(Live, "done", lambda self, text: said.append(f"line: {text}"))
    pace = Pace(Live(Bar()), 10, 100)
    for _ in range(5):
        now[0] += 10.0
        pace.one_more()
    assert said[0] == "10 of 100 series"
    assert said[1] == "11 of 100 series"
    assert said[2] == "12 of 100 series, 0.1 a second, 15 min left"
    assert "line: 13 of 100 series, 0.1 a second, 14 min left" in said
    assert [spoken(seconds) for seconds in (40, 700, 20000)] == ["40 s", "12 min", "5.6 h"]


@POSIX
def test_signals_have_their_exit_codes():
    assert fleets.CODES == {"KILL": -9, "TERM": 128 + signal.SIGTERM, "INT": 130}
