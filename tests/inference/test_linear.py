"""Laws of the linear tier: log evidence and derivative are those of the dense covariance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.inference import linear
from farrier.inference.exact import ExactObjective
from farrier.inference.linear import LinearObjective, sorted_blocks
from farrier.inference.linear_model import FeatureLimits, LinearModel, plan
from farrier.inference.noise import Noise
from farrier.kernels.registry import CentredPeriodic, Constant, Matern12, SquaredExponential
from farrier.search.beliefs import Beliefs
from farrier.search.structure import Part, horseshoe_model
from tests.inference.series import DRIVEN, DRIVERS, EXACT, RNG, TIGHT, X, Y

NAMED = pytest.mark.parametrize("kernels", EXACT.values(), ids=EXACT.keys())


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(linear, "SMALLEST_BLOCK", 17)
    monkeypatch.setattr(linear, "ROWS_FOR_A_STATE", 1)


def model_of(kernels, inputs=1):
    return Beliefs().model([Part(kernel, kernel, 0.5 + 0.1 * i) for i, kernel in enumerate(kernels)], 0.1, inputs)


@NAMED
def test_the_evidence_is_that_of_the_dense_covariance_whatever_the_order_of_the_rows(kernels):
    model, order = model_of(kernels), RNG.permutation(len(X))
    exact, found = ExactObjective.of(model, X, Y, 1), LinearObjective.of(model, X[order], Y[order], 1, TIGHT)
    assert found.blocks.count > 3
    assert_allclose(found.value(found.start()).evidence, exact.value(exact.start()).evidence, atol=1e-4)


@NAMED
def test_the_derivative_is_that_of_the_dense_covariance(kernels):
    model = model_of(kernels)
    exact, found = ExactObjective.of(model, X, Y, 1), LinearObjective.of(model, X, Y, 1, TIGHT)
    (terms, slope), (expected, expected_slope) = found.terms(found.start()), exact.terms(exact.start())
    assert_allclose(terms.total, expected.total, atol=1e-4)
    assert_allclose(slope, expected_slope, rtol=2e-4, atol=2e-3)


def test_regressors_are_features_beside_the_chains():
    model, order = model_of(DRIVERS, 3), RNG.permutation(len(X))
    exact, found = ExactObjective.of(model, DRIVEN, Y, 1), LinearObjective.of(model, DRIVEN[order], Y[order], 1, TIGHT)
    (terms, slope), (expected, expected_slope) = found.terms(found.start()), exact.terms(exact.start())
    assert_allclose(terms.total, expected.total, atol=1e-4)
    assert_allclose(slope, expected_slope, rtol=2e-4, atol=2e-3)


def test_the_derivative_of_a_smooth_chain_is_that_of_its_differences():
    kernels = [SquaredExponential(0.3) * CentredPeriodic(0.9, 1.5), Matern12(0.2)]
    found = LinearObjective.of(model_of(kernels), X, Y, 1, FeatureLimits(features=10))
    assert [piece.order for piece in found.pieces] == [6, 1]
    u, step = found.start(), 1e-5
    ends = [[found.value(u + sign * step * e).total for sign in (1, -1)] for e in np.eye(len(u))]
    expected = [(up - down) / (2 * step) for up, down in ends]
    assert_allclose(found.terms(u)[1], expected, rtol=1e-4, atol=1e-3)


def test_a_smooth_chain_is_close_to_its_kernel():
    model = model_of([SquaredExponential(0.15), Matern12(0.2), Constant()])
    exact, found = ExactObjective.of(model, X, Y, 1), LinearObjective.of(model, X, Y, 1, FeatureLimits(features=10))
    assert found.pieces[0].order == 6
    assert_allclose(found.value(found.start()).evidence, exact.value(exact.start()).evidence, atol=0.1)


def test_a_regular_grid_shares_its_covariance_and_changes_nothing():
    x = np.linspace(-1.7, 1.7, 141)[:, None]
    y = np.sin(3.0 * x[:, 0]) + 0.3 * np.random.default_rng(1).standard_normal(141)
    model = model_of([Matern12(0.3), Constant()])
    exact, found = ExactObjective.of(model, x, y, 1), LinearObjective.of(model, x, y, 1, TIGHT)
    assert {len(chunk.h) for chunk in found.blocks.chunks()} == {1}
    (terms, slope), (expected, expected_slope) = found.terms(found.start()), exact.terms(exact.start())
    assert_allclose(terms.total, expected.total, atol=1e-4)
    assert_allclose(slope, expected_slope, rtol=1e-4, atol=1e-3)


def test_rows_may_have_noise_of_their_own():
    from dataclasses import replace

    spread = RNG.uniform(0.05, 0.4, len(X))
    model = replace(model_of([Matern12(0.3), Constant()]), row_noise=Noise(spread, known=True))
    exact, found = ExactObjective.of(model, X, Y, 1), LinearObjective.of(model, X, Y, 1, TIGHT)
    assert_allclose(found.terms(found.start())[1], exact.terms(exact.start())[1], rtol=1e-4, atol=1e-3)


def test_the_bound_averages_over_draws_of_the_weights():
    model = horseshoe_model([Part(k, k, 0.5) for k in (Matern12(0.3), Constant())], 0.1, 1)
    exact, found = ExactObjective.of(model, X, Y, 4), LinearObjective.of(model, X, Y, 4, TIGHT)
    (terms, slope), (expected, expected_slope) = found.terms(found.start()), exact.terms(exact.start())
    assert_allclose(terms.total, expected.total, atol=1e-4)
    assert_allclose(slope, expected_slope, rtol=1e-4, atol=1e-3)


def test_blocks_of_any_size_give_the_same_evidence(monkeypatch):
    model, found = model_of(EXACT["copies"]), []
    for size in (1, 5, 40, 1000):
        monkeypatch.setattr(linear, "SMALLEST_BLOCK", size)
        objective = LinearObjective.of(model, X, Y, 1, TIGHT)
        found.append(objective.value(objective.start()).evidence)
    assert_allclose(found, found[0], atol=1e-5)


def test_a_block_has_rows_for_all_states():
    pool = model_of(EXACT["copies"]).pool
    pieces = plan(pool, X, TIGHT)
    states = LinearModel(pieces, pool.numbers, np.ones(len(pool)), 1.0).d
    assert sorted_blocks(X, Y, np.ones(len(Y)), pieces).size == max(17, states)
