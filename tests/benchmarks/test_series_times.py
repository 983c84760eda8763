"""The suite of series times: which series it fits, and that each gets its own processor time."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.competition_data import Series, part_of
from benchmarks.record import read

import benchmarks
from benchmarks import cli, series_times

NAMES = [name for name in map(str, range(40)) if part_of(name) == "learn"]
RNG = np.random.default_rng(0)


def series(name, rows):
    return Series(name, 10.0 + RNG.standard_normal(rows), np.ones(3))


def test_only_learn_series_with_the_right_number_of_rows_are_fitted():
    other = next(name for name in map(str, range(40)) if part_of(name) == "report")
    given = [series(NAMES[0], 99), series(NAMES[1], 94), series(NAMES[2], 116), series(other, 99)]
    assert [one.name for one in series_times.suitable(given, 95, 115)] == [NAMES[0]]


@pytest.mark.parametrize("work", series_times.WORK)
def test_every_series_has_its_processor_time(work):
    if work == series_times.ETS:
        pytest.importorskip("statsforecast")
    source = Path(benchmarks.__path__[0]).parent / "src"
    found = series_times.timed([series(NAMES[0], 40), series(NAMES[1], 48)], "m1_monthly", work, source)
    assert len(found) == 2
    assert all(0.0 < seconds < 60.0 for seconds in found)


def test_the_suite_writes_a_ratio_for_each_set_and_work(tmp_path, monkeypatch):
    monkeypatch.setattr(series_times, "read_set", lambda folder, name: [series(one, 100) for one in NAMES[:3]])
    seconds = {"this": [1.0, 2.0, 3.0], "other": [4.0, 4.0, 4.0]}
    here = Path(series_times.__file__).parent.parent / "src"
    monkeypatch.setattr(series_times, "timed", lambda s, n, m, source: seconds["this" if source == here else "other"])
    options = [
        "--data-dir",
        "nowhere",
        "--sets",
        "m1_monthly",
        "--work",
        "fit and forecast",
        "--against",
        str(tmp_path),
    ]
    cli.main(["run", "series-times", *options, "--results", str(tmp_path)])
    (line,) = read(tmp_path / "series-times.jsonl")
    assert line["settings"] == {"set": "m1_monthly", "work": "fit and forecast"}
    assert line["figures"]["this_cpu_seconds"] == 2.0
    assert line["figures"]["ratio"] == pytest.approx(0.5)
