"""Priors on the weights w of f(x) = sum_i w_i g_i(x), each with its variational posterior q(w).

A prior here is the pair p(w), q(w): it holds the parameters of q, draws from q, and tells KL(q || p), so that

    L = E_q(w)[ F(w) ] - KL(q(w) || p(w))

needs nothing else. Draws are a deterministic function of standard normal noise: random noise gives the
stochastic bound, `quasi_normal` a smooth one, the same at every call. The horseshoe is in horseshoe.py; here
are no prior at all, the choice of one kernel (softmax), and the spike and slab. All start with sum_i w_i^2
about 1.
"""

from abc import abstractmethod
from functools import lru_cache
from typing import final

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.nn import log_sigmoid, log_softmax, sigmoid
from jax.scipy.special import log_ndtr, ndtri
from jaxtyping import Float
from scipy.special import ndtri as numpy_ndtri
from scipy.stats import qmc

from farrier.kernels.parameters import Module, as_array, fixed, positive, real


@lru_cache(maxsize=64)
def quasi_normal(draws: int, size: int) -> Float[np.ndarray, "S E"]:
    """Fixed points that stand for `draws` samples of a standard normal in `size` dimensions.

    Scrambled Sobol points through the normal quantile, then moved a little so that the moments are right:
    every column has mean 0 and variance 1, and when there are more draws than dimensions the columns are
    uncorrelated, so that quadratic functions of the noise are integrated exactly. A single draw is the
    median. All who ask for the same share one array, which cannot be written to.
    """
    if draws < 1 or draws & (draws - 1):
        raise ValueError(f"draws={draws}: Sobol points come in powers of two; try 1, 2, 4, 8, 16, ...")
    if draws == 1 or size == 0:
        return _kept(np.zeros((draws, size)))
    points = qmc.Sobol(size, scramble=True, rng=np.random.default_rng(0)).random_base2(draws.bit_length() - 1)
    Z = numpy_ndtri(points)
    Z = Z - Z.mean(axis=0)
    Z = Z / np.sqrt((Z**2).mean(axis=0))
    if draws <= size:
        return _kept(Z)
    # Z = U D V': the nearest matrix with Z'Z / S = I is sqrt(S) U V'
    U, _, Vt = np.linalg.svd(Z, full_matrices=False)
    return _kept(np.sqrt(draws) * (U @ Vt))


def _kept(Z: np.ndarray) -> np.ndarray:
    Z.flags.writeable = False
    return Z


def starting_weight(m: int) -> float:
    """1 / sqrt(m): the m weights with which f has unit variance, which is that of a standardised y."""
    if m < 1:
        raise ValueError(f"m={m}: a model needs at least one kernel")
    return 1.0 / float(np.sqrt(m))


def check_probability(probability: float) -> None:
    """Refuse what is no probability."""
    if not 0.0 < probability < 1.0:
        raise ValueError(f"probability={probability}: give a number between 0 and 1; 0.5 is the median")


class WeightPrior(Module):
    """A prior p(w) together with its variational posterior q(w)."""

    @property
    @abstractmethod
    def noise_size(self) -> int:
        """How many independent standard normals one draw of w takes."""

    @abstractmethod
    def draw(self, noise: Float[Array, "S E"]) -> Float[Array, "S m"]:
        """A draw of w from q for each row of standard normal noise."""

    @abstractmethod
    def kl(self) -> Float[Array, ""]:
        """KL(q || p)."""

    @abstractmethod
    def quantile(self, probability: float) -> Float[Array, " m"]:
        """The quantile of each w_i alone under q."""


@final
class NoPrior(WeightPrior):
    """Weights that are plain parameters: q is a point, and nothing is paid for it."""

    w: Float[Array, " m"] = positive()

    @classmethod
    def initial(cls, m: int) -> "NoPrior":
        """Every weight 1 / sqrt(m)."""
        return cls(w=as_array(np.full(m, starting_weight(m))))

    @property
    def noise_size(self) -> int:
        """None is needed."""
        return 0

    def draw(self, noise: Float[Array, "S E"]) -> Float[Array, "S m"]:
        """The weights, once for each row."""
        return jnp.broadcast_to(jnp.asarray(self.w), (noise.shape[0], *self.w.shape))

    def kl(self) -> Float[Array, ""]:
        """Zero."""
        return jnp.zeros((), jnp.asarray(self.w).dtype)

    def quantile(self, probability: float) -> Float[Array, " m"]:
        """The weights, whatever the probability."""
        check_probability(probability)
        return jnp.asarray(self.w)


