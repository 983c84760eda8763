"""Laws of fits to windows of a long series: where a window holds all rows, the fit is exact."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import Linear, Matern12
from farrier.model.windows import Windows, fitted_to
from farrier.search.beliefs import Beliefs
from farrier.search.scoring import Evaluator

N = 90
X = np.linspace(-1.7, 1.7, N)[:, None]
NOISES = np.random.default_rng(0).standard_normal((2, N))
Y = X[:, 0] + np.cumsum(0.2 * NOISES[0]) + 0.4 * NOISES[1]
Z = (Y - Y.mean()) / Y.std()
EVALUATOR = Evaluator(X, Z, covariance_of(X), beliefs=Beliefs.of(X))


def parts():
    return [EVALUATOR.part(Linear(0.0), 0.5), EVALUATOR.part(Matern12(0.5), 0.5)]


def test_a_fit_in_linear_time_is_that_of_exact_inference():
    exact = EVALUATOR.fit(parts(), 0.1)
    found = fitted_to(EVALUATOR, parts(), 0.1, Windows(X, Z))
    assert_allclose(found.noise, exact.noise, rtol=0.05)
    assert_allclose([part.weight for part in found.parts], [part.weight for part in exact.parts], rtol=0.05)
    assert_allclose(found.score, exact.terms.total, atol=0.1)


def test_windows_are_a_part_of_the_rows_with_their_noise():
    x = np.linspace(-1.7, 1.7, 9000)[:, None]
    z, factors = np.sin(x[:, 0]), np.linspace(0.5, 2.0, 9000)
    rows = Windows.of(x, z, factors)
    assert 100 < len(rows.z) < 9000
    places = np.searchsorted(x[:, 0], rows.X[:, 0])
    assert_array_equal(rows.z, z[places])
    assert_array_equal(rows.factors, factors[places])
    assert Windows.of(x, z).factors is None
