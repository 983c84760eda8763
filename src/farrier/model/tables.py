"""From a table to a fitted model, with the noise of higher evidence: Gaussian, or Student-t where there are outliers.

1. Everything is fitted with Gaussian noise (table_fits.py; many_rows.py for many rows).
2. Leave-one-out residuals say whether a Student-t would suit them clearly better. Ordinary data end here, after a small
   part of the time of the fit.
3. Several members predict together. They keep their components and hyperparameters; only the scale of the noise and the
   variances of the rows are fitted, by EM, which for each row takes its leave-one-out prediction alone. The log density
   of these predictions decides, before anything is fitted again: the stacking has tails of its own, so that what is
   compared is whether the rows that are far away mislead the members.
4. The structure is then found again on all rows, each with its variance. The one with the higher evidence explains; the
   pools of the first fit predict beside it. In a large table the noise is decided after the fit (sites.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from farrier.data.copies import counted
from farrier.evaluation.covariance import covariance_of
from farrier.inference.linalg import one_thread
from farrier.inference.posteriors import LaplacePosterior
from farrier.inference.student_t import StudentT, robust_deviation
from farrier.model.finishing import search_rows
from farrier.model.fitted import Fitted, Member
from farrier.model.held_out import ends_of, folds_of, left_out_of
from farrier.model.many_rows import fit_many_rows
from farrier.model.members import Contender, RowNoise, weights_of_structure, with_models
from farrier.model.outliers import Doubt, left_out_score
from farrier.model.problem import Problem
from farrier.model.series import ROBUST_ROUNDS
from farrier.model.sites import fit_students_t
from farrier.model.stacking import DRAWS, LeftOut, spread_of, stacked
from farrier.model.student_t_noise import better_noise, expected, expected_factors
from farrier.model.table_fits import fit_few_rows, fitting_rows, projected_table
from farrier.model.tiers import EXACT_ROWS, Tell
from farrier.search.appraisal import Appraisal, appraise
from farrier.search.evidence import VERY_STRONG
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


def fit_table(table: Problem, *, likelihood: str = "auto") -> Fitted:
    """The model of a table; its noise is Gaussian, Student-t, or what has more evidence ("auto")."""
    if table.factors is None:
        X, y = counted(table.X, table.y)
        table = replace(table, X=X, y=y)
    gaussian, chosen = _gaussian(table), likelihood == "student-t"
    if likelihood == "gaussian":
        return gaussian
    doubt = Doubt.of(gaussian, table.X, table.y)
    if not (doubt.due or chosen):
        return gaussian
    table.tell("looking for outliers", gaussian.bound)
    if isinstance(gaussian.posterior, LaplacePosterior):
        return _robust(table, gaussian, doubt, chosen=chosen)
    kept = ~doubt.suspicious
    with one_thread():
        first = projected_table(replace(table, X=table.X[kept], y=table.y[kept], factors=None))[0]
    with one_thread(small=len(table.X) <= EXACT_ROWS):
        robust = fit_students_t(first, table.X, table.y, doubt.tails.degrees)
    # the members of a large table have no evidence in common
    scores = [left_out_score(one, table.X, table.y) for one in (gaussian, robust)]
    return better_noise(gaussian, robust, chosen=chosen, gain=scores[1] - scores[0])


def _gaussian(table: Problem) -> Fitted:
    """The model with Gaussian noise."""
    with one_thread():
        found = projected_table(table)
    return (fit_few_rows if table.tier == "exact" else fit_many_rows)(found, table.X, table.y)


def _robust(table: Problem, gaussian: Fitted, doubt: Doubt, *, chosen: bool) -> Fitted:
    """The noise of a table whose members predict together; with Student-t noise the structure is found again."""
    X, y, tell = table.X, table.y, table.tell
    with one_thread(small=len(X) <= EXACT_ROWS):
        robust = RobustTable.of(gaussian, X, y, doubt.tails.degrees)
        gain = robust.gain()
        if not chosen and gain <= VERY_STRONG:
            return better_noise(gaussian, gaussian, chosen=False, gain=gain)
        if doubt.suspicious.any():
            found = _gaussian(replace(table, factors=robust.factors))
            again = RobustTable.of(found, X, y, Doubt.of(found, X, y).tails.degrees)
            best = max(robust, again, key=lambda one: one.evidence(tell))
            robust = best.beside_pools_of(robust)
        return better_noise(gaussian, robust.fitted(tell), chosen=chosen, gain=gain)
