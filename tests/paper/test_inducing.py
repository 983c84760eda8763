"""Laws of inducing variables: they and the components are jointly Gaussian, and points are spread over the data."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels.registry import Matern32, SquaredExponential
from farrier.paper.inducing import GroupedPoints, SharedPoints, spread_points
from farrier.paper.pool import stack

RNG = np.random.default_rng(0)
POOL = stack([SquaredExponential(0.8), Matern32(0.5)], 1)
X = RNG.uniform(-2.0, 2.0, 5)
Z = RNG.uniform(-2.0, 2.0, (2, 3))
W = np.array([0.9, 0.6])


def smooth(x, z):
    return np.exp(-0.5 * ((x[:, None] - z[None, :]) / 0.8) ** 2)


def rough(x, z):
    r = 3**0.5 * np.abs(x[:, None] - z[None, :]) / 0.5
    return (1.0 + r) * np.exp(-r)


KINDS = {
    "shared": SharedPoints(jnp.asarray(Z[0])[:, None]),
    "grouped": GroupedPoints(jnp.asarray(Z)[:, :, None]),
}


@jax.jit
def covariances(inducing):
    w = jnp.asarray(W)
    return inducing.covariance(POOL, w), inducing.with_components(POOL, w, jnp.asarray(X)[:, None])


@pytest.fixture(params=KINDS, scope="module")
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def found(kind):
    return tuple(np.asarray(K) for K in covariances(KINDS[kind]))


def expected(kind):
    """Cov(u, u) and Cov(u, f_i), variable by variable."""
    if kind == "shared":
        parts = [w**2 * k(Z[0], X) for w, k in zip(W, (smooth, rough), strict=True)]
        return sum(w**2 * k(Z[0], Z[0]) for w, k in zip(W, (smooth, rough), strict=True)), parts
    none = np.zeros((3, 5))
    K = np.block([[smooth(Z[0], Z[0]), np.zeros((3, 3))], [np.zeros((3, 3)), rough(Z[1], Z[1])]])
    return K, [np.vstack([W[0] * smooth(Z[0], X), none]), np.vstack([none, W[1] * rough(Z[1], X)])]


def test_covariances_are_those_of_the_functions(kind, found):
    K, parts = expected(kind)
    assert KINDS[kind].size == len(K)
    assert_allclose(found[0], K, rtol=1e-10)
    assert_allclose(found[1], parts, rtol=1e-10)


def test_the_sum_over_components_is_the_covariance_with_f(kind, found):
    _, parts = expected(kind)
    assert_allclose(found[1].sum(axis=0), parts[0] + parts[1], rtol=1e-10)


def test_variables_and_components_are_jointly_positive_definite(kind, found):
    K, (with_first, with_second) = found
    first, second = W[0] ** 2 * smooth(X, X), W[1] ** 2 * rough(X, X)
    apart = np.zeros((5, 5))
    joint = np.block([[K, with_first, with_second], [with_first.T, first, apart], [with_second.T, apart, second]])
    assert np.linalg.eigvalsh(K)[0] > 0.0
    assert np.linalg.eigvalsh(joint)[0] > -1e-12


def test_points_in_one_input_are_quantiles():
    rows = np.concatenate([np.linspace(0.0, 1.0, 101), np.zeros(500)])[:, None]
    # rows that repeat count once
    assert_allclose(spread_points(rows, 5), np.array([[0.0, 0.25, 0.5, 0.75, 1.0]]).T, atol=1e-12)


@pytest.mark.parametrize("inputs", [1, 3])
def test_as_many_points_as_asked_for_or_as_there_are(inputs):
    rows = RNG.standard_normal((40, inputs))
    assert spread_points(rows, 7).shape == (7, inputs)
    repeated = np.repeat(rows[:6], 4, axis=0)
    found = spread_points(repeated, 10)
    assert_allclose(found, np.unique(rows[:6], axis=0))


def test_points_in_many_inputs_are_near_the_rows_and_follow_the_seed():
    centres = 10.0 * RNG.standard_normal((4, 3))
    rows = (centres[:, None, :] + 0.1 * RNG.standard_normal((4, 25, 3))).reshape(100, 3)
    found = spread_points(rows, 4, seed=1)
    distance = np.linalg.norm(found[:, None, :] - centres[None, :, :], axis=-1)
    assert np.all(distance.min(axis=0) < 1.0)
    assert_allclose(spread_points(rows, 4, seed=1), found, rtol=0)
