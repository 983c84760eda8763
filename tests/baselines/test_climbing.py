"""Adam climbs the exact log marginal likelihood, whose derivative is the closed form."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.testing import assert_allclose

from farrier.baselines.climbing import climb, log_density
from farrier.baselines.common import evidence
from farrier.baselines.network import initial

fixed = np.random.default_rng(3)


def test_the_compiled_density_and_its_derivative_agree_with_plain_numpy():
    root = fixed.normal(size=(6, 6))
    C, target = root @ root.T + np.eye(6), fixed.normal(size=6)
    value, slope = jax.jit(jax.value_and_grad(log_density))(jnp.asarray(C), jnp.asarray(target))
    expected, derivative = evidence(C.copy(), target)
    assert_allclose(value, expected, rtol=1e-7)
    assert_allclose(slope, derivative, rtol=1e-5, atol=1e-7)


def test_more_steps_end_higher():
    X = fixed.normal(size=(25, 2))
    y = np.sin(X[:, 0]) + 0.1 * fixed.normal(size=25)
    start = initial(X, y, np.random.default_rng(0))
    few, many = (climb(start, X, y, steps, 0.05)[1] for steps in (50, 200))
    assert many > few + 1.0
