"""The series of the suite have no pattern: white noise has independent values, a walk independent steps."""

import numpy as np
import pytest
from benchmarks.plain import AHEAD, KINDS, ROWS, measure


@pytest.mark.parametrize(("kind", "differences"), [("white noise", 0), ("random walk", 1)])
def test_values_or_steps_are_independent(kind, differences):
    make, _ = KINDS[kind]
    steps = np.concatenate([np.diff(make(np.random.default_rng(seed)), differences) for seed in range(30)])
    assert len(steps) == 30 * (ROWS + AHEAD - differences)
    assert abs(np.corrcoef(steps[1:], steps[:-1])[0, 1]) < 0.05


def test_a_walk_is_called_one():
    found = measure("random walk", 0)
    assert found["right"] == (found["components"] == ["RW"])
    assert found["inside"] > 0.5
