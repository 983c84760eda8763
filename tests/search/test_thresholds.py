"""Laws of jumps and bends: they are found where they are, and their gain is that of the exact log density."""

import numpy as np
import pytest

from farrier.inference.exact import log_density
from farrier.kernels.registry import Linear, SquaredExponential, Step
from farrier.search.thresholds import _gains, jumps_of, threshold_kernels

RNG = np.random.default_rng(1)
X = RNG.uniform(-2.0, 2.0, (150, 3))
C = 0.04 * np.eye(150)


def found(y):
    return threshold_kernels(X, (0, 1, 2), np.linalg.inv(C), y - y.mean())


def test_a_jump_is_found_at_its_place():
    best = found((X[:, 1] > 0.7) + 0.2 * RNG.standard_normal(150))[0]
    assert best.formula() == "Step[1]"
    assert float(np.ravel(best.location)[0]) == pytest.approx(0.7, abs=0.1)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_bend_is_found_at_its_place(side):
    kernels = found(np.maximum(side * (X[:, 2] - 0.3), 0.0) + 0.2 * RNG.standard_normal(150))
    bend = next(one for one in kernels if "Lin" in one.formula())
    step, line = sorted(bend.products()[0], key=lambda factor: factor.formula(), reverse=True)
    assert step.dims == line.dims == (2,)
    assert float(np.ravel(step.location)[0]) == pytest.approx(0.3, abs=0.4)
    assert isinstance(step, Step) == (side > 0)


def test_the_gain_is_that_of_the_exact_log_density_at_the_best_weight():
    y = RNG.standard_normal(150)
    v = (X[:, 0] > 0.0).astype(float)
    v -= v.mean()
    y += 0.5 * v
    (gain,) = _gains(v[:, None], np.linalg.inv(C), np.linalg.inv(C) @ y)
    heights = [log_density(C + w2 * np.outer(v, v), y) for w2 in np.geomspace(1e-3, 10.0, 400)]
    assert gain == pytest.approx(max(heights) - log_density(C, y), abs=0.05)


def test_inputs_with_few_values_have_no_thresholds():
    few = np.round(X[:, :1])
    assert threshold_kernels(few, (0,), np.linalg.inv(C), RNG.standard_normal(150)) == []


def test_steps_of_a_product_are_counted():
    step = Step(0.0, 0.1, dims=(0,))
    assert [jumps_of(one) for one in (step, step * Linear(0.0, dims=(0,)), SquaredExponential(1.0))] == [1, 1, 0]
