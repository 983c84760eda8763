"""Laws of what enters the pool of a curve: what the rows show beyond it, and nothing where they show nothing."""

import numpy as np
import pytest

from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential
from farrier.search.enriching import enriched, one_sided, split
from farrier.search.evidence import VERY_STRONG
from tests.search.made_series import LINE_AND_SEASON, X, fitted, formulas, noise, of_curve

BEFORE = X[:, 0] < 0.2
REGIMES = np.where(BEFORE, 1.5 * X[:, 0], np.sin(2.0 * np.pi * X[:, 0] / 0.25)) + noise(0.05, 1)
CYCLES = np.where(BEFORE, np.sin(2.0 * np.pi * X[:, 0] / 0.4), np.sin(2.0 * np.pi * X[:, 0] / 0.25)) + noise(0.3, 1)
ONE_SIDE = X[:, 0] + np.where(BEFORE, 0.0, 1.5 * np.sin(2.0 * np.pi * X[:, 0] / 0.31)) + noise(0.1, 2)


def test_a_cycle_that_the_pool_lacks_enters_it_with_more_posterior_density():
    evaluator = of_curve(LINE_AND_SEASON)
    pool = fitted(evaluator, Linear(0.0), SquaredExponential(1.0))
    found = enriched(evaluator, pool)
    # the curve has nothing left to explain, and goes
    assert "Lin" in formulas(found)
    assert "SE" not in formulas(found)
    periods = [
        float(factor.period)
        for part in found.parts
        for factor in part.kernel.products()[0]
        if isinstance(factor, CentredPeriodic)
    ]
    assert min(abs(period - 0.31) for period in periods) < 0.01
    assert found.terms.total > pool.terms.total + VERY_STRONG


@pytest.mark.parametrize("seed", range(3, 9))
def test_nothing_enters_the_pool_of_white_noise(seed):
    evaluator = of_curve(noise(1.0, seed))
    pool = fitted(evaluator, Linear(0.0), SquaredExponential(1.0))
    assert enriched(evaluator, pool) is pool


def places(kernels):
    """Where changes are."""
    return {float(f.location) for kernel in kernels for f in kernel.products()[0] if f.kind in ("from", "until")}


@pytest.mark.parametrize("y", [REGIMES, CYCLES], ids=["a line and a cycle", "two cycles"])
def test_two_regimes_are_one_simple_kernel_before_a_change_and_another_after_it(y):
    before, after = split(of_curve(y))
    assert before.formula().startswith("(1 - Step) * ")
    assert after.formula() == "Step * Per0"
    (place,) = places([before, after])
    assert abs(place - 0.2) < 0.3


def test_one_regime_is_not_split():
    for y in (LINE_AND_SEASON, X[:, 0] + noise(0.3)):
        assert split(of_curve(y)) == []


def test_a_component_that_is_there_on_one_side_gets_that_side():
    evaluator = of_curve(ONE_SIDE)
    structure = fitted(evaluator, Linear(0.0), CentredPeriodic(0.31))
    found = one_sided(evaluator, structure)
    assert "Per0 * Step" in [kernel.formula() for kernel in found]
    (place,) = places(found)
    assert abs(place - 0.2) < 0.2


def test_what_is_there_on_both_sides_stays_on_both():
    evaluator = of_curve(LINE_AND_SEASON)
    assert one_sided(evaluator, fitted(evaluator, Linear(0.0), CentredPeriodic(0.31))) == []
    assert one_sided(evaluator, evaluator.empty()) == []
