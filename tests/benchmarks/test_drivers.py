"""The suite of drivers: its few cells hold every pair of levels, its series have the effects that they say, and lines
are written once."""

import argparse
import json
from itertools import combinations

import numpy as np
import pytest
from benchmarks.drivers import AHEAD, Cell, best_errors, covering_cells, every_cell, make, run
from benchmarks.record import Recorder


def test_the_covering_cells_are_few_and_hold_every_pair_of_levels():
    cells, whole = covering_cells(), every_cell()
    assert (len(whole), len(cells)) == (6 * 3 * 4 * 2, 6 * 4)
    for i, j in combinations(range(4), 2):
        assert {(one[i], one[j]) for one in cells} == {(one[i], one[j]) for one in whole}


@pytest.mark.parametrize("course", ["flat", "season", "step"])
def test_a_series_has_the_effects_that_it_says(course):
    made = make(Cell(course, "both", 1100, "US"), 3)
    assert len(made.frame) == 1100 + AHEAD
    assert set(made.frame["promo"]) == {0.0, 1.0}
    changes = made.frame[["promo", "price"]].diff()[1:].to_numpy()
    found = np.linalg.lstsq(changes, made.frame["sales"].diff()[1:].to_numpy(), rcond=None)[0]
    assert found == pytest.approx(list(made.effects.values()), abs=0.6)


@pytest.mark.parametrize("course", ["walk", "damped"])
def test_the_true_model_has_errors_as_large_as_it_says(course):
    cell = Cell(course, "both", 60, "US")
    errors = [z for seed in range(60) for z in best_errors(make(cell, seed), 60).values()]
    assert 0.8 < np.std(errors) < 1.2


def test_a_series_is_measured_once_and_says_whether_intervals_hold(tmp_path, capsys):
    arguments = argparse.Namespace(seeds=[0], random=True, covering=True)
    for _ in range(2):
        run(arguments, Recorder("drivers", tmp_path))
    (line,) = map(json.loads, (tmp_path / "drivers.jsonl").read_text().splitlines())
    assert set(line["figures"]["inside"].values()) <= {True, False}
    assert line["figures"]["inside"].keys() == line["figures"]["z"].keys()
    assert capsys.readouterr().out.count("effects inside their 95 % intervals") == 1
