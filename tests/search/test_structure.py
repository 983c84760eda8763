"""Laws of structures: their horseshoe models start at the weights of the components."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels.registry import CentredPeriodic, Linear, Matern12, SquaredExponential, Step
from farrier.search.structure import LEVEL, Part, Structure, horseshoe_model, starting_at


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


def season(period, drift, weight):
    kernel = Matern12(drift) * CentredPeriodic(period, 1.0)
    return Part(kernel, kernel, weight)


def test_components_start_at_the_values_of_a_similar_structure_each_season_at_its_own():
    line = Part(Linear(0.2), Linear(0.2), 0.1)
    near = Structure((season(0.1, 3.0, 0.6), season(0.7, 4.0, 0.8)), 0.2, 0.0)
    found = starting_at(near, [line, season(0.1, 1.0, 0.5), season(0.7, 1.0, 0.5)])
    assert found[0] is line
    assert all(part.kernel is one.kernel for part, one in zip(found[1:], near.parts, strict=True))
    assert [part.weight for part in found[1:]] == [0.6, 0.8]
    # the centres of the priors stay
    assert repr(found[1].centre) == repr(season(0.1, 1.0, 0.5).centre)
    assert starting_at(None, [line])[0] is line


def test_a_fit_that_is_finite_nowhere_is_an_error_that_says_what_to_do():
    with pytest.raises(ValueError, match="no fit has a finite likelihood: leave out extreme values"):
        Structure((), 1.0, -np.inf).at_mode()
