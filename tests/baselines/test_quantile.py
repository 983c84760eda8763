"""Quantile kernels recover the spectrum that made the data."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from farrier.baselines.quantile import QuantileKernel, Spectrum, log_evidence, monotone

fixed = np.random.default_rng(3)
x = np.linspace(0.0, 40.0, 120)


@pytest.fixture
def generator():
    return np.random.default_rng(0)


def made(frequencies, power, noise):
    """Waves of random phase that have this power, and noise; they differ by whole turns over the range."""
    phases = fixed.uniform(0.0, 2.0 * np.pi, len(frequencies))
    waves = np.cos(np.outer(x, frequencies) + phases[None, :])
    return waves @ np.sqrt(2.0 * power / power.sum()) + noise * fixed.normal(size=len(x))


TURN = 2.0 * np.pi / 40.0


def test_a_gaussian_spectrum_is_recovered():
    lengthscale = 0.8
    frequencies = TURN * np.arange(0.5, 40.0)
    y = made(frequencies, np.exp(-0.5 * (frequencies * lengthscale) ** 2), noise=0.3)
    model = QuantileKernel(features=128, knots=9, iterations=40).fit(x, y)
    p = np.array([0.3, 0.5, 0.7, 0.9])
    assert_allclose(model.quantiles(p)[0], ndtri(0.5 + 0.5 * p) / lengthscale, rtol=0.3)
    distance = np.linspace(0.0, 3.0, 30)
    kernel = np.cos(np.outer(distance, model.quantiles(np.linspace(0.005, 0.995, 100))[0])).mean(axis=1)
    # the lines take part of the slowest waves
    assert_allclose(kernel, np.exp(-0.5 * (distance / lengthscale) ** 2), atol=0.2)


@pytest.fixture(scope="module")
def two_bumps():
    y = 3.0 + 2.0 * made(TURN * np.array([6.0, 7.0, 25.0, 26.0]), np.ones(4), noise=0.05)
    return y, QuantileKernel(features=48, knots=9, iterations=40).fit(x[:96], y[:96])


def test_two_bumps_are_recovered(two_bumps):
    _, model = two_bumps
    low, high = model.quantiles(np.array([0.1, 0.2, 0.35])), model.quantiles(np.array([0.7, 0.8, 0.9]))
    assert np.all(np.abs(low - 6.5 * TURN) < 0.3)
    assert np.all(np.abs(high - 25.5 * TURN) < 0.6)


def test_what_has_a_narrow_spectrum_is_extrapolated(two_bumps):
    y, model = two_bumps
    mean, sd = model.predict(x[96:108])
    assert np.sqrt(np.mean((mean - y[96:108]) ** 2)) < 0.6 * y.std()
    assert np.mean(np.abs(mean - y[96:108]) < 3.0 * sd) > 0.8


def test_interpolation_rises_and_agrees_with_scipy_inside():
    at, heights = np.array([0.0, 0.2, 0.5, 0.6, 1.0]), np.array([0.0, 1.0, 1.1, 3.0, 7.0])
    p = np.linspace(0.0, 1.0, 200)
    through = jax.jit(lambda p: monotone(p, at, jnp.asarray(heights)))
    found = np.asarray(through(p))
    assert np.all(np.diff(found) > 0.0)
    assert_allclose(through(at), heights, atol=1e-12)
    inner = (p > 0.2) & (p < 0.6)  # the tangents at the two ends are chosen otherwise
    assert_allclose(found[inner], PchipInterpolator(at, heights)(p[inner]), rtol=1e-10)


def test_evidence_is_the_same_by_either_matrix(generator):
    points = generator.random((6, 2))
    model = Spectrum(0.3 + generator.random((2, 4)), 1.3, 0.2, np.zeros(0), points)
    X, y = generator.normal(size=(20, 2)), generator.normal(size=20)
    by_matrix = eqx.filter_jit(log_evidence)
    C = np.asarray(eqx.filter_jit(Spectrum.features)(model, jnp.asarray(X)))
    C = C @ C.T + 0.2 * np.eye(20)
    expected = -0.5 * (y @ np.linalg.solve(C, y) + np.linalg.slogdet(C)[1] + 20 * np.log(2.0 * np.pi))
    assert_allclose(float(by_matrix(model, jnp.asarray(X), jnp.asarray(y))), expected, rtol=1e-10)
    few = float(by_matrix(model, jnp.asarray(X[:8]), jnp.asarray(y[:8])))
    expected = -0.5 * (
        y[:8] @ np.linalg.solve(C[:8, :8], y[:8]) + np.linalg.slogdet(C[:8, :8])[1] + 8 * np.log(2.0 * np.pi)
    )
    assert_allclose(few, expected, rtol=1e-10)


def test_one_input_is_composed_with_lines(generator):
    rises, points = 0.3 + generator.random((1, 4)), 0.5 + 0.5 * generator.random((6, 1))
    x = generator.normal(size=(5, 1))
    features = eqx.filter_jit(lambda model, x: model.features(x) @ model.features(x).T)
    k = features(Spectrum(rises, 1.0, 0.1, np.zeros(0), points), jnp.asarray(x))
    found = features(Spectrum(rises, 1.3, 0.1, np.array([0.2, 0.4, 0.7]), points), jnp.asarray(x))
    line = x @ x.T
    assert_allclose(found, 1.3 * k + 0.2 * line + 0.4 * line**2 + 0.7 * line * k, rtol=1e-10)
