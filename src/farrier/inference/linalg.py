"""The linear algebra that everything shares, and the only jitter in the library.

A Gram matrix of smooth functions is singular to working precision, so a Cholesky factor needs a little noise on
its diagonal. `cholesky` adds it, scaled by the matrix and the dtype, and nothing else in Farrier does. Used on
the covariance of inducing variables the jitter is harmless to the bound: it only means that u is the function
plus a tiny independent noise.

Every function works on the last two axes, so that a stack of kernels is handled at once.
"""

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Float


def cholesky(K: Float[Array, "*s N N"]) -> Float[Array, "*s N N"]:
    """L with L L' = K + jitter I, the jitter being sqrt(machine epsilon) times the mean of K's diagonal."""
    precision = jnp.finfo(K.dtype)
    mean_diagonal = jnp.trace(K, axis1=-2, axis2=-1) / K.shape[-1]
    # the floor is for a matrix of zeros: its factor can be inverted, and differentiated, without overflow
    jitter = jnp.maximum(jnp.sqrt(precision.eps) * mean_diagonal, jnp.sqrt(precision.tiny))
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


def host_jitter(C: np.ndarray) -> float:
    """The same jitter for a matrix on the host, where LAPACK is called without jax."""
    return float(np.sqrt(np.finfo(C.dtype).eps) * np.trace(C) / len(C))
