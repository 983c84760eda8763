"""Adam on the exact log marginal likelihood of a covariance, all in one compiled program.

    log N(y; 0, C),  C = K + s^2 I,     d/dC = (a a' - C^-1) / 2  with  a = C^-1 y

L-BFGS (common.py) needs fewer evaluations. This is for methods whose authors stop Adam on its way.
"""

from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jaxtyping import Float

from farrier.baselines.common import Covariance
from farrier.paper.linalg import jittered, log_determinant, solve_lower
from farrier.paper.trees import bound, free

BLOCK = 50
"""Steps in one compiled block, by judgement."""

Climbing = TypeVar("Climbing", bound=Covariance)


@jax.custom_vjp
def log_density(C: Float[Array, "N N"], y: Float[Array, "N"]) -> Float[Array, ""]:
    """log N(y; 0, C); the derivative by y is not defined."""
    return _log_density(C, y)[0]


def _log_density(C: Array, y: Array) -> tuple[Array, tuple[Array, Array]]:
    L = jnp.linalg.cholesky(C)
    inverse = solve_lower(L, jnp.eye(len(y), dtype=C.dtype))
    e = inverse @ y
    value = -0.5 * (e @ e + log_determinant(L) + len(y) * jnp.log(2.0 * jnp.pi))
    return value, (inverse, inverse.T @ e)


def _slope(saved: tuple[Array, Array], slope: Array) -> tuple[Array, None]:
    inverse, a = saved
    return 0.5 * slope * (a[:, None] * a[None, :] - inverse.T @ inverse), None


log_density.defvjp(_log_density, _slope)


def climb(start: Climbing, X: np.ndarray, y: np.ndarray, iterations: int, rate: float) -> tuple[Climbing, float]:
    """The covariance after so many steps of Adam, and the log marginal likelihood before the last."""
    adam = optax.adam(rate)
    unbounded: Any = free(start)
    state = (unbounded, adam.init(unbounded))
    heights = np.array([-np.inf])
    for _ in range(-(-iterations // BLOCK)):
        state, heights = _run_block(state, start, jnp.asarray(X), jnp.asarray(y), rate)
    return jax.tree.map(np.asarray, bound(state[0], start)), float(heights[-1])


@eqx.filter_jit
def _run_block(state: Any, template: Any, X: Array, y: Array, rate: float) -> tuple[Any, Array]:
    adam = optax.adam(rate)

    def loss(unbounded: Any) -> Array:
        model = bound(unbounded, template)
        noise = jnp.asarray(model.noise) * jnp.eye(len(y), dtype=y.dtype)
        return -log_density(jittered(model.gram(X, X)) + noise, y)

    def step(state: Any, _: None) -> tuple[Any, Array]:
        unbounded, moments = state
        value, slope = jax.value_and_grad(loss)(unbounded)
        with jax.numpy_dtype_promotion("standard"):  # optax takes a float to an integer power
            updates, moments = adam.update(slope, moments)
        return (optax.apply_updates(unbounded, updates), moments), -value

    return jax.lax.scan(step, state, None, length=BLOCK)
