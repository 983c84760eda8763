"""Laws of the compiled kernels alone: derivatives at points that coincide, digits far away, what is refused.

tests/kernels/test_numpy_and_jax.py holds their values and derivatives against those of kernels/.
"""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels.algebra import Dims
from farrier.kernels.forms import Profile
from farrier.kernels.registry import (
    CentredPeriodic,
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    SquaredExponential,
    Step,
)
from farrier.paper.kernels import gram
from farrier.paper.pool import stack
from farrier.paper.trees import bound, free
from tests.kernels.plain_kernels import BASES, FAR, plain_gram

RNG = np.random.default_rng(0)
X1, X2 = (jnp.asarray(RNG.uniform(-2.0, 2.0, (8, inputs))) for inputs in (1, 2))
ROUGH = [Matern12(np.array([1.1, 0.4])), Matern32(0.9), Matern52(np.array([1.2, 3.0])), RationalQuadratic(0.7, 1.3)]
MANY = [(kernel, X1) for kernel in BASES] + [(kernel, X2) for kernel in ROUGH]


def test_derivatives_are_finite_where_points_coincide():
    @jax.jit
    def slopes(unbounded, points):
        def waves(unbounded, points):
            # half of the points coincide with the other half
            twice = [jnp.concatenate([X[:4], X[:4]]) for X in points]
            grams = [gram(bound(u, kernel), X, X) for u, (kernel, _), X in zip(unbounded, MANY, twice, strict=True)]
            return sum(jnp.sum(jnp.sin(1.0 + K)) for K in grams)

        return jax.grad(waves, argnums=(0, 1))(unbounded, points)

    found = slopes([free(kernel) for kernel, _ in MANY], [X for _, X in MANY])
    for (kernel, _), *each in zip(MANY, *found, strict=True):
        assert all(np.all(np.isfinite(slope)) for slope in jax.tree.leaves(each)), repr(kernel)


@pytest.mark.parametrize("lengthscale", [0.05, 0.7, 31.0, 1e4])
def test_centred_periodic_has_mean_zero_over_a_period(lengthscale):
    # the trapezoidal rule is exact for a periodic function
    X = 0.9 * jnp.arange(400.0)[:, None] / 400
    values = np.asarray(gram(CentredPeriodic(0.9, lengthscale), X, jnp.zeros((1, 1))))
    assert_allclose(values.mean(), 0.0, atol=1e-9)
    assert_allclose(values.max(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("kernel", FAR, ids=str)
def test_far_away_inputs_keep_their_digits(kernel):
    # multiples of 2^-20 are exact at 1e4 as well, so that the formula's own rounding is no excuse
    steps = np.round(RNG.uniform(0.0, 0.6, (10, 1)) * 2.0**20) / 2.0**20
    X, Z = 1e4 + steps[:8], 1e4 + steps[2:]
    assert_allclose(gram(kernel, jnp.asarray(X), jnp.asarray(Z)), plain_gram(kernel, X, Z), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("family", [SquaredExponential, Matern12, Matern32])
def test_far_away_inputs_keep_their_digits_in_two_inputs(family):
    steps = np.round(RNG.uniform(0.0, 0.6, (10, 2)) * 2.0**20) / 2.0**20
    X, Z, kernel = 1e4 + steps[:8], 1e4 + steps[2:], family(np.array([0.03, 0.1]))
    assert_allclose(gram(kernel, jnp.asarray(X), jnp.asarray(Z)), plain_gram(kernel, X, Z), atol=1e-6)


def test_a_step_on_two_inputs_asks_for_dims():
    with pytest.raises(ValueError, match="one input, got 2: name it with dims="):
        gram(Step(0.0, 1.0), X2, X2)


@dataclass(frozen=True, eq=False, repr=False)
class Unknown(Profile):
    """A family that jax has no formula for."""

    symbol: ClassVar[str] = "Un"
    rank: ClassVar[int] = 4
    dims: Dims = None

    @classmethod
    def profile(cls, values, x):
        return np.tanh(x), lambda dv: {}

    def rescale_columns(self, scale, shift):
        return self


def test_a_family_without_a_compiled_formula_is_refused_with_another_method():
    with pytest.raises(ValueError, match=r"Unknown has no formula .* try method='exact' or 'collapsed'"):
        stack([Unknown()], 1)
