"""Inducing variables u of the function f = sum_i w_i g_i, and their covariances.

`SharedPoints` are values of f at one set of points. `GroupedPoints` are values of each g_i at its own points: the
paper's inter-domain variables (its eq. inter_domain_eq). g_1(z) ... g_m(z) determine f(z), so grouped points carry at
least as much information as shared points at the same z.
"""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from farrier.paper.pool import Pool
from farrier.paper.trees import real


class InducingVariables(eqx.Module):
    """R variables at points Z, jointly Gaussian with every component f_i = w_i g_i."""

    if TYPE_CHECKING:

        @property
        def Z(self) -> Any: ...

    else:
        Z: eqx.AbstractVar[Float[Array, "*m M D"]]

    @property
    @abstractmethod
    def size(self) -> int:
        """R, the number of inducing variables."""

    @abstractmethod
    def covariance(self, pool: Pool, w: Float[Array, "m"]) -> Float[Array, "R R"]:
        """Cov(u, u)."""

    @abstractmethod
    def with_components(self, pool: Pool, w: Float[Array, "m"], X: Float[Array, "N D"]) -> Float[Array, "m R N"]:
        """Cov(u, f_i(x)) for each component; their sum is Cov(u, f(x))."""


@final
class SharedPoints(InducingVariables):
    """u = f(Z)."""

    Z: Float[Array, "M D"] = real()

    @property
    def size(self) -> int:
        return self.Z.shape[0]

    def covariance(self, pool: Pool, w: Float[Array, "m"]) -> Float[Array, "R R"]:
        # sum_i w_i^2 K_i(Z, Z)
        return jnp.einsum("i,irs->rs", w**2, pool.gram(self.Z, self.Z))

    def with_components(self, pool: Pool, w: Float[Array, "m"], X: Float[Array, "N D"]) -> Float[Array, "m R N"]:
        # w_i^2 K_i(Z, X)
        return (w**2)[:, None, None] * pool.gram(self.Z, X)


@final
class GroupedPoints(InducingVariables):
    """u = (g_1(Z_1), ..., g_m(Z_m))."""

    Z: Float[Array, "m M D"] = real()

    @property
    def size(self) -> int:
        return self.Z.shape[0] * self.Z.shape[1]

    def covariance(self, pool: Pool, w: Float[Array, "m"]) -> Float[Array, "R R"]:
        # groups are independent: K_i(Z_i, Z_i) on the diagonal, zero elsewhere
        m, M, _ = self.Z.shape
        K = pool.gram(self.Z, self.Z)
        return jnp.einsum("ij,irs->irjs", jnp.eye(m, dtype=K.dtype), K).reshape(m * M, m * M)

    def with_components(self, pool: Pool, w: Float[Array, "m"], X: Float[Array, "N D"]) -> Float[Array, "m R N"]:
        # w_i K_i(Z_i, X) in the rows of group i
        m, M, _ = self.Z.shape
        K = w[:, None, None] * pool.gram(self.Z, X)
        return jnp.einsum("ij,irn->ijrn", jnp.eye(m, dtype=K.dtype), K).reshape(m, m * M, X.shape[0])


def spread_points(X: np.ndarray, count: int, seed: int = 0) -> np.ndarray:
    """At most `count` points that cover the rows of X: quantiles in one input, cluster centres in several."""
    distinct = np.unique(X, axis=0)
    if count >= len(distinct):
        return distinct
    if X.shape[1] == 1:
        return np.quantile(distinct[:, 0], np.linspace(0.0, 1.0, count))[:, None]
    # imported here because the import takes as long as a small fit, and one input does not need it
    from sklearn.cluster import MiniBatchKMeans

    clusters = MiniBatchKMeans(count, random_state=seed, n_init="auto", batch_size=max(1024, 4 * count))
    return np.asarray(clusters.fit(distinct).cluster_centers_)
