"""The exact posterior for Gaussian noise:  y ~ N(0, C),  C = sum_i w_i^2 K_i + s^2 I.

    E f_i(x)   = k_i(x)' C^-1 y
    Var f_i(x) = w_i^2 k_i(x, x) - k_i(x)' C^-1 k_i(x),     k_i(x) = w_i^2 K_i(X, x)

and the same for f with k(x) = sum_i k_i(x). The cost is cubic in the rows.
"""

from typing import Any, final

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from farrier.inference.linalg import cholesky, log_determinant, solve_lower
from farrier.kernels.parameters import fixed
from farrier.paper.pool import Pool
from farrier.paper.posterior import Posterior


@jax.custom_vjp
def log_evidence(
    K: Float[Array, "m N N"], w2: Float[Array, "S m"], noise: Float[Array, ""], y: Float[Array, "N"]
) -> Float[Array, "S"]:
    """log N(y; 0, C) for each row of squared weights, with a derivative of its own.

    d log N / dC = (a a' - C^-1) / 2 with a = C^-1 y: one inverse, where reverse mode through a Cholesky factor takes
    several times as long. y is data and has no derivative.
    """
    return _log_evidence(K, w2, noise, y)[0]


def _log_evidence(K: Array, w2: Array, noise: Array, y: Array) -> tuple[Array, Any]:
    C = jnp.einsum("si,inx->snx", w2, K) + noise * jnp.eye(K.shape[-1], dtype=K.dtype)[None]
    L = cholesky(C)
    L_inverse = solve_lower(L, jnp.broadcast_to(jnp.eye(K.shape[-1], dtype=K.dtype), C.shape))
    C_inverse = jnp.einsum("skn,skx->snx", L_inverse, L_inverse)
    a = C_inverse @ y
    # -(y' C^-1 y + log|C| + N log 2 pi) / 2
    value = -0.5 * (a @ y + log_determinant(L) + y.shape[0] * jnp.log(2.0 * jnp.pi))
    return value, (K, w2, C_inverse, a, y)


def _log_evidence_derivative(saved: Any, cotangent: Array) -> tuple[Array, Array, Array, Array]:
    K, w2, C_inverse, a, y = saved
    G = 0.5 * cotangent[:, None, None] * (a[:, :, None] * a[:, None, :] - C_inverse)
    dK = jnp.einsum("si,snx->inx", w2, G)
    dw2 = jnp.einsum("snx,inx->si", G, K)
    return dK, dw2, jnp.sum(jnp.trace(G, axis1=-2, axis2=-1)), jnp.zeros_like(y)


log_evidence.defvjp(_log_evidence, _log_evidence_derivative)


@final
class ExactGP(Posterior):
    """The posterior of f and its components given rows X, targets y, weights and the variance of the noise."""

    pool: Pool
    weights: Float[Array, "S m"] = fixed()
    noise: Float[Array, ""] = fixed()
    X: Float[Array, "N D"] = fixed()
    y: Float[Array, "N"] = fixed()

    def log_marginal_likelihood(self) -> Float[Array, "S"]:
        """log N(y; 0, C) for each draw of the weights."""
        return log_evidence(
            self.pool.gram(self.X, self.X), jnp.asarray(self.weights) ** 2, jnp.asarray(self.noise), jnp.asarray(self.y)
        )

    def draws(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "S N"], Float[Array, "S N"]]:
        K, K_x, k_xx = self.pool.gram(self.X, self.X), self.pool.gram(self.X, X), self.pool.diag(X)

        def moments(w: Array) -> tuple[Array, Array]:
            L, e = self._factor(K, w)
            A = solve_lower(L, jnp.einsum("i,inx->nx", w**2, K_x))
            return A.T @ e, (w**2) @ k_xx - jnp.sum(A**2, axis=0)

        return jax.lax.map(moments, jnp.asarray(self.weights))

    def joint_draws(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "S N"], Float[Array, "S N N"]]:
        K, K_x, K_xx = self.pool.gram(self.X, self.X), self.pool.gram(self.X, X), self.pool.gram(X, X)

        def joint(w: Array) -> tuple[Array, Array]:
            L, e = self._factor(K, w)
            A = solve_lower(L, jnp.einsum("i,inx->nx", w**2, K_x))
            return A.T @ e, jnp.einsum("i,ixy->xy", w**2, K_xx) - A.T @ A

        return jax.lax.map(joint, jnp.asarray(self.weights))

    def components(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "m N"], Float[Array, "m N"]]:
        K, K_x, k_xx = self.pool.gram(self.X, self.X), self.pool.gram(self.X, X), self.pool.diag(X)

        def moments(w: Array) -> tuple[Array, Array]:
            L, e = self._factor(K, w)
            w2 = (w**2)[:, None]
            A = jax.vmap(lambda k: solve_lower(L, k))(w2[:, :, None] * K_x)
            return jnp.einsum("inx,n->ix", A, e), w2 * k_xx - jnp.sum(A**2, axis=1)

        mean, variance = jax.lax.map(moments, jnp.asarray(self.weights))
        return jnp.mean(mean, axis=0), jnp.mean(variance, axis=0) + jnp.var(mean, axis=0)

    def prior_kl(self) -> Float[Array, ""]:
        """KL(p(f | y) || p(f)) at the rows, averaged over the draws: E log p(y | f) - log p(y)."""
        mean, variance = self.draws(jnp.asarray(self.X))
        square = (jnp.asarray(self.y)[None, :] - mean) ** 2 + variance
        expected = -0.5 * jnp.sum(square / self.noise + jnp.log(2.0 * jnp.pi * self.noise), axis=-1)
        return jnp.mean(expected - self.log_marginal_likelihood())

    def _factor(self, K: Float[Array, "m N N"], w: Float[Array, "m"]) -> tuple[Float[Array, "N N"], Float[Array, "N"]]:
        """L with L L' = C, and e = L^-1 y."""
        C = jnp.einsum("i,inx->nx", w**2, K) + self.noise * jnp.eye(K.shape[-1], dtype=K.dtype)
        L = cholesky(C)
        return L, solve_lower(L, jnp.asarray(self.y)[:, None])[:, 0]
