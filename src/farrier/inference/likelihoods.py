"""Likelihoods p(y | f), each with the three integrals over f ~ N(mean, variance) that a model asks for:

    expected_log  E log p(y | f)   in the bound        log_density  log E p(y | f)   of held-out data
    predict       mean and variance of y

What has no closed form is an integral over one variable of an analytic function that vanishes at both ends,
on which the trapezoidal rule converges exponentially. `_nodes` is that rule. The ends follow the integrand,
which outside them is less than e^-REACH of its peak. (Gauss-Hermite nodes follow the normal alone: 64 of them
are off by more than half in the density of a Student-t of scale 0.1, or of a count of 50, when f has variance
10.)
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.nn import log_sigmoid
from jax.scipy.special import betaln, gammaln, log_ndtr, logsumexp
from jax.typing import ArrayLike
from jaxtyping import Float

from farrier.kernels.parameters import as_array, positive

NODES = 64
REACH = 20.0
Vector = Float[Array, " N"]


def _nodes(low: Vector, high: Vector) -> tuple[Float[Array, "Q N"], Vector]:
    """Equally spaced points from low to high (constants to the derivative), and the weight of each."""
    low, high = lax.stop_gradient(low), lax.stop_gradient(high)
    fraction = jnp.linspace(0.0, 1.0, NODES, dtype=low.dtype)[:, None]
    return low[None, :] + fraction * (high - low)[None, :], (high - low) / (NODES - 1)


def _log_integral(log_integrand: Callable[[Array], Array], low: Vector, high: Vector) -> Vector:
    """log of the integral of exp(log_integrand(u)) over u."""
    u, step = _nodes(low, high)
    return logsumexp(log_integrand(u), axis=0) + jnp.log(step)


def _reach(a: Array) -> tuple[Array, Array]:
    """How far exp(a (u - e^u)) extends below and above its peak, which is at 0."""
    # a (e^u - 1 - u) = REACH: u^2 / 2 near the peak, linear far below, exponential far above
    below = REACH / a + jnp.sqrt(2.0 * REACH / a)
    return below, jnp.log1p(below)


def _floor(variance: Vector) -> Vector:
    """Variances that a square root can be differentiated at."""
    return jnp.maximum(variance, jnp.finfo(variance.dtype).eps)


def _log_normal(distance: Array, variance: ArrayLike) -> Array:
    """log N(distance; 0, variance)."""
    return -0.5 * (jnp.log(2.0 * jnp.pi * variance) + distance**2 / variance)


class Likelihood(eqx.Module):
    """The distribution of an observation y given the value f of the function at its place."""

    @abstractmethod
    def expected_log(self, y: Vector, mean: Vector, variance: Vector) -> Vector:
        """E log p(y | f) for f ~ N(mean, variance)."""

    @abstractmethod
    def predict(self, mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
        """Mean and variance of y."""

    @abstractmethod
    def log_density(self, y: Vector, mean: Vector, variance: Vector) -> Vector:
        """log E p(y | f) for f ~ N(mean, variance)."""


@final
class Gaussian(Likelihood):
    """y | f ~ N(f, variance)."""

    variance: Float[Array, ""] = positive()

    def expected_log(self, y: Vector, mean: Vector, variance: Vector) -> Vector:
        """log N(y; mean, noise) - variance / (2 noise)."""
        return _log_normal(y - mean, self.variance) - 0.5 * variance / self.variance

    def predict(self, mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
        """The variances add."""
        return mean, variance + self.variance

    def log_density(self, y: Vector, mean: Vector, variance: Vector) -> Vector:
        """log N(y; mean, variance + noise)."""
        return _log_normal(y - mean, variance + self.variance)


@final
class Bernoulli(Likelihood):
    """y in {0, 1}, P(y = 1 | f) = Phi(f) for the link "probit", 1 / (1 + e^-f) for "logit"."""

    link: str = eqx.field(static=True, default="probit")

    def __check_init__(self):
        if self.link not in ("probit", "logit"):
            raise ValueError(f'link={self.link!r} is not known: use "probit" or "logit"')

    def log_probability(self, f: Array) -> Array:
        """log P(y = 1 | f), exact in both tails."""
        return log_ndtr(f) if self.link == "probit" else log_sigmoid(f)

    def expected_log(self, y: Vector, mean: Vector, variance: Vector) -> Vector:
        """E log P(y = 1 | +-f), the sign being that of y - 1/2."""
        z, step = _nodes(jnp.full_like(mean, -8.0), jnp.full_like(mean, 8.0))
        f = mean[None, :] + jnp.sqrt(_floor(variance))[None, :] * z
        sign = 2.0 * y - 1.0
        weight = jnp.exp(_log_normal(z, 1.0)) * step[None, :]
        return jnp.sum(weight * self.log_probability(sign[None, :] * f), axis=0)

    def predict(self, mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
        """p = P(y = 1) and p (1 - p)."""
        one, zero = (jnp.exp(self.log_density(y, mean, variance)) for y in (jnp.ones_like(mean), 0.0 * mean))
        return one, one * zero

    def log_density(self, y: Vector, mean: Vector, variance: Vector) -> Vector:
        """log P(y)."""
        sign = 2.0 * y - 1.0
        if self.link == "probit":
            # E Phi(f) = Phi(mean / sqrt(1 + variance))
            return log_ndtr(sign * mean / jnp.sqrt(1.0 + variance))
        mean, sd = (sign * mean)[None, :], jnp.sqrt(_floor(variance))[None, :]
        ends = jnp.full_like(variance, 8.0)
        return _log_integral(lambda z: _log_normal(z, 1.0) + log_sigmoid(mean + sd * z), -ends, ends)


@final
class StudentT(Likelihood):
    """y = f + scale * t with `degrees` of freedom: heavy tails, so that outliers do not bend f.

    degrees = 2 + excess, so that y always has a variance. Both integrals exchange f for a variable given
    which the one over f is Gaussian, and so known: they are exact however narrow the likelihood is beside
    q(f).
    """

    scale: Float[Array, ""] = positive()
    excess: Float[Array, ""] = positive()

    @classmethod
    def with_degrees(cls, scale: float, degrees: float) -> "StudentT":
        """The likelihood with these degrees of freedom, more than two."""
        if degrees <= 2.0:
            raise ValueError(f"degrees={degrees}: with two or fewer y has no variance; try 3.0 or more")
        return cls(as_array(scale), as_array(degrees - 2.0))

    @property
    def degrees(self) -> Float[Array, ""]:
        """More than two."""
        return 2.0 + jnp.asarray(self.excess)

    def expected_log(self, y: Vector, mean: Vector, variance: Vector) -> Vector:
        """-log B(1/2, d/2) - log(d scale^2)/2 - (d + 1)/2 E log(1 + (y - f)^2 / (d scale^2)), d degrees."""
        # log(1 + x) = int_0^inf (1 - e^-tx) e^-t dt/t, where x = (y - f)^2 / b, b = d scale^2, and
        # E e^-tx = (1 + 2tV)^(-1/2) exp(-t k / (1 + 2tV)), where k = (y - mean)^2 / b, V = variance / b.
        # Over log t it rises as t (k + V) and falls as e^-t
        d = self.degrees
        b = d * self.scale**2
        k, V = (y - mean) ** 2 / b, variance / b
        log_t, step = _nodes(-REACH - jnp.log1p(k + V), jnp.full_like(k, np.log(REACH)))
        t = jnp.exp(log_t)
        spread = 2.0 * t * V[None, :]
        gone = -jnp.expm1(-0.5 * jnp.log1p(spread) - t * k[None, :] / (1.0 + spread))
        expected_log1p = jnp.sum(jnp.exp(-t) * gone, axis=0) * step
        return -betaln(0.5 * d, jnp.full_like(d, 0.5)) - 0.5 * jnp.log(b) - 0.5 * (d + 1.0) * expected_log1p

    def predict(self, mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
        """The variances add; a t with d degrees has variance d / (d - 2)."""
        return mean, variance + self.scale**2 * self.degrees / self.excess

    def log_density(self, y: Vector, mean: Vector, variance: Vector) -> Vector:
        """log of int Gamma(g; a, a) N(y; mean, variance + scale^2 / g) dg, a = degrees/2, over u = log g."""
        # y | f, g ~ N(f, scale^2 / g), g ~ Gamma(a, a) is a Student-t
        a = 0.5 * self.degrees
        distance = y - mean
        # a priori u is spread as exp(a (u - e^u)); an outlier wants a small g, in the extreme (variance = 0)
        # Gamma(a + 1/2, a + (y - mean)^2 / 2 scale^2)
        small = jnp.log((a + 0.5) / (a + 0.5 * (distance / self.scale) ** 2))
        low, high = jnp.minimum(small, 0.0) - _reach(a + 0.5)[0], jnp.zeros_like(mean) + _reach(a)[1]
        log_constant = a * jnp.log(a) - gammaln(a)

        def log_integrand(u):
            spread = variance[None, :] + self.scale**2 * jnp.exp(-u)
            return log_constant + a * (u - jnp.exp(u)) + _log_normal(distance[None, :], spread)

        return _log_integral(log_integrand, low, high)


@final
class Poisson(Likelihood):
    """y in {0, 1, 2, ...} with rate e^f."""

    def expected_log(self, y: Vector, mean: Vector, variance: Vector) -> Vector:
        """y mean - E e^f - log y!."""
        return y * mean - jnp.exp(mean + 0.5 * variance) - gammaln(y + 1.0)

    def predict(self, mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
        """The rate is log-normal: E y = E e^f, Var y = E e^f + Var e^f."""
        rate = jnp.exp(mean + 0.5 * variance)
        return rate, rate + rate**2 * jnp.expm1(variance)

    def log_density(self, y: Vector, mean: Vector, variance: Vector) -> Vector:
        """log of int Poisson(y; e^f) N(f; mean, variance) df, over x = f - mean around the peak."""
        V = _floor(variance)
        # The peak solves y - e^f = (f - mean) / V; with l = f + log V, l + e^l = k: Newton's steps fall to l
        k = lax.stop_gradient(mean + V * y + jnp.log(V))
        log_root = jnp.where(k > 1.0, jnp.log(jnp.maximum(k, 1.0)), k)
        for _ in range(6):
            log_root = log_root - (log_root + jnp.exp(log_root) - k) / (1.0 + jnp.exp(log_root))
        peak = log_root - lax.stop_gradient(jnp.log(V) + mean)
        # The integrand falls as fast as the normal and as exp(rate (u - e^u)), rate = e^f at the peak
        normal = jnp.sqrt(2.0 * REACH * V)
        below, above = _reach(jnp.exp(log_root) / V)

        def log_integrand(x):
            f = mean[None, :] + x
            log_poisson = y[None, :] * f - jnp.exp(f) - gammaln(y + 1.0)[None, :]
            return log_poisson + _log_normal(x, V[None, :])

        low, high = peak - jnp.minimum(normal, below), peak + jnp.minimum(normal, above)
        return _log_integral(log_integrand, low, high)
