"""The exact bound and its derivative: for Gaussian noise, with the function integrated out.

    L = E_q(w) log N(y; 0, sum_i w_i^2 K_i + D) - KL(q(w) || p(w)) + log p(u)

D is diagonal: the variance of the noise, or that of each row. The expectation is an average over a few fixed
quasi-random draws of the weights, so L is a smooth deterministic function of all numbers at once. The covariance and
its derivative are covariance.py's; here stand the evidence of a covariance, by LAPACK, and the chain that ties both
to one vector of unbounded numbers for an optimiser.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from scipy.linalg.lapack import dpotrf, dpotri  # pyright: ignore[reportAttributeAccessIssue]

from farrier.beliefs import log_prior, reach
from farrier.covariance import Covariance, GridCovariance, covariance_of, is_flat, profiles
from farrier.kernels.slots import SlotPool
from farrier.linalg import host_jitter
from farrier.parameters import bound, fixed, free, frozen, positive
from farrier.priors import WeightPrior, quasi_normal

NOISE_CENTRE, NOISE_SPREAD = np.log(0.05), 3.0
"""The logarithm of the variance of the noise, y having variance one: normal about the first with this sd."""
LOWEST_NOISE = 1e-6
REACH = 10.0
"""How far the numbers of q(w) and the noise may move from their start, as logarithms."""


@final
class ExactModel(eqx.Module):
    """What is trained where f is integrated out: q(w), the variance of the noise, the kernels."""

    prior: WeightPrior
    noise: Any = positive()
    pool: SlotPool = eqx.field(default=None)
    centre: SlotPool = frozen(default=None)
    """Where the beliefs about the kernels' numbers are centred."""
    rows: Any = fixed(default=None)
    """The variance of the noise of each row, where it is known: then `noise` has no part in it."""


class Terms(NamedTuple):
    """The bound and what it is made of."""

    total: float
    evidence: float
    kl: float
    log_prior: float


def evidence(C: np.ndarray, diagonal: np.ndarray, filled: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray] | None:
    """log N(y; 0, C + diag) and its derivative by C, G = (a a' - C^-1) / 2, or None if that is not positive definite.

    C is used up.
    """
    n = len(y)
    # a row that is not real is independent of all others, with variance one
    C[np.arange(n), np.arange(n)] += np.where(filled > 0, diagonal + host_jitter(C), 1.0)
    L, failed = dpotrf(C.T, lower=1, overwrite_a=1)
    if failed:
        return None
    log_determinant = 2.0 * np.log(np.diagonal(L)).sum()
    G, failed = dpotri(L, lower=1, overwrite_c=1)
    if failed:
        return None
    G = np.tril(G)
    G = G + np.tril(G, -1).T
    a = G @ y
    value = -0.5 * (a @ y + log_determinant + filled.sum() * np.log(2.0 * np.pi))
    G *= -0.5
    G += 0.5 * np.outer(a, a)
    empty = filled == 0
    G[empty, empty] = 0.0
    return float(value), G


@dataclass
class ExactObjective:
    """Minus the bound, as a function of a vector of unbounded numbers."""

    template: ExactModel
    covariance: Covariance
    y: np.ndarray
    draws: np.ndarray

    @classmethod
    def of(cls, template: ExactModel, X: np.ndarray, y: np.ndarray, draws: int) -> "ExactObjective":
        """The bound of a model on rows X, y, averaged over some draws of the weights."""
        covariance = covariance_of(X)
        return cls(template, covariance, covariance.scatter(y), quasi_normal(draws, template.prior.noise_size))

    def start(self) -> np.ndarray:
        """The numbers of the template."""
        return start_of(self.template)

    def limits(self) -> np.ndarray:
        """The least and the largest value of each number, (P, 2)."""
        return limits_of(self.template)

    def model(self, numbers: np.ndarray) -> ExactModel:
        """The model with these numbers."""
        return model_of(self.template, numbers)

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The bound's terms, and the derivative of the bound."""
        u = jnp.asarray(numbers)
        fast = isinstance(self.covariance, GridCovariance)
        C, saved, noise, kl, prior = self._on_grid(u) if fast else self._anywhere(u)
        rows = self.template.rows
        diagonal = np.full(len(self.y), noise) if rows is None else self.covariance.scatter(np.asarray(rows))
        found = [evidence(C_s, diagonal, self.covariance.filled, self.y) for C_s in C]
        if any(one is None for one in found):
            return Terms(-np.inf, -np.inf, kl, prior), np.zeros_like(numbers)
        values, G = [one[0] for one in found if one], np.stack([one[1] for one in found if one]) / len(found)
        dnoise = 0.0 if rows is not None else float(np.einsum("snn->", G))
        gradient = self._back_on_grid(u, saved, G, dnoise) if fast else self._back_anywhere(u, saved, G, dnoise)
        value = float(np.mean(values))
        return Terms(value - kl + prior, value, kl, prior), gradient

    @cached_property
    def _program(self) -> "_Program":
        """The template and the draws as jax sees them, once."""
        leaves, tree = jax.tree.flatten(self.template)
        return _Program(tuple(jnp.asarray(leaf) for leaf in leaves), jnp.asarray(self.draws), tree)

    @cached_property
    def _flat(self) -> np.ndarray:
        return is_flat(self.template.pool)

    def _on_grid(self, u: Any) -> Any:
        assert isinstance(self.covariance, GridCovariance)
        p = self._program
        found = _grid_outputs(u, p.leaves, p.draws, *self.covariance.points, tree=p.tree)
        v, rho, w2, noise, kl, prior = (np.asarray(a) for a in found)
        C, saved = self.covariance.from_profiles(v, rho, self._flat, w2)
        return C, saved, float(noise), float(kl), float(prior)

    def _back_on_grid(self, u: Any, saved: Any, G: np.ndarray, dnoise: float) -> np.ndarray:
        assert isinstance(self.covariance, GridCovariance)
        p = self._program
        slopes = self.covariance.to_profiles(saved, G)
        return np.asarray(_grid_back(u, p.leaves, p.draws, *self.covariance.points, (*slopes, dnoise), tree=p.tree))

    def _anywhere(self, u: Any) -> Any:
        pool, w2, noise, kl, prior = head(u, self.template, self._program.draws)
        C, saved = self.covariance.forward(pool, np.asarray(w2))
        return C, saved, float(noise), float(kl), float(prior)

    def _back_anywhere(self, u: Any, saved: Any, G: np.ndarray, dnoise: float) -> np.ndarray:
        slopes, dw2 = self.covariance.backward(saved, G)
        gradient = head_back(u, self.template, self._program.draws, slopes, jnp.asarray(dw2), jnp.asarray(dnoise))
        return np.asarray(gradient)


