"""Whether a target is counts: found by left-out log scores, after a fit with Gaussian noise.

Counts are tried where they can matter: all values are whole and not negative, and many are small or zero. A cheap look
comes first. The leave-one-out predictions of the fit with Gaussian noise have a log score for whole numbers, each being
what lies between it minus and plus a half (a floor at zero included). The same predictions as rates of a negative
binomial, and a constant rate with a hurdle, have one too. Only if one of these is higher are counts fitted.

Of the fits the one with the highest left-out log score is kept, where it is clearly higher than that of a simpler one:
Gaussian noise, Poisson, negative binomial, hurdle.
"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtr, stdtr

from farrier.inference.counts import CountLikelihood, NegativeBinomial, Poisson
from farrier.inference.hurdle import Hurdle
from farrier.inference.student_t import StudentT
from farrier.model.count_series import fit_count_series
from farrier.model.fitted import Fitted
from farrier.model.outliers import expected_of, left_out_score
from farrier.model.problem import Problem
from farrier.model.sites import fit_sites
from farrier.model.target_scale import TargetScale
from farrier.search.evidence import STRONG, VERY_STRONG

SMALL_COUNT = 20.0
"""Count below which the distribution of counts differs visibly from a normal one. [counts; by judgement]"""
MANY = 0.5, 0.2
"""Shares of small values and of zeros from which counts are tried. [of the rows; by judgement]"""
HURDLE_ZEROS = 0.1
"""Share of zeros from which a hurdle is tried. [of the rows; by judgement]"""
FEWEST_ABOVE = 4
"""Values above zero from which counts are tried. [rows; by judgement]"""


def fit_counts(problem: Problem, likelihood: CountLikelihood) -> Fitted:
    """The model of counts with a given likelihood."""
    return (fit_count_series if problem.of_series and problem.timed else fit_sites)(problem, likelihood)


def with_counts(problem: Problem, found: Fitted) -> Fitted:
    """The fitted model, or one for counts if its left-out log score is clearly higher."""
    y = problem.y
    if not may_be_counts(y) or problem.factors is not None or problem.scale != "auto" or problem.engine != "auto":
        return found
    score = whole_number_score(found, problem.X, y)
    if glance(found, problem.X, y) < score - VERY_STRONG:
        return found
    problem.tell("fitting counts", found.bound)
    best = fit_best_counts(problem)
    return best[0] if best[1] > score - STRONG else found


def may_be_counts(y: np.ndarray) -> bool:
    """Whether values can be counts, and are so small that this matters."""
    if y.min() < 0.0 or not np.array_equal(y, np.rint(y)) or y.max() < 2.0:
        return False
    small, zeros = MANY
    often = np.mean(y < SMALL_COUNT) >= small or np.mean(y == 0.0) >= zeros
    return bool(often) and np.count_nonzero(y) >= FEWEST_ABOVE


def fit_best_counts(problem: Problem) -> tuple[Fitted, float]:
    """The likelihood of counts with the highest left-out log score, and that score; a simpler one if it is close."""
    X, y = problem.X, problem.y
    offset = float(np.log(y.mean()))
    found = fit_counts(problem, NegativeBinomial(offset, size_of(y, y.mean())))
    best = found, left_out_score(found, X, y)
    # a negative binomial of a large size is a Poisson
    if isinstance(found.likelihood, NegativeBinomial) and found.likelihood.size > y.mean():
        plain = fit_counts(problem, Poisson(offset))
        score = left_out_score(plain, X, y)
        if score > best[1] - STRONG:
            best = plain, score
    if np.mean(y == 0.0) >= HURDLE_ZEROS:
        often = fit_counts(problem, Hurdle.of(y))
        score = left_out_score(often, X, y)
        if score > best[1] + VERY_STRONG:
            best = often, score
    return best


def size_of(y: np.ndarray, mean: np.ndarray | float) -> float:
    """The best size of a negative binomial for counts with such means."""
    f, nothing = np.log(np.broadcast_to(mean, y.shape)), np.zeros(len(y))
    return NegativeBinomial().with_best_size(y, f, nothing).size


def glance(found: Fitted, X: np.ndarray, y: np.ndarray) -> float:
    """About the log score of counts, from predictions of a fit with Gaussian noise."""
    expected, _ = expected_of(found, X, found.scale.forward(y))
    # a rate cannot be zero, though a straight line can
    rate = np.maximum(found.scale.inverse(expected), 0.1 * y.mean())
    nothing, scores = np.zeros(len(y)), list[float]()
    for mean in (rate, np.full(len(y), y.mean())):
        likelihood = replace(NegativeBinomial(), size=size_of(y, mean))
        scores.append(float(np.sum(likelihood.log_density(y, np.log(mean), nothing))))
    scores.append(float(np.sum(Hurdle.of(y).log_density(y, nothing, nothing))))
    return max(scores)


def whole_number_score(fitted: Fitted, X: np.ndarray, y: np.ndarray) -> float:
    """The sum over the rows of the log probability of the whole number y under its leave-one-out prediction."""
    total = np.zeros(len(y))
    for share, scale, mean, sd, degrees in _left_out(fitted, X, y):
        ends = [(scale.reached(y + half) - mean) / sd for half in (0.5, -0.5)]
        high, low = (ndtr(end) if degrees is None else stdtr(degrees, end) for end in ends)
        total += share * (high - np.where(y > 0.0, low, 0.0))
    return float(np.sum(np.log(np.maximum(total, np.finfo(float).tiny))))


def _left_out(
    fitted: Fitted, X: np.ndarray, y: np.ndarray
) -> list[tuple[float, TargetScale, np.ndarray, np.ndarray, float | None]]:
    """Share, scale, mean and standard deviation of the leave-one-out predictions of each member."""
    degrees = float(fitted.likelihood.degrees) if isinstance(fitted.likelihood, StudentT) else None
    if fitted.noises is None or fitted.tier != "exact":
        mean, sd = expected_of(fitted, X, fitted.scale.forward(y))
        return [(1.0, fitted.scale, mean, sd, None)]
    found = []
    for one in fitted.members:
        (mean,), (variance,) = one.posterior.posteriors[0].left_out()
        found.append((one.share, one.scale, mean, np.sqrt(variance + one.noises[0]), degrees))
    return found

