"""Laws of the engines: a fit in linear time is that of exact inference where features and chains are exact."""

import numpy as np
from numpy.testing import assert_allclose

from farrier.evaluation.covariance import covariance_of
from farrier.inference.noise import Noise
from farrier.kernels.registry import Linear, Matern12
from farrier.model.tiers import climbed
from farrier.search.beliefs import Beliefs
from farrier.search.scoring import Evaluator
from farrier.search.structure import LEVEL

N = 90
X = np.linspace(-1.7, 1.7, N)[:, None]
NOISES = np.random.default_rng(0).standard_normal((2, N))
FACTORS = np.where(np.arange(N) % 4 == 0, 9.0, 1.0)
Y = X[:, 0] + np.cumsum(0.2 * NOISES[0]) + 0.4 * np.sqrt(FACTORS) * NOISES[1]
Z = (Y - Y.mean()) / Y.std()
EVALUATOR = Evaluator(X, Z, covariance_of(X), beliefs=Beliefs.of(X), noise=Noise(FACTORS))


def test_a_fit_in_linear_time_is_that_of_exact_inference():
    parts = [EVALUATOR.part(Linear(0.0), 0.5), EVALUATOR.part(Matern12(0.5), 0.5)]
    exact = EVALUATOR.fit(parts, 0.1)
    found, _ = climbed("linear", EVALUATOR.beliefs.model([*parts, LEVEL], 0.1, 1, EVALUATOR.noise), parts, X, Z)
    assert_allclose(found.noise, exact.noise, rtol=0.05)
    assert_allclose([part.weight for part in found.parts], [part.weight for part in exact.parts], rtol=0.05)
    assert_allclose(found.score, exact.terms.total, atol=0.1)
