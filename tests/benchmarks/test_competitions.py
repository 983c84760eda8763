"""The competitions' suite: parts, samples, methods, resuming, tables; on made files of a few short series."""

import argparse
import gzip
import json
import sys
from types import ModuleType

import numpy as np
import pytest
from benchmarks.competition_data import SETS, chosen, part_of, read_set
from benchmarks.competition_methods import COLUMNS, METHODS, check_installed
from benchmarks.competition_table import tables
from benchmarks.published import COMPETITIONS
from benchmarks.record import Clock, Recorder, read
from numpy.testing import assert_allclose

from benchmarks import cli, competitions

NAMES = [f"Y{i}" for i in range(1, 9)]
PAST, AHEAD = 12, 3


@pytest.fixture
def data(tmp_path):
    """Eight yearly series, the i-th with steps of i and 2 i in turn."""
    rows = ["unique_id,split,t,y"]
    for i, name in enumerate(NAMES, 1):
        y = np.cumsum(np.resize([1.0, 2.0], PAST + AHEAD)) * i
        rows += [f"{name},{'train' if t < PAST else 'test'},{t + 1},{y[t]}" for t in range(len(y))]
    (tmp_path / "forecast").mkdir()
    with gzip.open(tmp_path / "forecast" / "m1_yearly.csv.gz", "wt") as file:
        file.write("\n".join(rows))
    return tmp_path


def run(data, *words, jobs=1):
    parser = argparse.ArgumentParser()
    competitions.configure(parser)
    given = ["--data-dir", str(data), "--sets", "m1_yearly", "--jobs", str(jobs), *words]
    competitions.run(parser.parse_args(given), Recorder("competitions", data / "results"))
    return read(data / "results" / "competitions.jsonl")


def test_the_part_of_a_series_never_changes():
    # the last hexadecimal digits of their sha256, as sha256sum prints them: 6, 8, 7, f, c
    found = [part_of(name) for name in ("YAF2", "QRF1", "MRF1", "W5", "H5")]
    assert found == ["learn", "learn", "report", "report", "learn"]


def test_the_parts_share_no_series_and_hold_all(data):
    series = read_set(data, "m1_yearly")
    learn, report = ({one.name for one in chosen(series, part, None)} for part in ("learn", "report"))
    assert learn
    assert report
    assert not learn & report
    assert learn | report == {one.name for one in chosen(series, "all", None)} == set(NAMES)


def test_a_larger_sample_holds_the_smaller_one_whatever_the_order_of_the_file(data):
    series = read_set(data, "m1_yearly")
    samples = [{one.name for one in chosen(series, "all", count)} for count in (2, 5, 20)]
    assert [len(sample) for sample in samples] == [2, 5, 8]
    assert samples[0] < samples[1] < samples[2]
    assert {one.name for one in chosen(series[::-1], "all", 2)} == samples[0]


def test_long_series_keep_their_last_rows(tmp_path):
    (tmp_path / "forecast").mkdir()
    with gzip.open(tmp_path / "forecast" / "m4_weekly.csv.gz", "wt") as file:
        file.write("unique_id,split,t,y\n")
        file.writelines(f"W1,{'train' if t <= 530 else 'test'},{t},{t}\n" for t in range(1, 534))
    (one,) = read_set(tmp_path, "m4_weekly")
    assert_allclose(one.past, np.arange(11.0, 531.0))
    assert_allclose(one.ahead, [531.0, 532.0, 533.0])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SystemExit, match=r"no forecast/m1_yearly\.csv\.gz"):
        read_set(tmp_path, "m1_yearly")


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("m1_yearly", "1902"),
        ("m1_quarterly", "1900-07"),
        ("m1_monthly", "1900-03"),
        ("m3_other", "1902"),
        ("tourism_quarterly", "1900-07"),
        ("m4_weekly", "1900-01-15"),
        ("m4_hourly", "1900-01-01T02"),
    ],
)
def test_made_dates_have_the_steps_of_the_set(name, last):
    assert str(SETS[name].stamps(3)[-1]) == last


