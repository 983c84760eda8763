"""Sparse variational posteriors: q(f) = int p(f | u) q(u) du with q(u) = N(L a, L S L'), L L' = Cov(u, u).

`a` and S = root root' belong to the whitened variables v = L^-1 u, whose prior is N(0, I). With A = L^-1 Cov(u, f(x)):

    E f(x) = A'a,     Var f(x) = Var p(f(x)) - A'A + A'S A

`SVGP` takes any inducing variables: points shared by the sum of the kernels, or grouped by kernel. `MultiSVGP` is the
paper's posterior: grouped points with q(u) = prod_i q(u_i). Its groups are independent, so it solves m small problems
instead of one large one, and its functions g_i do not depend on the weights.
"""

from typing import final

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from farrier.paper.inducing import InducingVariables
from farrier.paper.linalg import cholesky, jittered, kl_to_standard_normal, solve_lower, whitened
from farrier.paper.natural_gradients import Features, Q, moments_of
from farrier.paper.pool import Pool
from farrier.paper.posterior import Posterior
from farrier.paper.trees import as_array, fixed, lower_triangular, part, real


@final
class SVGP(Posterior):
    """One whitened q(u) over all inducing variables."""

    pool: Pool
    weights: Float[Array, "S m"] = fixed()
    inducing: InducingVariables = part()
    q_mean: Float[Array, "R"] = real()
    q_root: Float[Array, "R R"] = lower_triangular()

    @classmethod
    def initial(cls, pool: Pool, inducing: InducingVariables) -> "SVGP":
        """q(u) at its prior, with all weights one."""
        R = inducing.size
        return cls(pool, as_array(np.ones((1, len(pool)))), inducing, as_array(np.zeros(R)), as_array(np.eye(R)))

    def features(self, X: Float[Array, "N D"]) -> Features:
        """The features of f as one group, for the first draw of the weights."""
        w = jnp.asarray(self.weights)[0]
        A = jnp.sum(self._whitened(X, w), axis=0)[None]
        return Features(A, ((w**2) @ self.pool.diag(X))[None] - jnp.sum(A**2, axis=1))

    @property
    def q(self) -> Q:
        """q(u) as that of one group."""
        return Q(jnp.asarray(self.q_mean)[None], jnp.asarray(self.q_root)[None])

    def with_q(self, q: Q) -> "SVGP":
        """The same posterior with another q(u)."""
        return SVGP(self.pool, self.weights, self.inducing, q.mean[0], q.root[0])

    def draws(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "S N"], Float[Array, "S N"]]:
        def moments(w: Array) -> tuple[Array, Array]:
            A = jnp.sum(self._whitened(X, w), axis=0)
            variance = (w**2) @ self.pool.diag(X) - jnp.sum(A**2, axis=0) + jnp.sum((self.q_root.T @ A) ** 2, axis=0)
            return A.T @ self.q_mean, variance

        return jax.vmap(moments)(jnp.asarray(self.weights))

    def joint_draws(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "S N"], Float[Array, "S N N"]]:
        def joint(w: Array) -> tuple[Array, Array]:
            A = jnp.sum(self._whitened(X, w), axis=0)
            B = self.q_root.T @ A
            return A.T @ self.q_mean, jnp.einsum("i,ixy->xy", w**2, self.pool.gram(X, X)) - A.T @ A + B.T @ B

        return jax.lax.map(joint, jnp.asarray(self.weights))

    def components(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "m N"], Float[Array, "m N"]]:
        def moments(w: Array) -> tuple[Array, Array]:
            A = self._whitened(X, w)
            B = jnp.einsum("rs,irn->isn", self.q_root, A)
            variance = (w**2)[:, None] * self.pool.diag(X) - jnp.sum(A**2, axis=1) + jnp.sum(B**2, axis=1)
            return jnp.einsum("irn,r->in", A, self.q_mean), variance

        mean, variance = jax.lax.map(moments, jnp.asarray(self.weights))
        return jnp.mean(mean, axis=0), jnp.mean(variance, axis=0) + jnp.var(mean, axis=0)

    def prior_kl(self) -> Float[Array, ""]:
        return kl_to_standard_normal(self.q_mean, self.q_root)

    def _whitened(self, X: Float[Array, "N D"], w: Float[Array, "m"]) -> Float[Array, "m R N"]:
        """L^-1 Cov(u, f_i(x)) for each component."""
        L = cholesky(self.inducing.covariance(self.pool, w))
        return jax.vmap(lambda K: solve_lower(L, K))(self.inducing.with_components(self.pool, w, X))


