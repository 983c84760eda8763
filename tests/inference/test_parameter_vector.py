"""Laws of the vector of parameters, and of the priors of hyperparameters: one entry for each number of the vector."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.baselines.weight_priors import NoPrior, Softmax, SpikeAndSlab, draw
from farrier.evaluation.products import Products
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.parameter_vector import (
    ExactModel,
    ParameterVector,
    Terms,
    log_prior,
    precisions,
    reaches,
    spreads,
    typical_deviations,
)
from farrier.inference.weight_priors import quasi_normal
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
from tests.inference.directions import fields
from tests.inference.prior_cases import divergence

KERNELS = [Linear(0.3) * CentredPeriodic(0.7, 0.9), Step(0.1, 0.2) * RationalQuadratic(0.5, 1.2)]
each_prior = pytest.mark.parametrize("kind", [Horseshoe, NoPrior, Softmax, SpikeAndSlab])


def vector(kind):
    prior = kind.initial(2)
    centre = Products.of([kernel.rescale(1.2, 0.1) for kernel in KERNELS], 1).unbounded
    model = ExactModel(prior, 0.2, Products.of(KERNELS, 1), centre)
    return ParameterVector(model, quasi_normal(4, prior.noise_size))


@each_prior
def test_vector_and_model_are_inverse(kind):
    parameters = vector(kind)
    u = parameters.start() + 0.1 * np.random.default_rng(0).standard_normal(len(parameters.start()))
    again = ParameterVector(parameters.model(u), parameters.draws)
    assert_allclose(again.start(), u, rtol=1e-10, atol=1e-12)
    assert_array_equal(again.template.centre, parameters.template.centre)


@each_prior
def test_what_a_vector_makes_is_what_its_model_holds(kind):
    parameters = vector(kind)
    u = parameters.start() + 0.1 * np.random.default_rng(0).standard_normal(len(parameters.start()))
    made, model = parameters.make(u), parameters.model(u)
    assert_allclose(made.numbers, model.pool.numbers, rtol=1e-12)
    assert_allclose(made.noise, model.noise, rtol=1e-12)
    assert_allclose(made.weighed.w2, draw(model.prior, parameters.draws) ** 2, rtol=1e-12)
    assert_allclose(made.weighed.kl, divergence(model.prior), rtol=1e-10, atol=1e-14)


@each_prior
def test_the_gradient_of_any_evidence_is_that_of_finite_differences(kind):
    parameters, rng = vector(kind), np.random.default_rng(1)
    u = parameters.start() + 0.1 * rng.standard_normal(len(parameters.start()))
    by_numbers, by_w2 = rng.standard_normal(len(parameters.pool.numbers)), rng.standard_normal((4, 2))

    def total(u):
        made = parameters.make(u)
        evidence = by_numbers @ made.numbers + np.sum(by_w2 * made.weighed.w2) + 3.0 * made.noise
        return Terms.of(evidence, made).total

    found = parameters.gradient(parameters.make(u), by_numbers, by_w2, 3.0)
    expected = [(total(u + step) - total(u - step)) / 2e-6 for step in 1e-6 * np.eye(len(u))]
    assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_hyperparameters_have_the_typical_deviations_of_their_families():
    parameters = vector(Horseshoe)
    typical, places = parameters.typical(), fields(parameters.template)
    assert len(typical) == len(parameters.start()) == sum(len(at) for at in places.values())
    assert np.all(typical > 0.0)
    assert_array_equal(typical[-len(parameters.pool.numbers) :], typical_deviations(parameters.pool))


def test_a_half_cauchy_noise_has_its_density_on_the_logarithm_and_its_slope():
    template = ExactModel(NoPrior(np.ones(1)), 0.2, Products.of([Constant()], 1), np.zeros(0), noise_scale=0.3)
    vector = ParameterVector(template, np.zeros((1, 0)))

    def log_prior(log_variance):
        return vector.make(np.array([0.0, log_variance])).log_prior

    # p(sd) = 2 / (pi c (1 + (sd / c)^2)) times sd, that of the logarithm, up to a constant
    points = np.array([-4.0, -1.0, 0.5, 3.0])
    sd = np.exp(0.5 * points)
    expected = np.log(sd / (1.0 + (sd / 0.3) ** 2))
    found = np.array([log_prior(point) for point in points])
    assert_allclose(found - found[0], expected - expected[0], rtol=1e-10)
    for point in points:
        made = vector.make(np.array([0.0, point]))
        slope = vector.gradient(made, np.zeros(0), np.zeros_like(made.weighed.w2), 0.0)[1]
        assert_allclose(slope, (log_prior(point + 1e-5) - log_prior(point - 1e-5)) / 2e-5, rtol=1e-6)


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
