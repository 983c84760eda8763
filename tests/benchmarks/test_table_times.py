"""The suite of table times: what it fits, and that a table that takes too long is said to have failed."""

import argparse

import numpy as np
from benchmarks.record import Recorder, read

from benchmarks import table_times


def test_only_the_first_four_inputs_have_an_effect():
    X, y = table_times.data(500, 6, 0)
    moved = X.copy()
    moved[:, 4:] += 1.0
    assert np.array_equal(table_times.truth(X), table_times.truth(moved))
    assert abs(np.std(y - table_times.truth(X)) - table_times.NOISE) < 0.05
    for column in range(4):
        moved = X.copy()
        moved[:, column] += 1.0
        assert not np.allclose(table_times.truth(X), table_times.truth(moved))


def test_a_table_is_fitted_and_its_error_is_below_the_noise():
    figures = table_times.fitted(120, 4, 0)
    assert figures["fit_cpu_seconds"] > 0.0
    assert figures["rmse"] < table_times.NOISE
    assert 0.85 < figures["coverage"] <= 1.0


def test_a_table_that_takes_too_long_is_a_failure_in_the_lines(tmp_path):
    arguments = argparse.Namespace(tables=["2000x24"], seeds=[0], run_limit=0.1)
    table_times.run(arguments, Recorder("table-times", tmp_path))
    (line,) = read(tmp_path / "table-times.jsonl")
    assert line["settings"] == {"rows": 2000, "inputs": 24}
    assert "0.1 s" in line["figures"]["failure"]
