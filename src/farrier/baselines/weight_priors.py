"""Priors on the weights that the paper compares with: none, the choice of one kernel, and the spike-and-slab prior.

`draw` and `kl` are those of the stochastic bound for these priors and for the horseshoe.

Each is a prior p(w) with its variational posterior q(w), as in inference/weight_priors.py, with the draws and the
divergence of the stochastic bound too. Formulas are in numpy and in jax (linalg.World); the module itself needs no jax.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import ndtri

from farrier.inference.horseshoe import Horseshoe
from farrier.inference.linalg import NUMPY, World
from farrier.inference.weight_priors import Weighed, WeightPrior, check_probability, starting_weight
from farrier.kernels.parameters import fixed, positive, real


class ComparedPrior(WeightPrior, ABC):
    """A prior for the exact and for the stochastic bound."""

    @abstractmethod
    def draw(self, noise: Any, world: World = NUMPY) -> Any:
        """A draw of w from q, (S, m), for each row of standard normal noise (S, E)."""

    @abstractmethod
    def kl(self, world: World = NUMPY) -> Any:
        """KL(q || p)."""


class PointWeights(ComparedPrior):
    """Weights that are known given the parameters of q: their distribution is a point."""

    @abstractmethod
    def weights(self, world: World = NUMPY) -> Any:
        """The weights, (m,)."""

    @property
    def noise_size(self) -> int:
        """None is needed."""
        return 0

    def draw(self, noise: Any, world: World = NUMPY) -> Any:
        """The weights, once for each row."""
        w = self.weights(world)
        return world.xp.broadcast_to(w, (noise.shape[0], *w.shape))

    def quantile(self, probability: float) -> np.ndarray:
        """The weights, whatever the probability."""
        check_probability(probability)
        return np.asarray(self.weights())


@final
@dataclass(frozen=True, eq=False)
class NoPrior(PointWeights):
    """Weights that are plain parameters, without a KL term."""

    w: np.ndarray = positive()

    @classmethod
    def initial(cls, m: int) -> "NoPrior":
        """Every weight 1 / sqrt(m)."""
        return cls(np.full(m, starting_weight(m)))

    def weights(self, world: World = NUMPY) -> Any:
        """The parameters."""
        return world.xp.asarray(self.w)

    def kl(self, world: World = NUMPY) -> Any:
        """Zero."""
        return world.xp.zeros((), world.xp.asarray(self.w).dtype)

    def weigh(self, u: np.ndarray, noise: np.ndarray) -> Weighed:
        w2 = np.broadcast_to(np.exp(2.0 * u), (len(noise), len(u)))
        return Weighed(w2, 0.0, lambda dw2: 2.0 * np.sum(dw2 * w2, axis=0))


@final
@dataclass(frozen=True, eq=False)
class Softmax(PointWeights):
    """One of the m kernels is the right one: c ~ Uniform(1..m), q(c) = Categorical(pi), pi = softmax(logits).

    The model uses the deterministic form, in which every kernel has its expected variance under q,
    w_i^2 = E_q[ scale^2 1(c = i) ] = scale^2 pi_i; the KL is that of the choice c.
    """

    logits: np.ndarray = real()
    scale: np.ndarray = positive()

    @classmethod
    def initial(cls, m: int) -> "Softmax":
        """All kernels alike, with w_i = 1 / sqrt(m)."""
        return cls(np.zeros(m), np.asarray(starting_weight(m) * np.sqrt(m)))

    def weights(self, world: World = NUMPY) -> Any:
        """scale * sqrt(pi_i)."""
        return self.scale * world.xp.exp(0.5 * _log_softmax(self.logits, world))

    def kl(self, world: World = NUMPY) -> Any:
        """KL( Categorical(pi) || Uniform )."""
        # sum_i pi_i log pi_i + log m
        log_pi = _log_softmax(self.logits, world)
        return world.xp.sum(world.xp.exp(log_pi) * log_pi) + np.log(log_pi.shape[0])

    def weigh(self, u: np.ndarray, noise: np.ndarray) -> Weighed:
        log_pi = _log_softmax(u[:-1], NUMPY)
        pi = np.exp(log_pi)
        w2 = np.broadcast_to(np.exp(2.0 * u[-1]) * pi, (len(noise), len(pi)))
        entropy = float(-pi @ log_pi)

        def pull(dw2: np.ndarray) -> np.ndarray:
            by_log = np.sum(dw2 * w2, axis=0)
            # d pi_i / d logit_j = pi_i (1(i = j) - pi_j)
            by_logits = by_log - pi * by_log.sum() - pi * (log_pi + entropy)
            return np.append(by_logits, 2.0 * by_log.sum())

        return Weighed(w2, float(np.log(len(pi)) - entropy), pull)


@final
@dataclass(frozen=True, eq=False)
class SpikeAndSlab(ComparedPrior):
    """w_i = v_i s_i with v_i ~ N(0, slab), s_i ~ Bernoulli(probability); q(v_i) q(s_i) of the same families.

    A Bernoulli draw has no gradient, so `draw` relaxes it to a number between 0 and 1 (a binary concrete variable,
    which is closer to 0 or 1 at a lower temperature). `kl` and `quantile` are those of the discrete s. The bound is
    therefore approximate, and exact in the limit of temperature 0. w has a sign, but the model depends only on w^2.
    """

    mean: np.ndarray = real()
    variance: np.ndarray = positive()
    logits: np.ndarray = real()
    probability: np.ndarray = fixed()
    slab: np.ndarray = fixed()
    temperature: np.ndarray = fixed()

    @classmethod
    def initial(cls, m: int, probability: float = 0.5, slab: float = 1.0, temperature: float = 0.5) -> "SpikeAndSlab":
        """q(s) = p(s), and slabs well away from zero such that E w_i^2 = 1 / m."""
        check_probability(probability)
        if min(slab, temperature) <= 0.0:
            raise ValueError(f"slab={slab}, temperature={temperature}: both must be positive; try 1.0, 0.5")
        # E w^2 = probability (mean^2 + variance), variance = mean^2 / 10
        mean = starting_weight(m) / np.sqrt(1.1 * probability)
        logit = np.log(probability) - np.log1p(-probability)
        values = (np.full(m, mean), np.full(m, 0.1 * mean**2), np.full(m, logit))
        return cls(*values, *(np.asarray(constant) for constant in (probability, slab, temperature)))

    @property
    def noise_size(self) -> int:
        """One normal variable for each v_i and one for each s_i."""
        return 2 * self.mean.shape[0]

    def draw(self, noise: Any, world: World = NUMPY) -> Any:
        """Relaxed draws: v_i = mean + sd z,  s_i = sigmoid((logit + l) / temperature), l logistic."""
        v, s, _ = self.relaxed(noise, world)
        return v * s

    def relaxed(self, noise: Any, world: World = NUMPY) -> tuple[Any, Any, Any]:
        """v, the relaxed s, and the noise of v, (S, m) each."""
        z, gate = world.xp.split(noise, 2, axis=1)
        v = self.mean[None, :] + world.xp.sqrt(self.variance)[None, :] * z
        # l = log u - log(1 - u) with u = Phi(gate); each logarithm is accurate in its own tail
        logistic = world.special.log_ndtr(gate) - world.special.log_ndtr(-gate)
        return v, world.special.expit((self.logits[None, :] + logistic) / self.temperature), z

    def kl(self, world: World = NUMPY) -> Any:
        """Sum of KL( N(mean, variance) || N(0, slab) ) and KL( Bernoulli(pi) || Bernoulli(probability) )."""
        xp, expit = world.xp, world.special.expit
        # ((variance + mean^2) / slab - 1 - log(variance / slab)) / 2
        ratio = self.variance / self.slab
        slabs = 0.5 * (ratio + self.mean**2 / self.slab - 1.0 - xp.log(ratio))
        # pi log(pi / p) + (1 - pi) log((1 - pi) / (1 - p)), log expit(a) = -log(1 + exp(-a))
        zero = xp.zeros_like(self.logits)
        on = expit(self.logits) * (-xp.logaddexp(zero, -self.logits) - xp.log(self.probability))
        off = expit(-self.logits) * (-xp.logaddexp(zero, self.logits) - xp.log1p(-self.probability))
        return xp.sum(slabs + on + off)

    def quantile(self, probability: float) -> np.ndarray:
        """The quantile of the discrete q, which has mass 1 - pi at exactly zero."""
        check_probability(probability)
        mean, sd, logits = (np.asarray(a) for a in (self.mean, np.sqrt(self.variance), self.logits))
        pi = NUMPY.special.expit(logits)
        # P(w < 0) = pi Phi(-mean / sd), P(w > 0) = pi Phi(mean / sd), and zero lies between
        below = probability < pi * NUMPY.special.ndtr(-mean / sd)
        above = 1.0 - probability < pi * NUMPY.special.ndtr(mean / sd)
        lower = mean + sd * ndtri(np.where(below, probability / pi, 0.5))
        upper = mean - sd * ndtri(np.where(above, (1.0 - probability) / pi, 0.5))
        return np.where(below, lower, np.where(above, upper, 0.0))

    def weigh(self, u: np.ndarray, noise: np.ndarray) -> Weighed:
        at = self.with_vector(u)
        v, s, z = at.relaxed(noise, NUMPY)
        sd, pi = np.sqrt(at.variance), NUMPY.special.expit(at.logits)
        odds = np.log(at.probability) - np.log1p(-at.probability)

        def pull(dw2: np.ndarray) -> np.ndarray:
            dw = 2.0 * dw2 * v * s
            by_mean = np.sum(dw * s, axis=0) - at.mean / at.slab
            by_log_variance = 0.5 * np.sum(dw * s * z, axis=0) * sd - 0.5 * (at.variance / at.slab - 1.0)
            by_logits = np.sum(dw * v * s * (1.0 - s), axis=0) / at.temperature - pi * (1.0 - pi) * (at.logits - odds)
            return np.concatenate([by_mean, by_log_variance, by_logits])

        return Weighed((v * s) ** 2, float(at.kl()), pull)


def _log_softmax(logits: Any, world: World) -> Any:
    return logits - world.special.logsumexp(logits)


StochasticPrior = Horseshoe | ComparedPrior
"""The priors of the stochastic bound."""
PRIORS: dict[str, type[Horseshoe | NoPrior | Softmax | SpikeAndSlab]] = {
    "horseshoe": Horseshoe,
    "none": NoPrior,
    "softmax": Softmax,
    "spike-and-slab": SpikeAndSlab,
}
"""The priors on the weights, by name."""


def draw(prior: StochasticPrior, noise: Any, world: World = NUMPY) -> Any:
    """A draw of w from q, (S, m), for each row of standard normal noise (S, E).

    For the horseshoe the first column of the noise is for tau, which all weights of a draw share.
    """
    if not isinstance(prior, Horseshoe):
        return prior.draw(noise, world)
    xp = world.xp
    # log w_i^2 = log tau^2 + log lambda_i^2 ~ N(mu_tau + mu_i, v_tau + v_i)
    # Deviation: the paper multiplies one normal by sigma_tau + sigma_lambda; variances add, not
    # deviations, and weights of one draw share tau but not lambda.
    log_tau2 = prior.mu_tau + xp.sqrt(prior.v_tau) * noise[:, :1]
    log_lambda2 = prior.mu[None, :] + xp.sqrt(prior.v)[None, :] * noise[:, 1:]
    # Deviation: the paper equates exp of that log with tau^2 lambda^2 and with tau lambda; w is its root.
    return xp.exp(0.5 * (log_tau2 + log_lambda2))


def kl(prior: StochasticPrior, world: World = NUMPY) -> Any:
    """KL(q || p); that of the horseshoe has the auxiliary variables, as in the paper."""
    if not isinstance(prior, Horseshoe):
        return prior.kl(world)
    terms = half_cauchy_kl(prior.mu, prior.v, prior.B, world)
    return half_cauchy_kl(prior.mu_tau, prior.v_tau, prior.A, world) + world.xp.sum(terms)


def half_cauchy_kl(mu: Any, v: Any, scale: Any, world: World = NUMPY) -> Any:
    """KL( LogNormal(s^2; mu, v) IG(phi; 1, r) || p(s^2 | phi) p(phi) ) at the optimal r; `scale` is c."""
    # log r = log(exp(-mu + v/2) + c^-2)
    # Deviation: the paper prints the rate of phi's prior as 1/c in one place and as 1/c^2 in another; a
    # half-Cauchy of scale c has 1/c^2.
    log_r = world.xp.logaddexp(-mu + 0.5 * v, -2.0 * world.xp.log(scale))
    # KL = -H[q(s^2)] - H[q(phi)] - E log p(s^2 | phi) - E log p(phi), where
    #   H[q(s^2)] = mu + log(2 pi e v)/2                 H[q(phi)] = 1 + log r + 2 gamma
    #   E log p(s^2 | phi) = -(log r + gamma)/2 - log(pi)/2 - 3 mu/2 - exp(-mu + v/2)/r
    #   E log p(phi)       = -log c - log(pi)/2 - 3 (log r + gamma)/2 - c^-2/r
    # in which gamma (Euler's) and the last two terms, whose sum is -1, cancel.
    # Deviation: the paper prints the sum of these entropies and expectations as the KL; it is minus the KL.
    return 0.5 * mu - 0.5 * world.xp.log(2.0 * np.pi * np.e * v) + log_r + world.xp.log(np.pi * scale)
