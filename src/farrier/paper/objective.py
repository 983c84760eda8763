"""The sparse model, and the evidence lower bound that training maximises.

For any likelihood and any number of rows:

    L = sum_n E_q(w) E_q(f | w) log p(y_n | f(x_n)) - KL(q(u) || p(u)) - KL(q(w) || p(w))

Deviation: the paper prints p(f) in the first expectation; the correct distribution is q(f).
"""

from functools import partial
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from farrier.inference.likelihoods import Likelihood
from farrier.inference.weight_priors import WeightPrior
from farrier.paper.multisvgp import SVGP, MultiSVGP
from farrier.paper.trees import JAX


@final
class Model(eqx.Module):
    """All trained parts: q(w), the likelihood, and the posterior of the functions with its kernels."""

    prior: WeightPrior
    likelihood: Likelihood
    posterior: SVGP | MultiSVGP


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
    mean, variance = model.posterior.at(model.prior.draw(noise, JAX)).draws(batch.X)
    # E_q(w) E_q(f | w) log p(y | f), an average over the draws
    expected_log = partial(model.likelihood.expected_log, world=JAX)
    expected = jax.vmap(expected_log, in_axes=(None, 0, 0))(batch.y, mean, variance)
    likelihood = jnp.mean(expected, axis=0) @ batch.counts
    kl_inducing, kl_weights = model.posterior.prior_kl(), model.prior.kl(JAX)
    return Bound(likelihood - kl_inducing - kl_weights, likelihood, kl_inducing, kl_weights)
