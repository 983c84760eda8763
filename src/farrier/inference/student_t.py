"""Student-t noise: the likelihood, whether residuals need it, and one Student-t in the place of a mixture of some.

A Student-t of scale s with nu degrees of freedom is a normal whose log precision has

    mean  psi(nu / 2) - log(nu / 2) - 2 log s       variance  psi'(nu / 2)

with the digamma function psi. The Student-t that stands for a mixture about one mean has the mean and the variance of
its log precision: where scales are uncertain, it has heavier tails.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import digamma, gammaincinv, gammaln, ndtri, polygamma, stdtrit

from farrier.inference.likelihoods import REACH, Likelihood, log_integral, log_normal_at, trapezoid
from farrier.inference.linalg import NUMPY, World
from farrier.kernels.parameters import positive

NORMALS = 32
"""Normals in the mixture for a Student-t: with 2.5 degrees or more its 95 and 99 % intervals are at most 1 and 7 % too
short. Measured."""
FEWEST_NORMALS = 4
"""Normals for each of many draws of the parameters, which have other values of g each. By judgement."""
ROBUST = 1.4826
"""The standard deviation of a normal over its median absolute deviation."""
SCALE_STEPS = 30
"""EM steps for the scale of a Student-t, by judgement: they converge geometrically, with a ratio near 1/2."""
LEAST_DEGREES = 2.0
"""Fewest degrees of freedom of the result: above it a Student-t has a variance."""
ROUNDS = 8
"""Steps of Newton's method: enough for nine digits from 0.1 to 20,000 degrees of freedom."""


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
        # log(1 + x) = int_0^inf (1 - e^-tx) e^-t dt/t, where x = (y - f)^2 / b, b = d scale^2, and
        # E e^-tx = (1 + 2tV)^(-1/2) exp(-t k / (1 + 2tV)), where k = (y - mean)^2 / b, V = variance / b
        xp, d = world.xp, self.degrees
        b = d * self.scale**2
        k, V = (y - mean) ** 2 / b, variance / b
        # over log t the integrand rises as t (k + V) and falls as e^-t
        log_t, step = trapezoid(-REACH - xp.log1p(k + V), xp.full_like(k, np.log(REACH)), world)
        t = xp.exp(log_t)
        spread = 2.0 * t * V[None, :]
        log_left = -0.5 * xp.log1p(spread) - t * k[None, :] / (1.0 + spread)
        expected_log1p = xp.sum(xp.exp(-t) * -xp.expm1(log_left), axis=0) * step
        log_beta = world.special.betaln(0.5 * d, 0.5 * xp.ones_like(d))
        return -log_beta - 0.5 * xp.log(b) - 0.5 * (d + 1.0) * expected_log1p

    def predict(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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

    def log_density(self, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """log of int Gamma(g; a, a) N(y; mean, variance + scale^2 / g) dg, a = degrees/2, over u = log g."""
        # y | f, g ~ N(f, scale^2 / g), g ~ Gamma(a, a) is a Student-t
        a, distance = 0.5 * self.degrees, y - mean
        # the prior density of u is exp(a (u - e^u)); for an outlier the posterior of g moves to small values, at most
        # (variance = 0) to Gamma(a + 1/2, a + (y - mean)^2 / 2 scale^2)
        small = np.log((a + 0.5) / (a + 0.5 * (distance / self.scale) ** 2))
        # a (e^u - 1 - u) = REACH: u^2 / 2 near the peak, linear far below, exponential far above
        below, above = (REACH / shape + np.sqrt(2.0 * REACH / shape) for shape in (a + 0.5, a))
        log_constant = a * np.log(a) - gammaln(a)

        def log_integrand(u: np.ndarray) -> np.ndarray:
            spread = variance[None, :] + self.scale**2 * np.exp(-u)
            return log_constant + a * (u - np.exp(u)) + log_normal_at(distance[None, :], spread)

        return log_integral(log_integrand, np.minimum(small, 0.0) - below, np.zeros_like(mean) + np.log1p(above))


@final
@dataclass(frozen=True)
class Tails:
    """The Student-t of highest density, and what it gains over the normal of highest density."""

    gain: float
    """Difference of the log densities, minus the price of one more parameter. [nats]"""
    degrees: float
    scale: float

    @classmethod
    def of(cls, residuals: np.ndarray, degrees: Sequence[float]) -> "Tails":
        """Degrees of freedom from a list, the scale by maximum likelihood; both densities have mean zero."""
        n, square = len(residuals), residuals**2 + np.finfo(float).tiny
        normal = -0.5 * n * (np.log(2.0 * np.pi) + 1.0 + np.log(np.mean(square)))
        density, d, scale = max(_best_scale(square, d) for d in degrees)
        return cls(density - float(normal) - 0.5 * float(np.log(n)), d, scale)


def _best_scale(square: np.ndarray, d: float) -> tuple[float, float, float]:
    """The log density of residuals, given their squares, at the best scale; the degrees; and that scale."""
    s2 = float(np.mean(square))
    for _ in range(SCALE_STEPS):
        s2 = float(np.mean((d + 1.0) / (d + square / s2) * square))
    constant = gammaln(0.5 * (d + 1.0)) - gammaln(0.5 * d) - 0.5 * np.log(np.pi * d * s2)
    density = len(square) * constant - 0.5 * (d + 1.0) * np.sum(np.log1p(square / (d * s2)))
    return float(density), d, float(np.sqrt(s2))


def robust_deviation(residuals: np.ndarray) -> float:
    """The standard deviation of residuals about zero, of which outliers know nothing."""
    return max(ROBUST * float(np.median(np.abs(residuals))), np.finfo(float).tiny)


def one_student(shares: np.ndarray, scales: np.ndarray, degrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale and degrees of freedom of the Student-t that stands for a mixture along the first axis.

    The shares add up to one along it.
    """
    half = 0.5 * degrees
    each = digamma(half) - np.log(half) - 2.0 * np.log(scales)
    mean = np.sum(shares * each, axis=0)
    variance = np.sum(shares * ((each - mean) ** 2 + polygamma(1, half)), axis=0)
    found = np.maximum(inverse_trigamma(variance), 0.5 * LEAST_DEGREES)
    return np.exp(0.5 * (digamma(found) - np.log(found) - mean)), 2.0 * found


def inverse_trigamma(x: np.ndarray) -> np.ndarray:
    """The y > 0 with psi'(y) = x, by Newton's method on 1 / psi', which is nearly a line (Smyth 2004, appendix)."""
    y = 0.5 + 1.0 / x
    for _ in range(ROUNDS):
        slope = polygamma(1, y)
        y = y + slope * (1.0 - slope / x) / polygamma(2, y)
    return y
