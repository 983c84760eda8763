"""The weights of a bound on the host: w^2 for fixed draws, KL(q || p), and the way back to the numbers of q.

The horseshoe, which every search uses, has its derivatives by hand; the other priors go through jax.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import expit

from farrier.inference.horseshoe import Horseshoe
from farrier.inference.weight_priors import WeightPrior
from farrier.kernels.parameters import bound, packed, unpacked


class Weighed(NamedTuple):
    """Squared weights (S, m), KL, and from dL/dw2 the derivative of L - KL by q's unbounded numbers."""

    w2: np.ndarray
    kl: float
    pull: Callable[[np.ndarray], np.ndarray]


def weigh(prior: WeightPrior, u: np.ndarray, noise: np.ndarray) -> Weighed:
    """The weights of a prior like `prior` whose unbounded numbers are u, for rows of standard normal noise."""
    if isinstance(prior, Horseshoe):
        return _horseshoe(prior, u, noise)
    leaves, tree = jax.tree.flatten(prior)
    w2, kl = _terms(u, leaves, noise, tree=tree)

    def pull(dw2: np.ndarray) -> np.ndarray:
        return np.asarray(_back(u, leaves, noise, dw2, tree=tree))

    return Weighed(np.asarray(w2), float(kl), pull)


def prediction_weights(prior: WeightPrior, noise: np.ndarray) -> np.ndarray:
    """Draws of the weights, (S, m), without their signs, which the model does not see."""
    return np.sqrt(weigh(prior, packed(prior), noise).w2)


def _horseshoe(prior: Horseshoe, u: np.ndarray, noise: np.ndarray) -> Weighed:
    m = (len(u) - 2) // 2
    mu, v = np.append(u[0], u[2 : 2 + m]), np.exp(np.append(u[1], u[2 + m :]))
    scale = np.append(np.asarray(prior.A), np.full(m, np.asarray(prior.B)))
    # noise without a column for tau: each weight by itself (see Horseshoe.draw)
    apart = noise.shape[1] == m
    sd = np.sqrt(v[0] + v[1:]) if apart else np.sqrt(v)
    moved = (mu[0] + mu[1:] if apart else mu) + sd * noise
    with np.errstate(over="ignore"):
        w2 = np.exp(moved if apart else moved[:, :1] + moved[:, 1:])
    # see half_cauchy_kl; r is the part of log r's sum that is E[s^-2]
    exponent = -mu + 0.5 * v
    log_r = np.logaddexp(exponent, -2.0 * np.log(scale))
    kl = np.sum(0.5 * mu - 0.5 * np.log(2.0 * np.pi * np.e * v) + log_r + np.log(np.pi * scale))
    r = expit(exponent + 2.0 * np.log(scale))

    def pull(dw2: np.ndarray) -> np.ndarray:
        by_log = dw2 * w2
        both = np.concatenate([by_log.sum(axis=1, keepdims=True), by_log], axis=1)
        by_v = 0.5 * np.sum((by_log if apart else both) * noise, axis=0) / sd
        by_v = np.append(by_v.sum(), by_v) if apart else by_v
        by_mu = both.sum(axis=0) - (0.5 - r)
        by_log_v = by_v * v - (-0.5 + 0.5 * r * v)
        return np.concatenate([by_mu[:1], by_log_v[:1], by_mu[1:], by_log_v[1:]])

    return Weighed(w2, float(kl), pull)


def _weights(u: Any, leaves: Any, noise: Any, tree: Any) -> tuple[Any, Any]:
    template = jax.tree.unflatten(tree, leaves)
    prior = bound(unpacked(u, template), template)
    return prior.draw(noise) ** 2, prior.kl()


_terms = partial(jax.jit, static_argnames="tree")(_weights)


@partial(jax.jit, static_argnames="tree")
def _back(u: Any, leaves: Any, noise: Any, dw2: Any, tree: Any) -> Any:
    def tied(u: Any) -> Any:
        w2, kl = _weights(u, leaves, noise, tree)
        return jnp.sum(w2 * dw2) - kl

    return jax.grad(tied)(u)
