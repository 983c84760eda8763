"""The interface of the posteriors of f = sum_i w_i g_i.

A posterior holds S equally likely draws of the weights. Given the weights, f is Gaussian; over the draws it is a
mixture of S Gaussians, and `predict`, `covariance` and `components` give its exact moments. The means of the components
add up to the mean of f.
"""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float


class Posterior(eqx.Module):
    """The distribution of f and of its components, given S draws of the weights."""

    if TYPE_CHECKING:

        @property
        def weights(self) -> Any: ...

    else:
        weights: eqx.AbstractVar[Float[Array, "S m"]]

    @abstractmethod
    def draws(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "S N"], Float[Array, "S N"]]:
        """Mean and variance of f(x) given each draw of the weights."""

    @abstractmethod
    def joint_draws(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "S N"], Float[Array, "S N N"]]:
        """Mean and covariance of f at all rows together, given each draw of the weights."""

    @abstractmethod
    def components(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "m N"], Float[Array, "m N"]]:
        """Mean and variance of each component w_i g_i(x)."""

    @abstractmethod
    def prior_kl(self) -> Float[Array, ""]:
        """KL from the posterior of the function, or of its inducing variables, to the prior."""

    def predict(self, X: Float[Array, "N D"]) -> tuple[Float[Array, "N"], Float[Array, "N"]]:
        """Mean and variance of f(x)."""
        mean, variance = self.draws(X)
        # Var f = E_w Var(f | w) + Var_w E(f | w)
        return jnp.mean(mean, axis=0), jnp.mean(variance, axis=0) + jnp.var(mean, axis=0)

    def covariance(self, X: Float[Array, "N D"]) -> Float[Array, "N N"]:
        """Covariance of f at all rows."""
        mean, covariance = self.joint_draws(X)
        apart = mean - jnp.mean(mean, axis=0, keepdims=True)
        return jnp.mean(covariance, axis=0) + apart.T @ apart / mean.shape[0]

    def at(self, weights: Float[Array, "S m"]) -> Any:
        """The same posterior with other draws of the weights."""
        return eqx.tree_at(lambda posterior: posterior.weights, self, weights)
