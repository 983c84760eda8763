"""A fitted model on its own scale, and its predictions in the units of y.

The model works on z = (t(y) - mean) / sd, where t is a transform of target_scale.py. Given a draw of the parameters an
observation of z is Gaussian (for another likelihood it is approximated by a Gaussian with the same mean and variance).
Over the draws it is a mixture, whose quantiles are computed and transformed back to y. If y has a floor, an
observation is max(floor, y): its quantiles are at least the floor, so they never cross and need no correction. A cap
does the same from above.

The mean of an exponential of a wide Gaussian is dominated by values that hardly ever occur. On a transformed scale the
mean is therefore that of the middle 95 % of the distribution, so that it lies inside the 95 % interval. Where the
intervals are narrow it is close to the mean of all values. The standard deviation of a table's predictions is that of
the middle 95 % as well, times what makes it the size of left-out errors (stacking.py).

One structure explains. Others that explain the rows about as well, on any scale, predict together with it, each with
its share; what they change is the rest. For many rows, and for noise that is not Gaussian, the whole pool predicts and
components are reported from a separate fit of the survivors (`alone`). The rest is then the prediction minus the sum of
the components, so that the parts add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

import numpy as np
from scipy.special import logsumexp

from farrier.inference.counts import CountLikelihood, count_cumulative, count_moments, count_quantiles
from farrier.inference.likelihoods import Gaussian, Likelihood
from farrier.inference.mixtures import clipped_moments, moments
from farrier.inference.posteriors import LaplacePosterior, Posterior
from farrier.inference.student_t import StudentT
from farrier.inference.weight_priors import WeightPrior
from farrier.kernels.algebra import Kernel
from farrier.model.predictions import LEVELS, MIDDLE, Prediction, Shared, middle_spread, mixed_quantiles
from farrier.model.stacking import Stacking
from farrier.model.target_scale import TargetScale, named
from farrier.search.appraisal import Appraisal
from farrier.search.beliefs import Beliefs
from farrier.search.structure import Decision

OwnPredictions: TypeAlias = tuple[list[TargetScale], list[np.ndarray], list[np.ndarray]]
"""The scale of each member of a table, and mean and standard deviation of observations by it."""


@dataclass(frozen=True)
class Member:
    """One of the structures that predict."""

    share: float
    posterior: LaplacePosterior
    noises: np.ndarray
    """The noise variance of each draw of the posterior."""
    scale: TargetScale
    kernels: tuple[Kernel, ...]
    growth: str = "line"
    """What growth fades to (search/beliefs.py)."""

    @property
    def weights(self) -> np.ndarray:
        """The weights at the mode, (m,)."""
        return self.posterior.weights[0]

    def possible(self, y: np.ndarray) -> bool:
        """Whether its scale has a z for all of y."""
        return float(y.min()) > self.scale.transform.lowest

    def observed(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of an observation of z for each draw, (S, N); of a Student-t that of its scale."""
        mean, variance = self.posterior.draws(inputs)
        return mean, variance + self.noises[:, None]


@dataclass(frozen=True)
class Rival:
    """Another structure whose evidence is nearly as high as that of the one that explains."""

    formula: str
    behind: float
    """How much less evidence it has. [nats]"""
    shift: float
    """How far it would move the end of the forecast. [half-widths of the 95 % interval]"""


@dataclass(frozen=True)
class Alone:
    """The survivors, fitted without the other candidates, on the scale of the model."""

    posterior: Posterior
    prior: WeightPrior
    kernels: tuple[Kernel, ...]
    level: int | None = None
    """The index of the level among the components of the posterior."""
    noise: float | None = None
    """The noise variance of this fit; None if it is that of the likelihood."""


