"""Linear algebra in jax on stacks of matrices: every function works on the last two axes.

For stacks of matrices of about 100 rows jax solves triangular systems several times more slowly than it multiplies
matrices (24 systems of 100 rows and 128 right sides: 9 ms against 1.5 ms). So triangular matrices are inverted by
blocks (`inverse_lower`), and `whitened` has a derivative of its own that is made of products alone.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Float

from farrier.inference.linalg import least_jitter, relative_jitter

BLOCK = 16
"""Rows up to which a triangular matrix is inverted by solving, by judgement: 13 to 16 are fastest for 100 rows."""


def cholesky(K: Float[Array, "*s N N"]) -> Float[Array, "*s N N"]:
    """L with L L' = K + jitter I; inference/linalg.py defines the jitter."""
    return jnp.linalg.cholesky(jittered(K))


def jittered(K: Float[Array, "*s N N"]) -> Float[Array, "*s N N"]:
    """K + jitter I."""
    mean_diagonal = jnp.trace(K, axis1=-2, axis2=-1) / K.shape[-1]
    jitter = jnp.maximum(relative_jitter(K.dtype) * mean_diagonal, least_jitter(K.dtype))
    identity = jnp.broadcast_to(jnp.eye(K.shape[-1], dtype=K.dtype), K.shape)
    return K + jitter[..., None, None] * identity


def solve_lower(L: Float[Array, "*s N N"], B: Float[Array, "*s N K"]) -> Float[Array, "*s N K"]:
    """L^-1 B for a lower triangular L."""
    return lax.linalg.triangular_solve(L, B, left_side=True, lower=True)


def inverse_lower(L: Float[Array, "*s N N"]) -> Float[Array, "*s N N"]:
    """L^-1 for a lower triangular L, by blocks: the lower left block of the inverse is -C^-1 B A^-1."""
    N = L.shape[-1]
    if N <= BLOCK:
        return solve_lower(L, jnp.broadcast_to(jnp.eye(N, dtype=L.dtype), L.shape))
    half = N // 2
    first, last = inverse_lower(L[..., :half, :half]), inverse_lower(L[..., half:, half:])
    corner = -last @ (L[..., half:, :half] @ first)
    top = jnp.concatenate([first, jnp.zeros_like(L[..., :half, half:])], axis=-1)
    return jnp.concatenate([top, jnp.concatenate([corner, last], axis=-1)], axis=-2)


@jax.custom_vjp
def whitened(K: Float[Array, "*s M M"], B: Float[Array, "*s M N"]) -> Float[Array, "*s M N"]:
    """A = L^-1 B with L L' = K, which must be symmetric and positive definite (`jittered`).

    The derivative by K is that along symmetric changes of K, and not symmetric itself.
    """
    return _whitened(K, B)[0]


def _whitened(K: Array, B: Array) -> tuple[Array, tuple[Array, Array]]:
    # LAPACK wants columns one after the other, which is how the rows of the transposed matrix are stored: no copy
    factor = lax.linalg.cholesky(jnp.swapaxes(K, -2, -1), symmetrize_input=False)
    inverse = inverse_lower(factor)
    A = inverse @ B
    return A, (inverse, A)


def _whitened_derivative(saved: tuple[Array, Array], dA: Array) -> tuple[Array, Array]:
    # dB = L^-T dA.  With P = dA A', whose lower triangle with half its diagonal is F(P), and dL = -tril(L^-T P):
    # dK = L^-T F(L' dL) L^-1 = -L^-T F(P) L^-1
    inverse, A = saved
    P = jnp.einsum("...rn,...sn->...rs", dA, A)
    half = np.tril(np.ones(P.shape[-2:]), -1) + 0.5 * np.eye(P.shape[-1])
    PL = (P * jnp.broadcast_to(jnp.asarray(half, P.dtype), P.shape)) @ inverse
    return -jnp.einsum("...sr,...st->...rt", inverse, PL), jnp.einsum("...sr,...sn->...rn", inverse, dA)


whitened.defvjp(_whitened, _whitened_derivative)


def log_determinant(L: Float[Array, "*s N N"]) -> Float[Array, "*s"]:
    """log |L L'| from the Cholesky factor L."""
    return 2.0 * jnp.sum(jnp.log(jnp.diagonal(L, axis1=-2, axis2=-1)), axis=-1)


def kl_to_standard_normal(mean: Float[Array, "*s N"], root: Float[Array, "*s N N"]) -> Float[Array, "*s"]:
    """KL( N(mean, root root') || N(0, I) ) for a lower triangular root."""
    # (tr S + m'm - N - log|S|) / 2
    trace = jnp.sum(root**2, axis=(-2, -1))
    return 0.5 * (trace + jnp.sum(mean**2, axis=-1) - mean.shape[-1] - log_determinant(root))