def test_naive_intervals_widen_with_the_root_of_the_seasons_ahead():
    y = np.array([1.0, 10.0, 3.0, 12.0, 5.0, 14.0])
    found = METHODS["seasonal-naive"](y, 2, 4, y)
    assert_allclose(found["median"], [5.0, 14.0, 5.0, 14.0])
    # every step over a season is 2
    half = 1.959964 * 2.0 * np.sqrt([1.0, 1.0, 2.0, 2.0])
    assert_allclose(found["high_95"] - found["mean"], half, rtol=1e-6)
    assert_allclose(found["mean"] - found["low_95"], half, rtol=1e-6)
    last = METHODS["naive"](y, 2, 3, y)
    assert_allclose(last["mean"], 14.0)
    assert_allclose(np.diff((last["high_80"] - last["mean"]) ** 2, n=2), 0.0, atol=1e-9)


def test_farrier_forecasts_every_column_of_a_series_with_made_dates():
    y = 5.0 + np.arange(16.0) + np.resize([0.0, 3.0, -1.0, 1.0], 16)
    found = METHODS["farrier"](y, 4, 3, SETS["m1_quarterly"].stamps(16))
    assert tuple(found) == COLUMNS
    ends = [found[name] for name in ("low_95", "low_80", "median", "high_80", "high_95")]
    assert np.all(np.diff(np.stack(ends), axis=0) > 0.0)
    assert ends[0].shape == (3,)


class FakeETS:
    """Forecasts its season length, with ends a level away."""

    def __init__(self, season_length):
        self.season = season_length

    def forecast(self, y, h, level):
        mean = np.full(h, float(self.season))
        ends = {f"lo-{one}": mean - one for one in level} | {f"hi-{one}": mean + one for one in level}
        return {"mean": mean, **ends}


def test_columns_of_statsforecast_have_our_names(monkeypatch):
    package, models = ModuleType("statsforecast"), ModuleType("statsforecast.models")
    package.models, models.AutoETS = models, FakeETS
    monkeypatch.setitem(sys.modules, "statsforecast", package)
    monkeypatch.setitem(sys.modules, "statsforecast.models", models)
    found = METHODS["auto-ets"](np.arange(9.0), 4, 2, np.arange(9))
    assert {name: values.tolist() for name, values in found.items()} == {
        "mean": [4.0, 4.0], "median": [4.0, 4.0], "low_80": [-76.0, -76.0], "low_95": [-91.0, -91.0],
        "high_80": [84.0, 84.0], "high_95": [99.0, 99.0],
    }  # fmt: skip


def test_a_package_that_is_not_installed_is_named_before_anything_runs(monkeypatch):
    monkeypatch.setattr("benchmarks.competition_methods.find_spec", lambda name: None)
    check_installed(["farrier", "naive"])
    with pytest.raises(SystemExit, match="auto-theta: it needs statsforecast"):
        check_installed(["naive", "auto-theta"])


def test_figures_of_a_line_are_those_by_hand(data):
    lines = run(data, "--methods", "naive", "--part", "all")
    (line,) = [line for line in lines if line["settings"]["series"] == "Y3"]
    # 11 training steps: 6 of 6 and 5 of 3; ahead of the last value 3, 9 and 12
    assert_allclose(line["figures"]["mase"], 8.0 / (51.0 / 11.0), rtol=1e-12)
    assert line["figures"]["mase_of_mean"] == line["figures"]["mase"]
    last = 54.0
    expected = np.mean([200.0 * gap / (2.0 * last + gap) for gap in (3.0, 9.0, 12.0)])
    assert_allclose(line["figures"]["smape"], expected, rtol=1e-12)
    assert line["cpu_seconds"] >= 0.0


def test_a_stopped_run_goes_on_where_it_was_and_tries_failures_again(data, monkeypatch):
    def broken(y, season, horizon, stamps):
        raise ArithmeticError("no luck")

    monkeypatch.setitem(METHODS, "seasonal-naive", broken)
    lines = run(data, "--methods", "naive", "seasonal-naive", "--part", "all", "--series", "2")
    failures = [line["figures"].get("failure") for line in lines]
    assert sorted(failures, key=str) == ["ArithmeticError: no luck"] * 2 + [None] * 2
    assert "0 (1 failed)" in tables(data / "results" / "competitions.jsonl")
    monkeypatch.undo()

    asked = []
    monkeypatch.setitem(METHODS, "naive", lambda *_: asked.append("naive"))
    right = METHODS["seasonal-naive"]
    monkeypatch.setitem(METHODS, "seasonal-naive", lambda *given: asked.append("seasonal") or right(*given))
    lines = run(data, "--methods", "naive", "seasonal-naive", "--part", "all", "--series", "2")
    assert asked == ["seasonal", "seasonal"]
    assert len(lines) == 4
    assert not any(line["figures"].get("failure") for line in lines)


