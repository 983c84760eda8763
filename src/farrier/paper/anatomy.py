"""The paper's model, trained and taken apart: every distribution and every term of the bound under its own name.

    model, history = train_paper(X, y)
    parts = take_apart(model, X, y)
    parts.groups[0].kernel, parts.groups[0].q_u, parts.tau, parts.terms

Equations are numbered as in the paper (AAAI 2021), counting its appendix on:

    (2)   f | w ~ GP(0, sum_i w_i^2 k_i)                        pool.py
    (4)   f | U, w: sums over groups                            multisvgp.py
    (5)   mean and covariance of one group given u_i            multisvgp.py
    (7)   covariances of grouped inducing variables             inducing.py
    (8)   the evidence lower bound, (11) in the appendix        objective.py
    (9)   KL of tau and lambda                                  baselines/weight_priors.py
    (10)  q(phi) in closed form                                 `inverse_gamma` here

X and y are taken as they are: standardise them first. This file changes nothing in a model, it only reads it.
"""

from dataclasses import dataclass
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from farrier.baselines.weight_priors import half_cauchy_kl
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Gaussian
from farrier.kernels.algebra import Kernel
from farrier.paper.inducing import spread_points
from farrier.paper.linalg import cholesky, kl_to_standard_normal
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Batch, Model, likelihood_term
from farrier.paper.pool import Pool
from farrier.paper.selection import Selection, train_in_stages
from farrier.paper.training import History, Settings, train_starts

STRONG = Settings(iterations=1500, learning_rate=0.1, tolerance=0.0)
"""The settings of the runs on mauna400 in docs/reproducing-the-paper.md; by judgement."""


@final
@dataclass(frozen=True, eq=False)
class LogNormal:
    """q(s^2) = LogNormal(mu, v): log s^2 has mean mu and variance v."""

    mu: float
    v: float

    @property
    def median(self) -> float:
        """The median of s, exp(mu / 2)."""
        return float(np.exp(0.5 * self.mu))


@final
@dataclass(frozen=True, eq=False)
class InverseGamma:
    """q(phi) = IG(shape, rate)."""

    shape: float
    rate: float


@final
@dataclass(frozen=True, eq=False)
class Normal:
    """q(u_i) = N(mean, covariance)."""

    mean: np.ndarray
    covariance: np.ndarray


@final
@dataclass(frozen=True, eq=False)
class Group:
    """One kernel with its inducing points and all that belongs to it."""

    kernel: Kernel
    Z: np.ndarray
    """Its inducing points, (M, D)."""
    q_u: Normal
    """q(u_i) of the values u_i = g_i(Z_i)."""
    local: LogNormal
    """q(lambda_i^2)."""
    phi: InverseGamma
    """q(phi_lambda_i), eq. (10)."""
    weight: float
    """The median of w_i = tau lambda_i."""
    kl_u: float
    """KL(q(u_i) || p(u_i))."""
    kl_lambda: float
    """KL of (lambda_i^2, phi_i), eq. (9)."""


@final
@dataclass(frozen=True, eq=False)
class Terms:
    """The bound, eq. (8), by its terms."""

    likelihood: float
    """E log p(y | f)."""
    kl_groups: float
    kl_tau: float
    kl_lambdas: float

    @property
    def total(self) -> float:
        """The evidence lower bound."""
        return self.likelihood - self.kl_groups - self.kl_tau - self.kl_lambdas


@final
@dataclass(frozen=True, eq=False)
class Parts:
    """A trained model in parts."""

    groups: tuple[Group, ...]
    tau: LogNormal
    """q(tau^2)."""
    phi: InverseGamma
    """q(phi_tau), eq. (10)."""
    noise_variance: float
    terms: Terms


