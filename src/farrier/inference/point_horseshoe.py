"""The horseshoe of the default models: point weights, with the global scale integrated out.

    w_i = tau s_i lambda_i,  tau ~ HalfCauchy(A),  lambda_i ~ HalfCauchy(1)

s_i is the learned scale of the family of component i. With t = log tau, the log of a weight given tau has the density
1 / (pi cosh(log w_i - log s_i - t)), so that

    log p(log w) = log int dt 1 / (pi cosh(t - log A)) prod_i 1 / (pi cosh(log w_i - log s_i - t))

which is one sum over a regular grid of t. The integrand is analytic and falls exponentially, so the trapezoidal rule
converges geometrically. Laplace's approximation at the mode of all w then knows that the weights move together: small
weights lower tau, and tau lowers those that the rows do not need.

The level has a scale of its own and no part in tau, as an intercept has in a regression under the horseshoe.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
from scipy.special import ndtri

from farrier.inference.arrays import NUMPY, World
from farrier.inference.weight_priors import Weighed, WeightPrior, check_probability, starting_weight
from farrier.kernels.parameters import fixed, positive

LOG_PI = float(np.log(np.pi))
LOWEST, HIGHEST, WIDEST_STEP = -16.0, 16.0, 0.2
"""The grid of log tau. Beyond its ends the prior of log tau has fallen by 16 nats, and each weight adds to that. The
step is that at which the sum over ten equal weights is exact to nine digits; for more weights the integrand is
narrower, and the step smaller."""


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

    @classmethod
    def initial(cls, m: int) -> "PointHorseshoe":
        """Every weight and every scale 1 / sqrt(m)."""
        return cls(np.full(m, starting_weight(m)), np.full(m, starting_weight(m)))

    @property
    def noise_size(self) -> int:
        """None is needed."""
        return 0

    def draw(self, noise: Any, world: World = NUMPY) -> Any:
        """The weights, once for each row."""
        return world.xp.broadcast_to(world.xp.asarray(self.w), (noise.shape[0], *self.w.shape))

    def kl(self, world: World = NUMPY) -> Any:
        """-log p of the logarithms of the weights."""
        xp = world.xp
        away = xp.log(self.w) - xp.log(self.scale)
        shrunk = xp.broadcast_to(xp.asarray(self.shrunk), away.shape)
        grid = self._grid(away.shape[0])
        # log of the integrand at each point of the grid
        heights = _log_sech(grid - np.log(self.A), xp) + (
            _log_sech(away[None, :] - grid[:, None], xp) * shrunk[None, :]
        ).sum(axis=1)
        own = xp.sum(_log_sech(away, xp) * (1.0 - shrunk))
        return -(world.special.logsumexp(heights) + np.log(grid[1] - grid[0]) + own)

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
        """A quantile of tau given the weights."""
        check_probability(probability)
        mixed = self.mixed(np.log(self.w))
        # half of the probability of a point lies below it
        below = np.cumsum(mixed.shares) - 0.5 * mixed.shares
        return float(np.exp(np.interp(probability, below, mixed.grid)))

    def conditional_log_densities(self) -> np.ndarray:
        """log p(log w_i | all other weights), (m,)."""
        u = np.log(self.w)
        whole = self.mixed(u).log_density
        others = [
            replace(self, shrunk=np.where(np.arange(len(u)) == i, 0.0, self._mask(len(u)))) for i in range(len(u))
        ]
        away = u - np.log(self.scale)
        return np.array([whole - one.mixed(u).log_density for one in others]) + _log_sech(away, np)

    def mixed(self, u: np.ndarray) -> Mixed:
        """The prior at log weights u, and its derivative."""
        away, shrunk, grid = u - np.log(self.scale), self._mask(len(u)), self._grid(len(u))
        apart = away[None, :] - grid[:, None]
        size = np.abs(apart)
        # log sech a = log 2 - |a| - log(1 + exp(-2 |a|))
        decay = np.exp(-2.0 * size)
        logs = -size - np.log1p(decay)
        heights = logs @ shrunk + _log_sech(grid - np.log(self.A), np)
        top = heights.max()
        shares = np.exp(heights - top)
        total = shares.sum()
        shares /= total
        constant = shrunk.sum() * (np.log(2.0) - LOG_PI)
        slopes = -np.sign(apart) * (1.0 - decay) / (1.0 + decay)
        log_density = float(top + np.log(total * (grid[1] - grid[0])) + constant)
        log_density += float(((1.0 - shrunk) * _log_sech(away, np)).sum())
        slope = shrunk * (shares @ slopes) - (1.0 - shrunk) * np.tanh(away)
        return Mixed(log_density, slope, grid, shares)

    def _mask(self, m: int) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.shrunk, float), (m,))

    def _grid(self, m: int) -> np.ndarray:
        step = min(WIDEST_STEP, 0.6 / np.sqrt(m + 1.0))
        return np.arange(LOWEST, HIGHEST, step)


def _log_sech(a: Any, xp: Any) -> Any:
    """log 1 / (pi cosh a)."""
    return -xp.logaddexp(a, -a) + (np.log(2.0) - LOG_PI)
