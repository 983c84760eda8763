"""Laws of the vector of parameters: it and the model are inverse, and derivatives go back by the chain rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.products import Products
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.hyperparameter_priors import typical_deviations
from farrier.inference.parameter_vector import ExactModel, ParameterVector, Terms
from farrier.inference.weight_priors import HalfCauchy, NoPrior, Softmax, SpikeAndSlab, quasi_normal
from farrier.kernels.registry import CentredPeriodic, Constant, Linear, RationalQuadratic, Step
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
    u = parameters.start + 0.1 * np.random.default_rng(0).standard_normal(len(parameters.start))
    again = ParameterVector(parameters.model(u), parameters.draws)
    assert_allclose(again.start, u, rtol=1e-10, atol=1e-12)
    assert_array_equal(again.template.centre, parameters.template.centre)


@each_prior
def test_what_a_vector_makes_is_what_its_model_holds(kind):
    parameters = vector(kind)
    u = parameters.start + 0.1 * np.random.default_rng(0).standard_normal(len(parameters.start))
    made, model = parameters.make(u), parameters.model(u)
    assert_allclose(made.numbers, model.pool.numbers, rtol=1e-12)
    assert_allclose(made.noise, model.noise, rtol=1e-12)
    assert_allclose(made.weighed.w2, model.prior.draw(parameters.draws) ** 2, rtol=1e-12)
    assert_allclose(made.weighed.kl, divergence(model.prior), rtol=1e-10, atol=1e-14)


@each_prior
def test_the_gradient_of_any_evidence_is_that_of_finite_differences(kind):
    parameters, rng = vector(kind), np.random.default_rng(1)
    u = parameters.start + 0.1 * rng.standard_normal(len(parameters.start))
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
    assert len(typical) == len(parameters.start) == sum(len(at) for at in places.values())
    assert np.all(typical > 0.0)
    assert_array_equal(typical[-len(parameters.pool.numbers) :], typical_deviations(parameters.pool))


def test_a_half_cauchy_noise_has_its_density_on_the_logarithm_and_its_slope():
    template = ExactModel(
        HalfCauchy(np.ones(1), np.ones(1)), 0.2, Products.of([Constant()], 1), np.zeros(0), noise_scale=0.3
    )
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