@final
class MultiSVGP(Posterior):
    """A whitened q(u_i) for each kernel, at inducing points Z_i of its own."""

    pool: Pool
    weights: Float[Array, "S m"] = fixed()
    Z: Float[Array, "m M D"] = real()
    q_mean: Float[Array, "m M"] = real()
    q_root: Float[Array, "m M M"] = lower_triangular()

    @classmethod
    def initial(cls, pool: Pool, Z: np.ndarray, spread: float = 1.0) -> "MultiSVGP":
        """Every group at the points Z (M, D), with mean zero, standard deviation `spread` and all weights one."""
        m, M = len(pool), Z.shape[0]
        return cls(
            pool,
            weights=as_array(np.ones((1, m))),
            Z=as_array(np.tile(Z, (m, 1, 1))),
            q_mean=as_array(np.zeros((m, M))),
            q_root=as_array(np.tile(spread * np.eye(M), (m, 1, 1))),
        )

    def features(self, X: Float[Array, "N D"]) -> Features:
        """L_i^-1 K_i(Z_i, X) of every group, and the variance of g_i(x) that its inducing variables leave."""
        A = self._whitened(X)
        return Features(A, self.pool.diag(X) - jnp.sum(A**2, axis=1))

    @property
    def q(self) -> Q:
        """q(u_i) of every group."""
        return Q(jnp.asarray(self.q_mean), jnp.asarray(self.q_root))

    def with_q(self, q: Q) -> "MultiSVGP":
        """The same posterior with other q(u_i)."""
        return MultiSVGP(self.pool, self.weights, self.Z, q.mean, q.root)

    def functions(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "m N"], Float[Array, "m N"]]:
        """Mean and variance of each function g_i(x), without its weight."""
        return moments_of(self.features(X), self.q)

    def draws(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "S N"], Float[Array, "S N"]]:
        mean, variance = self.functions(X)
        return self.weights @ mean, self.weights**2 @ variance

    def joint_draws(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "S N"], Float[Array, "S N N"]]:
        A = self._whitened(X)
        B = jnp.einsum("irs,irn->isn", self.q_root, A)
        gram = self.pool.gram(X, X)
        covariance = gram - jnp.einsum("irn,irk->ink", A, A) + jnp.einsum("irn,irk->ink", B, B)
        mean = jnp.einsum("irn,ir->in", A, self.q_mean)
        return self.weights @ mean, jnp.einsum("si,ink->snk", self.weights**2, covariance)

    def components(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "m N"], Float[Array, "m N"]]:
        mean, variance = self.functions(X)
        first, second = jnp.mean(self.weights, axis=0)[:, None], jnp.mean(self.weights**2, axis=0)[:, None]
        # Var(w g) = E w^2 Var g + Var w (E g)^2
        return first * mean, second * variance + (second - first**2) * mean**2

    def prior_kl(self) -> Float[Array, ""]:
        return jnp.sum(kl_to_standard_normal(self.q_mean, self.q_root))

    def _whitened(self, X: Float[Array, "N D"]) -> Float[Array, "m M N"]:
        """L_i^-1 K_i(Z_i, X) for each kernel."""
        M = self.Z.shape[-2]
        X = jnp.broadcast_to(X, (*self.Z.shape[:-2], *X.shape))
        K = self.pool.gram(self.Z, jnp.concatenate([self.Z, X], axis=-2))
        return whitened(jittered(K[..., :M]), K[..., M:])
