"""Laws of the fit of a table: the noise is chosen by what left-out rows say, and no outlier moves the effects."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.inference.horseshoe import PointHorseshoe
from farrier.inference.likelihoods import Gaussian
from farrier.inference.noise import Noise
from farrier.inference.student_t import StudentT
from farrier.model.problem import Problem
from farrier.model.student_t_noise import STUDENTS_T
from farrier.model.tables import fit_table

ROWS = 90
X = np.random.default_rng(0).uniform(-1.7, 1.7, (ROWS, 2))
TRUTH = 2.0 * X[:, 0] + X[:, 1] ** 2
Y = TRUTH + 0.2 * np.random.default_rng(1).standard_normal(ROWS)


@pytest.fixture(scope="module")
def ordinary():
    return fit_table(Problem(X, Y))


def test_ordinary_rows_have_gaussian_noise_and_a_horseshoe(ordinary):
    assert isinstance(ordinary.likelihood, Gaussian)
    assert isinstance(ordinary.prior, PointHorseshoe)
    assert STUDENTS_T not in [decision.formula for decision in ordinary.record]
    assert_allclose(np.sqrt(ordinary.noise_variance) * ordinary.scale.sd, 0.2, rtol=0.3)


def test_copies_of_rows_count_as_more_than_one_row(ordinary):
    twice = fit_table(Problem(np.vstack([X, X]), np.append(Y, Y)), likelihood="gaussian")
    assert_allclose(twice.moments(X)[0], ordinary.moments(X)[0], atol=0.15)


def test_outliers_hardly_move_the_effects_with_noise_that_has_heavy_tails():
    y = Y.copy()
    y[::15] += 3.0
    gaussian, robust = fit_table(Problem(X, y), likelihood="gaussian"), fit_table(Problem(X, y))
    assert isinstance(robust.likelihood, StudentT)
    (decision,) = [one for one in robust.record if one.formula == STUDENTS_T]
    assert (decision.action, decision.reason) == ("kept", "evidence of the noise")
    errors = [np.sqrt(np.mean((one.quantiles(X, [0.5])[0] - TRUTH) ** 2)) for one in (gaussian, robust)]
    assert errors[1] < 0.6 * errors[0]


def test_rows_with_a_larger_noise_variance_count_less():
    factors = np.where(np.arange(ROWS) % 3 == 0, 400.0, 1.0)
    y = TRUTH + 0.2 * np.sqrt(factors) * np.random.default_rng(2).standard_normal(ROWS)
    known, unknown = (
        fit_table(Problem(X, y, noise=Noise(one), scale="identity"), likelihood="gaussian") for one in (factors, None)
    )
    errors = [np.sqrt(np.mean((one.moments(X)[0] - TRUTH) ** 2)) for one in (known, unknown)]
    assert errors[0] < 0.5 * errors[1]
