"""The structural model: one fixed sum of what ordinary series are made of, with learned priors and no search.

    y = level + damped trend + random walk + seasons that move + AR(1) + noise

Each season is a periodic kernel times a rough one with a long lengthscale, so that its shape moves as in exponential
smoothing. All parameters have log-normal priors that were learned from many series (search/structural_priors.py). They
are fitted to the top of their posterior density, and predictions average over draws from Laplace's approximation there.
The scale of the target is the one with the higher evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.evaluation.products import Products
from farrier.inference.blas import one_thread
from farrier.inference.exact import ExactObjective
from farrier.inference.gaussian import LOG_2PI
from farrier.inference.laplace import Laplace, LaplacePosterior, curvature
from farrier.inference.lbfgs import climb
from farrier.inference.likelihoods import Gaussian, Likelihood, StudentT
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_priors import LogNormal
from farrier.kernels.algebra import Kernel
from farrier.kernels.constant import Constant
from farrier.kernels.damped_trend import DampedTrend
from farrier.kernels.matern import Matern12
from farrier.kernels.periodic import Periodic
from farrier.kernels.random_walk import RandomWalk
from farrier.model.fitted import Fitted
from farrier.model.target_scale import TargetScale, Transform, named, worth_trying
from farrier.model.tiers import exact_posterior
from farrier.search.appraisal import Z95, Appraisal
from farrier.search.settings import SearchSettings
from farrier.search.structural_priors import Priors, frequency_of, priors_for


@final
@dataclass(frozen=True)
class Clock:
    """The times of a series: its first row, the step between rows, and the seasons, shortest first."""

    origin: float
    """One step before the first row: trend and walk start there."""
    step: float
    seasons: tuple[float, ...]

    @classmethod
    def of(cls, x: np.ndarray, seasons: Sequence[float]) -> "Clock":
        """From the times of the rows, and seasons in the same units."""
        distinct = np.unique(x)
        step = float(np.median(np.diff(distinct)))
        return cls(float(distinct[0]) - step, step, tuple(sorted(seasons)))

    @property
    def unit(self) -> float:
        """What times of the priors are counted in: the shortest season, or a step."""
        return self.seasons[0] if self.seasons else self.step

    @property
    def frequency(self) -> str:
        """Which priors suit it."""
        return frequency_of(self.unit / self.step if self.seasons else None)


@final
@dataclass(frozen=True, eq=False)
class RowNoise:
    """Student-t noise as normal noise whose variance differs from row to row (robust_structural.py)."""

    degrees: float
    """Degrees of freedom."""
    factors: np.ndarray
    """The noise variance of each row over the squared scale of the Student-t."""
    ordinary: np.ndarray
    """Which rows are not suspicious: they set the scale of the target."""


@final
@dataclass(frozen=True, eq=False)
class StructuralFit:
    """The structural model on one scale of the target, at the top of its posterior density."""

    clock: Clock
    scale: TargetScale
    objective: ExactObjective
    mode: np.ndarray
    """All parameters, unbounded."""
    moving: np.ndarray
    """Which of them were fitted."""
    laplace: Laplace
    evidence: float
    """Laplace's approximation of the log evidence of y."""
    steps: int
    noise: RowNoise | None = None
    """The noise of all rows; None if it is Gaussian."""

    @property
    def named(self) -> dict[int, tuple[str, float, float]]:
        """For each parameter its name in the priors, and what turns u into the logarithm there: (u + offset) factor."""
        unit = float(np.log(self.clock.unit))
        offsets = {"damping": unit, "drift": -unit, "ar_length": -unit}
        names = structural_parameters(self.clock)
        return {
            place: (name, offsets.get(name, 0.0), 0.5 if name == "noise" else 1.0) for place, name in enumerate(names)
        }

    def likelihood(self, model: ExactModel) -> Likelihood:
        """The likelihood of a model."""
        if self.noise is None:
            return Gaussian(model.noise)
        return StudentT.with_degrees(float(np.sqrt(model.noise)), self.noise.degrees)

    def models(self, draws: int) -> list[ExactModel]:
        """The model at the mode, and at draws of its parameters."""
        found = []
        for values in (self.laplace.mode, *self.laplace.draws(draws)):
            u = self.mode.copy()
            u[self.moving] = values
            model = self.objective.model(u)
            found.append(model if self.noise is None else replace(model, factors=self.noise.factors))
        return found