@dataclass(frozen=True)
class Fitted:
    """A fitted model. The first `survivors` kernels explain; the others are the rest."""

    posterior: Posterior
    likelihood: Likelihood
    prior: WeightPrior
    kernels: tuple[Kernel, ...]
    survivors: int
    scale: TargetScale
    """The scale of the model, from y to z."""
    bound: float
    """The evidence lower bound of y."""
    tier: str
    """The kind of inference: "exact", "collapsed", "linear" or "stochastic"."""
    steps: int
    """Steps of the optimiser."""
    level: int | None = None
    """The index of the constant that the search adds to every pool; it counts as the level, not as part of the rest."""
    record: tuple[Decision, ...] = ()
    """The decisions of the search."""
    appraisal: Appraisal | None = None
    """Intervals, evidence and errors of the survivors."""
    projects: bool = False
    """Whether what explains is still to be made, by projection (explaining.py)."""
    alone: Alone | None = None
    """The separate fit of the survivors; None if the whole pool explains."""
    remainder: float | None = None
    """The distance of the components' sum from the forecast, on average over its steps; None if they are not a
    projection of it. [half-widths of the 95 % interval]"""
    rivals: tuple[Rival, ...] = ()
    """Other structures that would explain the rows nearly as well."""
    share: float = 1.0
    """The share of this structure in predictions."""
    others: tuple[Member, ...] = ()
    """Other structures that predict too."""
    beliefs: Beliefs = Beliefs()
    """The priors of weights and hyperparameters."""
    noises: np.ndarray | None = None
    """The noise variance (of a Student-t the squared scale) of each draw of the posterior, where draws differ in it."""
    stacking: Stacking | None = None
    """How this structure and the others predict together, in a table; None where shares are the same everywhere."""
    floor: float | None = None
    """The lowest possible y: an observation below it counts as the floor. None: there is none."""
    cap: float | None = None
    """The highest possible y: an observation above it counts as the cap. None: there is none."""
    explanations: list["Fitted"] = field(default_factory=list, init=False, repr=False, compare=False)
    """This model with what explains it, once it was made (`Result.explained`); every copy of a result shares it."""

    @property
    def explaining(self) -> Alone:
        """The fit that explanations use: the survivors' own, or else that of the whole pool."""
        return self.alone or Alone(self.posterior, self.prior, self.kernels[: self.survivors], self.level)

    @property
    def members(self) -> tuple[Member, ...]:
        """All structures that predict, this one first."""
        noises = np.array([self.noise_variance]) if self.noises is None else self.noises
        posterior = cast(LaplacePosterior, self.posterior)
        return (Member(self.share, posterior, noises, self.scale, self.kernels, self.beliefs.growth), *self.others)

    @property
    def noise_variance(self) -> float:
        """The noise variance of the fit that explains, on the scale of z; of a Student-t that of ordinary rows."""
        own = self.explaining.noise
        if isinstance(self.likelihood, StudentT):
            likelihood = self.likelihood if own is None else replace(self.likelihood, scale=np.sqrt(own))
            return likelihood.ordinary_variance
        if own is not None:
            return own
        _, (variance,) = self.likelihood.predict(np.zeros(1), np.zeros(1))
        return float(variance)

    @property
    def counts(self) -> bool:
        """Whether the observations are counts, for which components add up to the log of the rate."""
        return isinstance(self.likelihood, CountLikelihood)

    @property
    def component_scale(self) -> TargetScale:
        """The scale on which components add up: that of z, or for counts the log of the rate."""
        if isinstance(self.likelihood, CountLikelihood):
            return TargetScale(named("log"), self.likelihood.level, 1.0)
        return self.scale

    def weights(self, level: float) -> np.ndarray:
        """A quantile of the weight of every kernel, (m,), on the scale of t(y); survivors: of `explaining`."""
        whole, own = (np.asarray(prior.quantile(level)) for prior in (self.prior, self.explaining.prior))
        return np.concatenate([own[: self.survivors], whole[self.survivors :]]) * self.scale.sd

    def observed(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of an observation of z for each draw of the weights, (S, N)."""
        mean, variance = self.posterior.draws(inputs)
        each = zip(self._likelihoods(len(mean), self.noises), mean, variance, strict=True)
        draws = [likelihood.predict(*draw) for likelihood, *draw in each]
        return np.stack([one for one, _ in draws]), np.stack([one for _, one in draws])

    def _normals(
        self, posterior: Posterior, noises: np.ndarray | None, inputs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """An observation of z as an equal mixture of normals: their means and variances, along the first axis."""
        mean, variance = posterior.draws(inputs)
        each = zip(self._likelihoods(len(mean), noises), mean, variance, strict=True)
        mixtures = [likelihood.normals(*draw, part=(i, len(mean))) for i, (likelihood, *draw) in enumerate(each)]
        return np.concatenate([one for one, _ in mixtures]), np.concatenate([one for _, one in mixtures])

    def _likelihoods(self, draws: int, noises: np.ndarray | None) -> Sequence[Likelihood]:
        """The likelihood of each draw of a structure, whose noises are given."""
        if noises is None:
            return [self.likelihood] * draws
        if isinstance(self.likelihood, StudentT):
            return [replace(self.likelihood, scale=np.sqrt(noise)) for noise in noises]
        return [Gaussian(noise) for noise in noises]

    def moments(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of an observation of y; on a transformed scale the mean of the middle 95 %."""
        mean, std, _ = self.summary(inputs, ())
        return mean, std

    def summary(self, inputs: np.ndarray, levels: Sequence[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, standard deviation and quantiles of an observation of y, with one prediction of each structure."""
        if isinstance(self.likelihood, CountLikelihood):
            mean, variance = count_moments(self.likelihood, *self.posterior.draws(inputs))
            return self._possible(mean), np.sqrt(variance), self.quantiles(inputs, levels)
        straight = all(one.scale.transform.name == "identity" for one in (self, *self.others))
        if straight and not self.others and self.stacking is None:
            mean, variance = self.observed(inputs)
            ends = [None if y is None else (y - self.scale.mean) / self.scale.sd for y in (self.floor, self.cap)]
            mean, variance = clipped_moments(mean, variance, *ends)
            return self.scale.inverse(mean), np.sqrt(variance) * self.scale.sd, self.quantiles(inputs, levels)
        wanted = np.array([*LEVELS, *levels])
        own = None if self.stacking is None else self._own_predictions(inputs)
        found = self.quantiles(inputs, wanted) if own is None else self._mixed_quantiles(own, wanted)
        values, quantiles = found[: len(LEVELS)], found[len(LEVELS) :]
        mean, std = values[slice(None) if straight else MIDDLE].mean(axis=0), values.std(axis=0)
        if own is not None and self.stacking is not None:
            std = self.stacking.spread * middle_spread(values)
            if not straight:
                mean = np.clip(mean, *(self._possible(end) for end in self.stacking.between(*own)))
        return mean, std, quantiles

    def quantiles(self, inputs: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
        """Quantiles of an observation of y, one row for each level."""
        if isinstance(self.likelihood, CountLikelihood):
            draws = self.posterior.draws(inputs)
            return self._possible(count_quantiles(self.likelihood, *draws, np.asarray(levels, float)))
        return self._possible(mixed_quantiles(self._predictions(inputs), np.asarray(levels, float)))

    def _mixed_quantiles(self, own: OwnPredictions, levels: np.ndarray) -> np.ndarray:
        """Quantiles of an observation of y from the predictions of the members of a table."""
        assert self.stacking is not None
        return self._possible(mixed_quantiles(self.stacking.predictions(*own), levels))

    def _possible(self, y: np.ndarray) -> np.ndarray:
        """Values of y, not below the floor and not above the cap."""
        y = y if self.floor is None else np.maximum(y, self.floor)
        return y if self.cap is None else np.minimum(y, self.cap)

    def _predictions(self, inputs: np.ndarray) -> Sequence[Shared]:
        """The prediction of each structure."""
        if self.stacking is not None:
            return self.stacking.predictions(*self._own_predictions(inputs))
        each = [(one, *self._normals(one.posterior, one.noises, inputs)) for one in (self, *self.others)]
        return [Prediction(one.share, one.scale, mean, np.sqrt(variance)) for one, mean, variance in each]

    def _own_predictions(self, inputs: np.ndarray) -> OwnPredictions:
        """Of each member of a table its scale, and mean and standard deviation of an observation on it."""
        members = self.members
        found = [moments(*one.observed(inputs)) for one in members]
        return [one.scale for one in members], [one for one, _ in found], [np.sqrt(one) for _, one in found]

    def log_density(self, inputs: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The log predictive density of new observations, without regard to floor and cap."""
        if self.others or self.stacking is not None:
            return np.asarray(logsumexp([one.log_density(y) for one in self._predictions(inputs)], axis=0))
        mean, variance = self.posterior.draws(inputs)
        target = self.scale.forward(y)
        draws = zip(self._likelihoods(len(mean), self.noises), mean, variance, strict=True)
        each = [likelihood.log_density(target, *draw) for likelihood, *draw in draws]
        return logsumexp(each, axis=0) - np.log(len(mean)) + self.scale.log_slopes(y)

    def cumulative(self, inputs: np.ndarray, y: np.ndarray) -> np.ndarray:
        """P(Y <= y) for each row; uniformly distributed if the model is calibrated."""
        if isinstance(self.likelihood, CountLikelihood):
            return count_cumulative(self.likelihood, *self.posterior.draws(inputs), np.asarray(y, float))
        return np.sum([one.cumulative(y[None])[0] for one in self._predictions(inputs)], axis=0)

    def joint(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean (N,) and covariance (N, N) of f on the scale of z, over all structures.

        Those of other scales are moved to this one, linearly about their means.
        """
        found = [(self.share, *self.posterior.joint(inputs))]
        for one in self.others:
            mean, covariance = one.posterior.joint(inputs)
            if one.scale != self.scale:
                y = one.scale.inverse(mean)
                if y.min() < self.scale.least:
                    continue
                mean = self.scale.forward(y)
                slopes = np.exp(self.scale.log_slopes(y) - one.scale.log_slopes(y))
                covariance = covariance * np.outer(slopes, slopes)
            found.append((one.share, mean, covariance))
        shares = np.array([share for share, _, _ in found])
        shares /= shares.sum()
        mean = np.sum([share * one for share, (_, one, _) in zip(shares, found, strict=True)], axis=0)
        within = np.sum([share * one for share, (_, _, one) in zip(shares, found, strict=True)], axis=0)
        apart = [np.sqrt(share) * (one - mean) for share, (_, one, _) in zip(shares, found, strict=True)]
        return mean, within + np.asarray(apart).T @ np.asarray(apart)

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
        if self.alone is None and not self.others:
            return mean, variance
        total = mean.sum(axis=0)
        rest = self._between(inputs, total) if self.noises is not None else self._beyond(inputs, total)
        return np.vstack([mean, rest[0]]), np.vstack([variance, rest[1]])

    def _beyond(self, inputs: np.ndarray, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rest: mean and variance of the prediction, minus those of the survivors."""
        whole, own = (posterior.draws(inputs) for posterior in (self.posterior, self.explaining.posterior))
        (mean, variance), (_, own_variance) = moments(*whole), moments(*own)
        return mean - total, np.maximum(variance - own_variance, 0.0)

    def _between(self, inputs: np.ndarray, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rest: what is in the prediction of all structures beyond `total`, and how much they differ."""
        own = self.posterior.draws(inputs)[0].mean(axis=0)
        each, shares = [own], np.array([[self.share], *([one.share] for one in self.others)])
        shares = shares + np.zeros(len(inputs)) if self.stacking is None else self.stacking.shares(own)
        for one in self.others:
            mean = one.scale.inverse(one.posterior.means(inputs).mean(axis=0))
            each.append(self.scale.forward(np.maximum(mean, self.scale.least)))
        mean = np.average(each, axis=0, weights=shares)
        return mean - total, np.average((np.asarray(each) - mean) ** 2, axis=0, weights=shares)
