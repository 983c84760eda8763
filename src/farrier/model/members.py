"""The set of structures that predicts: a few that explain the rows about as well, on any scale, weighted by evidence.

The first one explains. Its share, and those of the others, follow from Laplace's approximation of their log evidence;
between kinds of structures (searched for or not, with growth that fades to a line or to nothing) little of it counts.
Predictions average over draws of all parameters of each structure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from farrier.inference.laplace import LaplacePosterior
from farrier.inference.likelihoods import Gaussian, Likelihood, StudentT
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_priors import HalfCauchy
from farrier.model.fitted import Alone, Fitted, Member
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import exact_posterior
from farrier.search.appraisal import Appraisal
from farrier.search.scoring import Evaluator
from farrier.search.settings import AveragingSettings, SearchSettings
from farrier.search.structure import Decision, Structure


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
class Contender:
    """A fitted structure that may predict."""

    name: str
    """What it is, for the record."""
    structure: Structure
    evaluator: Evaluator
    """It was fitted to these rows."""
    scale: TargetScale
    rows: np.ndarray
    """The target in its own units at the rows of the fit."""
    noise: RowNoise | None = None
    """The noise of all rows; None if it is Gaussian."""
    searched: bool = True
    """Whether a search has chosen its components."""
    correction: float = 0.0
    """The log evidence of the Student-t beyond that of the normal noise that stands for it."""
    mode_only: bool = False
    """Whether predictions use the mode of the parameters, without draws about it: in a pool of many components most
    directions are flat, and a normal distribution reaches too far along them."""
    factors: np.ndarray | None = None
    """The noise variance of each of all rows over the common one, if rows have weights."""

    @property
    def kind(self) -> tuple[bool, str]:
        """Whether its components were searched for, and what growth fades to."""
        return self.searched, self.evaluator.beliefs.growth

    @property
    def height(self) -> float:
        """The log evidence of y in its own units, with the prior log odds of structure and scale.

        All structures that predict have the components of ordinary series, so these have no price.
        """
        evaluator, parts = self.evaluator, self.structure.parts
        preference = evaluator.settings.scales.preference(self.scale.transform.name)
        ordinary = [part for part in parts if evaluator.beliefs.ordinary(part.kernel)]
        free = evaluator.beliefs.log_structure(ordinary, evaluator.X.shape[1])
        return self.structure.score - free + self.scale.log_jacobian(self.rows) + preference + self.correction

    def likelihood(self, model: ExactModel) -> Likelihood:
        """The likelihood of a model."""
        if self.noise is None:
            return Gaussian(model.noise)
        return StudentT.with_degrees(float(np.sqrt(model.noise)), self.noise.degrees)

    def models(self, draws: int) -> list[ExactModel]:
        """The model at the mode, and at an even number of draws of its parameters, for all rows."""
        mode = self.structure.mode
        assert mode is not None
        factors = self.factors if self.noise is None else self.noise.factors
        return [replace(model, factors=factors) for model in mode.models(draws)]


def fitted_set(
    contenders: Sequence[Contender],
    explains: Contender | None,
    X: np.ndarray,
    y: np.ndarray,
    *,
    appraisal: Appraisal,
    record: Sequence[Decision],
    settings: SearchSettings,
    steps: int,
) -> Fitted:
    """The fitted model: all contenders predict, `explains` (None: the first of them) explains.

    The components of the first contender begin with those of `explains`.
    """
    averaging = settings.averaging
    stacked = stacked_shares(contenders, averaging.smallest_share) if _of_table(contenders) else None
    shares = shares_of(contenders, averaging) if stacked is None else stacked
    members = [
        member(one, float(share), X, y, settings) for one, share in zip(contenders, shares, strict=True) if share > 0
    ]
    first, size = contenders[0], len(contenders[0].structure.parts)
    survivors = size if explains is None else len(explains.structure.parts)
    mode = first.structure.mode
    assert mode is not None
    heights = [one.height for one in contenders]
    said = [
        Decision(0, "averaged" if share > 0 else "dropped", one.name, height - heights[0], "evidence of the structure")
        for one, share, height in zip(contenders[1:], shares[1:], heights[1:], strict=True)
    ]
    return Fitted(
        posterior=members[0].posterior,
        likelihood=first.likelihood(mode.model),
        prior=_prior(first.structure),
        kernels=tuple(mode.model.pool),
        survivors=survivors,
        scale=first.scale,
        bound=max(heights),
        tier="exact",
        steps=steps,
        level=size,
        alone=None if explains is None or survivors == 0 else alone(explains, X, y, settings),
        record=(*record, *said),
        appraisal=appraisal,
        settings=settings,
        noises=members[0].noises,
        share=members[0].share,
        others=tuple(members[1:]),
        beliefs=first.evaluator.beliefs,
    )


def alone(contender: Contender, X: np.ndarray, y: np.ndarray, settings: SearchSettings) -> Alone:
    """The structure that explains, without the other candidates."""
    mode, count = contender.structure.mode, len(contender.structure.parts)
    assert mode is not None
    posterior = member(contender, settings.averaging.explaining_share, X, y, settings).posterior
    return Alone(posterior, _prior(contender.structure), tuple(mode.model.pool)[:count], count, mode.model.noise)


def _prior(structure: Structure) -> HalfCauchy:
    """The weights of a structure with their posterior deviations."""
    mode = structure.mode
    assert mode is not None
    prior = mode.model.prior
    assert isinstance(prior, HalfCauchy)
    return replace(prior, deviation=mode.deviations[: len(mode.model.pool)])


def shares_of(contenders: Sequence[Contender], settings: AveragingSettings) -> np.ndarray:
    """The share of each contender; one that is too small is zero, except the first, which explains.

    Among those of one kind shares follow from the evidence. Between kinds only a part of the difference counts: a
    search flatters the evidence of what it has chosen, and past rows tell little of whether growth will fade.
    """
    heights, kinds = np.array([one.height for one in contenders]), [one.kind for one in contenders]
    for kind in set(kinds):
        alike = np.array([one == kind for one in kinds])
        heights[alike] -= (1.0 - settings.caution) * np.logaddexp.reduce(heights[alike])
    shares, smallest = np.exp(heights - heights.max()), settings.smallest_share
    shares /= shares.sum()
    kept = np.where((shares >= smallest) | (np.arange(len(shares)) == 0), np.maximum(shares, smallest * 1e-3), 0.0)
    return kept / kept.sum()


def _of_table(contenders: Sequence[Contender]) -> bool:
    """Whether the rows are those of a table, with Gaussian noise."""
    return all(one.noise is None and one.evaluator.beliefs.clock is None for one in contenders)


def stacked_shares(contenders: Sequence[Contender], smallest: float) -> np.ndarray:
    """The shares with which leave-one-out predictions of the rows have the highest log density (stacking).

    Evidence would prefer one contender by many nats. Leave-one-out predictions of a mixture are what is asked of it.
    The log density is concave in the shares, and each step of expectation maximisation raises it.
    """
    if len(contenders) == 1:
        return np.ones(1)
    densities = np.stack([_left_out_densities(one) for one in contenders])
    likely = np.exp(densities - densities.max(axis=0))
    shares = np.full(len(contenders), 1.0 / len(contenders))
    for _ in range(contenders[0].evaluator.settings.averaging.stacking_steps):
        each = shares[:, None] * likely
        shares = np.mean(each / each.sum(axis=0), axis=1)
    kept = np.where((shares >= smallest) | (np.arange(len(shares)) == 0), np.maximum(shares, smallest), 0.0)
    return kept / kept.sum()


def _left_out_densities(contender: Contender) -> np.ndarray:
    """The log density of each row of a fit, in units of y, given all other rows; parameters are at their mode."""
    mode, evaluator = contender.structure.mode, contender.evaluator
    assert mode is not None
    weights = mode.model.prior.quantile(0.5)[None]
    posterior = exact_posterior(mode.model, evaluator.X, evaluator.y, evaluator.settings, weights)
    (mean,), (variance,) = posterior.left_out()
    variance = variance + evaluator.spread(contender.structure)
    away = (evaluator.y - mean) ** 2 / variance
    return -0.5 * (away + np.log(2.0 * np.pi * variance)) + contender.scale.log_slopes(contender.rows)


def member(contender: Contender, share: float, X: np.ndarray, y: np.ndarray, settings: SearchSettings) -> Member:
    """The posterior of a contender given all rows, with as many draws of its parameters as its share demands."""
    z = contender.scale.forward(y)
    many = _of_table([contender]) and len(y) > settings.rows.search
    draws = settings.averaging.table_draws if many else settings.averaging.draws
    models = contender.models(0 if contender.mode_only else 2 * int(np.ceil(0.5 * share * draws)))
    posteriors: list[Any] = [
        exact_posterior(model, X, z, settings, model.prior.quantile(0.5)[None]) for model in models
    ]
    return Member(
        share,
        LaplacePosterior(tuple(posteriors)),
        np.array([model.noise for model in models]),
        contender.scale,
        tuple(models[0].pool),
        contender.searched,
        contender.evaluator.beliefs.growth,
    )
