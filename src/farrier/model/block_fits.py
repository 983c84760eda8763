"""From rows that are read in blocks to a fitted model: a table that need not fit in memory, for Gaussian noise.

1. The structure is found on a random sample of the rows, as that of any table (table_fits.py).
2. Inducing points are chosen in the sample, and hyperparameters are fitted to it.
3. From there they are fitted to all rows, by sums over the blocks: first the structure, which explains. The ordinary
   candidates beside it predict too if the bound of the sample is clearly higher with them.

So many rows determine the parameters, so predictions are those of the mode. Their scale comes from one map over the
blocks and one reduction: each gives its number of rows n, its mean m and its sum of squares s about that mean, and two
together have

    n = n1 + n2,   m = m1 + d n2 / n,   s = s1 + s2 + d^2 n1 n2 / n,   d = m2 - m1

which loses no digits where the mean is far from zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import final

import numpy as np

from farrier.data.tables import Scale
from farrier.inference.collapsed import (
    BlockObjective,
    CollapsedBound,
    CollapsedObjective,
    CollapsedPosterior,
    RowBlocks,
)
from farrier.inference.horseshoe import PointHorseshoe
from farrier.inference.inducing_points import PointLimits, choose
from farrier.inference.laplace import Laplace, curvature
from farrier.inference.lbfgs import ITERATIONS, ROUGH_TOLERANCE, moving_of
from farrier.inference.likelihoods import Gaussian
from farrier.inference.linalg import one_thread
from farrier.inference.parameter_vector import ExactModel
from farrier.model.fitted import Alone, Fitted
from farrier.model.problem import Problem
from farrier.model.table_fits import Scaled, projected_table
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import MOST_POINTS, weights_of
from farrier.search.appraisal import Appraisal, appraise, intervals
from farrier.search.evidence import VERY_STRONG
from farrier.search.scoring import CURVATURE_STEP, LEAST_CURVATURE, Evaluator
from farrier.search.structure import LEVEL, Mode, Part, Structure, climbed_to

UNEXPLAINED = 1e-6
"""Part of a kernel's trace that its inducing points may leave unexplained: many rows tell smaller differences from
noise. [part of the trace; by judgement]"""
BLOCK_POINT_LIMITS = PointLimits(together=256, rows=1500)
"""Limits for the inducing points of all kernels together; time is quadratic in their number. [points, rows; by
judgement]"""


def fit_in_blocks(table: Problem) -> Fitted:
    """The model of a table from a sample of its rows, fitted to all of them."""
    assert table.blocks is not None
    with one_thread():
        found = projected_table(table)[0]
        return fit_blocks(found, table.X, table.y, table.blocks(found.scale))


def fit_blocks(scaled: Scaled, X: np.ndarray, y: np.ndarray, rows: RowBlocks) -> Fitted:
    """The structure that was found on a sample, fitted to all rows, with its posterior given all rows."""
    search, scale = scaled.evaluator, scaled.scale
    fit = _Fit(search, X, scale.forward(y), rows)
    found = scaled.structure
    assert found is not None
    sampled = fit.to_sample(found.parts, found.noise)
    own = wide = fit.to_all(sampled)
    pool = scaled.kind.beside(search, own.structure)
    if len(pool) > len(own.structure.parts):
        more = fit.to_sample(pool, own.structure.noise)
        if more.score - sampled.score > VERY_STRONG * len(y) / 1000:
            wide = fit.to_all(more)
    search.tell("computing the posterior of all rows", wide.structure.score)
    explains = own.with_deviations(fit)
    model, alone = wide.model, None
    kernels = tuple(part.kernel for part in explains.parts)
    if wide is not own and kernels:
        assert explains.model is not None
        alone = Alone(own.posterior(), explains.model.prior, kernels, len(kernels), own.model.noise)
    jacobian = sum(rows.map(_log_jacobian, scale))
    return Fitted(
        posterior=wide.posterior(),
        likelihood=Gaussian(model.noise),
        prior=model.prior,
        kernels=tuple(model.pool),
        survivors=len(kernels),
        scale=scale,
        bound=wide.structure.score + jacobian,
        tier="collapsed",
        steps=search.steps,
        level=len(wide.structure.parts),
        record=tuple(scaled.record),
        appraisal=appraised(search, found, explains),
        alone=alone,
        beliefs=search.beliefs,
    )


@final
@dataclass(frozen=True, eq=False)
class _Fitted:
    """A structure at the maximum of its bound, and the bound."""

    structure: Structure
    objective: BlockObjective
    u: np.ndarray

    @property
    def model(self) -> ExactModel:
        assert self.structure.model is not None
        return self.structure.model

    def posterior(self) -> CollapsedPosterior:
        """The posterior given all rows."""
        return CollapsedPosterior.of(self.objective, self.model, weights_of(self.model, 1))

    def with_deviations(self, fit: "_Fit") -> Structure:
        """The structure with Laplace's approximation: the curvature of some rows, in proportion to all."""
        # rows enough for a curvature; that of all rows is in proportion
        some = slice(4_000)
        X, z = fit.X[some], fit.z[some]
        objective = CollapsedObjective(self.model, self.objective.groups, X, z, self.objective.draws)
        limits = objective.limits()
        moving = moving_of(limits)
        H = curvature(objective, self.u, moving, CURVATURE_STEP * objective.typical())
        laplace = Laplace.of(self.u[moving], H * (fit.rows.count / len(z)), LEAST_CURVATURE)
        mode = Mode(self.model, self.u, moving, laplace)
        prior = self.model.prior
        assert isinstance(prior, PointHorseshoe)
        prior = replace(prior, deviation=mode.deviations[: len(self.model.pool)])
        return replace(self.structure, model=replace(self.model, prior=prior), mode=mode)


