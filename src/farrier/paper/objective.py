"""The sparse model, and the evidence lower bound that training maximises (the paper's eq. elbo).

For any likelihood and any number of rows:

    L = sum_n E_q(w) E_q(f | w) log p(y_n | f(x_n)) - KL(q(u) || p(u)) - KL(q(w) || p(w))

The likelihood term depends on the functions g_i only through their means h (m, N) and variances s (m, N) at the rows.
Under Gaussian noise of variance r, with E w = k u and E w w' = u u' + diag(d) (weight_moments.py), it is exact:

    E (y - f)^2 = (k y - sum_i u_i h_i)^2 + (1 - k^2) y^2 + sum_i d_i h_i^2 + sum_i (u_i^2 + d_i) s_i

Otherwise E_q(w) is an average over draws of the weights, as in the paper.

Deviation: the paper prints p(f) in the first expectation; the correct distribution is q(f).
"""

from functools import partial
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from farrier.baselines.weight_priors import StochasticPrior, draw, kl
from farrier.inference.likelihoods import Gaussian, Likelihood
from farrier.paper.multisvgp import SVGP, MultiSVGP
from farrier.paper.natural_gradients import Features, Q, moments_of
from farrier.paper.trees import JAX
from farrier.paper.weight_moments import WeightMoments, has_moments, point_moments, weight_moments


@final
class Model(eqx.Module):
    """All trained parts: q(w), the likelihood, and the posterior of the functions with its kernels."""

    prior: StochasticPrior
    likelihood: Likelihood
    posterior: SVGP | MultiSVGP

    @property
    def closed_form(self) -> bool:
        """Whether the bound needs no draws of the weights."""
        return isinstance(self.likelihood, Gaussian) and has_moments(self.prior)

    def features(self, X: Float[Array, "N D"]) -> Features:
        """The features of every group of inducing variables."""
        if isinstance(self.posterior, MultiSVGP):
            return self.posterior.features(X)
        return self.posterior.at(weight_moments(self.prior).u[None]).features(X)

    def group_moments(self) -> WeightMoments:
        """The moments of the weights of the groups; shared points are one group, which holds the weights itself."""
        return weight_moments(self.prior) if isinstance(self.posterior, MultiSVGP) else point_moments(np.ones(1))


class Bound(NamedTuple):
    """The evidence lower bound and its terms: numbers, or arrays with a number for each step."""

    total: Any
    likelihood: Any
    kl_inducing: Any
    kl_weights: Any


class Batch(NamedTuple):
    """Rows of data; `counts` is the number of rows of the whole data that each represents, zero for padding."""

    X: Float[Array, "B D"]
    y: Float[Array, "B"]
    counts: Float[Array, "B"]


def evidence_bound(model: Model, batch: Batch, noise: Float[Array, "S E"]) -> Bound:
    """An estimate of the bound from a batch of rows and from the draws of the weights made from `noise`."""
    mean, variance = model.posterior.at(draw(model.prior, noise, JAX)).draws(batch.X)
    likelihood = _by_draws(model.likelihood, batch, mean, variance)
    kl_inducing, kl_weights = model.posterior.prior_kl(), kl(model.prior, JAX)
    return Bound(likelihood - kl_inducing - kl_weights, likelihood, kl_inducing, kl_weights)


def grouped_bound(model: Model, batch: Batch, features: Features, q: Q, noise: Float[Array, "S E"]) -> Bound:
    """The bound of `model` with `q` in place of its q(u); exact in the weights where that is possible."""
    likelihood = likelihood_term(model, batch, *moments_of(features, q), noise)
    kl_inducing, kl_weights = model.posterior.with_q(q).prior_kl(), kl(model.prior, JAX)
    return Bound(likelihood - kl_inducing - kl_weights, likelihood, kl_inducing, kl_weights)


def likelihood_term(
    model: Model, batch: Batch, h: Float[Array, "m N"], s: Float[Array, "m N"], noise: Float[Array, "S E"]
) -> Float[Array, ""]:
    """The sum over rows of E log p(y | f), as a function of the means and variances of the functions."""
    if model.closed_form:
        w, y, r = model.group_moments(), batch.y, model.likelihood.variance  # pyright: ignore[reportAttributeAccessIssue]
        square = (w.shared * y - w.u @ h) ** 2 + (1.0 - w.shared**2) * y**2 + w.d @ h**2 + w.squares @ s
        return -0.5 * (jnp.log(2.0 * jnp.pi * r) + square / r) @ batch.counts
    if not isinstance(model.posterior, MultiSVGP):
        return _by_draws(model.likelihood, batch, h, s)
    draws = draw(model.prior, noise, JAX)
    return _by_draws(model.likelihood, batch, draws @ h, draws**2 @ s)


def _by_draws(likelihood: Likelihood, batch: Batch, mean: Float[Array, "S N"], variance: Float[Array, "S N"]) -> Array:
    # E_q(w) E_q(f | w) log p(y | f), an average over the draws
    expected = jax.vmap(partial(likelihood.expected_log, world=JAX), in_axes=(None, 0, 0))(batch.y, mean, variance)
    return jnp.mean(expected, axis=0) @ batch.counts
