"""A structure that is fitted in blocks has the bound of its rows, with the Jacobian of the scale of the target."""

from dataclasses import dataclass

import numpy as np
import pytest

from farrier.model.fit import fit
from farrier.model.problem import Problem

RNG = np.random.default_rng(1)
X = RNG.uniform(-1.7, 1.7, size=(90, 1))
Y = np.exp(1.0 + np.sin(2.0 * X[:, 0]) + 0.05 * RNG.normal(size=90))


@dataclass
class Pieces:
    """Rows in two blocks."""

    X: np.ndarray
    z: np.ndarray

    @property
    def count(self):
        return len(self.z)

    def map(self, function, *arguments):
        return (function(self.X[rows], self.z[rows], *arguments) for rows in (slice(0, 50), slice(50, None)))


@pytest.fixture(scope="module")
def fitted():
    return fit(Problem(X, Y, scale="log", blocks=lambda scale: Pieces(X, scale.forward(Y))))


def test_the_curve_is_found_with_its_noise(fitted):
    x = np.linspace(-1.5, 1.5, 30)[:, None]
    mean, std = fitted.moments(x)
    np.testing.assert_allclose(np.log(mean), 1.0 + np.sin(2.0 * x[:, 0]), atol=0.08)
    assert 0.03 < np.median(std / mean) < 0.08


def test_the_bound_is_that_of_y(fitted):
    # near the log density of the rows one by one, which is a little higher
    densities = fitted.log_density(X, Y).sum()
    assert densities - 40.0 < fitted.bound < densities


def test_intervals_are_about_the_values_of_all_rows(fitted):
    low, high, kernel = fitted.appraisal.low[0], fitted.appraisal.high[0], fitted.explaining.kernels[0]
    assert float(low.lengthscale) < float(kernel.lengthscale) < float(high.lengthscale)
