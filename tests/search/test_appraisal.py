"""Laws of the appraisal: components in the order of their sizes, errors that fall as components are added."""

import numpy as np
import pytest

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import Linear, SquaredExponential
from farrier.search.appraisal import appraise, appraise_sites, left_out_error
from farrier.search.beliefs import Beliefs
from farrier.search.search import Search
from farrier.search.settings import AppraisalSettings
from farrier.search.structure import Structure

RNG = np.random.default_rng(0)
X = np.linspace(-1.7, 1.7, 40)[:, None]
Y = 0.9 * X[:, 0] + 0.3 * np.sin(4.0 * X[:, 0]) + 0.1 * RNG.standard_normal(40)
SEARCH = Search(X, Y, covariance_of(X), beliefs=Beliefs.of(X))


@pytest.fixture(scope="module")
def structure():
    return SEARCH.fit([SEARCH.part(SquaredExponential(0.4), 0.3), SEARCH.part(Linear(0.0), 0.9)], 0.01)


def test_without_components_only_the_deviation_of_y_is_told():
    empty = SEARCH.empty()
    assert empty.model is not None
    for one in (empty, Structure((), 1.0, 0.0)):
        found = appraise(SEARCH, one)
        assert found.errors == (float(Y.std()),)
        assert (found.order, found.sizes, found.losses) == ((), (), ())
        assert appraise_sites(SEARCH, one).errors == ()
        assert appraise_sites(SEARCH, one).order == ()


@pytest.mark.parametrize("way", [appraise, appraise_sites])
def test_the_larger_component_comes_first_and_both_are_needed(way, structure):
    found = way(SEARCH, structure)
    assert found.order == (1, 0)
    assert found.sizes[1] > found.sizes[0] > 0.0
    assert min(found.losses) > 0.0


def test_each_component_lowers_the_leave_one_out_error(structure):
    nothing, line, both = appraise(SEARCH, structure).errors
    assert nothing > line > both
    assert both < 0.15


def test_the_leave_one_out_error_is_that_of_leaving_rows_out():
    K = np.exp(-0.5 * (X - X.T) ** 2)
    found = left_out_error(K, np.full(40, 0.01), Y, AppraisalSettings())
    residuals = []
    for i in range(40):
        others = np.arange(40) != i
        solved = np.linalg.solve(K[np.ix_(others, others)] + 0.01 * np.eye(39), Y[others])
        residuals.append(Y[i] - K[i, others] @ solved)
    # the noise is the multiple of highest evidence, so the error is near that of any sensible one
    assert found == pytest.approx(float(np.sqrt(np.mean(np.square(residuals)))), rel=0.3)
