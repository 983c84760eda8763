"""Laws of the compiled kernels: the formulas pair by pair, derivatives at points that coincide, digits far away."""

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
    FAMILIES,
    CentredPeriodic,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    Step,
    White,
)
from farrier.paper.kernels import EXPONENTS, FEATURES, VALUES, diag, gram
from farrier.paper.pool import stack
from farrier.paper.trees import bound, free
from tests.kernels.plain_kernels import BASES, KERNELS, plain_gram

RNG = np.random.default_rng(0)


def points(inputs):
    """Two sets of eight points (always eight: every new shape has to be compiled), two of them in both."""
    X, Z = RNG.uniform(-2.0, 2.0, (2, 8, inputs))
    return jnp.asarray(X), jnp.asarray(np.concatenate([Z[:6], X[:2]]))


X1, Z1 = points(1)
X2, Z2 = points(2)

TWO_INPUTS = [
    Step(0.3, 0.4, dims=1),
    Linear(np.array([0.6, -0.3]), np.array([1.7, 0.4])),
    SquaredExponential(np.array([0.8, 2.5])),
    RationalQuadratic(np.array([0.7, 1.9]), 1.3),
    Matern12(np.array([1.1, 0.4])),
    Matern32(0.9),
    Matern52(np.array([1.2, 3.0]), dims=(1, 0)),
    Periodic(np.array([1.4, 0.6]), np.array([0.9, 2.0])),
    CentredPeriodic(np.array([0.9, 1.8]), np.array([1.6, 0.8])),
    White(dims=0),
    SquaredExponential(0.7, dims=0) * Periodic(1.3, 0.5, dims=1) * Linear(0.2),
]
each_factor = pytest.mark.parametrize("kernel", [*BASES, *TWO_INPUTS[:-1]], ids=str)


def test_every_family_stands_in_one_table():
    tables = [*FEATURES, *EXPONENTS, *VALUES]
    assert len(tables) == len(set(tables))
    assert set(FAMILIES) <= set(tables)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_gram_is_the_formula_pair_by_pair(kernel):
    assert_allclose(gram(kernel, X1, Z1), plain_gram(kernel, X1, Z1), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("kernel", TWO_INPUTS, ids=str)
def test_gram_is_the_formula_pair_by_pair_in_two_inputs(kernel):
    # points that coincide are 1e-8 apart in a distance by inner products
    assert_allclose(gram(kernel, X2, Z2), plain_gram(kernel, X2, Z2), rtol=1e-7, atol=1e-13)


@each_factor
def test_diag_is_the_diagonal_of_the_formula(kernel):
    X = X1 if kernel in BASES else X2
    assert_allclose(diag(kernel, X), np.diagonal(plain_gram(kernel, X, X)), rtol=1e-12, atol=1e-14)


def test_a_sum_is_the_sum_of_its_terms():
    total = SquaredExponential(0.8) * Linear(0.2) + Matern12(0.3)
    assert_allclose(gram(total, X1, Z1), plain_gram(total, X1, Z1), rtol=1e-11, atol=1e-13)


ROUGH = [Matern12(np.array([1.1, 0.4])), Matern32(0.9), Matern52(np.array([1.2, 3.0])), RationalQuadratic(0.7, 1.3)]
MANY = [(kernel, X1) for kernel in BASES] + [(kernel, X2) for kernel in ROUGH]


@jax.jit
def waves(unbounded, points):
    """A number that depends on all values of a kernel, for each of MANY, at points of which half coincide."""
    twice = [jnp.concatenate([X[:4], X[:4]]) for X in points]
    grams = [gram(bound(u, kernel), X, X) for u, (kernel, _), X in zip(unbounded, MANY, twice, strict=True)]
    return jnp.stack([jnp.sum(jnp.sin(1.0 + K + 0.3 * jnp.arange(8.0)[:, None])) for K in grams])


@pytest.fixture(scope="module")
def slopes():
    """Derivatives of `waves` by the parameters and the points of each kernel, compiled once for all."""
    starts = [free(kernel) for kernel, _ in MANY], [X for _, X in MANY]
    return starts, jax.jit(jax.grad(lambda *args: jnp.sum(waves(*args)), argnums=(0, 1)))(*starts)


def test_derivatives_are_finite_where_points_coincide(slopes):
    for (kernel, _), *found in zip(MANY, *slopes[1], strict=True):
        assert all(np.all(np.isfinite(slope)) for slope in jax.tree.leaves(found)), repr(kernel)


def test_derivatives_by_parameters_are_finite_differences(slopes):
    (unbounded, points), (by_parameters, _) = slopes
    h = 1e-5
    up, down = (waves(jax.tree.map(lambda u: u + step, unbounded), points) for step in (h, -h))
    along = [sum(float(jnp.sum(leaf)) for leaf in jax.tree.leaves(found)) for found in by_parameters]
    expected = np.asarray((up - down) / (2.0 * h))
    one_input = len(BASES)
    assert_allclose(along[:one_input], expected[:one_input], rtol=1e-6, atol=1e-7)
    # distances by inner products are good to 1e-8 where points coincide, their differences to 1e-8 / h
    assert_allclose(along[one_input:], expected[one_input:], rtol=5e-3)
    assert np.sum(np.abs(along) > 1e-3) == sum(len(jax.tree.leaves(u)) > 0 for u in unbounded)


@pytest.mark.parametrize("lengthscale", [0.05, 0.7, 31.0, 1e4])
def test_centred_periodic_has_mean_zero_over_a_period(lengthscale):
    # the trapezoidal rule is exact for a periodic function
    X = 0.9 * jnp.arange(400.0)[:, None] / 400
    values = np.asarray(gram(CentredPeriodic(0.9, lengthscale), X, jnp.zeros((1, 1))))
    assert_allclose(values.mean(), 0.0, atol=1e-9)
    assert_allclose(values.max(), 1.0, rtol=1e-12)


FAR = [
    SquaredExponential(0.03),
    RationalQuadratic(0.03, 0.7),
    Matern12(0.03),
    Matern52(0.03),
    Periodic(0.1, 0.5),
    CentredPeriodic(0.1, 0.5),
    Linear(1e4 + 0.3),
    Step(1e4 + 0.3, 0.05),
]


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
        gram(Step(0.0, 1.0), X2, Z2)


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
