"""Linear algebra in jax on stacks of matrices: every function works on the last two axes."""

import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Float

from farrier.inference.linalg import least_jitter, relative_jitter


def cholesky(K: Float[Array, "*s N N"]) -> Float[Array, "*s N N"]:
    """L with L L' = K + jitter I; inference/linalg.py defines the jitter."""
    mean_diagonal = jnp.trace(K, axis1=-2, axis2=-1) / K.shape[-1]
    jitter = jnp.maximum(relative_jitter(K.dtype) * mean_diagonal, least_jitter(K.dtype))
    identity = jnp.broadcast_to(jnp.eye(K.shape[-1], dtype=K.dtype), K.shape)
    return jnp.linalg.cholesky(K + jitter[..., None, None] * identity)


def solve_lower(L: Float[Array, "*s N N"], B: Float[Array, "*s N K"]) -> Float[Array, "*s N K"]:
    """L^-1 B for a lower triangular L."""
    return lax.linalg.triangular_solve(L, B, left_side=True, lower=True)


def log_determinant(L: Float[Array, "*s N N"]) -> Float[Array, "*s"]:
    """log |L L'| from the Cholesky factor L."""
    return 2.0 * jnp.sum(jnp.log(jnp.diagonal(L, axis1=-2, axis2=-1)), axis=-1)


def kl_to_standard_normal(mean: Float[Array, "*s N"], root: Float[Array, "*s N N"]) -> Float[Array, "*s"]:
    """KL( N(mean, root root') || N(0, I) ) for a lower triangular root."""
    # (tr S + m'm - N - log|S|) / 2
    trace = jnp.sum(root**2, axis=(-2, -1))
    return 0.5 * (trace + jnp.sum(mean**2, axis=-1) - mean.shape[-1] - log_determinant(root))
