"""Likelihoods p(y | f), each with three integrals over f ~ N(mean, variance):

    expected_log  E log p(y | f), for the bound        log_density  log E p(y | f), for held-out data
    predict       mean and variance of y

and `slopes`, the derivatives of `expected_log` with respect to mean and variance, for Gaussian sites
(gaussian_sites.py). The Student-t is in student_t.py, and counts are in counts.py.

Integrals without a closed form are over one variable, of an analytic function that vanishes at both ends; the
trapezoidal rule (`trapezoid`) then converges exponentially. The ends are chosen for each integrand, so that it is below
e^-REACH of its peak outside them. (64 Gauss-Hermite nodes are placed for the normal density alone. When f has variance
10, they are wrong by more than half for a Student-t likelihood of scale 0.1, or for a Poisson count of 50.)

Formulas work with numpy and with jax (linalg.World). y, mean and variance are vectors (N,).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from farrier.inference.linalg import NUMPY, World
from farrier.kernels.parameters import check_fields, positive

NODES = 64
"""Points of the trapezoidal rule; errors are below 1e-8 for all likelihoods here (measured by the tests)."""
REACH = 20.0
"""Nats below the peak at which an integrand counts as zero: e^-20 is 2e-9. By judgement."""
NORMAL_REACH = 8.0
"""Standard deviations beyond which a normal density counts as zero: it is below 1e-14 there. By judgement."""


def trapezoid(low: Any, high: Any, world: World) -> tuple[Any, Any]:
    """Equally spaced points from low to high, (Q, N), and their weight, (N,). Derivatives treat them as constants."""
    low, high = world.constant(low), world.constant(high)
    fraction = world.xp.linspace(0.0, 1.0, NODES, dtype=low.dtype)[:, None]
    return low[None, :] + fraction * (high - low)[None, :], (high - low) / (NODES - 1)


def log_integral(log_integrand: Callable[[Any], Any], low: Any, high: Any, world: World) -> Any:
    """log of the integral of exp(log_integrand(u)) over u."""
    u, step = trapezoid(low, high, world)
    return world.special.logsumexp(log_integrand(u), axis=0) + world.xp.log(step)


def reach_of_peak(a: Any, world: World) -> tuple[Any, Any]:
    """How far exp(a (u - e^u)) extends below and above its peak, which is at 0."""
    # a (e^u - 1 - u) = REACH: u^2 / 2 near the peak, linear far below, exponential far above
    below = REACH / a + world.xp.sqrt(2.0 * REACH / a)
    return below, world.xp.log1p(below)


def floored(variance: Any, world: World) -> Any:
    """Variances, bounded away from zero so that their square root has a derivative."""
    return world.xp.maximum(variance, world.xp.finfo(variance.dtype).eps)


def log_normal_at(distance: Any, variance: Any, world: World) -> Any:
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
        return log_normal_at(y - mean, self.variance, world) - 0.5 * variance / self.variance

    def slopes(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (y - mean) / self.variance, np.full_like(mean, -0.5 / self.variance)

    def predict(self, mean: Any, variance: Any, world: World = NUMPY) -> tuple[Any, Any]:
        """The variances add."""
        return mean, variance + self.variance

    def log_density(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """log N(y; mean, variance + noise)."""
        return log_normal_at(y - mean, variance + self.variance, world)


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
        sd = np.sqrt(floored(variance, NUMPY))
        return np.sum(by_f, axis=0), np.sum(by_f * z, axis=0) / (2.0 * sd)

    def _at_nodes(self, mean: Any, variance: Any, world: World) -> tuple[Any, Any, Any]:
        """f = mean + sd z at the nodes z, the nodes, and their weights, (Q, N) each."""
        ends = world.xp.full_like(mean, NORMAL_REACH)
        z, step = trapezoid(-ends, ends, world)
        f = mean[None, :] + world.xp.sqrt(floored(variance, world))[None, :] * z
        return f, z, world.xp.exp(log_normal_at(z, 1.0, world)) * step[None, :]

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
        mean, sd = (sign * mean)[None, :], world.xp.sqrt(floored(variance, world))[None, :]
        ends = world.xp.full_like(variance, NORMAL_REACH)
        return log_integral(
            lambda z: log_normal_at(z, 1.0, world) + self.log_probability(mean + sd * z, world), -ends, ends, world
        )