def fit_structural(
    X: np.ndarray,
    y: np.ndarray,
    seasons: Sequence[float] = (),
    *,
    transform: str = "auto",
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """The structural model of y over one standardised input; `seasons` are periods in the units of X."""
    clock = Clock.of(X[:, 0], seasons)
    with one_thread(small=len(X) <= settings.rows.exact):
        fits = [
            structural_fit(X, y, clock, one, priors_for(clock.frequency), settings)
            for one in transforms_to_try(y, transform, settings)
        ]
        return fitted_structural(max(fits, key=lambda one: one.evidence), X, y, settings)


def transforms_to_try(y: np.ndarray, transform: str, settings: SearchSettings) -> list[Transform]:
    """The scales of y that are compared: identity and logarithm, or the one that was asked for."""
    if transform != "auto":
        return [named(transform)]
    return [one for one in worth_trying(y, settings.scales.smallest_ratio) if one.name != "square root"]


def fitted_structural(best: StructuralFit, X: np.ndarray, y: np.ndarray, settings: SearchSettings) -> Fitted:
    """The fitted model of all rows."""
    models, z = best.models(settings.structural.draws), best.scale.forward(y)
    posteriors = tuple(exact_posterior(model, X, z, settings, model.prior.quantile(0.5)[None]) for model in models)
    mode, count = models[0], len(models[0].pool)
    deviations = np.zeros(len(best.mode))
    deviations[best.moving] = best.laplace.deviations
    return Fitted(
        posterior=LaplacePosterior(posteriors),
        likelihood=best.likelihood(mode),
        prior=replace(mode.prior, deviation=deviations[:count]),
        kernels=tuple(mode.pool),
        survivors=count - 1,
        scale=best.scale,
        bound=best.evidence,
        tier="exact",
        steps=best.steps,
        level=count - 1,
        appraisal=_appraised(
            mode, deviations[count + 1 :], posteriors[0].components(X)[0], settings.structural.smallest_share
        ),
        settings=settings,
        noises=np.array([model.noise for model in models]),
    )


def _appraised(mode: ExactModel, deviations: np.ndarray, means: np.ndarray, smallest: float) -> Appraisal:
    """The 95 % intervals of the hyperparameters, and which components are worth a word, largest first.

    No component was removed, and no row left out, to see what it is worth.
    """
    u, count = mode.pool.unbounded, len(mode.pool) - 1
    ends = [tuple(mode.pool.with_unbounded(u + sign * Z95 * deviations))[:count] for sign in (-1.0, 1.0)]
    sizes = means[:count].std(axis=1)
    order = [int(i) for i in np.argsort(sizes)[::-1] if sizes[i] ** 2 > smallest * np.sum(sizes**2)]
    return Appraisal(ends[0], ends[1], (None,) * count, (), tuple(order), tuple(float(size) for size in sizes))


def structural_fit(
    X: np.ndarray,
    y: np.ndarray,
    clock: Clock,
    transform: Transform,
    priors: Priors,
    settings: SearchSettings,
    noise: RowNoise | None = None,
) -> StructuralFit:
    """The structural model on one scale of the target; `noise` is that of its rows, None if it is Gaussian."""
    own, scale = settings.structural, TargetScale.of(transform, y if noise is None else y[noise.ordinary])
    last = np.argsort(X[:, 0], kind="stable")[-own.rows :]
    model, covariance = structural_model(clock, priors), covariance_of(X[last])
    model = model if noise is None else replace(model, factors=noise.factors[last])
    objective = ExactObjective(model, covariance, covariance.scatter(scale.forward(y[last])), np.zeros((1, 0)))
    mode, terms = climb(objective, own.iterations, own.tolerance)
    limits = objective.limits()
    moving = np.flatnonzero(limits[:, 1] > limits[:, 0])
    H = curvature(objective, mode, which=moving)
    laplace = Laplace.of(mode[moving], H, own.least_curvature)
    # the priors of hyperparameters and noise, whose normalising constants the bound leaves out
    sds = np.append(objective.parameters.prior_deviations, model.noise_prior[1])
    constant = -float(np.sum(np.log(sds[sds > 0.0]) + 0.5 * LOG_2PI))
    evidence = terms[-1].total + constant + laplace.log_volume + scale.log_jacobian(y[last])
    return StructuralFit(clock, scale, objective, mode, moving, laplace, evidence, len(terms), noise)


def structural_parts(clock: Clock, priors: Priors) -> list[tuple[str, Kernel, tuple[str, ...]]]:
    """Each component: its name in the priors, its kernel at the prior medians, and the names of its hyperparameters."""
    unit = clock.unit

    def median(name: str) -> float:
        return float(np.exp(priors[name].mean))

    def season(period: float) -> Kernel:
        return Matern12(median("drift") * unit) * Periodic(period, median("shape"))

    return [
        ("trend", DampedTrend(median("damping") / unit, clock.origin, unit), ("damping",)),
        ("walk", RandomWalk(clock.origin, unit), ()),
        *(("season", season(period), ("drift", "period", "shape")) for period in clock.seasons),
        ("ar", Matern12(median("ar_length") * unit), ("ar_length",)),
        ("level", Constant(), ()),
    ]


def structural_parameters(clock: Clock) -> list[str]:
    """The names of all parameters, in the order of their vector."""
    parts = structural_parts(clock, priors_for(clock.frequency))
    return [*(name for name, _, _ in parts), "noise", *(name for _, _, own in parts for name in own)]


def structural_model(clock: Clock, priors: Priors) -> ExactModel:
    """All components at the medians of their priors."""
    parts = structural_parts(clock, priors)
    pool = Products.of([kernel for _, kernel, _ in parts], 1)
    # periods are those of the calendar and are not fitted
    names = [name for _, _, own in parts for name in own]
    spread = np.array([0.0 if name == "period" else priors[name].sd for name in names])
    sizes = [priors[name] for name, _, _ in parts]
    weights = LogNormal.initial(np.array([one.mean for one in sizes]), np.array([one.sd for one in sizes]))
    # the noise is counted as a variance
    noise = 2.0 * priors["noise"].mean, 2.0 * priors["noise"].sd
    return ExactModel(weights, float(np.exp(noise[0])), pool, pool.unbounded, None, spread, noise)
