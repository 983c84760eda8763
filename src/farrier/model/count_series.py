"""From a series of counts to a fitted model.

1. The log of the rate is a level, a slow wave, a line, seasons and patterns of the calendar. There is no random walk:
   on the log scale its variance grows without end, and what counts expect then exceeds all that was ever counted. The
   wave returns to the level, over a time that is a part of the range of the rows. The priors of the weights are those
   of relative changes, and not the ones that were learned for series of standard deviation one.
2. Each row has a Gaussian site (inference/gaussian_sites.py). The first sites are those of a constant rate whose
   likelihood has the best dispersion: what one dispersion explains, the rate need not follow. Then pool and sites are
   fitted alternately.
3. Predictions average over draws of the parameters from Laplace's approximation, as for other series.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.counts import CountLikelihood, NegativeBinomial
from farrier.inference.gaussian_sites import Sites
from farrier.inference.horseshoe import PointHorseshoe
from farrier.inference.linalg import one_thread
from farrier.inference.mixtures import moments
from farrier.inference.noise import Noise
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.posteriors import GaussianPosterior, LaplacePosterior
from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import DampedTrend, RandomWalk
from farrier.model.fitted import Alone, Fitted
from farrier.model.members import SERIES_DRAWS, SMALLEST_SHARE, weights_of_structure
from farrier.model.problem import Problem
from farrier.model.rows import search_rows
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import POSTERIORS, bound_of, tier_for
from farrier.search.appraisal import appraise
from farrier.search.beliefs import Beliefs
from farrier.search.learned_priors import LogNormal, priors_for
from farrier.search.projection import Projection, explaining
from farrier.search.rows import Rows
from farrier.search.scoring import Evaluator
from farrier.search.structure import Move, Part, Structure

RELATIVE_SIZE = 0.3
"""Prior scale of the weight of each component: a rate differs by about a third. [log of a rate; by judgement]"""
WAVE = 0.25, 0.7
"""The prior of the wave's lengthscale: its median as a part of the range of the rows, and the standard deviation of its
log. [by judgement]"""
START_VARIANCE = 0.1
"""The variance of f for which the first sites are the optimum. [log of a rate, squared; by judgement]"""
COUNT_ROUNDS = 3
"""Times that pool and sites are fitted alternately. [rounds; by judgement]"""
STEPS, STEP = 12, 0.7
"""Most natural-gradient steps of the sites for one pool, and the part of the way to their optimum that each takes.
[by judgement]"""
TEMPERED = 0.5
"""Part of a difference in evidence that counts between components: past rows say little of whether a rate will move.
[by judgement]"""
NOTHING = 1e-6
"""The weight of a component that is left out; weights are positive. [log of a rate; by judgement]"""
SETTLED = 1e-3
"""A change of the mean of f after which sites have settled. [log of a rate; by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class Draft:
    """A pool that was fitted to some rows, before it is made to predict."""

    evaluator: Evaluator
    structure: Structure
    sites: Sites
    likelihood: CountLikelihood
    y: np.ndarray
    """The counts of the rows."""

    @classmethod
    def of(cls, series: Problem, likelihood: CountLikelihood) -> "Draft":
        """The pool of a series of counts with a given likelihood."""
        rows = search_rows(series.X, timed=True)
        sites = Sites.at(series.y[rows], np.zeros(len(rows)), np.full(len(rows), START_VARIANCE), likelihood)
        evaluator, kind = _evaluator(series, log_beliefs(series), rows, sites), Rows(calendar=series.calendar)
        with one_thread():
            parts = [evaluator.part(one, 0.5 * RELATIVE_SIZE) for one in pool_of(kind, evaluator)]
            return _pool(evaluator, parts, sites, likelihood, series.y[rows])

    @property
    def score(self) -> float:
        """The left-out log score of the rows at the mode."""
        model = replace(self.structure.at_mode().model, row_noise=self.sites.noise)
        (mean,), (variance,) = POSTERIORS["exact"](model, self.evaluator.X, self.sites.target).left_out()
        return float(np.sum(self.likelihood.log_density(self.y, mean, variance)))


def fit_count_series(series: Problem, likelihood: CountLikelihood) -> Fitted:
    """The model of a series of counts."""
    return finished_counts(series, Draft.of(series, likelihood))


def refit_count_series(fitted: Fitted, series: Problem) -> Fitted:
    """The pool of a fitted model, fitted to other rows from its present values."""
    X, y, likelihood = series.X, series.y, fitted.likelihood
    assert isinstance(likelihood, CountLikelihood)
    rows = search_rows(X, timed=True)
    with one_thread():
        sites = Sites.at(y[rows], *moments(*fitted.posterior.draws(X[rows])), likelihood)
        evaluator = _evaluator(series, fitted.beliefs, rows, sites)
        draft = _pool(evaluator, _parts(evaluator, fitted), sites, likelihood, y[rows])
    return finished_counts(series, draft)


def explained_counts(fitted: Fitted, X: np.ndarray) -> Fitted:
    """A fitted model of a series of counts with what explains it: a projection onto the rows."""
    posterior: Any = fitted.posterior
    first = posterior.posteriors[0] if isinstance(posterior, LaplacePosterior) else posterior
    rows, record = search_rows(X, timed=True), list(fitted.record)
    noise = np.broadcast_to(np.asarray(first.noise), len(X))
    with one_thread():
        sites = Sites(first.y[rows], noise[rows])
        evaluator = _evaluator(Problem(X, first.y), fitted.beliefs, rows, sites)
        start = evaluator.fit(_parts(evaluator, fitted), 1.0)
        structure = explaining(evaluator, Projection.of(evaluator, start), start, SteadyRows(), record)
        model, count = structure.at_mode().model, len(structure.parts)
        return replace(
            fitted,
            survivors=count,
            alone=Alone(
                POSTERIORS[fitted.tier](replace(model, row_noise=Noise(noise, known=True)), X, first.y),
                weights_of_structure(structure),
                tuple(model.pool)[:count],
                count,
            ),
            appraisal=appraise(evaluator, structure, gaussian=False),
            record=tuple(record),
            projects=False,
        )


def _parts(evaluator: Evaluator, fitted: Fitted) -> list[Part]:
    """The components of a fitted pool at their present values; its last kernel is the level, which is always there."""
    each = zip(fitted.kernels[:-1], fitted.prior.quantile(0.5), strict=False)
    return [evaluator.part(kernel, float(weight)) for kernel, weight in each]


def _evaluator(series: Problem, beliefs: Beliefs, rows: np.ndarray, sites: Sites) -> Evaluator:
    """What fits pools to the sites of some rows."""
    X = series.X[rows]
    known, covariance = () if beliefs.clock is None else beliefs.clock.seasons, covariance_of(X, timed=True)
    return Evaluator(X, sites.target, covariance, known, series.tell, sites.noise, beliefs=beliefs)


def _pool(
    evaluator: Evaluator, parts: Sequence[Part], sites: Sites, likelihood: CountLikelihood, y: np.ndarray
) -> Draft:
    """A pool and the sites of the rows, fitted alternately."""
    structure = evaluator.empty()
    for left in reversed(range(COUNT_ROUNDS)):
        evaluator = replace(evaluator, y=sites.target, noise=sites.noise)
        # only the last fit needs its evidence
        structure = evaluator.fit(parts, 1.0, least=np.inf if left else -np.inf)
        assert structure.model is not None
        parts = structure.parts
        sites, likelihood = settled(structure.model, sites, likelihood, evaluator.X, y, "exact")
    return Draft(evaluator, structure, sites, likelihood, y)


def log_beliefs(series: Problem) -> Beliefs:
    """What is believed of the log of a rate."""
    beliefs = series.beliefs
    clock = beliefs.clock
    assert clock is not None
    given = priors_for(clock.frequency) | {
        name: LogNormal(float(np.log(RELATIVE_SIZE)), 0.5 * np.pi) for name in ("line", "trend", "walk", "season", "ar")
    }
    part, sd = WAVE
    given["ar_length"] = LogNormal(float(np.log(part * np.ptp(series.X[:, 0]) / clock.unit)), sd)
    return replace(beliefs, given=given)


def pool_of(kind: Rows, evaluator: Evaluator) -> list[Kernel]:
    """The kernels of the log of the rate."""
    return [one for one in kind.ordinary(evaluator, kind.seasons(evaluator), []) if not _endless(one)]


def _endless(kernel: Kernel) -> bool:
    """Whether the variance of a product grows without end."""
    return any(isinstance(factor, DampedTrend | RandomWalk) for factor in kernel.products()[0])


class SteadyRows:
    """What may explain a series of counts: what may explain another one, without walks, which do not predict it."""

    def moves(self, evaluator: Evaluator, structure: Structure) -> list[Move]:
        """The kernels that may come into the explanation."""
        return [one for one in Rows().moves(evaluator, structure) if not _endless(one.kernel)]

    def simple(self, evaluator: Evaluator) -> list[Structure]:
        """Structures that a rich pool hides."""
        return Rows().simple(evaluator)


def settled(
    model: ExactModel, sites: Sites, likelihood: CountLikelihood, X: np.ndarray, y: np.ndarray, tier: str
) -> tuple[Sites, CountLikelihood]:
    """The sites at their optimum for a model, and a negative binomial with its best size there."""
    last = np.full(len(y), np.inf)
    for _ in range(STEPS):
        mean, variance = _at_rows(POSTERIORS[tier](replace(model, row_noise=sites.noise), X, sites.target), X)
        if isinstance(likelihood, NegativeBinomial):
            likelihood = likelihood.with_best_size(y, mean, variance)
        sites = sites.natural_gradient_step(y, mean, variance, likelihood, STEP)
        if np.abs(mean - last).max() < SETTLED:
            break
        last = mean
    return sites, likelihood


def _at_rows(posterior: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of f at the rows of a posterior with one draw."""
    (mean,), (variance,) = posterior.at_rows() if isinstance(posterior, GaussianPosterior) else posterior.draws(X)
    return mean, variance


def finished_counts(series: Problem, draft: Draft) -> Fitted:
    """The model that predicts, given all rows."""
    X, y, tier = series.X, series.y, tier_for(len(series.X), series=True)
    evaluator, structure, sites, likelihood = draft.evaluator, draft.structure, draft.sites, draft.likelihood
    with one_thread():
        model, models = structure.at_mode().model, _averaged(evaluator, structure)
        if len(y) > len(sites.target):
            known = POSTERIORS["exact"](replace(model, row_noise=sites.noise), evaluator.X, sites.target)
            sites = Sites.at(y, *moments(*known.draws(X)), likelihood)
            sites, likelihood = settled(model, sites, likelihood, X, y, tier)
        each = [POSTERIORS[tier](replace(one, row_noise=sites.noise), X, sites.target) for one in models]
        # the linear tier predicts by the likeliest subset at its mode
        posterior = LaplacePosterior(tuple(each)) if tier == "exact" else each[0]
        model = replace(model, row_noise=sites.noise)
        correction = sites.correction(y, *_at_rows(POSTERIORS[tier](model, X, sites.target), X), likelihood)
        bound = bound_of(tier, model, X, sites.target) + correction
    return Fitted(
        posterior=posterior,
        likelihood=likelihood,
        prior=weights_of_structure(structure),
        kernels=tuple(model.pool),
        survivors=len(structure.parts),
        scale=TargetScale(),
        bound=bound,
        tier=tier,
        steps=evaluator.steps,
        level=len(structure.parts),
        projects=True,
        beliefs=evaluator.beliefs,
    )


def _averaged(evaluator: Evaluator, structure: Structure) -> list[ExactModel]:
    """Draws of the parameters of the pool, of it without some of its components, and of the level alone.

    Their numbers follow from the evidence. A weight that is shrunk is not zero, and a rate may well be constant.
    """
    every = range(len(structure.parts))
    chosen = {tuple(every), (), *((i,) for i in every), *(tuple(j for j in every if j != i) for i in every)}
    fits = {
        one: structure if len(one) == len(every) else evaluator.fit([structure.parts[i] for i in one], 1.0)
        for one in chosen
    }
    scores = np.array([fit.score for fit in fits.values()])
    shares = np.exp(TEMPERED * (scores - scores.max()))
    shares /= shares.sum()
    pool, found = structure.at_mode().model, list[ExactModel]()
    for share, (kept, fit) in sorted(zip(shares, fits.items(), strict=True), key=lambda one: -one[0]):
        draws = 2 * round(0.5 * share * SERIES_DRAWS)
        # the mode of the likeliest one stands for all where one is needed; without draws a mode is its only one
        first = 0 if not found or not draws else 1
        if share > SMALLEST_SHARE:
            found += [_among(pool, kept, one) for one in evaluator.models(fit, draws)[first:]]
    return found


def _among(pool: ExactModel, kept: Sequence[int], model: ExactModel) -> ExactModel:
    """The model of some components as one of the whole pool, in which all others have no weight."""
    numbers, weights = pool.pool.numbers.copy(), np.full(len(pool.pool), NOTHING)
    numbers[np.isin([number.product for number in pool.pool.layout], kept)] = model.pool.numbers
    weights[[*kept, len(weights) - 1]] = model.prior.quantile(0.5)
    assert isinstance(pool.prior, PointHorseshoe)
    return replace(pool, pool=pool.pool.with_numbers(numbers), prior=replace(pool.prior, w=weights))