def train_paper(
    X: np.ndarray,
    y: np.ndarray,
    *,
    points: int = 100,
    starts: int = 1,
    settings: Settings = STRONG,
    selection: Selection | None = None,
    seed: int = 0,
) -> tuple[Model, History]:
    """Train the paper's pool of 24 kernels with a horseshoe prior and Gaussian noise; the best start by the bound.

    With a `selection` the kernels that the prior shrinks leave after a first stage (selection.py).
    """
    with jax.enable_x64(True):
        Z = spread_points(X, points if selection is None else selection.points, seed)
        pools = [Pool.paper(X, y, seed=seed + i) for i in range(starts)]
        noise = Gaussian(0.1 * float(np.var(y)))
        models = [Model(Horseshoe.initial(len(pool)), noise, MultiSVGP.initial(pool, Z)) for pool in pools]
        key = jax.random.key(seed)
        if selection is None:
            return train_starts(models, X, y, settings, key)
        return train_in_stages(models, X, y, settings, key, points=points, seed=seed, selection=selection)


@eqx.filter_jit
def _measured(model: Model, batch: Batch) -> tuple[Array, Array, Array]:
    """The roots L_i with u_i = L_i v_i and L_i L_i' = K_i(Z_i, Z_i), KL(q(u_i) || p(u_i)), and the likelihood term."""
    posterior = model.posterior
    assert isinstance(posterior, MultiSVGP)
    roots = cholesky(posterior.pool.gram(posterior.Z, posterior.Z))
    h, s = posterior.functions(batch.X)
    likelihood = likelihood_term(model, batch, h, s, jnp.zeros((1, 0)))
    return roots, kl_to_standard_normal(posterior.q_mean, posterior.q_root), likelihood


def take_apart(model: Model, X: np.ndarray, y: np.ndarray) -> Parts:
    """The parts of a model with groups of inducing points, a horseshoe prior and Gaussian noise."""
    with jax.enable_x64(True):
        model = jax.tree.map(jnp.asarray, model)
        prior, posterior, noise = model.prior, model.posterior, model.likelihood
        if not (isinstance(prior, Horseshoe) and isinstance(posterior, MultiSVGP) and isinstance(noise, Gaussian)):
            raise ValueError("model: only MultiSVGP with a horseshoe prior and Gaussian noise is taken apart.")
        measured = _measured(model, Batch(jnp.asarray(X), jnp.asarray(y), jnp.ones(len(y))))
        L, kl_u, likelihood = (np.asarray(one) for one in measured)
        prior, posterior, noise = jax.tree.map(np.asarray, (prior, posterior, noise))
    mean, root = np.asarray(posterior.q_mean), L @ np.asarray(posterior.q_root)
    mu, v = np.asarray(prior.mu), np.asarray(prior.v)
    kl_lambda = np.asarray(half_cauchy_kl(mu, v, prior.B))
    weights = prior.quantile(0.5)
    groups = tuple(
        Group(
            kernel=kernel,
            Z=np.asarray(posterior.Z)[i],
            q_u=Normal(L[i] @ mean[i], root[i] @ root[i].T),
            local=LogNormal(float(mu[i]), float(v[i])),
            phi=inverse_gamma(float(mu[i]), float(v[i]), float(prior.B)),
            weight=float(weights[i]),
            kl_u=float(kl_u[i]),
            kl_lambda=float(kl_lambda[i]),
        )
        for i, kernel in enumerate(posterior.pool)
    )
    tau = LogNormal(float(prior.mu_tau), float(prior.v_tau))
    kl_tau = float(half_cauchy_kl(prior.mu_tau, prior.v_tau, prior.A))
    terms = Terms(float(likelihood), float(kl_u.sum()), kl_tau, float(kl_lambda.sum()))
    return Parts(groups, tau, inverse_gamma(tau.mu, tau.v, float(prior.A)), float(noise.variance), terms)


def inverse_gamma(mu: float, v: float, scale: float) -> InverseGamma:
    """The optimal q(phi) = IG(1, E s^-2 + c^-2) for q(s^2) = LogNormal(mu, v), eq. (10)."""
    return InverseGamma(1.0, float(np.exp(-mu + 0.5 * v) + scale**-2))
