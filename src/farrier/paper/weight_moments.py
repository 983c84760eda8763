"""First and second moments of the weights w under q(w), in closed form.

Under Gaussian noise the likelihood term of the bound is quadratic in w, so it needs only E w_i and E w_i w_j. For every
q(w) here they have the form

    E w_i = shared u_i,     E w_i w_j = u_i u_j + 1(i = j) d_i

For the horseshoe w_i = tau lambda_i with independent log-normal tau^2 and lambda_i^2:

    u_i = sqrt(E tau^2) E lambda_i,   d_i = E tau^2 Var lambda_i,   shared = E tau / sqrt(E tau^2)

Deviation: the paper estimates this expectation from one random draw of w. The closed form has no noise.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from farrier.baselines.weight_priors import StochasticPrior, draw
from farrier.inference.horseshoe import Horseshoe
from farrier.paper.trees import JAX


class WeightMoments(NamedTuple):
    """E w = shared u, E w w' = u u' + diag(d)."""

    u: Float[Array, "m"]
    d: Float[Array, "m"]
    shared: Float[Array, ""]

    @property
    def squares(self) -> Float[Array, "m"]:
        """E w_i^2."""
        return self.u**2 + self.d


def has_moments(prior: StochasticPrior) -> bool:
    """Whether the moments are known in closed form: for the horseshoe, and for weights without uncertainty."""
    return isinstance(prior, Horseshoe) or prior.noise_size == 0


def weight_moments(prior: StochasticPrior) -> WeightMoments:
    """The moments of a prior that `has_moments`."""
    if isinstance(prior, Horseshoe):
        # E s^p = exp(p mu / 2 + p^2 v / 8) for s^2 ~ LogNormal(mu, v)
        mean_lambda = jnp.exp(0.5 * prior.mu + 0.125 * prior.v)
        # Var lambda = (E lambda)^2 (exp(v / 4) - 1), Var without cancellation
        variance_lambda = mean_lambda**2 * jnp.expm1(0.25 * prior.v)
        tau2 = jnp.exp(prior.mu_tau + 0.5 * prior.v_tau)
        return WeightMoments(jnp.sqrt(tau2) * mean_lambda, tau2 * variance_lambda, jnp.exp(-0.125 * prior.v_tau))
    return point_moments(draw(prior, jnp.zeros((1, 0)), JAX)[0])


def point_moments(w: Any) -> WeightMoments:
    """The moments of weights that are known."""
    w = jnp.asarray(w)
    return WeightMoments(w, jnp.zeros_like(w), jnp.ones((), w.dtype))
