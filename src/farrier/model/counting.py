"""Whether a target is counts: found by left-out log scores, after a fit with Gaussian noise.

Counts are tried where they can matter: all values are whole and not negative, and many are small or zero. A cheap look
comes first. The leave-one-out predictions of the fit with Gaussian noise have a log score for whole numbers, each being
what lies between it minus and plus a half (a floor at zero included). The same predictions as rates of a negative
binomial, and a constant rate with a hurdle, have one too. Only if one of these is about as high are counts fitted.

Of Poisson, negative binomial and hurdle the one with the highest left-out log score is kept, where it is clearly higher
than that of a simpler one. Counts are kept unless Gaussian noise is clearly better: small whole numbers, none negative,
are hardly ever anything else.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtr

from farrier.inference.counts import SIZES, CountLikelihood, NegativeBinomial, Poisson
from farrier.inference.hurdle import Hurdle
from farrier.inference.student_t import StudentT
from farrier.model.count_series import Draft, finished_counts, fit_count_series
from farrier.model.fitted import Fitted
from farrier.model.outliers import expected_of, left_out_score
from farrier.model.problem import Problem
from farrier.model.rows import search_rows
from farrier.model.sites import fit_sites
from farrier.model.target_scale import TargetScale
from farrier.search.evidence import STRONG, VERY_STRONG

SMALL_COUNT = 20.0
"""Count below which the distribution of counts differs visibly from a normal one. [counts; by judgement]"""
MANY = 0.5, 0.2
"""Shares of small values and of zeros from which counts are tried. [of the rows; by judgement]"""
HURDLE_ZEROS = 0.1
"""Share of zeros from which a hurdle is tried. [of the rows; by judgement]"""
ODDS = STRONG
"""The prior log odds of counts where they can be: measurements are seldom small whole numbers. [nats; by judgement]"""
LEAST_RATE = 0.1
"""Smallest rate of a row at a first look. [of the mean; by judgement]"""
PLAIN = 10.0
"""Size of a negative binomial from which a table is taken for a Poisson: its variance is then a tenth more. [of the
mean; by judgement]"""
FEWEST_ABOVE = 4
"""Values above zero from which counts are tried. [rows; by judgement]"""


class LeftOut(NamedTuple):
    """The leave-one-out predictions of some rows by one member."""

    share: float
    scale: TargetScale
    mean: np.ndarray
    sd: np.ndarray
    degrees: float | None
    """Degrees of freedom of a Student-t; None for a normal."""


def fit_counts(problem: Problem, likelihood: CountLikelihood) -> Fitted:
    """The model of counts with a given likelihood."""
    return (fit_count_series if problem.of_series and problem.timed else fit_sites)(problem, likelihood)


def with_counts(problem: Problem, found: Fitted) -> Fitted:
    """The fitted model, or one for counts if these predict left-out rows as well."""
    y = problem.y
    if not may_be_counts(y) or problem.noise.each is not None or problem.scale != "auto" or problem.engine != "auto":
        return found
    # many rows are judged by some of them
    rows = search_rows(problem.X, timed=problem.timed) if found.tier == "linear" else np.arange(len(y))
    X, seen = problem.X[rows], y[rows]
    left = left_out_of(found, X, seen)
    score, (hoped, likely) = whole_number_score(left, seen), glance(left, seen)
    of_time = problem.of_series and problem.timed
    # the rate of a series of counts may be another one; a table is searched again only if that seems worth it
    if hoped < score - (VERY_STRONG if of_time else 0.0):
        return found
    problem.tell("fitting counts", found.bound)
    best = fit_best_counts(problem) if of_time else fit_counts(problem, likely)
    return best if left_out_score(best, X, seen) > score - ODDS else found


def may_be_counts(y: np.ndarray) -> bool:
    """Whether values can be counts, and are so small that this matters."""
    if y.min() < 0.0 or not np.array_equal(y, np.rint(y)) or y.max() < 2.0:
        return False
    small, zeros = MANY
    often = np.mean(y < SMALL_COUNT) >= small or np.mean(y == 0.0) >= zeros
    return bool(often and np.count_nonzero(y) >= FEWEST_ABOVE)


def fit_best_counts(series: Problem) -> Fitted:
    """The likelihood of a series of counts with the highest left-out log score, or a simpler one that is close."""
    y = series.y
    offset = float(np.log(y.mean()))
    best = Draft.of(series, NegativeBinomial(offset, size_of(y, y.mean())))
    # a negative binomial of a large size is a Poisson
    if isinstance(best.likelihood, NegativeBinomial) and best.likelihood.size > y.mean():
        plain = Draft.of(series, Poisson(offset))
        best = plain if plain.score > best.score - STRONG else best
    if np.mean(y == 0.0) >= HURDLE_ZEROS:
        often = Draft.of(series, Hurdle.of(y))
        best = often if often.score > best.score + VERY_STRONG else best
    return finished_counts(series, best)


def size_of(y: np.ndarray, mean: np.ndarray | float) -> float:
    """The best size of a negative binomial for counts with such means."""
    f, nothing = np.log(np.broadcast_to(mean, y.shape)), np.zeros(len(y))
    return NegativeBinomial().with_best_size(y, f, nothing).size


def glance(left: Sequence[LeftOut], y: np.ndarray) -> tuple[float, CountLikelihood]:
    """About the log score of counts, from predictions of a fit with Gaussian noise, and a likelihood for them."""
    expected = np.sum([one.share * one.scale.inverse(one.mean) for one in left], axis=0)
    # a rate cannot be zero, though a straight line can
    rate = np.maximum(expected, LEAST_RATE * y.mean())
    offset, nothing, best = float(np.log(y.mean())), np.zeros(len(y)), -np.inf
    size = SIZES[1]
    for mean in (rate, np.full(len(y), y.mean())):
        one = size_of(y, mean)
        score = float(np.sum(NegativeBinomial(0.0, one).log_density(y, np.log(mean), nothing)))
        best, size = (score, one) if score > best else (best, size)
    often = Hurdle.of(y)
    score = float(np.sum(often.log_density(y, nothing, nothing)))
    if score > best + VERY_STRONG:
        return score, often
    return max(best, score), Poisson(offset) if size > PLAIN * y.mean() else NegativeBinomial(offset, size)


def whole_number_score(left: Sequence[LeftOut], y: np.ndarray) -> float:
    """The sum over the rows of the log probability of the whole number y under its leave-one-out prediction."""
    total = np.zeros(len(y))
    for one in left:
        ends = [(one.scale.reached(y + half) - one.mean) / one.sd for half in (0.5, -0.5)]
        high, low = (ndtr(end) if one.degrees is None else stdtr(one.degrees, end) for end in ends)
        total += one.share * (high - np.where(y > 0.0, low, 0.0))
    return float(np.sum(np.log(np.maximum(total, np.finfo(float).tiny))))


def left_out_of(fitted: Fitted, X: np.ndarray, y: np.ndarray) -> list[LeftOut]:
    """The leave-one-out predictions of rows of the fit by each member."""
    degrees = float(fitted.likelihood.degrees) if isinstance(fitted.likelihood, StudentT) else None
    if fitted.noises is None or fitted.tier != "exact":
        return [LeftOut(1.0, fitted.scale, *expected_of(fitted, X, fitted.scale.forward(y)), degrees=None)]
    found = []
    for one in fitted.members:
        (mean,), (variance,) = one.posterior.posteriors[0].left_out()
        found.append(LeftOut(one.share, one.scale, mean, np.sqrt(variance + one.noises[0]), degrees))
    return found
