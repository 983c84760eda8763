"""The exact posterior for Gaussian noise:  y ~ N(0, C),  C = sum_i w_i^2 K_i + s^2 I.

    E f_i(x)   = k_i(x)' C^-1 y
    Var f_i(x) = w_i^2 k_i(x, x) - k_i(x)' C^-1 k_i(x),     k_i(x) = w_i^2 K_i(X, x)

and the same for f with k(x) = sum_i k_i(x). The cost is cubic in the rows.
"""

from typing import final

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from farrier.kernels.pool import Pool
from farrier.linalg import cholesky, log_determinant, solve_lower
from farrier.parameters import fixed
from farrier.posteriors.interface import Posterior


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
        # -(y' C^-1 y + log|C| + N log 2 pi) / 2
        L, e = jax.vmap(self._factor)(self.weights)
        return -0.5 * (jnp.sum(e**2, axis=-1) + log_determinant(L) + self.y.shape[0] * jnp.log(2.0 * jnp.pi))

    def draws(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "S N"], Float[Array, "S N"]]:
        return jax.lax.map(lambda w: self._moments(X, w), self.weights)

    def joint_draws(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "S N"], Float[Array, "S N N"]]:
        def joint(w: Array) -> tuple[Array, Array]:
            L, e = self._factor(w)
            A = solve_lower(L, jnp.einsum("i,inx->nx", w**2, self.pool.gram(self.X, X)))
            return A.T @ e, jnp.einsum("i,ixy->xy", w**2, self.pool.gram(X, X)) - A.T @ A

        return jax.lax.map(joint, self.weights)

    def components(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "m N"], Float[Array, "m N"]]:
        def moments(w: Array) -> tuple[Array, Array]:
            L, e = self._factor(w)
            w2 = (w**2)[:, None]
            A = jax.vmap(lambda k: solve_lower(L, k))(w2[:, :, None] * self.pool.gram(self.X, X))
            return jnp.einsum("inx,n->ix", A, e), w2 * self.pool.diag(X) - jnp.sum(A**2, axis=1)

        mean, variance = jax.lax.map(moments, self.weights)
        return jnp.mean(mean, axis=0), jnp.mean(variance, axis=0) + jnp.var(mean, axis=0)

    def prior_kl(self) -> Float[Array, ""]:
        """KL(p(f | y) || p(f)) at the rows, averaged over the draws: E log p(y | f) - log p(y)."""
        mean, variance = self.draws(self.X)
        square = (self.y[None, :] - mean) ** 2 + variance
        expected = -0.5 * jnp.sum(square / self.noise + jnp.log(2.0 * jnp.pi * self.noise), axis=-1)
        return jnp.mean(expected - self.log_marginal_likelihood())

    def _factor(self, w: Float[Array, "m"]) -> tuple[Float[Array, "N N"], Float[Array, "N"]]:
        """L with L L' = C, and e = L^-1 y."""
        C = jnp.einsum("i,inx->nx", w**2, self.pool.gram(self.X, self.X))
        L = cholesky(C + self.noise * jnp.eye(C.shape[0], dtype=C.dtype))
        return L, solve_lower(L, self.y[:, None])[:, 0]

    def _moments(self, X: Float[Array, "N D"], w: Float[Array, "m"]) -> tuple[Array, Array]:
        L, e = self._factor(w)
        A = solve_lower(L, jnp.einsum("i,inx->nx", w**2, self.pool.gram(self.X, X)))
        return A.T @ e, (w**2) @ self.pool.diag(X) - jnp.sum(A**2, axis=0)
