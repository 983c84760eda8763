"""The horseshoe prior: one global scale shrinks all weights to zero, heavy-tailed local scales let some stay large.

    w_i = tau lambda_i,  tau ~ HalfCauchy(A),  lambda_i ~ HalfCauchy(B)

`Horseshoe` is that of the paper, with a variational q(w), for kernels that are given. Each s ~ HalfCauchy(c) is
written with an auxiliary phi: s^2 | phi ~ IG(1/2, 1/phi), phi ~ IG(1/2, 1/c^2). For q(s^2) = LogNormal(mu, v) the
optimal q(phi) is IG(1, r), r = E_q[s^-2] + c^-2. Inserting it gives

    KL(mu, v; c) = mu/2 - log(2 pi e v)/2 + log(exp(-mu + v/2) + c^-2) + log pi + log c

so phi is never stored or updated. This is the KL divergence of the pair (s^2, phi), and the paper's algorithm has this
one (baselines/weight_priors.py). That of s^2 alone has E_q log(s^-2 + c^-2), by quadrature, in place of
log E_q(s^-2 + c^-2). By Jensen's inequality it is smaller, so the bound is tighter; the gap grows with v, so its q is
wider. `weigh` is made of it: exact, collapsed and linear inference have this one.

`PointHorseshoe` is that of the default models: point weights w_i = tau s_i lambda_i, with B = 1 and the global scale
integrated out. s_i is the learned scale of the family of component i. With t = log tau, the log of a weight given tau
has the density 1 / (pi cosh(log w_i - log s_i - t)), so that

    log p(log w) = log int dt 1 / (pi cosh(t - log A)) prod_i 1 / (pi cosh(log w_i - log s_i - t))

which is one sum over a regular grid of t. The integrand is analytic and falls exponentially, so the trapezoidal rule
converges geometrically. Laplace's approximation at the mode of all w then knows that the weights move together: small
weights lower tau, and tau lowers those that the rows do not need. The level has a scale of its own and no part in tau,
as an intercept has in a regression under the horseshoe.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from scipy.special import expit, ndtri

from farrier.inference.weight_priors import Weighed, WeightPrior, check_probability, starting_weight
from farrier.kernels.parameters import fixed, positive, real

NODES, _HERMITE = np.polynomial.hermite_e.hermegauss(32)
SHARES = _HERMITE / _HERMITE.sum()
"""Points and weights of E g(z), z ~ N(0, 1). [32 points by judgement: errors of the KL divergence are below 1e-7 at
v = 4 and 1e-5 at v = 10, about the variance of log s^2 under the prior]"""
LOG_PI = float(np.log(np.pi))
LOWEST, HIGHEST, WIDEST_STEP = -16.0, 16.0, 0.2
"""The grid of log tau. Beyond its ends the prior of log tau has fallen by 16 nats, and each weight adds to that. The
step is that at which the sum over ten equal weights is exact to nine digits; for more weights the integrand is
narrower, and the step smaller."""


def marginal_kl(mu: np.ndarray, v: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """KL( LogNormal(s^2; mu, v) || HalfCauchy(s; scale) ), and its derivatives by mu and by log v."""
    # log s^2 = mu + sqrt(v) z,   share = s^-2 / (s^-2 + c^-2) = -d log(s^-2 + c^-2) / d log s^2
    log_s2, log_c2 = mu + np.sqrt(v) * NODES[:, None], 2.0 * np.log(scale)
    share = expit(log_c2 - log_s2)
    log_r = SHARES @ np.logaddexp(-log_s2, -log_c2)
    kl = 0.5 * mu - 0.5 * np.log(2.0 * np.pi * np.e * v) + log_r + np.log(np.pi * scale)
    return kl, 0.5 - SHARES @ share, -0.5 - 0.5 * np.sqrt(v) * ((SHARES * NODES) @ share)


@final
@dataclass(frozen=True, eq=False)
class Horseshoe(WeightPrior):
    """q(tau^2) = LogNormal(mu_tau, v_tau), q(lambda_i^2) = LogNormal(mu_i, v_i); the v are variances."""

    mu_tau: np.ndarray = real()
    v_tau: np.ndarray = positive()
    mu: np.ndarray = real()
    v: np.ndarray = positive()
    A: np.ndarray = fixed(default=1.0)
    B: np.ndarray = fixed(default=1.0)

    @classmethod
    def initial(cls, m: int, A: float = 1.0, B: float = 1.0, *, median: float | None = None) -> "Horseshoe":
        """q(w) at the start: every w_i has the given median (default 1 / sqrt(m)), and 95 % within a factor of 1.4.

        lambda_i starts at B, the median of its prior, and tau at median / B.
        """
        if min(A, B) <= 0.0:
            raise ValueError(f"A={A}, B={B}: half-Cauchy scales must be positive; try 1.0")
        start = starting_weight(m) if median is None else median
        if start <= 0.0:
            raise ValueError(f"median={median}: the median of the weights must be positive; None means 1/sqrt(m)")
        mu_lambda = 2.0 * np.log(B)
        mu_tau = 2.0 * np.log(start) - mu_lambda
        return cls(np.asarray(mu_tau), np.asarray(0.05), np.full(m, mu_lambda), np.full(m, 0.05), A=A, B=B)  # pyright: ignore[reportArgumentType]

    @property
    def noise_size(self) -> int:
        """One normal for tau and one for each lambda."""
        return 1 + self.mu.shape[0]

    def quantile(self, probability: float) -> np.ndarray:
        """exp of half the quantile of N(mu_tau + mu_i, v_tau + v_i)."""
        check_probability(probability)
        mu_tau, v_tau, mu, v = (np.asarray(leaf) for leaf in (self.mu_tau, self.v_tau, self.mu, self.v))
        return np.exp(0.5 * (mu_tau + mu + np.sqrt(v_tau + v) * ndtri(probability)))

    def weigh(self, u: np.ndarray, noise: np.ndarray) -> Weighed:
        m = (len(u) - 2) // 2
        mu, v = np.append(u[0], u[2 : 2 + m]), np.exp(np.append(u[1], u[2 + m :]))
        scale = np.append(self.A, np.full(m, self.B))
        # log w_i^2 = log tau^2 + log lambda_i^2 ~ N(mu_tau + mu_i, v_tau + v_i); all weights of a draw share tau
        sd = np.sqrt(v)
        moved = mu + sd * noise
        with np.errstate(over="ignore"):
            w2 = np.exp(moved[:, :1] + moved[:, 1:])
        # Deviation: phi is integrated out, not approximated
        kl, kl_by_mu, kl_by_log_v = marginal_kl(mu, v, scale)

        def pull(dw2: np.ndarray) -> np.ndarray:
            by_log = dw2 * w2
            both = np.concatenate([by_log.sum(axis=1, keepdims=True), by_log], axis=1)
            by_v = 0.5 * np.sum(both * noise, axis=0) / sd
            by_mu = both.sum(axis=0) - kl_by_mu
            by_log_v = by_v * v - kl_by_log_v
            return np.concatenate([by_mu[:1], by_log_v[:1], by_mu[1:], by_log_v[1:]])

        return Weighed(w2, float(np.sum(kl)), pull)


class Mixed(NamedTuple):
    """The prior of the log weights at a point."""

    log_density: float
    slope: np.ndarray
    """The derivative by each log weight, (m,)."""
    grid: np.ndarray
    """The grid of log tau, (T,)."""
    shares: np.ndarray
    """The posterior probability of each of its points given the weights, (T,)."""


@final
@dataclass(frozen=True, eq=False)
class PointHorseshoe(WeightPrior):
    """Weights that are plain parameters under the horseshoe with tau integrated out; -log p(log w) is paid."""

    w: np.ndarray = positive()
    scale: np.ndarray = fixed()
    """s_i of each weight."""
    shrunk: np.ndarray = fixed(default=1.0)
    """1 for a weight under tau, 0 for one with a half-Cauchy prior of its own."""
    deviation: np.ndarray = fixed(default=0.0)
    """The posterior standard deviation of log w, if Laplace's approximation found it. Draws do not use it."""
    A: np.ndarray = fixed(default=1.0)
    """The scale of tau."""

    @property
    def noise_size(self) -> int:
        """Nothing is drawn."""
        return 0

    @property
    def log_density(self) -> float:
        """log p of the logarithms of the weights."""
        return self.mixed(np.log(self.w)).log_density

    def quantile(self, probability: float) -> np.ndarray:
        """The quantile of a log-normal about the weight with its posterior deviation."""
        check_probability(probability)
        return self.w * np.exp(self.deviation * ndtri(probability))

    def weigh(self, u: np.ndarray, noise: np.ndarray) -> Weighed:
        mixed = self.mixed(u)
        # faster than broadcast_to for a few weights
        w2 = np.ones((len(noise), 1)) * np.exp(2.0 * u)
        return Weighed(w2, -mixed.log_density, lambda dw2: 2.0 * (dw2 * w2).sum(axis=0) + mixed.slope)

    def tau(self, probability: float) -> float:
        """A quantile of the global scale given the weights."""
        check_probability(probability)
        mixed = self.mixed(np.log(self.w))
        # half of the probability of a grid point lies below it
        below = np.cumsum(mixed.shares) - 0.5 * mixed.shares
        return float(np.exp(np.interp(probability, below, mixed.grid)))

    def conditional_log_densities(self) -> np.ndarray:
        """log p(log w_i | all other weights), (m,)."""
        u = np.log(self.w)
        whole = self.mixed(u).log_density
        alone = np.where(np.eye(len(u), dtype=bool), 0.0, self._mask(len(u)))
        others = [replace(self, shrunk=shrunk).mixed(u).log_density for shrunk in alone]
        return whole - np.array(others) + _log_sech(u - np.log(self.scale))

    def mixed(self, u: np.ndarray) -> Mixed:
        """The prior at log weights u, and its derivative."""
        away, shrunk, grid = u - np.log(self.scale), self._mask(len(u)), self._grid(len(u))
        apart = away[None, :] - grid[:, None]
        size = np.abs(apart)
        # log sech a = log 2 - |a| - log(1 + exp(-2 |a|))
        decay = np.exp(-2.0 * size)
        logs = -size - np.log1p(decay)
        heights = logs @ shrunk + _log_sech(grid - np.log(self.A))
        top = heights.max()
        shares = np.exp(heights - top)
        total = shares.sum()
        shares /= total
        constant = shrunk.sum() * (np.log(2.0) - LOG_PI)
        slopes = -np.sign(apart) * (1.0 - decay) / (1.0 + decay)
        log_density = float(top + np.log(total * (grid[1] - grid[0])) + constant)
        log_density += float(((1.0 - shrunk) * _log_sech(away)).sum())
        slope = shrunk * (shares @ slopes) - (1.0 - shrunk) * np.tanh(away)
        return Mixed(log_density, slope, grid, shares)

    def _mask(self, m: int) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.shrunk, float), (m,))

    def _grid(self, m: int) -> np.ndarray:
        step = min(WIDEST_STEP, 0.6 / np.sqrt(m + 1.0))
        return np.arange(LOWEST, HIGHEST, step)


def _log_sech(a: np.ndarray) -> np.ndarray:
    """log 1 / (pi cosh a)."""
    return -np.logaddexp(a, -a) + (np.log(2.0) - LOG_PI)