class _Program(NamedTuple):
    leaves: tuple[Any, ...]
    draws: Any
    tree: Any


def _grid_terms(numbers: Any, leaves: Any, draws: Any, X: Any, lag: Any, tree: Any) -> Any:
    pool, w2, noise, kl, prior = _outputs(numbers, jax.tree.unflatten(tree, leaves), draws)
    return *profiles(pool, X, lag), w2, noise, kl, prior


@partial(jax.jit, static_argnames="tree")
def _grid_outputs(numbers: Any, leaves: Any, draws: Any, X: Any, lag: Any, tree: Any) -> Any:
    """All that the covariance of a grid is made of, in one program with few arguments: its calls are many and short."""
    return _grid_terms(numbers, leaves, draws, X, lag, tree)


@partial(jax.jit, static_argnames="tree")
def _grid_back(numbers: Any, leaves: Any, draws: Any, X: Any, lag: Any, slopes: Any, tree: Any) -> Any:
    def tied(numbers: Any) -> Any:
        v, rho, w2, noise, kl, prior = _grid_terms(numbers, leaves, draws, X, lag, tree)
        dv, drho, dw2, dnoise = slopes
        return jnp.sum(v * dv) + jnp.sum(rho * drho) + jnp.sum(w2 * dw2) + noise * dnoise - kl + prior

    return jax.grad(tied)(numbers)


def start_of(template: ExactModel) -> np.ndarray:
    """The numbers of a model."""
    return np.array(ravel_pytree(free(template))[0])


def model_of(template: ExactModel, numbers: np.ndarray) -> ExactModel:
    """The model with these numbers."""
    _, unravel = ravel_pytree(free(template))
    return jax.tree.map(np.asarray, bound(unravel(jnp.asarray(numbers)), template))


def limits_of(template: ExactModel) -> np.ndarray:
    """The least and the largest value of each number, (P, 2)."""
    at = free(template)
    distance = jax.tree.map(lambda leaf: np.full(leaf.shape, REACH), at)
    distance = eqx.tree_at(lambda tree: tree.pool, distance, reach(template.pool))
    # kernels may move so far from where they first stood, however often they are fitted
    middle = eqx.tree_at(lambda tree: tree.pool, at, free(template.centre))
    start, by, about = (np.asarray(ravel_pytree(tree)[0]) for tree in (at, distance, middle))
    lowest = jax.tree.map(lambda leaf: np.full(leaf.shape, -np.inf), at)
    lowest = eqx.tree_at(lambda tree: tree.noise, lowest, np.log(LOWEST_NOISE))
    low = np.maximum(about - by, np.asarray(ravel_pytree(lowest)[0]))
    return np.stack([np.minimum(low, start), np.maximum(about + by, start)], axis=1)


def _outputs(numbers: Any, template: ExactModel, Z: Any) -> Any:
    _, unravel = ravel_pytree(free(template))
    model = bound(unravel(numbers), template)
    w2 = model.prior.draw(Z) ** 2
    noise = jnp.asarray(model.noise)
    return model.pool, w2, noise, model.prior.kl(), log_prior(model.pool, template.centre) + noise_prior(noise)


def noise_prior(variance: Any) -> Any:
    """What is believed of the variance of the noise, y having variance one."""
    return -0.5 * ((jnp.log(variance) - NOISE_CENTRE) / NOISE_SPREAD) ** 2


head = eqx.filter_jit(_outputs)


@eqx.filter_jit
def head_back(numbers: Any, template: ExactModel, Z: Any, slopes: Any, dw2: Any, dnoise: Any) -> Any:
    """The derivative of the bound by the numbers, from that of the evidence by what `head` gives."""

    def scalar(numbers: Any) -> Any:
        pool, w2, noise, kl, prior = _outputs(numbers, template, Z)
        tied = jax.tree.map(lambda a, b: jnp.sum(a * b), *(eqx.filter(t, eqx.is_inexact_array) for t in (pool, slopes)))
        return sum(jax.tree.leaves(tied)) + jnp.sum(w2 * dw2) + noise * dnoise - kl + prior

    return jax.grad(scalar)(numbers)
