"""Laws of structures: their horseshoe models start at the weights of the components."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels.registry import Linear, SquaredExponential, Step
from farrier.search.structure import LEVEL, Part, horseshoe_model


def model_of(*weights):
    return horseshoe_model([Part(Linear(0.2), Linear(0.2), weight) for weight in weights], 0.3, 1)


def test_horseshoe_models_hold_their_parts():
    parts = [Part(kernel, kernel, 0.5) for kernel in (Linear(0.2), Step(0.1, 0.2) * SquaredExponential(0.4))]
    model = horseshoe_model([*parts, LEVEL], 0.3, 1)
    assert [str(kernel) for kernel in model.pool] == ["Lin", "Step * SE", "1"]
    assert_allclose(model.prior.quantile(0.5), [0.5, 0.5, LEVEL.weight], rtol=1e-6)
    assert float(model.noise) == 0.3


def test_the_medians_of_a_horseshoe_are_the_weights_but_never_zero():
    prior = model_of(0.7, 2.0, 0.0).prior
    assert_allclose(prior.quantile(0.5), [0.7, 2.0, 1e-3], rtol=1e-9)


def test_the_global_scale_has_the_median_of_three_tenths():
    assert np.exp(0.5 * model_of(0.7).prior.mu_tau) == pytest.approx(0.3)


def test_a_weight_starts_within_a_factor_of_two():
    low, median, high = (float(model_of(0.7).prior.quantile(p)[0]) for p in (0.025, 0.5, 0.975))
    assert_allclose(high / median, median / low, rtol=1e-9)
    assert 1.5 < high / median < 2.0
