"""Sizes are those of the chart: slopes, jumps, U-shapes and straight lines of known truth, with their intervals."""

import numpy as np
import pytest

from farrier import Regressor
from farrier.explain.facts import Estimate, Factor
from farrier.explain.findings import findings
from farrier.explain.measures import low_to_high
from farrier.kernels.registry import Linear, SquaredExponential, Step


@pytest.fixture(scope="module")
def table():
    """A straight effect of 3 per unit, a U with its lowest point at 1, a curve that is straight, a jump of 5 at 2."""
    generator = np.random.default_rng(0)
    X = generator.uniform(-4.0, 4.0, (150, 4))
    y = 3.0 * X[:, 0] + (X[:, 1] - 1.0) ** 2 - 2.0 * X[:, 2] + 5.0 * (X[:, 3] > 2.0)
    y += 0.5 * generator.standard_normal(150)
    curves = [SquaredExponential(3.0, dims=(d,)) for d in (1, 2)]
    kernels = [Linear(0.0, dims=(0,)), *curves, Step(2.0, 0.05, dims=(3,))]
    found = findings(Regressor(kernels=kernels, scale="identity").fit(X, y).result_)
    return {facts.factors[0].columns[0]: facts for facts in found.facts}


def covers(estimate: Estimate, truth: float, widest: float) -> bool:
    return estimate.low <= truth <= estimate.high and estimate.high - estimate.low < widest


def test_the_slope_of_a_line_has_an_interval_from_the_rows(table):
    assert covers(table["x0"].slope, 3.0, 0.3)


def test_a_u_says_where_it_is_lowest(table):
    turn = table["x1"].turn
    assert turn.kind == "lowest"
    assert turn.at == pytest.approx(1.0, abs=0.4)
    assert table["x1"].swing == pytest.approx(25.0, rel=0.15)


def test_a_curve_that_is_straight_is_called_so(table):
    assert table["x2"].turn is None
    assert covers(table["x2"].straight, -2.0, 0.5)


def test_a_step_says_how_much(table):
    jump = table["x3"].jump
    assert jump.value == pytest.approx(5.0, abs=0.4)
    assert 0.1 < jump.high - jump.low < 1.0


def test_a_cycle_swings_from_its_low_to_its_high_within_a_period():
    x = np.arange(48.0)
    growing = np.sin(2.0 * np.pi * x / 12.0) * np.linspace(1.0, 2.0, 48)
    period = Factor("periodic", ("x",), period=Estimate(12.0, 12.0, 12.0))
    assert low_to_high(x, growing, [period], 10.0, float) == pytest.approx(30.0, rel=0.1)
    assert low_to_high(x, growing, [], 10.0, float) == pytest.approx(10.0 * np.ptp(growing))
