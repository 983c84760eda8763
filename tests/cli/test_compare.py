"""`farrier compare` runs the methods that were asked for, each on the same rows."""

import numpy as np
import pytest

from farrier import Regressor
from farrier.cli import compare


def test_compare_prints_the_methods_that_were_asked_for(run, sales):
    code, out, err = run("compare", sales, "--methods", "full-gp", "--time-limit", "200", "--origins", "1")
    assert code == 0
    assert "full-gp: RMSE" in err
    assert "fitted to 22 rows, 2 held out (the last)" in out
    header, row = out.splitlines()[2:4]
    assert header.split("  ")[0] == "method"
    assert row.startswith("full-gp")


def test_a_method_that_fails_or_runs_out_of_time_has_a_row_that_says_so():
    X = np.arange(12.0)[:, None]
    packed = compare.pack(X, X[:, 0], np.arange(10), np.arange(10, 12), [])
    late = compare.run_apart("farrier", packed, 0.05, 0)
    assert late.failure == "out of time after 0.05 s"
    failed = compare.run_apart("no-such-method", packed, 60, 0)
    assert "no-such-method" in failed.failure
    good = compare.Outcome("full-gp", 1.0, rmse=2.0, log_likelihood=-1.0, coverage=0.95)
    rows = compare._rows([late, failed, good])
    assert [row["method"] for row in rows] == ["full-gp", "farrier", "no-such-method"]
    assert rows[1][""] == late.failure


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_a_split_uses_every_row_once(seed):
    train, test = compare.split(50, 0.1, seed)
    assert sorted([*train, *test]) == list(range(50))
    assert len(test) == 5
    assert (seed is not None) or test.min() > train.max()


def test_methods_that_suit_the_rows_are_chosen():
    assert "abcd" in compare.suitable(["paper"], 500, "series")
    assert "abcd" not in compare.suitable(["paper"], 5000, "series")
    assert "additive-classifier" not in compare.suitable(["paper"], 50, "table")


def test_without_periods_a_curve_is_fitted_as_by_default():
    x = np.linspace(0.0, 7.3, 60)
    y = np.sin(2.0 * np.pi * x) + 0.3 * x + 0.2 * np.random.default_rng(0).standard_normal(60)
    train, test = np.arange(48), np.arange(48, 60)
    outcome = compare.run_apart("farrier", compare.pack(x[:, None], y, train, test, []), 120, 0)
    predicted = Regressor().fit(x[train, None], y[train]).predict(x[test, None])
    assert outcome.rmse == pytest.approx(np.sqrt(np.mean((predicted - y[test]) ** 2)), rel=1e-6)
