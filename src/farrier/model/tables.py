"""From a table to a fitted model, with the noise of higher evidence: Gaussian, or Student-t where there are outliers.

1. Everything is fitted with Gaussian noise (table_fits.py). Of few rows all of it predicts by exact inference
   (members.py); many_rows.py goes on for more.
2. Leave-one-out residuals say whether a Student-t would suit them clearly better. Ordinary data end here, after a small
   part of the time of the fit.
3. The members of a table of few rows keep their components and hyperparameters; only the scale of the noise and the
   variances of the rows are fitted (`RobustTable`). The log density of leave-one-out predictions decides, before
   anything is fitted again: the stacking has tails of its own, so that what is compared is whether the rows that are
   far away mislead the members.
4. The structure is then found again on all rows, each with its variance. The one with the higher evidence explains; the
   pools of the first fit predict beside it. A large table is fitted again with the noise that its residuals suggest,
   and the log density of leave-one-out predictions decides.

A refit starts from the values of a fitted model, and keeps the components of its members and the kind of noise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, final

import numpy as np

from farrier.data.copies import counted
from farrier.evaluation.covariance import covariance_of
from farrier.inference.collapsed import CollapsedPosterior
from farrier.inference.linalg import one_thread
from farrier.inference.noise import Noise, alternately
from farrier.inference.posteriors import LaplacePosterior
from farrier.inference.student_t import StudentT, robust_deviation
from farrier.model.fitted import Fitted, Member
from farrier.model.held_out import ends_of, folds_of, left_out_of
from farrier.model.many_rows import many_rows_score, many_rows_set
from farrier.model.members import Contender, fitted_of, fitted_set, with_models
from farrier.model.outliers import Doubt, left_out_score
from farrier.model.problem import Problem
from farrier.model.rows import fitting_rows, search_rows
from farrier.model.stacking import DRAWS, LeftOut, spread_of, stacked
from farrier.model.student_t_noise import (
    expected,
    in_turn,
    noise_around,
    noise_beyond,
    squares_at_rows,
    with_better_noise,
)
from farrier.model.table_fits import projected_table, table_contenders
from farrier.model.tiers import EXACT_ROWS
from farrier.search.appraisal import appraise
from farrier.search.beliefs import Beliefs
from farrier.search.scoring import Evaluator


def fit_table(table: Problem, *, likelihood: str = "auto") -> Fitted:
    """The model of a table; its noise is Gaussian, Student-t, or what has more evidence ("auto")."""
    if table.noise.each is None:
        X, y = counted(table.X, table.y)
        table = replace(table, X=X, y=y)
    gaussian = _gaussian(table)

    def robust(doubt: Doubt) -> tuple[float, Callable[[], Fitted]]:
        if table.tier == "exact":
            with one_thread(small=len(table.X) <= EXACT_ROWS):
                found = RobustTable.of(gaussian, table, doubt.tails.degrees)
                return found.gain(), lambda: _robust(found, doubt)
        many, noise = _robust_many_rows(table, doubt)
        # the members of a large table have no evidence in common
        gain = many_rows_score(many, table.X, table.y, noise) - left_out_score(gaussian, table.X, table.y)
        return gain, lambda: many

    return with_better_noise(gaussian, table, likelihood, robust)


def _gaussian(table: Problem) -> Fitted:
    """The model with Gaussian noise."""
    contenders, found = _contenders(table)
    if table.tier != "exact":
        return many_rows_set(contenders, table.X, table.y, **found)[0]
    with one_thread(small=len(table.X) <= EXACT_ROWS):
        return fitted_set(contenders, table.X, table.y, **found)


def _contenders(table: Problem) -> tuple[list[Contender], dict[str, Any]]:
    """What predicts a table, what the first of them is worth, and how it was found."""
    with one_thread():
        found = projected_table(table)
        contenders, best = table_contenders(found, few=table.tier != "exact"), found[0]
        assert best.structure is not None
        steps = sum(one.evaluator.steps for one in contenders)
        return contenders, {
            "appraisal": appraise(best.evaluator, best.structure),
            "record": best.record,
            "steps": steps,
        }


def _robust_many_rows(table: Problem, doubt: Doubt) -> tuple[Fitted, Noise]:
    """The model of many rows with Student-t noise, and its noise; components are found on rows that are not suspicious,
    and the first noise is what they expect."""
    kept = ~doubt.suspicious
    contenders, found = _contenders(replace(table, X=table.X[kept], y=table.y[kept], engine=table.tier))
    noise = noise_beyond(contenders[0], doubt.tails.degrees, table.X, table.y)
    return many_rows_set([replace(one, noise=noise) for one in contenders], table.X, table.y, **found)


def refit_table(fitted: Fitted, table: Problem) -> Fitted:
    """The members of a fitted model, fitted to other rows from their present values, with the same kind of noise."""
    X, y, own, many = table.X, table.y, fitted.alone, isinstance(fitted.posterior, CollapsedPosterior)
    if isinstance(fitted.likelihood, StudentT):
        table = replace(table, noise=noise_around(fitted, X, y))
    rows, members, contenders = fitting_rows(X) if many else np.arange(len(y)), list(fitted.members), []
    if own is not None:
        # of rows that were read in blocks, the pool may predict
        members.insert(0, replace(members[0], posterior=cast(Any, own.posterior), kernels=own.kernels))
    for place, one in enumerate(one for one in members if one.possible(y)):

        def fit(noise: Noise, least: float, one: Member = one) -> Contender:
            return _again(one, replace(table, noise=noise), fitted.beliefs, rows, least)

        found = fit(table.noise, -np.inf) if many else in_turn(fit, table.noise, X, y, rows)
        contenders.append(replace(found, mode_only=many and place > 0))
    appraisal = appraise(contenders[0].evaluator, contenders[0].structure)
    if many:
        steps = sum(one.evaluator.steps for one in contenders)
        return many_rows_set(contenders, X, y, appraisal=appraisal, record=fitted.record, steps=steps)[0]
    return fitted_set(contenders, X, y, appraisal=appraisal, record=fitted.record, steps=fitted.steps)


def _again(member: Member, table: Problem, beliefs: Beliefs, rows: np.ndarray, least: float = -np.inf) -> Contender:
    """A member fitted to some of the rows, from its present values, with the noise of the table."""
    X, y = table.X[rows], table.y[rows]
    evaluator = Evaluator(
        X, member.scale.forward(y), covariance_of(X), (), table.tell, table.noise.at(rows), beliefs=beliefs
    )
    # the last weight is that of the level, which every structure has
    each = zip(member.kernels, member.weights[:-1], strict=False)
    parts = [evaluator.part(kernel, float(weight)) for kernel, weight in each]
    structure = evaluator.fit(parts, float(member.noises[0]), least=least)
    return Contender("a structure fitted again", structure, evaluator, member.scale, y, table.noise)


@final
@dataclass(frozen=True, eq=False)
class RobustTable:
    """The members of the average of a table of few rows, with Student-t noise."""

    gaussian: Fitted
    table: Problem
    """The rows, with the noise that the first member expects."""
    members: tuple[Member, ...]
    factors: np.ndarray
    """The noise variance of each row over that of an ordinary row, on average over the members by their shares."""

    @classmethod
    def of(cls, gaussian: Fitted, table: Problem, degrees: float) -> "RobustTable":
        """The members of a Gaussian fit of the rows."""
        found = [_reweighted(one, table.y, degrees) for one in gaussian.members]
        shares = [one.share for one in gaussian.members]
        average = np.average([noise.relative(len(table.y)) for _, noise in found], axis=0, weights=shares)
        return cls(gaussian, replace(table, noise=found[0][1]), tuple(member for member, _ in found), average)

    def gain(self) -> float:
        """What the log density of all leave-one-out predictions gains over Gaussian noise. [nats]"""
        _, each = stacked(self._left_out(self.members))
        return float(np.sum(each)) - left_out_score(self.gaussian, self.table.X, self.table.y)

    def beside_pools_of(self, other: "RobustTable") -> "RobustTable":
        """This structure with the pools of another fit of the same rows.

        No search has chosen a pool, so that outliers mislead it less; and what looks like outliers may be structure.
        """
        return replace(self, members=(self.members[0], *other.members[1:]))

    def evidence(self) -> float:
        """The log evidence of the structure that explains, with Student-t noise, on the rows of its fit. [nats]

        Leave-one-out predictions cannot compare structures that were searched for: a step beside an outlier makes its
        row uncertain, at no cost for others.
        """
        rows = fitting_rows(self.table.X)
        own = self._explaining(rows)
        own = replace(own, noise=own.noise.at(rows))
        return expected(own, own.evaluator.X, own.rows, np.arange(len(rows)))[0].height

    def fitted(self) -> Fitted:
        """The fitted model; the structure that explains is fitted again."""
        X, gaussian, rows = self.table.X, self.gaussian, search_rows(self.table.X)
        own = seen = self._explaining(fitting_rows(X))
        first = with_models(own, 1.0, own.models(DRAWS), X, self.table.y)
        left = self._left_out((first, *self.members[1:]))
        stacking, _ = stacked(left)
        shares = stacking.shares(left[0].level).mean(axis=1)
        if len(rows) < len(own.rows):
            seen = self._explaining(rows)
        with one_thread():
            appraisal = appraise(seen.evaluator, seen.structure)
        return fitted_of(
            own,
            first.posterior,
            first.noises,
            share=float(shares[0]),
            others=tuple(replace(one, share=float(s)) for one, s in zip(self.members[1:], shares[1:], strict=True)),
            stacking=replace(stacking, spread=spread_of(stacking, left)),
            bound=gaussian.bound,
            steps=gaussian.steps + own.evaluator.steps,
            record=gaussian.record,
            appraisal=appraisal,
        )

    def _explaining(self, rows: np.ndarray) -> Contender:
        """The structure that explains, fitted to some rows with their variances."""
        with one_thread():
            return _again(self.members[0], self.table, self.gaussian.beliefs, rows)

    def _left_out(self, members: Sequence[Member]) -> list[LeftOut]:
        """The leave-one-out predictions of the rows by some members, whose noise is that of an ordinary row."""
        ends, folds = ends_of(self.table.X), folds_of(len(self.table.y))
        return [left_out_of(one, self.table.y, folds, ends) for one in members]


def _robust(first: RobustTable, doubt: Doubt) -> Fitted:
    """The model of a table whose members predict together with Student-t noise; the structure is found again."""
    table, robust = first.table, first
    with one_thread(small=len(table.X) <= EXACT_ROWS):
        if doubt.suspicious.any():
            found = _gaussian(replace(table, noise=Noise(first.factors)))
            again = RobustTable.of(found, table, Doubt.of(found, table.X, table.y).tails.degrees)
            robust = max(first, again, key=lambda one: one.evidence()).beside_pools_of(first)
        return robust.fitted()


def _reweighted(member: Member, y: np.ndarray, degrees: float) -> tuple[Member, Noise]:
    """A member with Student-t noise, which keeps its hyperparameters, and the noise of the rows."""
    posterior, z = member.posterior.posteriors[0], member.scale.forward(y)
    (mean,), (variance,) = posterior.left_out()
    square = (z - mean) ** 2 + variance

    def fit(noise: Noise, last: bool) -> tuple[float, np.ndarray]:
        nonlocal square
        factors = noise.relative(len(y))
        scale2 = float(np.mean(square / factors))
        square = squares_at_rows(replace(posterior, noise=scale2 * factors), posterior.X, z)
        return scale2, square / scale2

    start = min(robust_deviation(z - mean) ** 2, float(member.noises[0]))
    scale2, noise = alternately(fit, Noise(degrees=degrees).expecting(square / start))
    noises = member.noises * (scale2 / float(member.noises[0]))
    each = zip(member.posterior.posteriors, noises, strict=True)
    draws = tuple(replace(one, noise=noise.variances(float(own), len(y))) for one, own in each)
    return replace(member, posterior=LaplacePosterior(draws), noises=noises), noise
