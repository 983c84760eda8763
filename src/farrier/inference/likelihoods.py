"""Likelihoods p(y | f), each with three integrals over f ~ N(mean, variance):

    expected_log  E log p(y | f), for the bound        log_density  log E p(y | f), for held-out data
    predict       mean and variance of y

The Student-t is in student_t.py, and counts are in counts.py. A likelihood that is log-concave in f needs no more than
log p(y | f) and its slope: its integrals are found by the trapezoidal rule, and so are `slopes`, the derivatives of
`expected_log` with respect to mean and variance, for Gaussian sites (gaussian_sites.py).

The rule converges exponentially for analytic functions that vanish at both ends. The ends are chosen for each
integrand, so that it is below e^-REACH of its peak outside them. (64 Gauss-Hermite nodes are placed for the normal
density alone. When f has variance 10, they are wrong by more than half for a Student-t likelihood of scale 0.1, or for
a Poisson count of 50.)

`expected_log` works with numpy and with jax (linalg.World). y, mean and variance are vectors (N,).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import expit, log_ndtr, logsumexp

from farrier.inference.linalg import NUMPY, World
from farrier.kernels.parameters import check_fields, positive

NODES = 64
"""Points of the trapezoidal rule; errors are below 1e-8 for all likelihoods here (measured by the tests)."""
REACH = 20.0
"""Nats below the peak at which an integrand counts as zero: e^-20 is 2e-9. By judgement."""
NORMAL_REACH = 8.0
"""Standard deviations beyond which a normal density counts as zero: it is below 1e-14 there. By judgement."""
HALVINGS = 50
"""Halvings of an interval, after which its ends agree to all digits."""


def trapezoid(low: Any, high: Any, world: World = NUMPY) -> tuple[Any, Any]:
    """Equally spaced points from low to high, (Q, N), and their weight, (N,). Derivatives treat them as constants."""
    low, high = world.constant(low), world.constant(high)
    fraction = world.xp.linspace(0.0, 1.0, NODES, dtype=low.dtype)[:, None]
    return low[None, :] + fraction * (high - low)[None, :], (high - low) / (NODES - 1)


def log_integral(log_integrand: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """log of the integral of exp(log_integrand(u)) over u."""
    u, step = trapezoid(low, high)
    return logsumexp(log_integrand(u), axis=0) + np.log(step)


def floored(variance: Any, world: World = NUMPY) -> Any:
    """Variances, bounded away from zero so that their square root has a derivative."""
    return world.xp.maximum(variance, world.xp.finfo(variance.dtype).eps)


def log_normal_at(distance: Any, variance: Any, world: World = NUMPY) -> Any:
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
    def predict(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of y."""

    @abstractmethod
    def log_density(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
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


@dataclass(frozen=True, eq=False)
class LogConcave(Likelihood):
    """A likelihood whose logarithm is concave in f."""

    @abstractmethod
    def log_likelihood(self, y: Any, f: Any, world: World = NUMPY) -> Any:
        """log p(y | f)."""

    @abstractmethod
    def slope(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """d log p(y | f) / df."""

    def expected_log(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        f, _, weight = _at_nodes(mean, variance, world)
        return world.xp.sum(weight * self.log_likelihood(y[None, :], f, world), axis=0)

    def slopes(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives of `expected_log` by the mean, E d log p / df, and the variance, E d^2 log p / df^2 / 2."""
        f, z, weight = _at_nodes(mean, variance, NUMPY)
        weighted = weight * self.slope(y[None, :], f)
        # for a standard normal z, E g'(z) = E g(z) z
        return np.sum(weighted, axis=0), np.sum(weighted * z, axis=0) / (2.0 * np.sqrt(floored(variance)))

    def log_density(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """By the trapezoidal rule about the peak of the integrand over x = f - mean."""
        V = floored(variance)

        def log_integrand(x: np.ndarray) -> np.ndarray:
            return self.log_likelihood(y, mean + x) + log_normal_at(x, V)

        # the slope falls, so that the peak lies between 0 and where it would lie with the slope at 0
        steepest = V * self.slope(y, mean)
        low, high = np.minimum(steepest, 0.0), np.maximum(steepest, 0.0)
        peak = _crossing(lambda x: self.slope(y, mean + x) - x / V, low, high)
        top, reach = log_integrand(peak), np.sqrt(2.0 * REACH * V)
        below, above = (
            _crossing(lambda d, side=side: REACH - top + log_integrand(peak + side * d), 0.0 * reach, reach)
            for side in (-1.0, 1.0)
        )
        return log_integral(log_integrand, peak - below, peak + above)


def _at_nodes(mean: Any, variance: Any, world: World) -> tuple[Any, Any, Any]:
    """f = mean + sd z at nodes z of a standard normal, the nodes, and their weights, (Q, N) each."""
    ends = world.xp.full_like(mean, NORMAL_REACH)
    z, step = trapezoid(-ends, ends, world)
    f = mean[None, :] + world.xp.sqrt(floored(variance, world))[None, :] * z
    return f, z, world.xp.exp(log_normal_at(z, 1.0, world)) * step[None, :]


def _crossing(falling: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where a falling function crosses zero; `high` where it does not."""
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        before = falling(middle) > 0.0
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return high


@final
@dataclass(frozen=True, eq=False)
class Gaussian(LogConcave):
    """y | f ~ N(f, variance)."""

    variance: Any = positive()

    def log_likelihood(self, y: Any, f: Any, world: World = NUMPY) -> Any:
        return log_normal_at(y - f, self.variance, world)

    def slope(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return (y - f) / self.variance

    def slopes(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.slope(y, mean), np.full_like(mean, -0.5 / self.variance)

    def expected_log(self, y: Any, mean: Any, variance: Any, world: World = NUMPY) -> Any:
        """log N(y; mean, noise) - variance / (2 noise)."""
        return log_normal_at(y - mean, self.variance, world) - 0.5 * variance / self.variance

    def predict(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The variances add."""
        return mean, variance + self.variance

    def log_density(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """log N(y; mean, variance + noise)."""
        return log_normal_at(y - mean, variance + self.variance)


@final
@dataclass(frozen=True, eq=False)
class Bernoulli(LogConcave):
    """y in {0, 1}, P(y = 1 | f) = Phi(f) for the link "probit", 1 / (1 + e^-f) for "logit"."""

    link: str = "probit"

    def __post_init__(self) -> None:
        if self.link not in ("probit", "logit"):
            raise ValueError(f'link={self.link!r} is not known: use "probit" or "logit"')

    def log_likelihood(self, y: Any, f: Any, world: World = NUMPY) -> Any:
        """log P(y = 1 | s f) with s the sign of y - 1/2, exact in both tails."""
        f = (2.0 * y - 1.0) * f
        if self.link == "probit":
            return world.special.log_ndtr(f)
        return -world.xp.logaddexp(world.xp.zeros_like(f), -f)

    def slope(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        sign = 2.0 * y - 1.0
        if self.link == "probit":
            # phi / Phi, exact in both tails
            return sign * np.exp(-0.5 * f**2 - log_ndtr(sign * f)) / np.sqrt(2.0 * np.pi)
        return sign * expit(-sign * f)

    def predict(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """p = P(y = 1) and p (1 - p)."""
        one, zero = (np.exp(self.log_density(np.full_like(mean, y), mean, variance)) for y in (1.0, 0.0))
        return one, one * zero

    def log_density(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """log P(y)."""
        if self.link == "probit":
            # E Phi(f) = Phi(mean / sqrt(1 + variance))
            return log_ndtr((2.0 * y - 1.0) * mean / np.sqrt(1.0 + variance))
        return super().log_density(y, mean, variance)
