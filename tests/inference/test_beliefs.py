"""Laws of the beliefs: the density and the price by hand, and that empty slots have neither."""

from dataclasses import replace

import numpy as np
import pytest
from farrier.evaluation.slots import SlotPool
from farrier.inference.beliefs import REACH, SPREAD, filled, log_prior, price, raveled, reach, spreads
from numpy.testing import assert_allclose, assert_array_equal

from farrier.kernels.algebra import Kernel
from farrier.kernels.parameters import packed
from farrier.kernels.registry import (
    CentredPeriodic,
    Constant,
    Linear,
    Matern12,
    RationalQuadratic,
    SquaredExponential,
    Step,
)

ROWS = 100
LOG = np.log(ROWS)


def density(kernel, centre, inputs=1):
    return believed(SlotPool.of([kernel], inputs), SlotPool.of([centre], inputs))


def believed(pool, centre):
    return log_prior(packed(pool), packed(centre), raveled(spreads(pool)))[0]


@pytest.mark.parametrize(
    ("kernel", "centre", "deviations"),
    [
        (SquaredExponential(2.0), SquaredExponential(0.5), [np.log(4.0) / SPREAD["lengthscale"]]),
        (Linear(0.7), Linear(-0.2), [0.9 / SPREAD["line"]]),
        (
            CentredPeriodic(1.1, 2.0),
            CentredPeriodic(1.0, 1.0),
            [np.log(1.1) / SPREAD["period"], np.log(2.0) / SPREAD["shape"]],
        ),
        (Step(0.4, 0.1), Step(0.1, 0.3), [0.3 / SPREAD["start"], np.log(3.0) / SPREAD["start_width"]]),
        (1 - Step(0.4, 0.1), 1 - Step(0.1, 0.3), [0.3 / SPREAD["end"], np.log(3.0) / SPREAD["end_width"]]),
        (
            RationalQuadratic(0.5, 3.0),
            RationalQuadratic(0.5, 1.5),
            [np.log(2.0) / SPREAD["mixture"]],
        ),
        (
            Linear(0.5) * Matern12(0.2),
            Linear(0.0) * Matern12(0.4),
            [0.5 / SPREAD["line"], np.log(2.0) / SPREAD["lengthscale"]],
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, Kernel) else "",
)
def test_density_is_the_product_of_normals_of_the_unbounded_numbers(kernel, centre, deviations):
    assert_allclose(density(kernel, centre), -0.5 * np.sum(np.square(deviations)), rtol=1e-12)


def test_density_is_highest_at_its_centre():
    kernel = Step(0.1, 0.2) * Linear(0.3) * SquaredExponential(0.4) * CentredPeriodic(1.0, 0.9)
    assert density(kernel, kernel) == 0.0


def test_each_input_has_a_length_of_its_own():
    kernel, centre = (SquaredExponential(np.array(lengths), dims=(0, 2)) for lengths in ([1.0, 2.0], [2.0, 1.0]))
    assert_allclose(density(kernel, centre, inputs=3), -(np.log(2.0) ** 2) / SPREAD["lengthscale"] ** 2, rtol=1e-12)


def test_numbers_of_empty_slots_are_not_believed_to_be_anything():
    pool = SlotPool.of([SquaredExponential(1.0)], 1)
    names = ("mixture", "period", "shape", "start_width", "end_width")
    moved = replace(pool, **{name: 5.0 * getattr(pool, name) for name in names})
    moved = replace(moved, line=pool.line + 2.0, start=pool.start - 1.0, end=pool.end + 3.0)
    assert believed(moved, pool) == 0.0


def test_derivative_of_the_density_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    u, centre, along = rng.standard_normal((3, 5))
    spread = np.array([0.5, 0.0, 2.0, 1.0, 0.0])
    plus, minus = (log_prior(u + step * along, centre, spread)[0] for step in (1e-5, -1e-5))
    assert_allclose(log_prior(u, centre, spread)[1] @ along, (plus - minus) / 2e-5, rtol=1e-8)


def test_filled_marks_the_numbers_that_count():
    pool = SlotPool.of([Linear(0.2, dims=1) * CentredPeriodic(1.0, dims=0), RationalQuadratic(1.0, dims=(0, 2))], 3)
    marks = {name: np.asarray(mask) for name, mask in filled(pool).items()}
    assert_array_equal(marks["lengthscale"], [[0, 0, 0], [1, 0, 1]])
    assert_array_equal(marks["mixture"], [0, 1])
    assert_array_equal(marks["period"], [[1, 0], [0, 0]])
    assert_array_equal(marks["line"][0], [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    assert not marks["line"][1:].any()
    assert not any(marks[name].any() for name in ("start", "start_width", "end", "end_width"))
    assert all(marks[name].shape == np.shape(getattr(pool, name)) for name in marks)


def test_reach_is_zero_for_empty_slots_and_the_table_s_elsewhere():
    pool = SlotPool.of([Step(0.1, 0.2) * CentredPeriodic(1.0), Linear(0.0)], 1)
    distance = reach(pool)
    assert_array_equal(distance["start"], [REACH["start"], 0.0])
    assert_array_equal(distance["start_width"], [REACH["start_width"], 0.0])
    assert_array_equal(distance["period"], [[REACH["period"], 0.0], [0.0, 0.0]])
    assert not distance["lengthscale"].any()


@pytest.mark.parametrize(
    ("kernel", "logarithms"),
    [
        (Constant(), 0.0),
        (Linear(0.0), 0.5),
        (SquaredExponential(1.0), 0.5),
        (RationalQuadratic(1.0, 1.0), 1.0),
        (CentredPeriodic(1.0, 1.0), 1.25),
        (Step(0.0, 0.1), 1.0),
        (1 - Step(0.0, 0.1), 1.0),
        (SquaredExponential(np.ones(4)), 2.0),
        (Linear(0.0) * SquaredExponential(1.0) * CentredPeriodic(1.0), 2.25),
    ],
    ids=lambda value: str(value) if isinstance(value, Kernel) else "",
)
def test_price_is_so_many_logarithms_of_the_rows(kernel, logarithms):
    assert_allclose(price(kernel, ROWS), logarithms * LOG, rtol=1e-12)


def test_price_of_a_product_is_the_sum_of_its_factors_prices():
    factors = [Step(0.1, 0.2), Linear(0.3), SquaredExponential(0.4), CentredPeriodic(1.0)]
    product = factors[0] * factors[1] * factors[2] * factors[3]
    assert_allclose(price(product, 50), sum(price(factor, 50) for factor in factors), rtol=1e-12)
