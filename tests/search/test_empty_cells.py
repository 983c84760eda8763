"""Laws of empty cells: cells that are empty by chance have no effect, those that tell something have one."""

import numpy as np
import pandas as pd
import pytest

from farrier import Regressor
from farrier.search.empty_cells import beyond_average, flags_of

ROWS = 160


def made(seed, shape, lower=0.0):
    """A line, a curve with empty cells, a category; rows with empty cells are lower by `lower`."""
    generator = np.random.default_rng(seed)
    size, built = generator.uniform(-2.0, 2.0, (2, ROWS))
    city = generator.choice(["Aachen", "Bonn", "Celle"], ROWS)
    empty = generator.uniform(size=ROWS) < 0.12
    effect = {"Aachen": 0.0, "Bonn": 1.0, "Celle": -1.0}
    y = 2.0 * size + shape(built) + np.array([effect[name] for name in city]) - lower * empty
    X = pd.DataFrame({"size": size, "built": np.where(empty, np.nan, built), "city": city})
    return X, y + 0.3 * generator.standard_normal(ROWS)


@pytest.mark.parametrize("shape", [lambda x: x**2, lambda x: 1.5 * x], ids=["U", "line"])
def test_cells_that_are_empty_by_chance_have_no_effect(shape):
    model = Regressor().fit(*made(0, shape))
    assert sorted(len(row.formula.split(" * ")) for row in model.components_) == [1, 1, 1]
    assert not any("missing" in row.formula for row in model.components_)


def test_cells_that_tell_something_have_an_effect():
    model = Regressor().fit(*made(0, lambda x: x**2, lower=6.0))
    assert "Cat[built missing]" in [row.formula for row in model.components_]


def test_a_flag_is_found_with_its_number():
    X = np.array([[-1.0, 0.0, 2.0, 0.0], [1.0, 0.0, 0.5, 1.0], [0.0, 1.0, 1.0, 2.0], [0.0, 1.0, -3.5, 1.0]])
    assert flags_of(X, (1, 3)) == {1: 0}
    assert flags_of(X[:2], (1, 3)) == {}


def test_what_counts_is_the_flag_beyond_the_average_effect():
    x = np.linspace(-2.0, 2.0, 41)
    empty = np.arange(41) % 5 == 0
    x = np.where(empty, 0.0, x)
    flag = 9.0 * (empty[:, None] == empty[None, :])
    effect = 9.0 * np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2)
    average = float(np.mean(x[~empty] ** 2))
    C = flag + effect + 0.01 * np.eye(41)
    found = [beyond_average(flag, effect, C, np.where(empty, average + more, x**2), empty) for more in (0.0, 0.5, 5.0)]
    assert found[0] < 0.1
    assert found[0] < found[1] < found[2]
    assert found[2] > 10.0
