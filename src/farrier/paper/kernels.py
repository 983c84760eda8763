"""The kernels in jax: the formulas of kernels/, differentiated by jax.

A test for each family checks that the two agree. Where possible, a kernel is written with inner products of features of
single points. Derivatives are then matrix products instead of sums over all pairs (several times faster, measured),
sines and cosines are computed N + M times instead of N M, and pool.py adds the exponents of a product before it takes
one exponential. Each family is in one of the three tables FEATURES, EXPONENTS and VALUES.
"""

from collections.abc import Callable
from functools import reduce
from operator import mul
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.nn import sigmoid
from jaxtyping import Float

from farrier.kernels.algebra import Base, Kernel, Product, Sum
from farrier.kernels.registry import (
    CentredPeriodic,
    Constant,
    DampedTrend,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RandomWalk,
    RationalQuadratic,
    SquaredExponential,
    Step,
    StepUntil,
    White,
)
from farrier.paper import trees as trees  # kernels become trees of jax


def row(parameter: Any, X: Array) -> Float[Array, "1 d"]:
    """A parameter as one row with as many columns as X."""
    return jnp.broadcast_to(jnp.asarray(parameter), X.shape[-1:])[None, :]


def _centre(Z: Float[Array, "M d"]) -> Float[Array, "1 d"]:
    """The mean of the rows, which is subtracted so that inner products of points far from zero keep their precision."""
    return lax.stop_gradient(jnp.mean(Z, axis=0, keepdims=True))


