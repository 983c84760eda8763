"""Laws of Hamiltonian Monte Carlo: draws have the moments of the density, and stay inside the limits."""

import numpy as np
import pytest

from farrier.inference.hamiltonian import Trajectories, sampled
from farrier.inference.laplace import Laplace
from farrier.inference.parameter_vector import Terms

SPREAD = np.array([0.5, 2.0])
WIDE = np.array([[-50.0, 50.0]] * 3)


class Normal:
    """Independent normals in the first two numbers; the third is not drawn."""

    def terms(self, numbers):
        away = numbers[:2] / SPREAD
        value = -0.5 * float(away @ away)
        return Terms(value, value, 0.0, 0.0), np.append(-away / SPREAD, 0.0)


def draws(limits=WIDE, count=1500, seed=0):
    # the curvature is that of standard normals, which the density is not
    laplace = Laplace(np.zeros(2), np.ones(2), np.eye(2))
    wanted = Trajectories(draws=count, apart=1, warm=50, steps=8, step=0.3)
    return sampled(Normal(), np.array([0.0, 0.0, 7.0]), np.arange(2), laplace, limits, wanted, seed)


def test_draws_have_the_moments_of_the_density():
    found = draws()
    assert found.shape == (1500, 3)
    assert found[:, :2].std(axis=0) == pytest.approx(SPREAD, rel=0.12)
    assert np.all(np.abs(found[:, :2].mean(axis=0)) < 0.25 * SPREAD)
    assert np.all(found[:, 2] == 7.0)


def test_nothing_is_drawn_outside_the_limits():
    found = draws(np.array([[-0.4, 0.4], [-50.0, 50.0], [0.0, 10.0]]), 200)
    assert np.abs(found[:, 0]).max() <= 0.4


def test_draws_are_the_same_every_time():
    np.testing.assert_array_equal(draws(count=5), draws(count=5))
