"""Student-t noise for a table: the members of the Gaussian fit, with rows that count as much as a Student-t allows.

A Student-t is normal noise whose variance differs from row to row (row_noise.py). The members keep their components and
hyperparameters; only the scale of the noise and the variances of the rows are fitted, by EM. For each row this takes
the leave-one-out prediction alone, so that a step costs one Cholesky factor, and the comparison of both kinds of noise
a small part of a search.

Both kinds predict by a stacking of the same members, which has tails of its own (stacking.py). So what is compared is
whether the rows that are far away mislead the members. If the Student-t is kept, the structure is searched for again
with the variances of the rows (tables.py), since outliers mislead a search too. The structure with the higher evidence
explains: it is fitted again with the variances of its rows, and its components are appraised. The pools of the first
fit predict beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.linalg import one_thread
from farrier.inference.posteriors import LaplacePosterior
from farrier.inference.student_t import StudentT, robust_deviation
from farrier.model.finishing import search_rows
from farrier.model.fitted import Fitted, Member
from farrier.model.held_out import ends_of, folds_of, left_out_of
from farrier.model.members import Contender, RowNoise, weights_of_structure, with_models
from farrier.model.outliers import left_out_score
from farrier.model.row_noise import expected, expected_factors
from farrier.model.series import ROBUST_ROUNDS
from farrier.model.stacking import DRAWS, LeftOut, spread_of, stacked
from farrier.model.table_fits import fitting_rows
from farrier.model.tiers import Tell
from farrier.search.appraisal import Appraisal, appraise
from farrier.search.scoring import Evaluator
from farrier.search.structure import Structure


@final
@dataclass(frozen=True, eq=False)
class RobustTable:
    """The members of a table's average with Student-t noise."""

    gaussian: Fitted
    X: np.ndarray
    y: np.ndarray
    degrees: float
    members: tuple[Member, ...]
    noise: RowNoise
    """That of the first member."""
    factors: np.ndarray
    """The noise variance of each row over that of an ordinary row, on average over the members by their shares."""

    @classmethod
    def of(cls, gaussian: Fitted, X: np.ndarray, y: np.ndarray, degrees: float) -> "RobustTable":
        """The members of a Gaussian fit of the rows X on the scale of the model, and y in its own units."""
        found = [_reweighted(one, y, degrees, ROBUST_ROUNDS) for one in gaussian.members]
        members = tuple(member for member, _ in found)
        shares = [one.share for one in gaussian.members]
        average = np.average([factors for _, factors in found], axis=0, weights=shares)
        noise = RowNoise(degrees, found[0][1], np.ones(len(y), bool))
        return cls(gaussian, X, y, degrees, members, noise, average)

    def gain(self) -> float:
        """What the log density of all leave-one-out predictions gains over Gaussian noise. [nats]"""
        _, each = stacked(self._left_out(self.members))
        return float(np.sum(each)) - left_out_score(self.gaussian, self.X, self.y)

    def beside_pools_of(self, other: "RobustTable") -> "RobustTable":
        """This structure with the pools of another fit of the same rows.

        No search has chosen a pool, so that outliers mislead it less; and what looks like outliers may be structure.
        """
        return replace(self, members=(self.members[0], *other.members[1:]))

    def evidence(self, tell: Tell) -> float:
        """The log evidence of the structure that explains, with Student-t noise, on the rows of its fit. [nats]

        Leave-one-out predictions cannot compare structures that were searched for: a step beside an outlier makes its
        row uncertain, at no cost for others.
        """
        rows, first = fitting_rows(self.X), self.members[0]
        evaluator, structure = self._again(first, rows, tell)
        noise = replace(self.noise, factors=self.noise.factors[rows], ordinary=self.noise.ordinary[rows])
        own = Contender("the structure", structure, evaluator, first.scale, self.y[rows], noise)
        return expected(own, self.X[rows], self.y[rows], np.arange(len(rows))).height

    def fitted(self, tell: Tell) -> Fitted:
        """The fitted model; the structure that explains is fitted again."""
        first, gaussian = self.members[0], self.gaussian
        rows = fitting_rows(self.X)
        evaluator, structure = self._again(first, rows, tell)
        own = Contender("the structure", structure, evaluator, first.scale, self.y[rows], self.noise)
        models = own.models(DRAWS)
        explains = with_models(own, first.share, models, self.X, self.y)
        members = (explains, *self.members[1:])
        left = self._left_out(members)
        stacking, _ = stacked(left)
        shares = stacking.shares(left[0].level).mean(axis=1)
        others = [replace(one, share=float(share)) for one, share in zip(members[1:], shares[1:], strict=True)]
        return replace(
            gaussian,
            posterior=explains.posterior,
            likelihood=StudentT.with_degrees(float(np.sqrt(structure.noise)), self.degrees),
            prior=weights_of_structure(structure),
            kernels=explains.kernels,
            steps=gaussian.steps + evaluator.steps,
            appraisal=self._appraisal(first, evaluator, structure, tell),
            noises=explains.noises,
            share=float(shares[0]),
            others=tuple(others),
            stacking=replace(stacking, spread=spread_of(stacking, left)),
        )

    def _left_out(self, members: Sequence[Member]) -> list[LeftOut]:
        """The leave-one-out predictions of the rows by some members, whose noise is that of an ordinary row."""
        ends, folds = ends_of(self.X), folds_of(len(self.y))
        return [left_out_of(one, self.y, folds, ends) for one in members]

    def _again(self, member: Member, rows: np.ndarray, tell: Tell) -> tuple[Evaluator, Structure]:
        """The structure that explains, fitted to some rows with their variances, from its current values."""
        fitted, X = self.gaussian, self.X[rows]
        evaluator = Evaluator(
            X,
            member.scale.forward(self.y[rows]),
            covariance_of(X),
            (),
            tell,
            beliefs=fitted.beliefs,
            factors=self.noise.factors[rows],
        )
        each = zip(fitted.kernels[: fitted.survivors], member.weights, strict=False)
        parts = [evaluator.part(kernel, float(weight)) for kernel, weight in each]
        with one_thread():
            return evaluator, evaluator.fit(parts, float(member.noises[0]))

    def _appraisal(self, member: Member, evaluator: Evaluator, structure: Structure, tell: Tell) -> Appraisal:
        """That of the components, on the rows that are explained."""
        rows = search_rows(self.X)
        if len(rows) < len(evaluator.y):
            evaluator, structure = self._again(member, rows, tell)
        with one_thread():
            return appraise(evaluator, structure)


def _reweighted(member: Member, y: np.ndarray, degrees: float, rounds: int) -> tuple[Member, np.ndarray]:
    """A member with Student-t noise, and the noise variance of each row over the squared scale.

    Given the leave-one-out prediction N(m, v) of f at a row, its posterior has precision 1 / v + 1 / noise.
    """
    posterior, z = member.posterior.posteriors[0], member.scale.forward(y)
    (mean,), (variance,) = posterior.left_out()
    scale2 = min(robust_deviation(z - mean) ** 2, float(member.noises[0]))
    square = (z - mean) ** 2 + variance
    factors = expected_factors(square / scale2, degrees)
    for _ in range(rounds):
        scale2 = float(np.mean(square / factors))
        noise = scale2 * factors
        (mean,), (variance,) = replace(posterior, noise=noise).left_out()
        square = ((z - mean) * noise / (variance + noise)) ** 2 + variance * noise / (variance + noise)
        factors = expected_factors(square / scale2, degrees)
    noises = member.noises * (scale2 / float(member.noises[0]))
    each = zip(member.posterior.posteriors, noises, strict=True)
    draws = tuple(replace(one, noise=float(noise) * factors) for one, noise in each)
    return replace(member, posterior=LaplacePosterior(draws), noises=noises), factors
