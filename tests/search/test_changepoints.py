"""Laws of changes: the gain of a step is that of its best weight, and changepoints move to where they are best."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import CentredPeriodic, Linear, Step
from farrier.search.changepoints import best_change, best_simple_kernels, shifted
from farrier.search.scoring import Evaluator
from tests.search.made_series import LINE_AND_SEASON, SIZE, STEP, N, X, fitted, of_curve


def test_the_gain_of_a_change_is_that_of_the_best_weight():
    evaluator = of_curve(STEP)
    place, gain = best_change(evaluator, evaluator.empty())
    assert abs(place - 0.4) < SIZE
    s = (X[:, 0] > place).astype(float)
    C = evaluator.covariance_at(evaluator.empty()) + evaluator.empty().noise * np.eye(N)

    def density(w2):
        return multivariate_normal(np.zeros(N), C + w2 * np.outer(s, s)).logpdf(evaluator.y)

    values = [density(w2) - density(0.0) for w2 in np.geomspace(0.01, 100.0, 400)]
    assert_allclose(gain, max(values), atol=1e-3)


def test_no_changepoint_is_between_rows_with_equal_inputs():
    x = np.repeat([-1.0, 0.0, 1.0], 8)[:, None]
    evaluator = Evaluator(x, np.where(np.arange(24) < 12, -1.0, 1.0), covariance_of(x))
    place, gain = best_change(evaluator, evaluator.empty())
    assert place in (-0.5, 0.5)
    assert gain > 0.0


def test_the_order_of_the_rows_does_not_matter():
    evaluator, order = of_curve(LINE_AND_SEASON), np.random.default_rng(5).permutation(N)
    structure = fitted(evaluator, Linear(0.0))
    shuffled = Evaluator(X[order], evaluator.y[order], covariance_of(X[order]), beliefs=evaluator.beliefs)
    assert_allclose(best_change(shuffled, structure), best_change(evaluator, structure), rtol=1e-6)


def test_a_step_that_is_elsewhere_moves_to_the_change_and_one_that_is_there_stays():
    evaluator = of_curve(STEP)
    away = fitted(evaluator, Step(0.0, 0.02 * SIZE))
    there = shifted(evaluator, away)
    assert there.score > away.score + 5.0
    assert abs(float(there.parts[0].kernel.location) - 0.4) < SIZE
    assert shifted(evaluator, there) is there


def test_the_best_simple_kernel_of_a_cycle_is_one():
    evaluator = of_curve(LINE_AND_SEASON)
    cycle = np.sin(2.0 * np.pi * X[:, 0] / 0.31)
    for _, kernel in best_simple_kernels(evaluator, X[:, 0], cycle):
        (factor,) = kernel.products()[0]
        assert isinstance(factor, CentredPeriodic)
        assert_allclose(float(factor.period), 0.31, rtol=0.05)