@final
class Softmax(WeightPrior):
    """One of the m kernels is the right one: c ~ Uniform(1..m), q(c) = Categorical(pi), pi = softmax(logits).

    The model uses the deterministic form, in which every kernel has its expected variance under q,
    w_i^2 = E_q[ scale^2 1(c = i) ] = scale^2 pi_i; the KL is that of the choice c.
    """

    logits: Float[Array, " m"] = real()
    scale: Float[Array, ""] = positive()

    @classmethod
    def initial(cls, m: int) -> "Softmax":
        """All kernels alike, with w_i = 1 / sqrt(m)."""
        return cls(logits=as_array(np.zeros(m)), scale=as_array(starting_weight(m) * np.sqrt(m)))

    @property
    def noise_size(self) -> int:
        """None is needed."""
        return 0

    def weights(self) -> Float[Array, " m"]:
        """scale * sqrt(pi_i)."""
        return self.scale * jnp.exp(0.5 * log_softmax(self.logits))

    def draw(self, noise: Float[Array, "S E"]) -> Float[Array, "S m"]:
        """The weights, once for each row."""
        w = self.weights()
        return jnp.broadcast_to(w, (noise.shape[0], *w.shape))

    def kl(self) -> Float[Array, ""]:
        """KL( Categorical(pi) || Uniform )."""
        # sum_i pi_i log pi_i + log m
        log_pi = log_softmax(self.logits)
        return jnp.sum(jnp.exp(log_pi) * log_pi) + np.log(log_pi.shape[0])

    def quantile(self, probability: float) -> Float[Array, " m"]:
        """The weights, whatever the probability."""
        check_probability(probability)
        return self.weights()


@final
class SpikeAndSlab(WeightPrior):
    """w_i = v_i s_i with v_i ~ N(0, slab), s_i ~ Bernoulli(probability); q(v_i) q(s_i) of the same families.

    A Bernoulli draw has no gradient, so `draw` relaxes it to a number between 0 and 1 (a binary concrete
    variable, nearer to 0 or 1 the lower the temperature), while `kl` and `quantile` are those of the discrete
    s. The two agree only as the temperature goes to 0; above it the bound is approximate. w has a sign, which
    w^2 and hence the model do not see.
    """

    mean: Float[Array, " m"] = real()
    variance: Float[Array, " m"] = positive()
    logits: Float[Array, " m"] = real()
    probability: Float[Array, ""] = fixed()
    slab: Float[Array, ""] = fixed()
    temperature: Float[Array, ""] = fixed()

    @classmethod
    def initial(cls, m: int, probability: float = 0.5, slab: float = 1.0, temperature: float = 0.5) -> "SpikeAndSlab":
        """q(s) = p(s), and slabs well away from zero such that E w_i^2 = 1 / m."""
        check_probability(probability)
        if min(slab, temperature) <= 0.0:
            raise ValueError(f"slab={slab}, temperature={temperature}: both must be positive; try 1.0, 0.5")
        # E w^2 = probability (mean^2 + variance), variance = mean^2 / 10
        mean = starting_weight(m) / np.sqrt(1.1 * probability)
        logit = np.log(probability) - np.log1p(-probability)
        return cls(
            mean=as_array(np.full(m, mean)),
            variance=as_array(np.full(m, 0.1 * mean**2)),
            logits=as_array(np.full(m, logit)),
            probability=as_array(probability),
            slab=as_array(slab),
            temperature=as_array(temperature),
        )

    @property
    def noise_size(self) -> int:
        """One normal for each slab and one for each switch."""
        return 2 * self.mean.shape[0]

    def draw(self, noise: Float[Array, "S E"]) -> Float[Array, "S m"]:
        """Relaxed draws: v_i = mean + sd z,  s_i = sigmoid((logit + l) / temperature), l logistic."""
        z, gate = jnp.split(noise, 2, axis=1)
        v = self.mean[None, :] + jnp.sqrt(self.variance)[None, :] * z
        # l = log u - log(1 - u) with u = Phi(gate), each logarithm exact in its own tail
        logistic = log_ndtr(gate) - log_ndtr(-gate)
        return v * sigmoid((self.logits[None, :] + logistic) / self.temperature)

    def kl(self) -> Float[Array, ""]:
        """Sum of KL( N(mean, variance) || N(0, slab) ) and KL( Bernoulli(pi) || Bernoulli(probability) )."""
        # ((variance + mean^2) / slab - 1 - log(variance / slab)) / 2
        ratio = self.variance / self.slab
        slabs = 0.5 * (ratio + self.mean**2 / self.slab - 1.0 - jnp.log(ratio))
        # pi log(pi / p) + (1 - pi) log((1 - pi) / (1 - p))
        on = sigmoid(self.logits) * (log_sigmoid(self.logits) - jnp.log(self.probability))
        off = sigmoid(-self.logits) * (log_sigmoid(-self.logits) - jnp.log1p(-self.probability))
        return jnp.sum(slabs + on + off)

    def quantile(self, probability: float) -> Float[Array, " m"]:
        """The quantile of the discrete q, which has mass 1 - pi at exactly zero."""
        check_probability(probability)
        sd, pi = jnp.sqrt(self.variance), sigmoid(self.logits)
        # P(w < 0) = pi Phi(-mean / sd), P(w > 0) = pi Phi(mean / sd), and zero lies between
        below = probability < pi * jnp.exp(log_ndtr(-self.mean / sd))
        above = 1.0 - probability < pi * jnp.exp(log_ndtr(self.mean / sd))
        lower = self.mean + sd * ndtri(jnp.where(below, probability / pi, 0.5))
        upper = self.mean - sd * ndtri(jnp.where(above, (1.0 - probability) / pi, 0.5))
        return jnp.where(below, lower, jnp.where(above, upper, 0.0))
