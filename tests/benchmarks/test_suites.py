"""What the suites say: splits, tables beside published numbers, pictures from the lines."""

import argparse
import json

import numpy as np
import pytest
from benchmarks.evaluation import resampled_test
from benchmarks.published import TIMESERIES_ROWS, UCI
from benchmarks.record import Recorder, read
from benchmarks.reproduction import course
from benchmarks.reproduction_page import Cell
from scipy import stats

from benchmarks import beside, forecasters, pictures, uci
from benchmarks import rows as rows_suite

RNG = np.random.default_rng(0)


def test_the_test_rows_of_a_table_are_its_two_ends():
    X = RNG.standard_normal((100, 3)) * [1.0, 50.0, 2.0]
    train, test = uci.split(X)
    assert len(test) == 6 + 7
    assert sorted([*train, *test]) == list(range(100))
    # the input with large numbers rules the projection
    inner = X[train, 1]
    assert np.mean((X[test, 1] < inner.min()) | (X[test, 1] > inner.max())) > 0.9


def test_rows_of_equal_projection_are_drawn_not_taken_in_order():
    X = np.repeat(np.arange(3.0), 40)[:, None]
    _, test = uci.split(X)
    assert set(X[test, 0]) == {0.0, 2.0}
    assert list(test[:8]) != list(range(8))


def lines(path, rows):
    path.write_text("\n".join(json.dumps({"seed": 0, **row}) for row in rows))
    return path


@pytest.mark.parametrize(
    ("table", "rmse", "verdict"), [("boston", 4.0, "ahead"), ("concrete", 7.4, "level"), ("yacht", 1.0, "behind")]
)
def test_a_verdict_compares_with_the_paper(tmp_path, table, rmse, verdict):
    run = {"settings": {"table": table, "method": "farrier"}}
    run["figures"] = {"rmse": rmse, "log_likelihood": -3.0, "coverage": 0.9, "fit_seconds": 3.0}
    said = beside.tables(lines(tmp_path / "uci.jsonl", [run]))
    assert f"| paper | {verdict} |" in said
    assert f"({UCI[table]['paper'][0][0]:g})" in said


def test_the_forecasts_are_drawn(tmp_path):
    name, start = "airline", TIMESERIES_ROWS["airline"]
    (tmp_path / "timeseries").mkdir()
    series = np.stack([np.arange(start + 15.0), RNG.standard_normal(start + 15)], axis=1)
    np.savetxt(tmp_path / "timeseries" / f"{name}.csv", series, delimiter=",", header="x,y", comments="")
    predicted = {"mean": [0.0] * 15, "low": [-2.0] * 15, "high": [2.0] * 15}
    run = {"settings": {"series": name, "method": "farrier"}, "figures": {"predicted": predicted}}
    lines(tmp_path / "timeseries.jsonl", [run])
    (path,) = pictures.forecasts(tmp_path, tmp_path)
    assert path.stat().st_size > 10_000
    with pytest.raises(SystemExit, match="--data-dir"):
        pictures.forecasts(tmp_path, None)


def test_naive_forecasts_are_the_last_value_and_the_last_season():
    y = np.arange(10.0)
    assert forecasters.naive(y, 4, 3)[0].tolist() == [9.0, 9.0, 9.0]
    assert forecasters.seasonal_naive(y, 4, 6)[0].tolist() == [6.0, 7.0, 8.0, 9.0, 6.0, 7.0]


def test_errors_of_forecasters_are_compared_case_by_case(tmp_path):
    def run(method, series, rmse, **others):
        settings = {"series": series, "cut": 0.9, "method": method}
        return {"settings": settings, "figures": {"rmse": rmse, **others}, "wall_seconds": 1.0}

    path = lines(
        tmp_path / "forecasters.jsonl",
        [
            run("farrier", "a", 1.0, coverage=1.0),
            run("farrier", "b", 10.0, coverage=0.5),
            run("theta", "a", 4.0),
            run("theta", "b", 10.0),
        ],
    )
    ours, theirs = forecasters.summary(path).splitlines()[2:]
    assert ours == "| farrier | 1.00 | 1.00 |  | 75 % | 1.0 | unknown |"
    assert theirs == "| theta | 2.00 | 2.50 | 50 % of 2 |  | 1.0 | unknown |"


@pytest.mark.parametrize(
    ("ours", "spread", "verdict"),
    [
        ([5.6], 0.10, "reached"),
        ([5.7], 0.10, "worse"),
        ([5.22], 0.10, "reached"),
        ([3.0, 4.0], 0.10, "better"),
        ([5.66], None, "reached"),
        ([5.16], None, "reached"),
        ([5.1], None, "better"),
        ([], 0.10, "not run"),
    ],
)
def test_a_printed_number_is_reached_within_the_tolerance_on_either_side(ours, spread, verdict):
    assert Cell("boston", "ours", "RMSE", 5.41, spread, ours, False).verdict() == verdict
    mirrored = Cell("boston", "ours", "log-likelihood", -5.41, spread, [-one for one in ours], True)
    assert mirrored.verdict() == verdict


def test_the_course_of_a_bound_is_a_mean_over_stretches():
    steps, bounds = course(np.array([np.arange(240.0), np.full(240, -np.inf)]))
    assert steps[-1] == 240
    assert bounds[0][:2] == [0.5, 2.5]
    assert bounds[1] == [None] * len(steps)


def test_the_linear_tier_agrees_with_exact_inference_on_few_rows_too(tmp_path, monkeypatch):
    monkeypatch.setattr(rows_suite, "EXACT_ROWS", 200)
    arguments = argparse.Namespace(rows=[400], parts=["agreement", "pass"], seeds=[0])
    rows_suite.run(arguments, Recorder("rows", tmp_path))
    found = [line["figures"] for line in read(tmp_path / "rows.jsonl")]
    agreement = [figures for figures in found if "component" in figures]
    assert len(agreement) == 3
    assert all(figures["mean"] < 0.02 for figures in agreement)
    assert sum("seconds" in figures for figures in found) == 1


def test_the_test_for_random_splits_knows_that_they_share_rows():
    gaps = [1.0, 3.0, -1.0, 2.0, 0.0, 4.0, 1.0, 1.0, 2.0, 2.0]
    gap, error, p = resampled_test(gaps)
    assert gap == 1.5
    assert np.isclose(error, np.std(gaps, ddof=1) * np.sqrt(1 / 10 + 1 / 9))
    assert np.isclose(p, stats.t.sf(gap / error, 9))
    assert resampled_test([0.0, 0.0])[2] == 1.0