def test_a_forecast_that_is_not_finite_is_a_failure(data, monkeypatch):
    nothing = dict.fromkeys(COLUMNS, np.full(AHEAD, np.nan))
    monkeypatch.setitem(METHODS, "naive", lambda *_: nothing)
    lines = run(data, "--methods", "naive", "--part", "all", "--series", "1")
    assert lines[0]["figures"] == {"failure": "ValueError: the forecast's mean is not finite."}


def test_the_time_limit_is_no_failure_of_a_series(data, monkeypatch):
    def slow(*_):
        raise cli.TimeLimitError

    monkeypatch.setitem(METHODS, "naive", slow)
    with pytest.raises(cli.TimeLimitError):
        run(data, "--methods", "naive")


def test_two_processes_find_what_one_finds(data):
    one = run(data, "--methods", "naive", "--part", "all")
    (data / "results" / "competitions.jsonl").unlink()
    two = run(data, "--methods", "naive", "--part", "all", jobs=2)
    by_name = [{line["settings"]["series"]: line["figures"] for line in lines} for lines in (one, two)]
    assert by_name[0] == by_name[1]
    assert len(by_name[0]) == len(NAMES)


def line(method, series, mase, seconds=1.0):
    figures = {"mase": mase, "mase_of_mean": 2 * mase, "smape": 7.0, "inside_80": 0.5, "inside_95": 1.0, "msis": 9.0}
    settings = {"set": "m1_yearly", "series": series, "method": method}
    kept = {"versions": {"farrier": "0.2.0"}, "cpu_seconds": seconds}
    return {"settings": settings, "seed": 0, "figures": figures, **kept}


def shown(tmp_path, lines, capsys):
    (tmp_path / "competitions.jsonl").write_text("\n".join(json.dumps(one) for one in lines))
    assert cli.main(["table", "competitions", "--results", str(tmp_path)]) == 0
    return capsys.readouterr().out


REPORTED = [name for name in NAMES if part_of(name) == "report"]


def test_the_table_tells_means_and_the_ratio_to_the_published_mean(tmp_path, capsys):
    first, second = REPORTED[:2]
    said = shown(tmp_path, [line("farrier", first, 1.0), line("farrier", second, 3.0, 5.0)], capsys)
    ratio = 2.0 / COMPETITIONS["m1_yearly"]["auto-ets"][0]
    assert "## m1_yearly, part report: 2 series" in said
    assert f"| farrier | 2 | 2.000 | 4.000 | 7.00 | 0.500 | 1.000 | 9.00 | 3.00 | 3.00 | {ratio:.3f} | 0.2.0 |" in said
    assert "| auto-theta, published | all | 3.609 |  | 17.65 | 0.420 | 0.550 | 79.10 | 0.02 |  |  |  |" in said
    assert "to its published mean MASE" in said


def test_the_ratio_is_on_the_same_series_where_the_peer_was_run(tmp_path, capsys):
    first, second = REPORTED[:2]
    lines = [line("farrier", first, 1.0), line("farrier", second, 9.0), line("auto-ets", first, 4.0)]
    said = shown(tmp_path, lines, capsys)
    rows = {row.split(" | ")[0].strip("| "): row for row in said.splitlines() if row.startswith("| ")}
    assert rows["farrier"].endswith("| 0.250 | 0.2.0 |")
    assert rows["auto-ets"].endswith("| 1.000 | 0.2.0 |")
    assert "on the same series" in said


def test_the_parts_have_tables_of_their_own(tmp_path, capsys):
    learned = next(name for name in NAMES if part_of(name) == "learn")
    said = shown(tmp_path, [line("naive", learned, 1.0), line("naive", REPORTED[0], 2.0)], capsys)
    assert "part learn: 1 series" in said
    assert "part report: 1 series" in said


def test_a_stopped_clock_keeps_its_figures():
    clock = Clock().stop()
    first = clock.read()
    sum(range(10**5))
    assert clock.read() == first
