"""How the members of a table's average predict together: learned from their leave-one-out predictions.

Members are good at different places: on the logarithm of y one is exact where y is small, on the identity another is
where y is large. Their errors have other sizes than their posteriors say, and other tails: a stationary kernel has one
amplitude for all rows, and noise often grows with the level. So given its inputs y is

    sum_k s_k(v) Student-t(mean_k, exp(a_k0 + a_k1 v) sd_k, nu_k),     s(v) = softmax(b_k0 + b_k1 v + b_k2 (v^2 - 1))

where v is the mean of the first member, on whose scale y has mean zero and variance one: shares that vary as in Yao et
al. (2022), "Bayesian hierarchical stacking", and a variance function as in Carroll and Ruppert (1988). The numbers a, b
and nu have normal priors about equal shares, about the posteriors' own scale and about light tails; the leave-one-out
predictions are their likelihood.

What weighs the predictions of a row must not depend on its y. The leave-one-out mean will not do as v: it moves against
the y that is left out, and where the first member has no component it is (sum y - y_n) / (N - 1), from which shares and
sizes could read y_n off. So v comes from a posterior that has seen no row of a whole fold: inside a fold it is one
function of the inputs.

A prediction averages over their posterior by Laplace's approximation: a hundred rows do not tell fifteen numbers
exactly, and intervals from the highest point alone are too narrow. Over the draws each member stays one Student-t
(inference/student_t.py). Where a posterior is wider than at nearly all left-out rows, a part of its further
variance is added: the part, the same for all members, that gives the highest log density of the ends of the rows, which
are left out together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from scipy.optimize import fminbound, minimize
from scipy.special import digamma, gammaln, logsumexp

from farrier.inference.laplace import Laplace
from farrier.inference.student_t import LEAST_DEGREES, one_student
from farrier.model.predictions import LEVELS, MIDDLE, StudentPrediction, middle_spread, mixed_quantiles
from farrier.model.target_scale import TargetScale

SPREADS = (1.0, 0.5, 1.0)
"""Prior standard deviations of the numbers that vary the shares, of those that vary the size of errors, and of the log
of the degrees of freedom beyond the least. [logs; the first measured on inner splits of yacht and servo: 2 is no
better, nor is 0.5 on those and on boston and energy]"""

DRAWS = 8
"""Draws of the weights in fits and predictions, and of the parameters of a table's members; of the numbers of their
stacking there are twice as many. [draws, a power of two; measured on 60 inner splits: with 8, 10, 16 and 64 of the
last, log scores differ by under 0.01]"""

FURTHEST = 4.0
"""Distance from the mean of y beyond which shares and sizes stay as they are. [standard deviations; by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class LeftOut:
    """The leave-one-out predictions of one member: mean and standard deviation of an observation on its scale."""

    mean: np.ndarray
    sd: np.ndarray
    z: np.ndarray
    """The rows on the scale of the member."""
    slopes: np.ndarray
    """log dz/dy at the rows."""
    scale: TargetScale
    level: np.ndarray
    """The mean at each row given only the rows of other folds."""
    ends: "LeftOut | None" = None
    """The same for rows that were left out with others, at the ends of the rows (held_out.py)."""


@final
@dataclass(frozen=True, eq=False)
class Stacking:
    """The shares of K members, and what their predictive distributions are, as functions of the level v.

    The first of S draws of the numbers is the highest point of their posterior density.
    """

    furthest: float
    """Largest |v|: beyond it the functions stay as they are."""
    gates: np.ndarray
    """b, (S, K, 3); that of the first member is zero."""
    scales: np.ndarray
    """a, (S, K, 2)."""
    degrees: np.ndarray
    """nu, (S, K)."""
    widest: np.ndarray
    """Of each member the standard deviation up to which left-out rows tell the size of errors, (K,)."""
    further: float = 1.0
    """The part of the further variance that counts."""
    spread: float = 1.0
    """The size of left-out errors of y over the spread of the middle 95 % of their predictions."""

    def shares(self, level: np.ndarray) -> np.ndarray:
        """The share of each member at rows where the first member's mean is `level`, (K, N)."""
        return np.exp(self._log_shares(level)).mean(axis=0)

    def _log_shares(self, level: np.ndarray) -> np.ndarray:
        """The logarithms of the shares given each draw, (S, K, N)."""
        return _log_shares(self.gates, _curved(_clipped(level, self.furthest)))

    def predictions(
        self,
        scales: Sequence[TargetScale],
        means: Sequence[np.ndarray],
        sds: Sequence[np.ndarray],
        level: np.ndarray | None = None,
    ) -> list[StudentPrediction]:
        """The members' predictions of observations from their own means and standard deviations, (N,) each.

        The level is the mean of the first member at new rows, and has to be given for rows of the fit.
        """
        level = means[0] if level is None else level
        each = zip(self.shares(level), scales, means, *self.students(level, sds), strict=True)
        return [StudentPrediction(share, scale, mean, size, nu) for share, scale, mean, size, nu in each]

    def students(self, level: np.ndarray, sds: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Scale and degrees of freedom of each member's Student-t, (K, N), over all draws."""
        log_shares, degrees = self._log_shares(level), self.degrees[:, :, None]
        owned = np.exp(log_shares - np.asarray(logsumexp(log_shares, axis=0)))
        return one_student(owned, self.sizes(level, sds), degrees)

    def sizes(self, level: np.ndarray, sds: Sequence[np.ndarray]) -> np.ndarray:
        """The scale of each member's Student-t given each draw, (S, K, N).

        They follow from the mean of the first member and the standard deviations of all.
        """
        seen = np.minimum(sds, self.widest[:, None])
        known = seen**2 * np.exp(2.0 * self.scales @ _straight(_clipped(level, self.furthest)).T)
        return np.sqrt(known + self.further * (np.square(sds) - seen**2))

    def log_densities(self, members: Sequence[LeftOut]) -> np.ndarray:
        """The log density of each row under its leave-one-out prediction."""
        level = members[0].level
        sizes, degrees = self.students(level, [one.sd for one in members])
        return _log_mixture(members, self.shares(level), sizes, degrees)

    def between(
        self, scales: Sequence[TargetScale], means: Sequence[np.ndarray], sds: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest mean of y at N rows by the members' own predictions: that of all lies between.

        Tails and sizes of errors say how far off y may be; on a logarithm they would move the mean without bound.
        """
        # Gauss-Hermite quadrature with two points
        each = zip(scales, means, sds, strict=True)
        own = [0.5 * (scale.inverse(mean - sd) + scale.inverse(mean + sd)) for scale, mean, sd in each]
        return np.min(own, axis=0), np.max(own, axis=0)


def stacked(members: Sequence[LeftOut]) -> tuple[Stacking, np.ndarray]:
    """The stacking of some members, and the log density of each row under its leave-one-out prediction."""
    level = members[0].level
    start = Stacking(
        FURTHEST,
        np.zeros((1, len(members), 3)),
        np.zeros((1, len(members), 2)),
        np.ones((1, len(members))),
        # left-out errors tell the size of errors up to the standard deviation that all but a few rows have
        np.array([np.quantile(one.sd, 0.95) for one in members]),
    )
    problem = _Problem(members, _clipped(level, FURTHEST))
    found = minimize(problem.value, problem.centre, jac=True, method="L-BFGS-B", options={"maxiter": 100})
    top = problem.stacking(start, found.x[None])
    ends = [one.ends for one in members if one.ends is not None]
    laplace = Laplace.of(found.x, problem.curvature(found.x), float(np.max(problem.spread)) ** -2)
    draws = np.vstack([found.x[None], laplace.draws(2 * DRAWS)])
    ready = replace(problem.stacking(start, draws), further=_further(top, ends, len(level)))
    return ready, ready.log_densities(members)


def spread_of(stacking: Stacking, members: Sequence[LeftOut]) -> float:
    """The size of left-out errors over what the middle of the predictions says, as root mean squares.

    Far tails of a fitted distribution are wide on a logarithm, and short where many values are equal: the standard
    deviation is learned from errors.
    """
    scales, means, sds = zip(*((one.scale, one.mean, one.sd) for one in members), strict=True)
    values = mixed_quantiles(stacking.predictions(scales, means, sds, members[0].level), LEVELS)
    errors = scales[0].inverse(members[0].z) - values[MIDDLE].mean(axis=0)
    return float(np.sqrt(np.mean(errors**2) / np.mean(middle_spread(values) ** 2)))


def _further(stacking: Stacking, ends: Sequence[LeftOut], rows: int) -> float:
    """The part of the further variance that counts, from the predictions of the ends of the rows; 1 without them.

    They count as much as all rows do. The prior of its root is that of the sizes of errors.
    """
    if not ends:
        return 1.0
    level, sds = ends[0].level, [one.sd for one in ends]
    shares, degrees = stacking.shares(level), stacking.degrees[0, :, None]

    def cost(log_root: float) -> float:
        (sizes,) = replace(stacking, further=np.exp(2.0 * log_root)).sizes(level, sds)
        total = _log_mixture(ends, shares, sizes, degrees)
        return 0.5 * (log_root / SPREADS[1]) ** 2 - rows * float(total.mean())

    reach = FURTHEST * SPREADS[1]
    return float(np.exp(2.0 * np.asarray(fminbound(cost, -reach, reach))))


@dataclass(frozen=True, eq=False)
class _Problem:
    """Minus the log density of the leave-one-out predictions and of the priors, with its gradient."""

    members: Sequence[LeftOut]
    level: np.ndarray

    @cached_property
    def centre(self) -> np.ndarray:
        """The prior mean of each number: ten degrees of freedom beyond the least."""
        return np.concatenate([np.zeros(5 * len(self.members) - 3), np.full(len(self.members), 2.3)])

    @cached_property
    def spread(self) -> np.ndarray:
        """The prior standard deviation of each number."""
        count = len(self.members)
        return np.repeat(SPREADS, [3 * (count - 1), 2 * count, count])

    def stacking(self, start: Stacking, draws: np.ndarray) -> Stacking:
        """The stacking with some draws of the numbers, (S, numbers)."""
        gates, scales, tails = (np.stack(some) for some in zip(*map(self.parts, draws), strict=True))
        return replace(start, gates=gates, scales=scales, degrees=LEAST_DEGREES + np.exp(tails))

    def curvature(self, u: np.ndarray) -> np.ndarray:
        """The second derivatives of the value, by central differences of its gradient.

        Their error is least for steps of about the cube root of the relative error of a number.
        """
        steps = np.diag(np.cbrt(np.finfo(float).eps) * self.spread)
        rows = [(self.value(u + step)[1] - self.value(u - step)[1]) / (2.0 * step.sum()) for step in steps]
        return 0.5 * (np.asarray(rows) + np.asarray(rows).T)

    def parts(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gates (K, 3), scales (K, 2) and the log of nu beyond its least value (K,)."""
        count = len(self.members)
        gates, scales, tails = np.split(u, [3 * (count - 1), 5 * count - 3])
        return np.vstack([np.zeros(3), gates.reshape(-1, 3)]), scales.reshape(-1, 2), tails

    def _joint(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Log shares and log densities (K, N), and the derivatives of the latter by log scale and by nu."""
        gates, scales, tails = self.parts(u)
        straight, each = _straight(self.level), []
        for one, a, tail in zip(self.members, scales, tails, strict=True):
            nu, size = LEAST_DEGREES + np.exp(tail), np.log(one.sd) + straight @ a
            square = ((one.z - one.mean) * np.exp(-size)) ** 2
            more = np.log1p(square / nu)
            density = _log_student(square, nu) - size + one.slopes
            by_size = (nu + 1.0) * square / (nu + square) - 1.0
            by_nu = 0.5 * (digamma(0.5 * (nu + 1.0)) - digamma(0.5 * nu) - more + by_size / nu)
            each.append((density, by_size, by_nu))
        density, by_size, by_nu = (np.stack(some) for some in zip(*each, strict=True))
        return _log_shares(gates, _curved(self.level)), density, by_size, by_nu

    def value(self, u: np.ndarray) -> tuple[float, np.ndarray]:
        """What is minimised, and its gradient."""
        log_shares, density, by_size, by_nu = self._joint(u)
        total = np.asarray(logsumexp(log_shares + density, axis=0))
        owned = np.exp(log_shares + density - total)
        tails = self.parts(u)[2]
        slopes = np.concatenate(
            [
                ((owned - np.exp(log_shares)) @ _curved(self.level))[1:].ravel(),
                ((owned * by_size) @ _straight(self.level)).ravel(),
                np.sum(owned * by_nu, axis=1) * np.exp(tails),
            ]
        )
        away = (u - self.centre) / self.spread
        return 0.5 * float(away @ away) - float(np.sum(total)), away / self.spread - slopes


def _log_mixture(members: Sequence[LeftOut], shares: np.ndarray, sizes: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """The log density of each row under Student-t predictions of its members with given shares; (K, N) each."""
    each = zip(members, np.log(sizes), np.broadcast_to(degrees, sizes.shape), strict=True)
    densities = [
        _log_student(((one.z - one.mean) * np.exp(-size)) ** 2, nu) - size + one.slopes for one, size, nu in each
    ]
    return np.asarray(logsumexp(densities, axis=0, b=shares))


def _log_student(square: np.ndarray, nu: float | np.ndarray) -> np.ndarray:
    """The log density of a Student-t of scale one, at the given squared distance."""
    constant = gammaln(0.5 * (nu + 1.0)) - gammaln(0.5 * nu) - 0.5 * np.log(np.pi * nu)
    return constant - 0.5 * (nu + 1.0) * np.log1p(square / nu)


def _clipped(level: np.ndarray, furthest: float) -> np.ndarray:
    return np.clip(level, -furthest, furthest)


def _straight(level: np.ndarray) -> np.ndarray:
    return np.stack([np.ones_like(level), level], axis=1)


def _curved(level: np.ndarray) -> np.ndarray:
    return np.stack([np.ones_like(level), level, level**2 - 1.0], axis=1)


def _log_shares(gates: np.ndarray, features: np.ndarray) -> np.ndarray:
    heights = gates @ features.T
    return heights - np.asarray(logsumexp(heights, axis=-2, keepdims=True))
