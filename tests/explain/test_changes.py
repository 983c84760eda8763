"""The date of a change is the first row after it, and its interval holds the truth as often as it says."""

import numpy as np
import pytest

from farrier import Regressor
from farrier.explain.changes import locations
from farrier.kernels.registry import Linear, SquaredExponential, Step


def fitted(jump: float, seed: int = 0, at: int = 30, kernels=None):
    generator = np.random.default_rng(seed)
    x = np.arange(60.0)
    y = jump * (x >= at) + generator.standard_normal(60)
    return Regressor(kernels=kernels or [Step(at - 0.5, 0.1)], scale="identity").fit(x[:, None], y).result_


def test_a_clear_step_is_dated_to_its_first_row():
    (date,) = locations(fitted(12.0, kernels="auto")).values()
    assert (date.low, date.value, date.high) == pytest.approx((30.0, 30.0, 30.0))


def test_a_weak_step_has_a_wide_interval_that_holds_the_truth_about_as_often_as_it_says():
    dates = [next(iter(locations(fitted(1.6, seed)).values())) for seed in range(24)]
    assert np.mean([date.high - date.low for date in dates]) > 2.0
    assert sum(date.low <= 30.0 <= date.high for date in dates) >= 20


def test_any_component_that_begins_somewhere_is_dated_too():
    x = np.arange(60.0)
    y = np.where(x >= 25, 2.0 * (x - 25.0), 0.0) + np.random.default_rng(1).standard_normal(60)
    kernels = [Step(25.0, 0.5) * Linear(25.0), SquaredExponential(20.0)]
    result = Regressor(kernels=kernels, scale="identity").fit(x[:, None], y).result_
    (date,) = locations(result).values()
    assert date.low <= date.value <= date.high
    assert abs(date.value - 25.0) < 5.0


def test_each_of_two_steps_has_its_own_date_though_one_of_them_is_far_clearer():
    x = np.arange(80.0)
    y = 20.0 * (x >= 20) + 4.0 * (x >= 60) + np.random.default_rng(4).standard_normal(80)
    # the place of the clear one is off by two rows, which the other would mend
    result = Regressor(kernels=[Step(22.5, 1e-3), Step(59.5, 1e-3)], scale="identity").fit(x[:, None], y).result_
    first, second = locations(result).values()
    assert abs(first.value - 20.0) <= 1.0
    assert abs(second.value - 60.0) <= 3.0


def test_without_a_step_there_is_no_date():
    assert locations(fitted(3.0, kernels=[SquaredExponential(5.0)])) == {}
