"""A fitted model on its own scale, whichever tier made it, and its predictions in the units of y.

The model works on z = (t(y) - mean) / scale with t one of transforms.py. Given each draw of the weights an observation
of z is Gaussian (for other noise: has the same mean and variance), so over the draws it is a mixture, whose quantiles
are found exactly and carried back through t.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import ndtr, ndtri

from farrier.appraise import Appraisal
from farrier.discover import Decision
from farrier.kernels.algebra import Kernel
from farrier.likelihoods import Gaussian, Likelihood
from farrier.parameters import as_array
from farrier.priors import WeightPrior
from farrier.transforms import Transform

LEVELS = (np.arange(64) + 0.5) / 64
"""Quantiles over which the mean of a transformed target is taken."""
HALVINGS = 50


class Draws(Protocol):
    """A posterior on the scale of the model: numpy arrays in and out."""

    def draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f for each draw of the weights, (S, N)."""
        ...

    def components(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each component, (m, N)."""
        ...

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of f, or of the sum of some components, at all rows together."""
        ...


@dataclass(frozen=True)
class Fitted:
    """What a fit leaves. The first `survivors` kernels explain; the others are the rest."""

    posterior: Draws
    likelihood: Likelihood
    prior: WeightPrior
    kernels: tuple[Kernel, ...]
    survivors: int
    transform: Transform
    z_mean: float
    z_scale: float
    bound: float
    tier: str
    steps: int
    record: tuple[Decision, ...] = ()
    appraisal: Appraisal | None = None

    def observed(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of an observation of z for each draw of the weights, (S, N)."""
        mean, variance = self.posterior.draws(inputs)
        if isinstance(self.likelihood, Gaussian):
            return mean, variance + float(self.likelihood.variance)
        y_mean, y_variance = jax.vmap(self.likelihood.predict)(jnp.asarray(mean), jnp.asarray(variance))
        return np.asarray(y_mean), np.asarray(y_variance)

    def moments(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of an observation of y."""
        if self.transform.name == "identity":
            mean, variance = self.observed(inputs)
            centre = mean.mean(axis=0) * self.z_scale + self.z_mean
            return centre, np.sqrt(variance.mean(axis=0) + mean.var(axis=0)) * self.z_scale
        values = self.quantiles(inputs, LEVELS)
        return values.mean(axis=0), values.std(axis=0)

    def quantiles(self, inputs: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
        """Quantiles of an observation of y, one row a level."""
        mean, variance = self.observed(inputs)
        z = mixture_quantiles(mean, np.sqrt(variance), np.asarray(levels, float))
        return self.transform.inverse(z * self.z_scale + self.z_mean)

    def scaled(self, y: np.ndarray) -> np.ndarray:
        """z of y."""
        return (self.transform.forward(y) - self.z_mean) / self.z_scale

    def log_density(self, inputs: np.ndarray, y: np.ndarray) -> np.ndarray:
        """log p(y) of new observations."""
        mean, variance = self.posterior.draws(inputs)
        target = jnp.asarray(self.scaled(y))
        log_density = jax.vmap(self.likelihood.log_density, in_axes=(None, 0, 0))
        each = log_density(target, jnp.asarray(mean), jnp.asarray(variance))
        mixture = np.asarray(jax.nn.logsumexp(each, axis=0)) - np.log(len(mean))
        return mixture + self.transform.log_slope(y) - np.log(self.z_scale)

    def cumulative(self, inputs: np.ndarray, y: np.ndarray) -> np.ndarray:
        """P(Y <= y): uniform over the rows where the model is calibrated."""
        mean, variance = self.observed(inputs)
        return ndtr((self.scaled(y)[None, :] - mean) / np.sqrt(variance)).mean(axis=0)

    def rest(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of what the kernels beside the survivors add together, on the scale of z."""
        others = np.arange(self.survivors, len(self.kernels))
        blocks = [self.posterior.joint(inputs[first : first + 256], others) for first in range(0, len(inputs), 256)]
        return np.concatenate([b[0] for b in blocks]), np.maximum(
            np.concatenate([np.diagonal(b[1]) for b in blocks]), 0.0
        )


def gaussian_noise(variance: float) -> Gaussian:
    """The likelihood of a noise variance."""
    return Gaussian(as_array(variance))


def mixture_quantiles(mean: np.ndarray, sd: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Quantiles of equal mixtures of S normals, (levels, N), by halving an interval that holds them."""
    ends = mean[None] + sd[None] * ndtri(levels)[:, None, None]
    low, high = ends.min(axis=1), ends.max(axis=1)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = ndtr((middle[:, None, :] - mean[None]) / sd[None]).mean(axis=1) < levels[:, None]
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)
