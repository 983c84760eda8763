"""A fitted model on its own scale, whichever tier made it, and its predictions in the units of y.

The model works on z = (t(y) - mean) / scale, where t is a transform of target_scale.py. Given a draw of the weights an
observation of z is Gaussian (for other noise: has the same mean and variance). Over the draws it is a mixture, whose
quantiles are found exactly and carried back through t.

The whole pool predicts. Where the components that explain were fitted by themselves (`alone`), they are what is shown:
similar kernels in the pool share signal, so a component of the pool alone would show only its part. What the
prediction adds to the sum of the components is the rest, so that the parts add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import logsumexp, ndtr

from farrier.inference.likelihoods import Likelihood
from farrier.inference.mixtures import moments, quantiles
from farrier.inference.weight_priors import WeightPrior
from farrier.kernels.algebra import Kernel
from farrier.model.target_scale import TargetScale
from farrier.search.appraisal import Appraisal
from farrier.search.averaging import Member
from farrier.search.settings import SearchSettings
from farrier.search.structure import Decision

LEVELS = (np.arange(64) + 0.5) / 64
"""Quantiles over which the mean of a transformed target is taken: 64, by judgement."""


class Draws(Protocol):
    """A posterior on the scale of the model: numpy arrays in and out."""

    def draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f for each draw of the weights, (S, N)."""
        ...

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each component, (m, N), or of sums of components, rows of 0 and 1 in `sums`."""
        ...

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of f, or of the sum of some components, at all rows together."""
        ...


@dataclass(frozen=True)
class Alone:
    """The components that explain, fitted without the others, on the scale of the model."""

    posterior: Draws
    prior: WeightPrior
    kernels: tuple[Kernel, ...]
    level: int | None = None
    """Which component of the posterior is the level."""
    noise: float | None = None
    """The variance of what they leave; None where that is the likelihood's."""


@dataclass(frozen=True)
class Fitted:
    """What a fit leaves. The first `survivors` kernels explain; the others are the rest."""

    posterior: Draws
    likelihood: Likelihood
    prior: WeightPrior
    kernels: tuple[Kernel, ...]
    survivors: int
    scale: TargetScale
    """From y to z, on which the model works."""
    bound: float
    """A lower bound on the log evidence of y."""
    tier: str
    steps: int
    level: int | None = None
    """Which of the kernels is a constant that nobody asked for: it belongs to the level, not to the rest."""
    record: tuple[Decision, ...] = ()
    appraisal: Appraisal | None = None
    alone: Alone | None = None
    members: tuple[Member, ...] = ()
    """The pools that predict together, the survivors' own first; none where there is no search for others."""
    settings: SearchSettings = SearchSettings()

    @property
    def explaining(self) -> Alone:
        """What the survivors are read from: their own fit, or else that of the whole pool."""
        return self.alone or Alone(self.posterior, self.prior, self.kernels[: self.survivors], self.level)

    @property
    def noise_variance(self) -> float:
        """The variance of what the components that explain leave, on the scale of z."""
        if self.explaining.noise is not None:
            return self.explaining.noise
        _, (variance,) = self.likelihood.predict(np.zeros(1), np.zeros(1))
        return float(variance)

    def weights(self, level: float) -> np.ndarray:
        """A quantile of the weight of every kernel, (m,), on the scale of t(y); of survivors as they explain."""
        whole, own = (np.asarray(prior.quantile(level)) for prior in (self.prior, self.explaining.prior))
        return np.concatenate([own[: self.survivors], whole[self.survivors :]]) * self.scale.sd

    def observed(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of an observation of z for each draw of the weights, (S, N)."""
        mean, variance = self.posterior.draws(inputs)
        draws = [self.likelihood.predict(*draw) for draw in zip(mean, variance, strict=True)]
        return np.stack([one for one, _ in draws]), np.stack([one for _, one in draws])

    def moments(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of an observation of y."""
        if self.scale.transform.name == "identity":
            mean, variance = moments(*self.observed(inputs))
            return self.scale.inverse(mean), np.sqrt(variance) * self.scale.sd
        values = self.quantiles(inputs, LEVELS)
        return values.mean(axis=0), values.std(axis=0)

    def quantiles(self, inputs: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
        """Quantiles of an observation of y, one row a level."""
        mean, variance = self.observed(inputs)
        return self.scale.inverse(quantiles(mean, np.sqrt(variance), np.asarray(levels, float)))

    def log_density(self, inputs: np.ndarray, y: np.ndarray) -> np.ndarray:
        """log p(y) of new observations."""
        mean, variance = self.posterior.draws(inputs)
        target = self.scale.forward(y)
        each = [self.likelihood.log_density(target, *draw) for draw in zip(mean, variance, strict=True)]
        mixture = logsumexp(each, axis=0) - np.log(len(mean))
        return mixture + self.scale.log_slopes(y)

    def cumulative(self, inputs: np.ndarray, y: np.ndarray) -> np.ndarray:
        """P(Y <= y): uniform over the rows where the model is calibrated."""
        mean, variance = self.observed(inputs)
        return ndtr((self.scale.forward(y)[None, :] - mean) / np.sqrt(variance)).mean(axis=0)

    def parts(self, inputs: np.ndarray, named: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance on the scale of z: the level, the named survivors, and the rest if there is one."""
        source = self.explaining
        level = [] if source.level is None else [source.level]
        size = max(len(self.kernels if self.alone is None else source.kernels), *(i + 1 for i in level), 0)
        sums = [np.isin(np.arange(size), part) for part in (level, *([i] for i in named))]
        if self.alone is None:
            others = ~np.any(sums, axis=0)
            sums += [others] if others.any() else []
        mean, variance = source.posterior.components(inputs, np.asarray(sums, float))
        if self.alone is None:
            return mean, variance
        rest = self._beyond(inputs, mean.sum(axis=0))
        return np.vstack([mean, rest[0]]), np.vstack([variance, rest[1]])

    def _beyond(self, inputs: np.ndarray, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the prediction adds to the survivors; its variance is what the prediction has beyond theirs."""
        whole, own = (posterior.draws(inputs) for posterior in (self.posterior, self.explaining.posterior))
        (mean, variance), (_, own_variance) = moments(*whole), moments(*own)
        return mean - total, np.maximum(variance - own_variance, 0.0)