@final
@dataclass(frozen=True, eq=False)
class _Fit:
    """Fits structures, first to the sample X and z, then to all rows."""

    search: Evaluator
    X: np.ndarray
    z: np.ndarray
    rows: RowBlocks

    def to_sample(self, parts: Sequence[Part], noise: float) -> Structure:
        """A structure with all parameters fitted to the sample; its score is the log posterior density."""
        search = self.search
        model = search.beliefs.model([*parts, LEVEL], noise, self.X.shape[1])
        objective = CollapsedObjective.of(model, self.X, self.z, 1, UNEXPLAINED, MOST_POINTS, BLOCK_POINT_LIMITS)
        return self._climbed(objective, parts, ITERATIONS, "fitting the predictive model")[0]

    def to_all(self, structure: Structure) -> _Fitted:
        """A structure with all parameters fitted to all rows, from their values on the sample."""
        model = structure.model
        assert model is not None
        groups = choose(model.pool, self.X, UNEXPLAINED, MOST_POINTS, BLOCK_POINT_LIMITS)
        objective = BlockObjective(model, groups, self.rows, np.zeros((1, 0)))
        # each iteration reads all rows twice or more
        found, u = self._climbed(objective, structure.parts, 4, "fitting all rows")
        return _Fitted(found, objective, u)

    def _climbed(
        self, objective: CollapsedBound, parts: Sequence[Part], iterations: int, phase: str
    ) -> tuple[Structure, np.ndarray]:
        # in proportion to the rows, since each iteration reads them
        tolerance = ROUGH_TOLERANCE * objective.count / 200
        found, climb = climbed_to(objective, parts, iterations, tolerance, lambda bound: self.search.tell(phase, bound))
        self.search.steps += len(climb.terms)
        return found, climb.numbers


def _log_jacobian(X: np.ndarray, z: np.ndarray, scale: TargetScale) -> float:
    """The log Jacobian of the scale at the rows of a block."""
    return scale.log_jacobian(scale.inverse(z))


def appraised(evaluator: Evaluator, found: Structure, structure: Structure) -> Appraisal:
    """The appraisal of a structure on the sample, with the intervals of its fit to all rows."""
    appraisal = appraise(evaluator, found)
    if not structure.parts:
        return appraisal
    low, high = intervals(structure)
    return replace(appraisal, low=low, high=high)


Moments = tuple[int, np.ndarray, np.ndarray]
"""The number of rows, their mean, and their sum of squares about it."""


def scale_of_blocks(rows: RowBlocks, coded: Sequence[int] = ()) -> Scale:
    """The scale on which all rows have mean zero and standard deviation one, as `Scale.of`."""
    count, mean, squares = reduce(_added, (one for one in rows.map(_moments) if one[0]))
    sd = np.sqrt(squares / count)
    mean[list(coded)], sd[list(coded)] = 0.0, 1.0
    return Scale(mean[:-1], sd[:-1], float(mean[-1]), float(sd[-1]))


def _moments(X: np.ndarray, z: np.ndarray) -> Moments:
    """The moments of the inputs of a block, and of its target, which comes last."""
    if not len(z):
        return 0, np.zeros(0), np.zeros(0)
    together = np.column_stack([X, z])
    mean = together.mean(axis=0)
    return len(z), mean, ((together - mean) ** 2).sum(axis=0)


def _added(one: Moments, other: Moments) -> Moments:
    """The moments of two blocks together."""
    (n1, m1, s1), (n2, m2, s2) = one, other
    n, d = n1 + n2, m2 - m1
    return n, m1 + d * (n2 / n), s1 + s2 + d**2 * (n1 * n2 / n)
