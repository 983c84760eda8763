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

A refit starts from the values of a fitted model, and keeps its pools, their components and the kind of noise. What
explains is the projection of this model, made when somebody asks for it (explaining.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.linalg import one_thread
from farrier.inference.noise import Noise
from farrier.inference.student_t import StudentT
from farrier.model.finishing import finished
from farrier.model.fitted import Fitted
from farrier.model.members import SMALLEST_SHARE, Contender, fitted_set, shares_of
from farrier.model.outliers import Doubt
from farrier.model.problem import Problem
from farrier.model.rows import pool_rows, window_rows
from farrier.model.student_t_noise import in_turn, noise_after, noise_around, with_better_noise
from farrier.model.target_scale import HARD_TO_READ, Transform
from farrier.model.tiers import climbed
from farrier.model.window_residuals import score_in_windows
from farrier.search.beliefs import Beliefs
from farrier.search.enriching import SMALLEST
from farrier.search.learned_priors import GROWTHS
from farrier.search.rows import Rows
from farrier.search.scoring import Evaluator
from farrier.search.structure import LEVEL, Structure

LEAST_NOISE = 0.005
"""Least noise variance from which a long series is fitted: few rows can leave next to none. [variance of y; by
judgement]"""
ROBUST_ROWS = 20_000
"""Rows beyond which Student-t noise is not tried: predictions of all rows take longer than the fit. [rows; by
judgement]"""


def fit_series(series: Problem, *, likelihood: str = "auto") -> Fitted:
    """The model of a series; its noise is Gaussian, Student-t, or what has more evidence ("auto").

    Of a long series the left-out log score decides. One that is very long keeps Gaussian noise, unless Student-t is
    asked for.
    """
    with one_thread():
        fits = _fits(series, series.scales)
        gaussian = _fitted(fits, series)

        def robust(doubt: Doubt) -> tuple[float, Callable[[], Fitted]]:
            likely = {one.scale.transform.name for one in (gaussian, *gaussian.others)}
            scales = [one.scale.transform for one in fits if one.growth == GROWTHS[0]]
            scales = [one for one in scales if one.name in likely]
            # the evidence of a long series is that of its last rows for the pools, and that of all for the model
            long = series.tier != "exact"
            enough = -np.inf if likelihood == "student-t" or long else gaussian.bound
            found = _fitted(_fits(replace(series, noise=noise_after(doubt)), scales, fits, enough), series)
            if long and likelihood != "student-t":
                return score_in_windows(found, series.y) - score_in_windows(gaussian, series.y), lambda: found
            return float(found.bound - gaussian.bound), lambda: found

        few = len(series.y) <= ROBUST_ROWS or likelihood == "student-t"
        return with_better_noise(gaussian, series, likelihood if few else "gaussian", robust)


def refit_series(fitted: Fitted, series: Problem) -> Fitted:
    """The pools of a fitted model, fitted to other rows from their present values, with the same kind of noise."""
    with one_thread():
        if isinstance(fitted.likelihood, StudentT):
            series = replace(series, noise=noise_around(fitted, series.X, series.y))
        found = []
        for one in fitted.members:
            if one.possible(series.y):
                beliefs = replace(fitted.beliefs, growth=one.growth)
                # the last weight is that of the level, which every structure has
                each = zip(one.kernels, one.weights[:-1], strict=False)
                parts = tuple(beliefs.part(kernel, float(weight), series.X.shape[1]) for kernel, weight in each)
                near = Structure(parts, float(one.noises[0]), 0.0)
                found.append(pool_fit(series, beliefs, one.scale.transform, near, again=True))
        return replace(_fitted(found, series), record=fitted.record)


def _fits(
    series: Problem, scales: Sequence[Transform], usual: Sequence[Contender] = (), enough: float = -np.inf
) -> list[Contender]:
    """All pools on all scales; of the second pool on those that have a share in the predictions of the first.

    A fit starts from the values of the other pool on its scale, or else from those on the scale before it: on 86 learn
    series of M1 and M4 that took about half of the evaluations, and no score fell by more than 0.6 nats. Fits with
    Student-t noise start from the `usual` ones. Of these each pool has its best scale, and there is no second one if
    the first has less evidence than `enough`: what one pool loses by the noise, the other does not gain.
    """
    beliefs, fits = series.beliefs, list[Contender]()
    for growth in GROWTHS if beliefs.of_time else GROWTHS[:1]:
        near = {one.scale.transform.name: one.structure for one in usual or fits if not usual or one.growth == growth}
        found = list[Contender]()
        for one in scales:
            last = found[-1].structure if found and not usual else None
            known = near.get(one.name, last)
            found.append(
                pool_fit(series, replace(beliefs, growth=growth), one, known, scaled=not usual and one.name not in near)
            )
        fits += [max(found, key=_readable)] if usual else found
        if usual and fits[0].height < enough:
            break
        scales = _useful(found)
    return fits


def pool_fit(
    series: Problem,
    beliefs: Beliefs,
    transform: Transform,
    near: Structure | None = None,
    *,
    again: bool = False,
    scaled: bool = False,
) -> Contender:
    """A pool on one scale of the target; for Student-t noise it and the noise of the rows are fitted alternately.

    `near` is another fit, from whose values this one starts, on another scale if this one is `scaled`; `again` takes
    its components too.
    """
    beliefs = replace(beliefs, transform=transform.name)
    X, y, rows, scale = series.X, series.y, pool_rows(series.X, beliefs), series.scale_by(transform)
    covariance, z = covariance_of(X[rows], timed=True), scale.forward(y[rows])
    seasons = () if beliefs.clock is None else beliefs.clock.seasons
    name = f"the {transform.name} scale"
    if beliefs.of_time:
        name += f", growth that fades to {'a line' if beliefs.growth == 'line' else 'nothing'}"

    def fit(noise: Noise, least: float) -> Contender:
        nonlocal near
        evaluator = Evaluator(X[rows], z, covariance, seasons, series.tell, noise.at(rows), beliefs=beliefs)
        series.tell("shrinking a pool of candidates", np.nan)
        if again and near is not None:
            near = evaluator.fit_pool(near.parts, near, least)
        else:
            kind = Rows(calendar=series.calendar, whole=len(rows) == len(X))
            near = kind.pool(evaluator, near, least, scaled=scaled)
        return Contender(name, near, evaluator, scale, y[rows], noise)

    return in_turn(fit, series.noise, X, y, rows)


def _useful(fits: Sequence[Contender]) -> list[Transform]:
    """The scales that have a share in the predictions of one pool: no other one is tried in the next."""
    shares = shares_of(fits)
    return [one.scale.transform for one, share in zip(fits, shares, strict=True) if share >= SMALLEST_SHARE]


def _readable(fit: Contender) -> tuple[bool, float]:
    """The order of fits: the first explains, on a scale on which that can be read."""
    return fit.scale.transform.name != HARD_TO_READ, fit.height


def _fitted(found: Sequence[Contender], series: Problem) -> Fitted:
    """The fitted model from the fits of its pools on some scales."""
    ranked = sorted(found, key=_readable, reverse=True)
    steps = sum(one.evaluator.steps for one in found)
    if series.tier != "exact":
        return _long(ranked[0], series, steps)
    fitted = fitted_set(ranked, series.X, series.y, appraisal=None, record=(), steps=steps)
    return replace(fitted, projects=True)


def _long(contender: Contender, series: Problem, steps: int) -> Fitted:
    """The model of a long series: predictions are those of the mode on the best scale, in time linear in the rows."""
    X, y, scale = series.X, series.y, contender.scale
    evaluator, structure = contender.evaluator, contender.structure
    if not evaluator.beliefs.of_time:
        # the rows of the fit were far apart
        sizes, seen = evaluator.sizes(structure), window_rows(X[:, 0])
        kept = [part for part, size in zip(structure.parts, sizes, strict=True) if size > SMALLEST]
        noise = max(structure.noise, LEAST_NOISE)
        model = evaluator.beliefs.model([*kept, LEVEL], noise, X.shape[1], contender.noise.at(seen))
        structure, more = climbed(
            "linear", model, kept, X[seen], scale.forward(y[seen]), tell=lambda bound: series.tell("fitting", bound)
        )
        contender, steps = replace(contender, structure=structure), steps + more
    (model,) = contender.models(0)
    fitted = finished(
        model,
        series.tier,
        replace(structure, model=model),
        X,
        y,
        scale=scale,
        level=len(structure.parts),
        steps=steps,
        likelihood=contender.likelihood(model),
        beliefs=evaluator.beliefs,
    )
    return replace(fitted, projects=True)