def distance(X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
    """|x - z| for every pair of rows; where it is zero, its derivative is zero instead of NaN."""
    if X.shape[-1] == 1:
        r2 = (X - Z.T) ** 2
    else:
        X, Z = X - _centre(Z), Z - _centre(Z)
        r2 = jnp.sum(X**2, axis=-1)[:, None] + jnp.sum(Z**2, axis=-1)[None, :] - 2.0 * X @ Z.T
    away = r2 > 0.0
    return jnp.where(away, jnp.sqrt(jnp.where(away, r2, 1.0)), 0.0)


def half_squared_distances(X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> tuple[Array, Array]:
    """a and b with a(x)'b(z) = -|x - z|^2 / 2 = x'z - x'x / 2 - z'z / 2."""
    X, Z = X - _centre(Z), Z - _centre(Z)
    norm_X, norm_Z = (-0.5 * jnp.sum(A**2, axis=-1, keepdims=True) for A in (X, Z))
    a = jnp.concatenate([X, norm_X, jnp.ones_like(norm_X)], axis=-1)
    return a, jnp.concatenate([Z, jnp.ones_like(norm_Z), norm_Z], axis=-1)


def _scaled(kernel: Any, X: Array) -> Array:
    return X / row(kernel.lengthscale, X)


def _waves(kernel: Any, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> tuple[Array, Array]:
    """a and b with a(x)'b(z) = sum_d (cos(2 pi (x_d - z_d) / p_d) - 1) / l_d^2."""

    def circle(X: Array) -> tuple[Array, Array, Array]:
        angle = 2.0 * jnp.pi * X / row(kernel.period, X)
        inverse = jnp.broadcast_to(1.0 / row(kernel.lengthscale, X), X.shape)
        return jnp.cos(angle) * inverse, jnp.sin(angle) * inverse, inverse

    # cos(s - t) = cos s cos t + sin s sin t, and -1 / l^2 = (-1 / l) (1 / l)
    (cos_X, sin_X, l_X), (cos_Z, sin_Z, l_Z) = circle(X), circle(Z)
    return jnp.concatenate([cos_X, sin_X, -l_X], axis=-1), jnp.concatenate([cos_Z, sin_Z, l_Z], axis=-1)


def _steepness(kernel: Any, X: Float[Array, "N d"]) -> Float[Array, "N 1"]:
    if X.shape[-1] != 1:
        raise ValueError(f"{kernel} acts on one input, got {X.shape[-1]}: name it with dims=.")
    return (X - row(kernel.location, X)) / row(kernel.width, X)


def _rational_quadratic(kernel: Any, X: Array, Z: Array) -> Array:
    # each column has its own lengthscale; all share the first mixture
    left, right = half_squared_distances(_scaled(kernel, X), _scaled(kernel, Z))
    a = jnp.ravel(jnp.asarray(kernel.mixture))[0]
    return jnp.exp(-a * jnp.log1p(jnp.maximum(-(left @ right.T), 0.0) / a))


def _matern12(kernel: Any, X: Array, Z: Array) -> Array:
    return jnp.exp(-distance(_scaled(kernel, X), _scaled(kernel, Z)))


def _matern32(kernel: Any, X: Array, Z: Array) -> Array:
    r = 3.0**0.5 * distance(_scaled(kernel, X), _scaled(kernel, Z))
    return (1.0 + r) * jnp.exp(-r)


def _matern52(kernel: Any, X: Array, Z: Array) -> Array:
    r = 5.0**0.5 * distance(_scaled(kernel, X), _scaled(kernel, Z))
    return (1.0 + r + r**2 / 3.0) * jnp.exp(-r)


def _centred_periodic(kernel: Any, X: Array, Z: Array) -> Array:
    log_b = jnp.sum(log_mean(row(kernel.lengthscale, X) ** -2))
    left, right = _waves(kernel, X, Z)
    # (exp(e) - b) / (1 - b) = 1 + (exp(e) - 1) / (1 - b)
    return 1.0 - jnp.expm1(left @ right.T) / jnp.expm1(log_b)


def log_mean(a: Array) -> Array:
    """log(exp(-a) I_0(a)), the mean of exp(a (cos t - 1)) over a circle.

    A mean over 256 points is exact to rounding for a up to about 1000, and compiles faster than a Bessel function.
    """
    waves = jnp.asarray(np.cos(2.0 * np.pi * np.arange(256) / 256) - 1.0, a.dtype)
    return jnp.log1p(jnp.mean(jnp.expm1(a[..., None] * waves.reshape((1,) * a.ndim + (256,))), axis=-1))


def _white(kernel: Any, X: Array, Z: Array) -> Array:
    return jnp.all(X[:, None, :] == Z[None, :, :], axis=-1).astype(X.dtype)


def _from_origin(kernel: Any, X: Float[Array, "N d"]) -> Float[Array, "N"]:
    """How far the rows are from the origin of a kernel of one input, with a sign."""
    if X.shape[-1] != 1:
        raise ValueError(f"{kernel} acts on one input, got {X.shape[-1]}: name it with dims=.")
    return (X - row(kernel.origin, X))[:, 0]


def _shared_time(s: Float[Array, "N"], t: Float[Array, "M"]) -> Float[Array, "N M"]:
    """min(|s|, |t|) of pairs on one side of zero, 0 of pairs on two sides."""
    size = jnp.minimum(jnp.abs(s)[:, None], jnp.abs(t)[None, :])
    return jnp.where(jnp.sign(s)[:, None] == jnp.sign(t)[None, :], size, 0.0)


def _random_walk(kernel: Any, X: Array, Z: Array) -> Array:
    return _shared_time(_from_origin(kernel, X), _from_origin(kernel, Z)) / row(kernel.scale, X)


def _damped_trend(kernel: Any, X: Array, Z: Array) -> Array:
    s, t, p = _from_origin(kernel, X), _from_origin(kernel, Z), jnp.ravel(jnp.asarray(kernel.damping))[0]
    away_s, away_t, apart = jnp.abs(s)[:, None], jnp.abs(t)[None, :], jnp.abs(s[:, None] - t[None, :])
    faded = jnp.expm1(-p * away_s) + jnp.expm1(-p * away_t) - jnp.expm1(-p * apart)
    return (2.0 * p * _shared_time(s, t) + faded) / (p * row(kernel.scale, X)) ** 2


FEATURES: dict[type[Base], Callable[[Any, Array], Array]] = {
    Constant: lambda kernel, X: jnp.ones((X.shape[0], 1), X.dtype),
    Step: lambda kernel, X: sigmoid(_steepness(kernel, X)),
    StepUntil: lambda kernel, X: sigmoid(-_steepness(kernel, X)),
    Linear: lambda kernel, X: (X - row(kernel.location, X)) / row(kernel.scale, X),
}
"""Families with k(x, z) = a(x)'a(z): the function from a kernel and X (N, d) to the features a (N, f)."""
EXPONENTS: dict[type[Base], Callable[[Any, Array, Array], tuple[Array, Array]]] = {
    SquaredExponential: lambda kernel, X, Z: half_squared_distances(_scaled(kernel, X), _scaled(kernel, Z)),
    Periodic: _waves,
}
"""Stationary families with k(x, z) = exp(a(x)'b(z)): from a kernel, X and Z to a (N, f) and b (M, f)."""
VALUES: dict[type[Base], Callable[[Any, Array, Array], Array]] = {
    RationalQuadratic: _rational_quadratic,
    Matern12: _matern12,
    Matern32: _matern32,
    Matern52: _matern52,
    CentredPeriodic: _centred_periodic,
    White: _white,
    RandomWalk: _random_walk,
    DampedTrend: _damped_trend,
}
"""k(x, z) in any other form; from a kernel, X and Z to (N, M)."""


def value(kernel: Base, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
    """k(x, z) on the columns that the kernel acts on."""
    kind = type(kernel)
    if kind in FEATURES:
        return FEATURES[kind](kernel, X) @ FEATURES[kind](kernel, Z).T
    if kind in EXPONENTS:
        a, b = EXPONENTS[kind](kernel, X, Z)
        return jnp.exp(a @ b.T)
    return VALUES[known(kind)](kernel, X, Z)


def value_diag(kernel: Base, X: Float[Array, "N d"]) -> Float[Array, "N"]:
    """k(x, x) on the columns that the kernel acts on."""
    kind = known(type(kernel))
    if kernel.stationary:
        return jnp.ones(X.shape[0], X.dtype)
    if kind in FEATURES:
        return jnp.sum(FEATURES[kind](kernel, X) ** 2, axis=-1)
    return jax.vmap(lambda x: value(kernel, x[None, :], x[None, :])[0, 0])(X)


def known(kind: type[Base]) -> type[Base]:
    """The family; ValueError if it has no formula in jax."""
    if not any(kind in table for table in (FEATURES, EXPONENTS, VALUES)):
        raise ValueError(
            f"kernels: {kind.__name__} has no formula for the stochastic algorithm: try method='exact' or 'collapsed'."
        )
    return kind


def gram(kernel: Kernel, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "N M"]:
    """k(x, z) of any kernel for all pairs of rows."""
    if isinstance(kernel, Product):
        return reduce(mul, (gram(factor, X, Z) for factor in kernel.factors))
    if isinstance(kernel, Sum):
        return sum((gram(term, X, Z) for term in kernel.terms[1:]), start=gram(kernel.terms[0], X, Z))
    assert isinstance(kernel, Base)
    return value(kernel, columns(kernel, X), columns(kernel, Z))


def diag(kernel: Base, X: Float[Array, "N D"]) -> Float[Array, "N"]:
    """k(x, x) of one factor for all rows."""
    return value_diag(kernel, columns(kernel, X))


def columns(kernel: Base, X: Array) -> Array:
    """The columns that a factor acts on."""
    return X if kernel.dims is None else X[:, np.asarray(kernel.dims, int)]
