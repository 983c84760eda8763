"""Likelihoods p(y | f), each with three integrals over f ~ N(mean, variance):

    expected_log  E log p(y | f), for the bound        log_density  log E p(y | f), for held-out data
    predict       mean and variance of y

and `slopes`, the derivatives of `expected_log` with respect to mean and variance, for Gaussian sites
(gaussian_sites.py).

Integrals without a closed form are over one variable, of an analytic function that vanishes at both ends; the
trapezoidal rule (`_nodes`) then converges exponentially. The ends are chosen for each integrand, so that it is below
e^-REACH of its peak outside them. (64 Gauss-Hermite nodes are placed for the normal density alone. When f has variance
10, they are wrong by more than half for a Student-t likelihood of scale 0.1, or for a Poisson count of 50.)

Formulas work with numpy and with jax (arrays.py). y, mean and variance are vectors (N,).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import gammaincinv, ndtri, stdtrit

from farrier.inference.arrays import NUMPY, World
from farrier.kernels.parameters import check_fields, positive

NODES = 64
"""Points of the trapezoidal rule; errors are below 1e-8 for all likelihoods here (measured by the tests)."""
REACH = 20.0
"""Nats below the peak at which an integrand counts as zero: e^-20 is 2e-9. By judgement."""
NORMAL_REACH = 8.0
"""Standard deviations beyond which a normal density counts as zero: it is below 1e-14 there. By judgement."""

NORMALS = 32
"""Normals in the mixture for a Student-t: with 2.5 degrees or more its 95 and 99 % intervals are at most 1 and 7 % too
short. Measured."""
FEWEST_NORMALS = 4
"""Normals for each of many draws of the parameters, which have other values of g each. By judgement."""


def _nodes(low: Any, high: Any, world: World) -> tuple[Any, Any]:
    """Equally spaced points from low to high, (Q, N), and their weight, (N,). Derivatives treat them as constants."""
    low, high = world.constant(low), world.constant(high)
    fraction = world.xp.linspace(0.0, 1.0, NODES, dtype=low.dtype)[:, None]
    return low[None, :] + fraction * (high - low)[None, :], (high - low) / (NODES - 1)


def _log_integral(log_integrand: Callable[[Any], Any], low: Any, high: Any, world: World) -> Any:
    """log of the integral of exp(log_integrand(u)) over u."""
    u, step = _nodes(low, high, world)
    return world.special.logsumexp(log_integrand(u), axis=0) + world.xp.log(step)


def _reach(a: Any, world: World) -> tuple[Any, Any]:
    """How far exp(a (u - e^u)) extends below and above its peak, which is at 0."""
    # a (e^u - 1 - u) = REACH: u^2 / 2 near the peak, linear far below, exponential far above
    below = REACH / a + world.xp.sqrt(2.0 * REACH / a)
    return below, world.xp.log1p(below)


def _floor(variance: Any, world: World) -> Any:
    """Variances, bounded away from zero so that their square root has a derivative."""
    return world.xp.maximum(variance, world.xp.finfo(variance.dtype).eps)


def _log_normal(distance: Any, variance: Any, world: World) -> Any:
    """log N(distance; 0, variance)."""
    return -0.5 * (world.xp.log(2.0 * np.pi * variance) + distance**2 / variance)


@dataclass(frozen=True, eq=False)
class Likelihood(ABC):
    """The distribution of an observation y given the value f of the latent function."""

    def __post_init__(self) -> None:
        check_fields(self)

    @abstractmethod
    def expected_log(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """E log p(y | f) for f ~ N(mean, variance)."""

    @abstractmethod
    def slopes(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives of `expected_log` by the mean, E d log p / df, and the variance, E d^2 log p / df^2 / 2."""

    @abstractmethod
    def predict(self, mean: Any, variance: Any, world: World = NUMPY) -> tuple[Any, Any]:
        """Mean and variance of y."""

    @abstractmethod
    def log_density(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """log E p(y | f) for f ~ N(mean, variance)."""

    def normals(
        self, mean: np.ndarray, variance: np.ndarray, part: tuple[int, int] = (0, 1)
    ) -> tuple[np.ndarray, np.ndarray]:
        """The distribution of y as an equal mixture of normals: means and variances, (K, N) each.

        One normal with the mean and variance of y, unless the likelihood says otherwise. If the parameters are drawn,
        `part` is the number of the draw and that of all draws: each of many draws needs only a few normals.
        """
        mean, variance = self.predict(mean, variance)
        return mean[None], variance[None]


@final
@dataclass(frozen=True, eq=False)
class Gaussian(Likelihood):
    """y | f ~ N(f, variance)."""

    variance: Any = positive()

    def expected_log(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """log N(y; mean, noise) - variance / (2 noise)."""
        return _log_normal(y - mean, self.variance, world) - 0.5 * variance / self.variance

    def slopes(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (y - mean) / self.variance, np.full_like(mean, -0.5 / self.variance)

    def predict(self, mean: Any, variance: Any, world: World = NUMPY) -> tuple[Any, Any]:
        """The variances add."""
        return mean, variance + self.variance

    def log_density(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """log N(y; mean, variance + noise)."""
        return _log_normal(y - mean, variance + self.variance, world)


@final
@dataclass(frozen=True, eq=False)
class Bernoulli(Likelihood):
    """y in {0, 1}, P(y = 1 | f) = Phi(f) for the link "probit", 1 / (1 + e^-f) for "logit"."""

    link: str = "probit"

    def __post_init__(self) -> None:
        if self.link not in ("probit", "logit"):
            raise ValueError(f'link={self.link!r} is not known: use "probit" or "logit"')

    def log_probability(self, f: Any, world: World = NUMPY) -> Any:
        """log P(y = 1 | f), exact in both tails."""
        if self.link == "probit":
            return world.special.log_ndtr(f)
        return -world.xp.logaddexp(world.xp.zeros_like(f), -f)

    def expected_log(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """E log P(y = 1 | s f) with s the sign of y - 1/2."""
        f, _, weight = self._at_nodes(mean, variance, world)
        sign = 2.0 * y - 1.0
        return world.xp.sum(weight * self.log_probability(sign[None, :] * f, world), axis=0)

    def slopes(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        f, z, weight = self._at_nodes(mean, variance, NUMPY)
        sign = (2.0 * y - 1.0)[None, :]
        if self.link == "probit":
            # phi / Phi, exact in both tails
            ratio = np.exp(-0.5 * f**2 - NUMPY.special.log_ndtr(sign * f)) / np.sqrt(2.0 * np.pi)
        else:
            ratio = NUMPY.special.expit(-sign * f)
        by_f = weight * sign * ratio
        sd = np.sqrt(_floor(variance, NUMPY))
        return np.sum(by_f, axis=0), np.sum(by_f * z, axis=0) / (2.0 * sd)

    def _at_nodes(self, mean: Any, variance: Any, world: World) -> tuple[Any, Any, Any]:
        """f = mean + sd z at the nodes z, the nodes, and their weights, (Q, N) each."""
        ends = world.xp.full_like(mean, NORMAL_REACH)
        z, step = _nodes(-ends, ends, world)
        f = mean[None, :] + world.xp.sqrt(_floor(variance, world))[None, :] * z
        return f, z, world.xp.exp(_log_normal(z, 1.0, world)) * step[None, :]

    def predict(self, mean: Any, variance: Any, world: World = NUMPY) -> tuple[Any, Any]:
        """p = P(y = 1) and p (1 - p)."""
        ones = world.xp.ones_like(mean)
        one, zero = (world.xp.exp(self.log_density(y, mean, variance, world)) for y in (ones, 0.0 * ones))
        return one, one * zero

    def log_density(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """log P(y)."""
        sign = 2.0 * y - 1.0
        if self.link == "probit":
            # E Phi(f) = Phi(mean / sqrt(1 + variance))
            return world.special.log_ndtr(sign * mean / world.xp.sqrt(1.0 + variance))
        mean, sd = (sign * mean)[None, :], world.xp.sqrt(_floor(variance, world))[None, :]
        ends = world.xp.full_like(variance, NORMAL_REACH)
        return _log_integral(
            lambda z: _log_normal(z, 1.0, world) + self.log_probability(mean + sd * z, world), -ends, ends, world
        )


@final
@dataclass(frozen=True, eq=False)
class StudentT(Likelihood):
    """y = f + scale * t, t with `degrees` of freedom: heavy tails, so outliers have little influence on f.

    degrees = 2 + excess, so y always has a variance. Both integrals introduce an auxiliary variable, given which the
    integral over f is Gaussian and in closed form. So they are accurate even if the likelihood is much narrower than
    q(f).
    """

    scale: Any = positive()
    excess: Any = positive()

    @classmethod
    def with_degrees(cls, scale: float, degrees: float) -> "StudentT":
        """The likelihood with given degrees of freedom, which must exceed two."""
        if degrees <= 2.0:
            raise ValueError(f"degrees={degrees}: with two or fewer y has no variance; try 3.0 or more")
        return cls(np.asarray(scale), np.asarray(degrees - 2.0))

    @property
    def degrees(self) -> Any:
        """Degrees of freedom, more than two."""
        return 2.0 + self.excess

    def expected_log(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """-log B(1/2, d/2) - log(d scale^2)/2 - (d + 1)/2 E log(1 + (y - f)^2 / (d scale^2)), d degrees."""
        # log(1 + x) = int_0^inf (1 - e^-tx) e^-t dt/t, where x = (y - f)^2 / b, b = d scale^2
        xp, d = world.xp, self.degrees
        t, step, log_left, _ = self._at_times(y, mean, variance, world)
        expected_log1p = xp.sum(xp.exp(-t) * -xp.expm1(log_left), axis=0) * step
        b = d * self.scale**2
        log_beta = world.special.betaln(0.5 * d, 0.5 * xp.ones_like(d))
        return -log_beta - 0.5 * xp.log(b) - 0.5 * (d + 1.0) * expected_log1p

    def slopes(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        d = self.degrees
        b = d * self.scale**2
        t, step, log_left, spread = self._at_times(y, mean, variance, NUMPY)
        k = ((y - mean) ** 2 / b)[None, :]
        # d log_left / dk = -t / (1 + 2tV), d log_left / dV = -t / (1 + 2tV) + 2 t^2 k / (1 + 2tV)^2
        weight = np.exp(log_left - t)
        by_k = np.sum(weight * t / (1.0 + spread), axis=0) * step
        by_V = np.sum(weight * (t / (1.0 + spread) - 2.0 * t**2 * k / (1.0 + spread) ** 2), axis=0) * step
        size = 0.5 * (d + 1.0)
        return size * by_k * 2.0 * (y - mean) / b, -size * by_V / b

    def _at_times(self, y: Any, mean: Any, variance: Any, world: World) -> tuple[Any, Any, Any, Any]:
        """Nodes t, their weight in log t, log E e^-tx, and 2tV, where x = (y - f)^2 / b, V = variance / b.

        E e^-tx = (1 + 2tV)^(-1/2) exp(-t k / (1 + 2tV)), where k = (y - mean)^2 / b. Over log t the integrand rises as
        t (k + V) and falls as e^-t.
        """
        xp, b = world.xp, self.degrees * self.scale**2
        k, V = (y - mean) ** 2 / b, variance / b
        log_t, step = _nodes(-REACH - xp.log1p(k + V), xp.full_like(k, np.log(REACH)), world)
        t = xp.exp(log_t)
        spread = 2.0 * t * V[None, :]
        return t, step, -0.5 * xp.log1p(spread) - t * k[None, :] / (1.0 + spread), spread

    def predict(self, mean: Any, variance: Any, world: World = NUMPY) -> tuple[Any, Any]:
        """The variances add; a t with d degrees has variance d / (d - 2)."""
        return mean, variance + self.scale**2 * self.degrees / self.excess

    @property
    def ordinary_variance(self) -> float:
        """The variance of a normal with the same quartiles: that of the noise where it is not an outlier."""
        return float(self.scale * stdtrit(self.degrees, 0.75) / ndtri(0.75)) ** 2

    def normals(
        self, mean: np.ndarray, variance: np.ndarray, part: tuple[int, int] = (0, 1)
    ) -> tuple[np.ndarray, np.ndarray]:
        """y | f, g ~ N(f, scale^2 / g), g ~ Gamma(d/2, d/2) at equally likely values of g, others for each draw."""
        number, draws = part
        a, count = 0.5 * float(self.degrees), max(-(-NORMALS // draws), FEWEST_NORMALS)
        g = gammaincinv(a, (np.arange(count) + (number + 0.5) / draws) / count) / a
        noise = float(self.scale) ** 2 / g
        return np.broadcast_to(mean, (count, len(mean))), variance + noise[:, None]

    def log_density(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """log of int Gamma(g; a, a) N(y; mean, variance + scale^2 / g) dg, a = degrees/2, over u = log g."""
        # y | f, g ~ N(f, scale^2 / g), g ~ Gamma(a, a) is a Student-t
        xp, a = world.xp, 0.5 * self.degrees
        distance = y - mean
        # the prior density of u is exp(a (u - e^u)); for an outlier the posterior of g moves to small values, at most
        # (variance = 0) to Gamma(a + 1/2, a + (y - mean)^2 / 2 scale^2)
        small = xp.log((a + 0.5) / (a + 0.5 * (distance / self.scale) ** 2))
        low = xp.minimum(small, 0.0) - _reach(a + 0.5, world)[0]
        high = xp.zeros_like(mean) + _reach(a, world)[1]
        log_constant = a * xp.log(a) - world.special.gammaln(a)

        def log_integrand(u: Any) -> Any:
            spread = variance[None, :] + self.scale**2 * xp.exp(-u)
            return log_constant + a * (u - xp.exp(u)) + _log_normal(distance[None, :], spread, world)

        return _log_integral(log_integrand, low, high, world)


@final
@dataclass(frozen=True, eq=False)
class Poisson(Likelihood):
    """y in {0, 1, 2, ...} with rate e^(f + offset)."""

    offset: float = 0.0
    """Added to f: the log of a typical count."""

    def expected_log(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """y mean - E e^f - log y!, here and below with the offset in f."""
        mean = mean + self.offset
        return y * mean - world.xp.exp(mean + 0.5 * variance) - world.special.gammaln(y + 1.0)

    def slopes(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rate = np.exp(mean + self.offset + 0.5 * variance)
        return y - rate, -0.5 * rate

    def predict(self, mean: Any, variance: Any, world: World = NUMPY) -> tuple[Any, Any]:
        """The rate is log-normal: E y = E e^f, Var y = E e^f + Var e^f."""
        rate = world.xp.exp(mean + self.offset + 0.5 * variance)
        return rate, rate + rate**2 * world.xp.expm1(variance)

    def log_density(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """log of int Poisson(y; e^f) N(f; mean, variance) df, over x = f - mean around the peak."""
        xp, V, mean = world.xp, _floor(variance, world), mean + self.offset
        # the peak solves y - e^f = (f - mean) / V; with l = f + log V that is l + e^l = k, solved by Newton's method
        k = world.constant(mean + V * y + xp.log(V))
        log_root = xp.where(k > 1.0, xp.log(xp.maximum(k, 1.0)), k)
        for _ in range(6):
            log_root = log_root - (log_root + xp.exp(log_root) - k) / (1.0 + xp.exp(log_root))
        peak = log_root - world.constant(xp.log(V) + mean)
        # the integrand falls at least as fast as the normal and as exp(rate (u - e^u)), rate = e^f at the peak
        normal = xp.sqrt(2.0 * REACH * V)
        below, above = _reach(xp.exp(log_root) / V, world)

        def log_integrand(x: Any) -> Any:
            f = mean[None, :] + x
            log_poisson = y[None, :] * f - xp.exp(f) - world.special.gammaln(y + 1.0)[None, :]
            return log_poisson + _log_normal(x, V[None, :], world)

        low, high = peak - xp.minimum(normal, below), peak + xp.minimum(normal, above)
        return _log_integral(log_integrand, low, high, world)

    def start(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and variances of the first sites: those of log y."""
        return np.log(y + 0.5) - self.offset, 1.0 / (y + 0.5)
