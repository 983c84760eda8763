"""The structural models: fixed sums of what ordinary series are made of, with learned priors and no search.

    y = level + damped trend + random walk + seasons that move + patterns of the calendar + AR(1) + noise
    y = line + the same, with priors of its own

Each regressor adds a line, or a curve where the evidence for one is strong (search/cycles.py).

Past rows tell little of whether growth will fade, so both predict.

Each season is a periodic kernel times a rough one with a long lengthscale, so that its shape moves as in exponential
smoothing. All parameters have priors that were learned from many series (search/beliefs.py). They are fitted to the top
of their posterior density, and predictions average over draws from Laplace's approximation there and over the scales of
the target, by their evidence. A long series is predicted by the mode on the best scale, in time linear in its rows.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.blas import one_thread
from farrier.kernels.algebra import Kernel
from farrier.model.finishing import Predictor, finished
from farrier.model.fitted import Fitted
from farrier.model.long_series import bound_given
from farrier.model.members import Contender, RowNoise, fitted_set, shares_of
from farrier.model.target_scale import TargetScale, Transform, named, worth_trying
from farrier.model.tiers import linear_posterior
from farrier.search.beliefs import Beliefs
from farrier.search.candidates import ordinary_series
from farrier.search.cycles import fit_ordinary
from farrier.search.learned_priors import GROWTHS
from farrier.search.regressors import lines
from farrier.search.scoring import Evaluator
from farrier.search.settings import SearchSettings
from farrier.search.structure import Part, Structure


def fit_structural(
    X: np.ndarray,
    y: np.ndarray,
    seasons: Sequence[float] = (),
    *,
    calendar: Sequence[Kernel] = (),
    transform: str = "auto",
    factors: np.ndarray | None = None,
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """The structural models of y over standardised inputs, of which the first is time and others are regressors.

    `seasons` and `calendar` are in the units of time.

    `factors` are the noise variances of the rows over the common one.
    """
    with one_thread():
        fits = structural_fits(X, y, seasons, calendar, transforms_to_try(y, transform, settings), factors, settings)
        return fitted_structural(fits, X, y)


def structural_fits(
    X: np.ndarray,
    y: np.ndarray,
    seasons: Sequence[float],
    calendar: Sequence[Kernel],
    scales: Sequence[Transform],
    factors: np.ndarray | None,
    settings: SearchSettings,
) -> list[Contender]:
    """Both structural models, the second on the scales that have a share in the predictions of the first.

    A fit starts from the values of the other model on its scale, or else from those on the scale before it: on 86 learn
    series of M1 and M4 that took about half of the evaluations, and no score fell by more than 0.6 nats.
    """
    fits: list[Contender] = []
    for beliefs in structural_beliefs(X, seasons, settings):
        same, found = {one.scale.transform.name: one.structure for one in fits}, list[Contender]()
        for one in scales:
            near = same.get(one.name, found[-1].structure if found else None)
            found.append(structural_fit(X, y, beliefs, one, settings, calendar, None, factors, near))
        fits += found
        scales = useful_scales(found, settings)
    return fits


def useful_scales(fits: Sequence[Contender], settings: SearchSettings) -> list[Transform]:
    """The scales that have a share in the predictions of one structural model: no other one is tried in the next."""
    shares = shares_of(fits, settings.averaging)
    return [
        one.scale.transform
        for one, share in zip(fits, shares, strict=True)
        if share >= settings.averaging.smallest_share
    ]


def structural_beliefs(X: np.ndarray, seasons: Sequence[float], settings: SearchSettings) -> list[Beliefs]:
    """The beliefs of each structural model."""
    beliefs = Beliefs.of(X, seasons, settings.priors, timed=True)
    return [replace(beliefs, growth=growth) for growth in GROWTHS]


def fitted_structural(found: Sequence[Contender], X: np.ndarray, y: np.ndarray) -> Fitted:
    """The fitted model from its fits on some scales."""
    ranked = sorted(found, key=lambda one: one.height, reverse=True)
    steps, settings = sum(one.evaluator.steps for one in found), ranked[0].evaluator.settings
    if len(X) > settings.rows.exact:
        return _fitted_long(ranked[0], X, y, steps, settings)
    fitted = fitted_set(ranked, None, X, y, appraisal=None, record=(), settings=settings, steps=steps)
    return replace(fitted, projects=True)


def _fitted_long(contender: Contender, X: np.ndarray, y: np.ndarray, steps: int, settings: SearchSettings) -> Fitted:
    """The model of a long series: predictions are those of the mode on the best scale, in time linear in the rows."""
    (model,), count = contender.models(0), len(contender.structure.parts)
    posterior = linear_posterior(model, X, contender.scale.forward(y), settings)
    fitted = finished(
        Predictor(model, posterior, tuple(model.pool), "linear", bound_given(model, posterior.evidence)),
        replace(contender.structure, model=model),
        X,
        y,
        scale=contender.scale,
        level=count,
        steps=steps,
        settings=settings,
        likelihood=contender.likelihood(model),
        beliefs=contender.evaluator.beliefs,
    )
    return replace(fitted, projects=True)


def transforms_to_try(y: np.ndarray, transform: str, settings: SearchSettings) -> list[Transform]:
    """The scales of y that are compared: identity and logarithm, or the one that was asked for."""
    if transform != "auto":
        return [named(transform)]
    return [one for one in worth_trying(y, settings.scales.smallest_ratio) if one.name != "square root"]


def structural_fit(
    X: np.ndarray,
    y: np.ndarray,
    beliefs: Beliefs,
    transform: Transform,
    settings: SearchSettings,
    calendar: Sequence[Kernel] = (),
    noise: RowNoise | None = None,
    factors: np.ndarray | None = None,
    near: Structure | None = None,
    least: float = -np.inf,
) -> Contender:
    """A structural model on one scale of the target, with Gaussian noise if no other is given.

    `near` is another model of the same rows, from whose values the fit starts. Below a log likelihood of `least` it
    gets no score.
    """
    scale = TargetScale.of(transform, y if noise is None else y[noise.ordinary])
    last = structural_rows(X, beliefs, settings)
    each = factors if noise is None else noise.factors
    seen = None if each is None else each[last]
    z = scale.forward(y[last])
    covariance = covariance_of(X[last], timed=True)
    evaluator = Evaluator(X[last], z, covariance, settings=settings, beliefs=beliefs, factors=seen)
    seasons = () if beliefs.clock is None else beliefs.clock.seasons

    def parts(periods: Sequence[float]) -> list[Part]:
        return structural_parts(beliefs, settings, calendar, periods, X.shape[1])

    structure = fit_ordinary(evaluator, parts, seasons, near, least)
    name = f"the {transform.name} scale, growth that fades to {'a line' if beliefs.growth == 'line' else 'nothing'}"
    return Contender(name, structure, evaluator, scale, y[last], noise, searched=False, factors=factors)


def structural_rows(X: np.ndarray, beliefs: Beliefs, settings: SearchSettings) -> np.ndarray:
    """The rows to which a structural model is fitted: the last ones.

    If they hold too few of the longest season, every second (third, ...) row of a longer time is taken, as far as the
    shortest season still shows: a week of hours cannot be learned from 300 of them.
    """
    order, rows = np.argsort(X[:, 0], kind="stable"), settings.rows.search
    clock = beliefs.clock
    if clock is None or not clock.seasons or len(order) <= rows:
        return order[-rows:]
    needed = settings.periods.repeats * clock.seasons[-1] / clock.step
    every = int(np.ceil(needed / rows))
    shows = clock.seasons[0] / clock.step >= settings.candidates.shortest_period * every
    return order[::-1][:: every if shows else 1][:rows][::-1]


def structural_parts(
    beliefs: Beliefs, settings: SearchSettings, calendar: Sequence[Kernel], periods: Sequence[float], inputs: int = 1
) -> list[Part]:
    """All components of a structural model, at the medians of their priors; inputs beside time are regressors."""
    kernels = [*ordinary_series(beliefs, periods, [], settings.candidates), *calendar, *lines(inputs, [])]
    return [beliefs.part(kernel, beliefs.scale(kernel), inputs) for kernel in kernels]
