"""The set of structures that predicts: a few that explain the rows about as well, on any scale, weighted by evidence.

The first one explains. Its share, and those of the others, follow from Laplace's approximation of their log evidence;
between growth that fades to a line and growth that fades to nothing little of it counts.
Unless rows are a series in time, shares follow from leave-one-out predictions, and differ between rows (stacking.py).
Predictions average over draws of all parameters of each structure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from farrier.inference.horseshoe import PointHorseshoe
from farrier.inference.laplace import Trajectories, sampled
from farrier.inference.likelihoods import Gaussian, Likelihood
from farrier.inference.noise import ALIKE, Noise
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.posteriors import LaplacePosterior, Posterior
from farrier.inference.student_t import StudentT
from farrier.model.fitted import Fitted, Member
from farrier.model.held_out import ends_of, folds_of, left_out_of
from farrier.model.stacking import DRAWS, LeftOut, Stacking, spread_of, stacked
from farrier.model.target_scale import LOG_ODDS, TargetScale
from farrier.model.tiers import exact_posterior
from farrier.search.appraisal import Appraisal
from farrier.search.evidence import CHANCE
from farrier.search.scoring import Evaluator
from farrier.search.structure import Decision, Structure
from farrier.search.table_moves import TABLE_ROWS

TRAJECTORIES = Trajectories(DRAWS, apart=2, warm=12, steps=5, step=0.3)
"""Hamiltonian Monte Carlo for the parameters of a pool. [by judgement]"""

SERIES_DRAWS = 24
"""Draws of all parameters from Laplace's approximation over which predictions average, beside the modes; each structure
has its share of them. [draws, even; by judgement]"""
SMALLEST_SHARE = 0.02
"""Share of the evidence below which a structure does not predict. [part; by judgement]"""


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
    noise: Noise = ALIKE
    """The noise of all rows, which may be more than those of the fit."""
    correction: float = 0.0
    """The log evidence of the Student-t beyond that of the normal noise that stands for it."""
    mode_only: bool = False
    """Whether predictions use no draws from Laplace's approximation: in a pool of many components most directions are
    flat, and a normal distribution reaches too far along them."""

    @property
    def growth(self) -> str:
        """What growth fades to."""
        return self.evaluator.beliefs.growth

    @property
    def evidence(self) -> float:
        """The log evidence of y in its own units, with the prior log odds of structure and scale."""
        preference = LOG_ODDS.get(self.scale.transform.name, 0.0)
        return self.structure.score + self.scale.log_jacobian(self.rows) + preference + self.correction

    @property
    def height(self) -> float:
        """The evidence where the pool of a series has no price: nobody has chosen its components among others."""
        evaluator, parts = self.evaluator, self.structure.parts
        free = evaluator.beliefs.log_structure(parts, evaluator.X.shape[1]) if evaluator.of_series else 0.0
        return self.evidence - free

    def likelihood(self, model: ExactModel) -> Likelihood:
        """The likelihood of a model."""
        if self.noise.degrees is None:
            return Gaussian(model.noise)
        return StudentT.with_degrees(float(np.sqrt(model.noise)), self.noise.degrees)

    def models(self, draws: int) -> list[ExactModel]:
        """The model at the mode, and at an even number of draws of its parameters, for all rows."""
        model = self.structure.model
        if draws == 0 and model is not None:
            return [self.for_all_rows(model)]
        return [self.for_all_rows(model) for model in self.evaluator.models(self.structure, draws)]

    def for_all_rows(self, model: ExactModel) -> ExactModel:
        """A model with the noise of all rows."""
        return replace(model, row_noise=self.noise)


def fitted_set(
    contenders: Sequence[Contender],
    X: np.ndarray,
    y: np.ndarray,
    *,
    appraisal: Appraisal | None,
    record: Sequence[Decision],
    steps: int,
) -> Fitted:
    """The fitted model: all contenders predict, and the first of them explains."""
    stacking = None
    if not any(one.evaluator.beliefs.of_time for one in contenders):
        shares, stacking, members = stacked_members(contenders, X, y)
    else:
        shares = shares_of(contenders)
        members = [member(one, float(share), X, y) for one, share in zip(contenders, shares, strict=True) if share > 0]
    return fitted_of(
        contenders[0],
        members[0].posterior,
        members[0].noises,
        share=members[0].share,
        others=tuple(members[1:]),
        stacking=stacking,
        bound=max(one.height for one in contenders),
        steps=steps,
        record=(*record, *averaged(contenders, shares)),
        appraisal=appraisal,
    )


def averaged(contenders: Sequence[Contender], shares: np.ndarray) -> list[Decision]:
    """What is said of all contenders but the first: whether they predict too."""
    heights = [one.height for one in contenders]
    return [
        Decision(0, "averaged" if share > 0 else "dropped", one.name, height - heights[0], "evidence of the structure")
        for one, share, height in zip(contenders[1:], shares[1:], heights[1:], strict=True)
    ]


def fitted_of(
    first: Contender, posterior: Posterior, noises: np.ndarray, *, tier: str = "exact", **others: Any
) -> Fitted:
    """The fitted model in which a contender explains; its posterior given all rows has these noise variances."""
    model, size = first.structure.at_mode().model, len(first.structure.parts)
    return Fitted(
        posterior=posterior,
        likelihood=first.likelihood(model),
        prior=weights_of_structure(first.structure),
        kernels=tuple(model.pool),
        survivors=size,
        scale=first.scale,
        tier=tier,
        level=size,
        noises=noises,
        beliefs=first.evaluator.beliefs,
        **others,
    )


def weights_of_structure(structure: Structure) -> PointHorseshoe:
    """The weights of a structure with their posterior deviations."""
    mode = structure.at_mode()
    prior = mode.model.prior
    assert isinstance(prior, PointHorseshoe)
    return replace(prior, deviation=mode.deviations[: len(mode.model.pool)])


def shares_of(contenders: Sequence[Contender]) -> np.ndarray:
    """The share of each contender; one that is too small is zero, except the first, which explains.

    Among those of one growth shares follow from the evidence. Between them only a large difference counts: past rows
    tell little of whether growth will fade.
    """
    heights, kinds = np.array([one.height for one in contenders]), [one.growth for one in contenders]
    totals = {
        kind: np.logaddexp.reduce([h for h, k in zip(heights, kinds, strict=True) if k == kind]) for kind in kinds
    }
    least = max(totals.values()) - CHANCE
    heights += [min(totals[kind] - least, 0.0) - totals[kind] for kind in kinds]
    shares, smallest = np.exp(heights - heights.max()), SMALLEST_SHARE
    shares /= shares.sum()
    kept = np.where((shares >= smallest) | (np.arange(len(shares)) == 0), np.maximum(shares, smallest * 1e-3), 0.0)
    return kept / kept.sum()


def stacked_members(
    contenders: Sequence[Contender], X: np.ndarray, y: np.ndarray, *, at_mode: bool = False
) -> tuple[np.ndarray, Stacking, list[Member]]:
    """The average share of each contender, how they predict together, and those with a share given all rows.

    Parameters may come from a part of the rows. Leave-one-out predictions are given all of them, as new rows will be.
    """
    found = [with_models(one, 0.0, _drawn_models(one, at_mode=at_mode), X, y) for one in contenders]
    ends, folds = ends_of(X), folds_of(len(y))
    left = [left_out_of(member, y, folds, ends, one.noise) for one, member in zip(contenders, found, strict=True)]
    shares, stacking = stacked_shares(left)
    each = zip(found, shares, strict=True)
    return shares, stacking, [replace(member, share=float(share)) for member, share in each if share > 0]


def stacked_shares(left: Sequence[LeftOut]) -> tuple[np.ndarray, Stacking]:
    """The average share of each member of a table's average, and how those with a share predict together.

    Evidence would prefer one member by many nats. Leave-one-out predictions of a mixture are what is asked of it.
    A member whose average share is too small has none, except the first, which explains.
    """
    stacking, _ = stacked(left)
    shares = stacking.shares(left[0].level).mean(axis=1)
    kept = (shares >= SMALLEST_SHARE) | (np.arange(len(shares)) == 0)
    some = [one for one, keep in zip(left, kept, strict=True) if keep]
    if not kept.all():
        stacking, _ = stacked(some)
        shares[kept] = stacking.shares(left[0].level).mean(axis=1)
    shares = np.where(kept, np.maximum(shares, np.finfo(float).eps), 0.0)
    return shares, replace(stacking, spread=spread_of(stacking, some))


def _drawn_models(contender: Contender, *, at_mode: bool) -> list[ExactModel]:
    """The model of a contender of a table at draws of its parameters, for the rows of its fit.

    In a pool of many components most directions are flat, and Laplace's approximation reaches too far along them.
    """
    mode, evaluator = contender.structure.at_mode(), contender.evaluator
    if not contender.mode_only:
        return evaluator.models(contender.structure, DRAWS)
    if at_mode or len(evaluator.y) > TABLE_ROWS:
        return [mode.model]
    objective = evaluator.objective_at(mode)
    draws = sampled(objective, mode.u, mode.moving, mode.laplace, objective.limits(), TRAJECTORIES)
    return [mode.model, *(objective.model(u) for u in draws)]


def member(contender: Contender, share: float, X: np.ndarray, y: np.ndarray) -> Member:
    """The posterior of a contender given all rows, with as many draws of its parameters as its share demands."""
    draws = 0 if contender.mode_only else 2 * int(np.ceil(0.5 * share * SERIES_DRAWS))
    return with_models(contender, share, contender.models(draws), X, y)


def with_models(
    contender: Contender,
    share: float,
    models: Sequence[ExactModel],
    X: np.ndarray,
    y: np.ndarray,
) -> Member:
    """The posterior of a contender given all rows, with given draws of its parameters."""
    z = contender.scale.forward(y)
    return Member(
        share,
        LaplacePosterior(tuple(exact_posterior(contender.for_all_rows(model), X, z) for model in models)),
        np.array([model.noise for model in models]),
        contender.scale,
        tuple(models[0].pool),
        contender.growth,
    )
