"""Laws of the priors of hyperparameters: the density by hand, one entry for each number of the vector."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.products import Products
from farrier.inference.hyperparameter_priors import log_prior, precisions, reaches, spreads, typical_deviations
from farrier.kernels.algebra import Kernel
from farrier.kernels.parameters import marks
from farrier.kernels.registry import (
    CentredPeriodic,
    Constant,
    Linear,
    Matern12,
    RationalQuadratic,
    SquaredExponential,
    Step,
    StepUntil,
    White,
)


def belief(family, name):
    return marks(family)[name].prior


def density(kernel, centre, inputs=1):
    pool = Products.of([kernel], inputs)
    return log_prior(pool.unbounded, Products.of([centre], inputs).unbounded, precisions(spreads(pool)))[0]


# kernel, centre, and (family, field, distance on the unbounded scale) of each number that is not at its centre
MOVED = [
    (SquaredExponential(2.0), SquaredExponential(0.5), [(SquaredExponential, "lengthscale", np.log(4.0))]),
    (Linear(0.7), Linear(-0.2), [(Linear, "location", 0.9)]),
    (
        CentredPeriodic(1.1, 2.0),
        CentredPeriodic(1.0, 1.0),
        [(CentredPeriodic, "period", np.log(1.1)), (CentredPeriodic, "lengthscale", np.log(2.0))],
    ),
    (Step(0.4, 0.1), Step(0.1, 0.3), [(Step, "location", 0.3), (Step, "width", np.log(3.0))]),
    (1 - Step(0.4, 0.1), 1 - Step(0.1, 0.3), [(StepUntil, "location", 0.3), (StepUntil, "width", np.log(3.0))]),
    (RationalQuadratic(0.5, 3.0), RationalQuadratic(0.5, 1.5), [(RationalQuadratic, "mixture", np.log(2.0))]),
    (
        Linear(0.5) * Matern12(0.2),
        Linear(0.0) * Matern12(0.4),
        [(Linear, "location", 0.5), (Matern12, "lengthscale", np.log(2.0))],
    ),
]


@pytest.mark.parametrize(
    ("kernel", "centre", "moved"), MOVED, ids=lambda value: str(value) if isinstance(value, Kernel) else ""
)
def test_density_is_the_product_of_normals_of_the_unbounded_numbers(kernel, centre, moved):
    deviations = [distance / belief(family, name).spread for family, name, distance in moved]
    assert_allclose(density(kernel, centre), -0.5 * np.sum(np.square(deviations)), rtol=1e-12)


def test_density_is_highest_at_its_centre():
    kernel = Step(0.1, 0.2) * Linear(0.3) * SquaredExponential(0.4) * CentredPeriodic(1.0, 0.9)
    assert density(kernel, kernel) == 0.0


def test_each_input_has_a_length_of_its_own():
    kernel, centre = (SquaredExponential(np.array(lengths), dims=(0, 2)) for lengths in ([1.0, 2.0], [2.0, 1.0]))
    spread = belief(SquaredExponential, "lengthscale").spread
    assert_allclose(density(kernel, centre, inputs=3), -(np.log(2.0) ** 2) / spread**2, rtol=1e-12)


def test_numbers_that_are_not_trained_have_no_prior():
    assert density(Linear(0.3, 1.0), Linear(0.3, 5.0)) == 0.0
    assert len(spreads(Products.of([White(), Constant()], 1))) == 0


def test_derivative_of_the_density_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    u, centre, along = rng.standard_normal((3, 5))
    spread = np.array([0.5, 0.3, 2.0, 1.0, 0.7])
    plus, minus = (log_prior(u + step * along, centre, precisions(spread))[0] for step in (1e-5, -1e-5))
    assert_allclose(log_prior(u, centre, precisions(spread))[1] @ along, (plus - minus) / 2e-5, rtol=1e-8)


def test_spreads_and_reaches_are_those_of_the_families_in_the_order_of_the_vector():
    pool = Products.of([Linear(0.2, dims=1) * CentredPeriodic(1.0, dims=0), RationalQuadratic(1.0, dims=(0, 2))], 3)
    expected = [
        belief(Linear, "location"),
        belief(CentredPeriodic, "period"),
        belief(CentredPeriodic, "lengthscale"),
        *[belief(RationalQuadratic, "lengthscale")] * 2,
        belief(RationalQuadratic, "mixture"),
    ]
    assert_array_equal(spreads(pool), [one.spread for one in expected])
    assert_array_equal(reaches(pool), [one.reach for one in expected])


def test_typical_deviations_of_periods_grow_with_the_period_and_others_do_not_depend_on_the_value():
    short, long = (
        typical_deviations(Products.of([CentredPeriodic(period, length), Linear(place)], 1))
        for period, length, place in ((0.5, 0.7, 0.1), (2.0, 1.4, 3.0))
    )
    assert_allclose(short[0], 0.5 * belief(CentredPeriodic, "period").typical, rtol=1e-12)
    assert_allclose(long / short, [4.0, 1.0, 1.0], rtol=1e-12)
    assert_array_equal(short[1:], [belief(CentredPeriodic, "lengthscale").typical, belief(Linear, "location").typical])


@pytest.mark.parametrize("spread", [0.0, np.inf], ids=["not fitted", "uniform"])
def test_numbers_that_are_not_fitted_or_uniform_do_not_change_the_density(spread):
    near, far = (log_prior(np.array([0.5, u]), np.zeros(2), precisions(np.array([1.0, spread]))) for u in (0.1, 40.0))
    assert near[0] == far[0] == pytest.approx(-0.125)
    assert_array_equal(near[1], [-0.5, 0.0])
    assert_array_equal(far[1], [-0.5, 0.0])


@pytest.mark.parametrize(
    ("kernel", "name"), [(CentredPeriodic(1.0, 1.0), "period"), (Step(0.0, 0.1), "location")], ids=str
)
def test_periods_and_locations_of_changes_are_uniform_and_their_other_numbers_are_not(kernel, name):
    pool = Products.of([kernel], 1)
    uniform = [number.name for number, spread in zip(pool.layout, spreads(pool), strict=True) if spread == np.inf]
    assert uniform == [name]
    assert np.all(np.isfinite(reaches(pool)))
