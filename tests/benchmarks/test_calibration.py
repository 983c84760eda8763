"""The suite `calibration`: its tests find what is wrong and pass what is right, and its series are what they say."""

import json

import numpy as np
import pytest
from benchmarks.calibration_posteriors import KINDS, simulated, uniformity
from benchmarks.calibration_table import spiegelhalter, tables

from benchmarks import calibration, calibration_series


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_below_the_truth_are_those_of_the_seed(kind):
    found = simulated(kind, 1)
    assert all(0.0 <= value <= 1.0 for value in found.values())
    assert {"weight", "f", "y 1 ahead", "y 12 ahead"} <= set(found)
    assert found == simulated(kind, 1) != simulated(kind, 2)


def test_uniform_values_pass_and_others_do_not():
    even = (np.arange(200) + 0.5) / 200
    assert uniformity(even) > 0.9
    assert uniformity(even**1.5) < 0.01
    assert uniformity(0.25 + 0.5 * even) < 0.01


def test_right_probabilities_of_classes_pass_and_bold_ones_do_not():
    generator = np.random.default_rng(0)
    chance = generator.uniform(0.05, 0.95, 2000)
    one = (generator.uniform(size=2000) < chance).astype(int)
    bold = chance**2 / (chance**2 + (1 - chance) ** 2)
    assert spiegelhalter(chance, one) > 0.01
    assert spiegelhalter(bold, one) < 0.01


@pytest.mark.parametrize("kind", calibration_series.SERIES)
def test_made_series_are_finite_and_differ(kind):
    make = calibration_series.SERIES[kind]
    first, second = (make(np.random.default_rng(seed)) for seed in (0, 1))
    assert len(first) == calibration_series.ROWS + calibration_series.AHEAD
    assert np.isfinite(first).all()
    assert not np.allclose(first, second)


def test_coverage_is_that_of_the_values():
    months = np.datetime64("2010-01") + np.arange(60)
    y = np.random.default_rng(0).normal(50.0, 1.0, 60)
    found = calibration.forecast(months, y, np.array([50.0, 1e6]))
    assert [found[f"inside_{level}"] for level in (50, 80, 95)] == [[1, 0]] * 3


def test_tables_show_shares_by_class_and_by_step(tmp_path):
    inside = {"inside_50": [1, 0], "inside_80": [1, 0], "inside_95": [1, 1]}
    lines = [
        {"settings": {"part": "made", "class": "line"}, "seed": 0, "figures": inside},
        {"settings": {"part": "made", "class": "walk", "search": "quick"}, "seed": 0, "figures": inside},
        {"settings": {"part": "posteriors", "class": "walk"}, "seed": 0, "figures": {"f": 0.9}},
        {"settings": {"part": "classes", "class": "x"}, "seed": 0, "figures": {"chance": [0.3], "is_one": [1]}},
        {"settings": {"part": "tables", "class": "x"}, "seed": 0, "figures": {"failure": "no"}},
    ]
    path = tmp_path / "calibration.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    said = tables(path)
    # lines of version 0.2.0, which had two models, stay readable
    assert said.index("**made series**") < said.index("| line |") < said.index("**made series, search quick**")
    assert "| line | 1 | 50.0 ± 0.0 | 50.0 ± 0.0 | 100.0 ± 0.0 |" in said
    assert "| 80 % hold | 100 | 0 |" in said
    assert "| walk | f | 1 | 0 | 80 | 95 |" not in said
    assert "| walk | f | 1 | 0 | 100 | 100 |" in said
    assert "1 lines are failures." in said
