"""Laws of the appraisal: components in the order of their sizes, errors that fall as components are added."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import Linear, SquaredExponential
from farrier.search import appraisal
from farrier.search.appraisal import appraise, left_out_error
from farrier.search.beliefs import Beliefs
from farrier.search.scoring import Evaluator
from farrier.search.structure import Structure

RNG = np.random.default_rng(0)
X = np.linspace(-1.7, 1.7, 40)[:, None]
Y = 0.9 * X[:, 0] + 0.3 * np.sin(4.0 * X[:, 0]) + 0.1 * RNG.standard_normal(40)
EVALUATOR = Evaluator(X, Y, covariance_of(X), beliefs=Beliefs.of(X))


@pytest.fixture(scope="module")
def structure():
    return EVALUATOR.fit([EVALUATOR.part(SquaredExponential(0.4), 0.3), EVALUATOR.part(Linear(0.0), 0.9)], 0.01)


def test_without_components_only_the_deviation_of_y_is_told():
    empty = EVALUATOR.empty()
    assert empty.model is not None
    for one in (empty, Structure((), 1.0, 0.0)):
        found = appraise(EVALUATOR, one)
        assert found.errors == (float(Y.std()),)
        assert (found.order, found.sizes, found.losses) == ((), (), ())
        assert appraise(EVALUATOR, one, gaussian=False).errors == ()
        assert appraise(EVALUATOR, one, gaussian=False).order == ()


@pytest.mark.parametrize("gaussian", [True, False])
def test_the_larger_component_comes_first_and_both_are_needed(gaussian, structure):
    found = appraise(EVALUATOR, structure, gaussian=gaussian)
    assert found.order == (1, 0)
    assert found.sizes[1] > found.sizes[0] > 0.0
    assert min(found.losses) > 0.0


def test_of_two_copies_the_second_comes_last_and_the_first_has_the_credit():
    parts = [EVALUATOR.part(SquaredExponential(0.4), 0.3), *(EVALUATOR.part(Linear(at), 0.9) for at in (0.0, 0.3))]
    found = appraise(EVALUATOR, EVALUATOR.fit(parts, 0.01))
    assert found.order[0] == 0
    assert found.losses[0] > 1.0 > 0.0 > max(found.losses[1:])
    _, curve, line, copy = found.errors
    assert line < 0.9 * curve
    assert copy > 0.99 * line


@pytest.mark.parametrize("gaussian", [True, False])
def test_an_appraisal_tells_its_score_and_none_without_a_model(gaussian, structure):
    told = []
    evaluator = replace(EVALUATOR, tell=lambda what, bound: told.append((what, bound)))
    assert appraise(evaluator, replace(structure, model=None), gaussian=gaussian).order == ()
    assert told == []
    appraise(evaluator, structure, gaussian=gaussian)
    assert told[0] == ("appraising the components", structure.score)


def test_each_component_lowers_the_leave_one_out_error(structure):
    nothing, line, both = appraise(EVALUATOR, structure).errors
    assert nothing > line > both
    assert both < 0.15


def test_sizes_are_deviations_of_posterior_means_and_errors_those_of_the_largest_components(structure):
    found, own = appraise(EVALUATOR, structure), [part.weight**2 * part.kernel.gram(X, X) for part in structure.parts]
    C = EVALUATOR.covariance_at(structure) + structure.noise * np.eye(40)
    assert found.sizes == pytest.approx([np.std(K @ np.linalg.solve(C, Y)) for K in own])
    noise = np.full(40, structure.noise)
    expected = [left_out_error(K, noise, Y) for K in (own[1], own[1] + own[0])]
    assert found.errors[1:] == pytest.approx(expected)


def test_the_leave_one_out_error_is_that_of_leaving_rows_out(monkeypatch):
    monkeypatch.setattr(appraisal, "HIGHER_NOISES", (2.0,))
    K = np.exp(-0.5 * (X - X.T) ** 2)
    found = left_out_error(K, np.full(40, 0.005), Y)
    residuals = []
    for i in range(40):
        others = np.arange(40) != i
        solved = np.linalg.solve(K[np.ix_(others, others)] + 0.01 * np.eye(39), Y[others])
        residuals.append(Y[i] - K[i, others] @ solved)
    assert found == pytest.approx(float(np.sqrt(np.mean(np.square(residuals)))))


def test_the_noise_of_the_leave_one_out_error_is_the_multiple_of_highest_evidence(monkeypatch):
    def error(K, *multiples):
        monkeypatch.setattr(appraisal, "HIGHER_NOISES", multiples)
        return left_out_error(K, noise, Y)

    K, noise, factors = np.exp(-0.5 * (X - X.T) ** 2), np.full(40, 0.01), (0.3, 2.0, 1.0, 50.0)
    alone = {k: error(K, k) for k in factors}
    best = max(factors, key=lambda k: multivariate_normal(np.zeros(40), K + k * np.diag(noise)).logpdf(Y))
    assert error(K, *factors) == alone[best]
    # a covariance that has no Cholesky factor says nothing
    assert error(-K, 1.0) == float(Y.std())
