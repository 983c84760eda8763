"""From a series, or a curve over one input, to a fitted model.

1. The pool is what such rows can be made of. For a series in time that is what ordinary series are made of

       y = level + damped trend + random walk + seasons that move + patterns of the calendar + AR(1) + noise
       y = line + the same, with priors of its own

   with priors that were learned from many series (search/beliefs.py); past rows tell little of whether growth will
   fade, so both predict. For a curve over another input it is smooth curves, a line and cycles, and what its rows show
   beyond these (search/enriching.py). Each regressor adds a line, or a curve where the evidence for one is strong.
2. The horseshoe shrinks what the rows do not need (inference/horseshoe.py). All parameters are fitted to the top
   of their posterior density. Predictions average over draws from Laplace's approximation there, and over the scales
   of the target, by their evidence. A long series is predicted by the mode on the best scale, in time linear in its
   rows.
3. Where leave-one-out residuals have heavy tails, Student-t noise is fitted; it is kept if it has clearly more
   evidence.

What explains is the projection of this model, made when somebody asks for it (explaining.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.linalg import one_thread
from farrier.inference.student_t import StudentT
from farrier.model.finishing import Predictor, finished, search_rows
from farrier.model.fitted import Fitted, Member
from farrier.model.members import SMALLEST_SHARE, Contender, RowNoise, fitted_set, shares_of
from farrier.model.outliers import Doubt
from farrier.model.problem import Problem
from farrier.model.student_t_noise import alternately, better_noise, noise_after, noise_around
from farrier.model.target_scale import TargetScale, Transform
from farrier.model.tiers import POSTERIORS, bound_of
from farrier.model.window_residuals import score_in_windows
from farrier.model.windows import SEARCH_ROWS, Windows, fitted_to, uncommon_rows
from farrier.search.beliefs import Beliefs
from farrier.search.candidates import SHORTEST_PERIOD
from farrier.search.enriching import SMALLEST
from farrier.search.learned_priors import GROWTHS
from farrier.search.periods import REPEATS
from farrier.search.rows import Rows
from farrier.search.scoring import Evaluator
from farrier.search.structure import Structure

ROBUST_ROWS = 20_000
"""Rows beyond which Student-t noise is not tried: predictions of all rows take longer than the fit. [rows; by
judgement]"""
ROBUST_ROUNDS = 3
"""Times that the structural model and the precisions of its rows are fitted alternately. [rounds; by judgement]"""


def fit_series(series: Problem, *, likelihood: str = "auto") -> Fitted:
    """The model of a series; its noise is Gaussian, Student-t, or what has more evidence ("auto").

    Of a long series the left-out log score decides. One that is very long keeps Gaussian noise, unless Student-t is
    asked for.
    """
    chosen = likelihood == "student-t"
    with one_thread():
        fits = _fits(series, series.scales)
        gaussian = _fitted(fits, series)
        if likelihood == "gaussian" or (len(series.y) > ROBUST_ROWS and not chosen):
            return gaussian
        doubt = Doubt.of(gaussian, series.X, series.y)
        if not (doubt.due or chosen):
            return gaussian
        series.tell("looking for outliers", gaussian.bound)
        # the evidence of a long series is that of its last rows for the pools, and that of all for the model
        of_all = chosen or series.tier != "exact"
        robust = _fitted(_robust_fits(series, fits, gaussian, noise_after(doubt), chosen=of_all), series)
        gain = None
        if series.tier != "exact" and not chosen:
            gain = score_in_windows(robust, series.y) - score_in_windows(gaussian, series.y)
    return better_noise(gaussian, robust, chosen=chosen, gain=gain)


def refit_series(fitted: Fitted, series: Problem) -> Fitted:
    """The pools of a fitted model, fitted to other rows from their present values, with the same kind of noise."""
    with one_thread():
        noise = None
        if isinstance(fitted.likelihood, StudentT):
            noise = noise_around(fitted, series.X, fitted.scale.forward(series.y))
        found = []
        for beliefs, transform, known in _members(fitted, series):
            if noise is None:
                found.append(pool_fit(series, beliefs, transform, near=known, again=True))
            else:
                found.append(_robust_fit(series, beliefs, transform, noise, known, again=True))
        return replace(_fitted(found, series), record=fitted.record)


def _growths(series: Problem) -> list[Beliefs]:
    """The beliefs of each pool that predicts."""
    beliefs = series.beliefs
    return [replace(beliefs, growth=growth) for growth in (GROWTHS if beliefs.of_time else GROWTHS[:1])]


def _members(fitted: Fitted, series: Problem) -> Iterator[tuple[Beliefs, Transform, Structure]]:
    """Beliefs, scale and components of each pool of a fitted model whose scale is possible for the rows."""
    members: Sequence[Member] = fitted.members if fitted.noises is not None else ()
    each = [(one.growth, one.scale, one.kernels, one.weights, float(one.noises[0])) for one in members]
    if not each:
        weights = np.asarray(fitted.prior.quantile(0.5))
        each = [(fitted.beliefs.growth, fitted.scale, fitted.kernels, weights, fitted.noise_variance)]
    lowest = float(series.y.min())
    for growth, scale, kernels, weights, noise in each:
        beliefs = replace(fitted.beliefs, growth=growth)
        # the last kernel is the level, which every structure has
        pairs = zip(kernels[:-1], weights, strict=False)
        parts = tuple(beliefs.part(kernel, float(w), series.X.shape[1]) for kernel, w in pairs)
        if lowest > scale.transform.lowest:
            yield beliefs, scale.transform, Structure(parts, noise, 0.0)


def _fits(series: Problem, scales: Sequence[Transform]) -> list[Contender]:
    """All pools on all scales; of the second pool on those that have a share in the predictions of the first.

    A fit starts from the values of the other pool on its scale, or else from those on the scale before it: on 86 learn
    series of M1 and M4 that took about half of the evaluations, and no score fell by more than 0.6 nats.
    """
    fits: list[Contender] = []
    for beliefs in _growths(series):
        same, found = {one.scale.transform.name: one.structure for one in fits}, list[Contender]()
        for one in scales:
            near = same.get(one.name, found[-1].structure if found else None)
            found.append(pool_fit(series, beliefs, one, near=near))
        fits += found
        scales = _useful(found)
    return fits


def _robust_fits(
    series: Problem, usual: Sequence[Contender], gaussian: Fitted, start: RowNoise, *, chosen: bool
) -> list[Contender]:
    """The pools with Student-t noise on the scales that predict, from their values with Gaussian noise: of each pool
    the scale with the highest evidence.

    The model and the expected precisions of its rows are fitted alternately (student_t_noise.py).
    """
    best: list[Contender] = []
    likely = {one.scale.transform.name for one in (gaussian, *gaussian.others)}
    near = {(one.evaluator.beliefs.growth, one.scale.transform.name): one.structure for one in usual}
    scales = [one.scale.transform for one in usual if one.evaluator.beliefs.growth == GROWTHS[0]]
    scales = [one for one in scales if one.name in likely]
    for beliefs in _growths(series):
        found = [_robust_fit(series, beliefs, one, start, near.get((beliefs.growth, one.name))) for one in scales]
        best.append(max(found, key=lambda one: one.height))
        scales = _useful(found)
        if best[0].height < gaussian.bound and not chosen:
            # what one pool loses by it, the other does not gain
            break
    return best


def _robust_fit(
    series: Problem,
    beliefs: Beliefs,
    transform: Transform,
    noise: RowNoise,
    near: Structure | None,
    *,
    again: bool = False,
) -> Contender:
    """A pool with Student-t noise, from the noise of all rows and from its values with Gaussian noise."""
    last = near

    def fit(noise: RowNoise, least: float) -> Contender:
        nonlocal last
        found = pool_fit(series, beliefs, transform, noise=noise, near=last, least=least, again=again)
        last = found.structure
        return found

    return alternately(fit, noise, series.X, series.y, _rows(series, beliefs), ROBUST_ROUNDS)


def pool_fit(
    series: Problem,
    beliefs: Beliefs,
    transform: Transform,
    *,
    noise: RowNoise | None = None,
    near: Structure | None = None,
    least: float = -np.inf,
    again: bool = False,
) -> Contender:
    """A pool on one scale of the target, with Gaussian noise if no other is given.

    `near` is another fit, from whose values this one starts; `again` takes its components too. Below a log likelihood
    of `least` it gets no score.
    """
    X, y = series.X, series.y
    scale = TargetScale.of(transform, y if noise is None else y[noise.ordinary])
    rows = _rows(series, beliefs)
    each = series.factors if noise is None else noise.factors
    covariance, z = covariance_of(X[rows], timed=True), scale.forward(y[rows])
    seasons = () if beliefs.clock is None else beliefs.clock.seasons
    evaluator = Evaluator(
        X[rows],
        z,
        covariance,
        known=seasons,
        tell=series.tell,
        beliefs=beliefs,
        factors=None if each is None else each[rows],
    )
    series.tell("shrinking a pool of candidates", np.nan)
    if again and near is not None:
        structure = evaluator.fit_pool(near.parts, near, least)
    else:
        structure = Rows(calendar=series.calendar).pool(evaluator, near, least)
    name = f"the {transform.name} scale"
    if beliefs.of_time:
        name += f", growth that fades to {'a line' if beliefs.growth == 'line' else 'nothing'}"
    return Contender(name, structure, evaluator, scale, y[rows], noise, searched=False, factors=series.factors)


def _rows(series: Problem, beliefs: Beliefs) -> np.ndarray:
    """The rows to which a pool is fitted: of a series in time the last ones, of a curve some from everywhere.

    If they hold too few of the longest season, every second (third, ...) row of a longer time is taken, as far as the
    shortest season still shows: a week of hours cannot be learned from 300 of them. Of a series with regressors, rows
    in which these have rare values come too: the size of an effect cannot be learned from rows without it.
    """
    if not beliefs.of_time:
        return search_rows(series.X, timed=True)
    order, clock, every = np.argsort(series.X[:, 0], kind="stable"), beliefs.clock, 1
    if clock is not None and clock.seasons:
        needed = int(np.ceil(REPEATS * clock.seasons[-1] / clock.step / SEARCH_ROWS))
        shows = clock.seasons[0] / clock.step >= SHORTEST_PERIOD * needed
        every = needed if shows and len(order) > SEARCH_ROWS else 1
    rows = order[::-1][::every][:SEARCH_ROWS][::-1]
    if series.X.shape[1] == 1 or len(rows) == len(order):
        return rows
    found = np.union1d(rows, uncommon_rows(series.X, rows, SEARCH_ROWS))
    return found[np.argsort(series.X[found, 0], kind="stable")]


def _useful(fits: Sequence[Contender]) -> list[Transform]:
    """The scales that have a share in the predictions of one pool: no other one is tried in the next."""
    shares = shares_of(fits)
    return [one.scale.transform for one, share in zip(fits, shares, strict=True) if share >= SMALLEST_SHARE]


def _fitted(found: Sequence[Contender], series: Problem) -> Fitted:
    """The fitted model from the fits of its pools on some scales."""
    ranked = sorted(found, key=lambda one: one.height, reverse=True)
    steps = sum(one.evaluator.steps for one in found)
    if series.tier != "exact":
        return _long(ranked[0], series, steps)
    fitted = fitted_set(ranked, series.X, series.y, appraisal=None, record=(), steps=steps)
    return replace(fitted, projects=True)


def _long(contender: Contender, series: Problem, steps: int) -> Fitted:
    """The model of a long series: predictions are those of the mode on the best scale, in time linear in the rows."""
    X, y = series.X, series.y
    evaluator, structure = contender.evaluator, contender.structure
    if not evaluator.beliefs.of_time:
        # the rows of the fit were far apart
        sizes = evaluator.sizes(structure)
        kept = [part for part, size in zip(structure.parts, sizes, strict=True) if size > SMALLEST]
        factors = contender.factors if contender.noise is None else contender.noise.factors
        windows = Windows.of(X, contender.scale.forward(y), factors)
        structure = fitted_to(evaluator, kept, structure.noise, windows)
        contender = replace(contender, structure=structure)
    (model,), count = contender.models(0), len(structure.parts)
    z, tier = contender.scale.forward(y), series.tier
    posterior = POSTERIORS[tier](model, X, z)
    bound = bound_of(tier, model, X, z)
    fitted = finished(
        Predictor(model, posterior, tuple(model.pool), tier, bound),
        replace(structure, model=model),
        X,
        y,
        scale=contender.scale,
        level=count,
        steps=steps,
        likelihood=contender.likelihood(model),
        beliefs=evaluator.beliefs,
    )
    return replace(fitted, projects=True)
