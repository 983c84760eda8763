"""The structural model: one fixed sum of what ordinary series are made of, with learned priors and no search.

    y = level + damped trend + random walk + seasons that move + AR(1) + noise

Each season is a periodic kernel times a rough one with a long lengthscale, so that its shape moves as in exponential
smoothing. All parameters have priors that were learned from many series (search/beliefs.py). They are fitted to the top
of their posterior density, and predictions average over draws from Laplace's approximation there and over the scales of
the target, by their evidence.
"""

from collections.abc import Sequence

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.blas import one_thread
from farrier.model.fitted import Fitted
from farrier.model.members import Contender, fitted_set
from farrier.model.target_scale import TargetScale, Transform, named, worth_trying
from farrier.model.tiers import exact_posterior
from farrier.search.appraisal import Appraisal, intervals
from farrier.search.beliefs import Beliefs
from farrier.search.candidates import ordinary_series
from farrier.search.clock import Clock
from farrier.search.scoring import Evaluator
from farrier.search.settings import SearchSettings
from farrier.search.structure import Part


def fit_structural(
    X: np.ndarray,
    y: np.ndarray,
    seasons: Sequence[float] = (),
    *,
    transform: str = "auto",
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """The structural model of y over one standardised input; `seasons` are periods in the units of X."""
    beliefs = Beliefs(Clock.of(X[:, 0], seasons), settings=settings.priors)
    tried = worth_trying(y, settings.scales.smallest_ratio) if transform == "auto" else [named(transform)]
    chosen = [one for one in tried if one.name != "square root" or transform != "auto"]
    with one_thread(small=len(X) <= settings.rows.exact):
        found = [structural_fit(X, y, beliefs, one, settings) for one in chosen]
        found.sort(key=lambda one: one.height, reverse=True)
        return fitted_set(
            found,
            None,
            X,
            y,
            appraisal=_appraised(found[0], X, y, settings),
            record=(),
            settings=settings,
            steps=sum(one.evaluator.steps for one in found),
        )


def structural_fit(
    X: np.ndarray, y: np.ndarray, beliefs: Beliefs, transform: Transform, settings: SearchSettings
) -> Contender:
    """The structural model on one scale of the target."""
    own, scale = settings.structural, TargetScale.of(transform, y)
    last = np.argsort(X[:, 0], kind="stable")[-own.rows :]
    z = scale.forward(y[last])
    evaluator = Evaluator(X[last], z, covariance_of(X[last]), settings=settings, beliefs=beliefs)
    structure = evaluator.fit(structural_parts(beliefs, settings), beliefs.noise, own.iterations, own.tolerance)
    return Contender(f"the {transform.name} scale", structure, evaluator, scale, y[last])


def structural_parts(beliefs: Beliefs, settings: SearchSettings) -> list[Part]:
    """All components of the structural model, at the medians of their priors."""
    seasons = () if beliefs.clock is None else beliefs.clock.seasons
    kernels = ordinary_series(beliefs, seasons, [], settings.candidates)
    return [beliefs.part(kernel, beliefs.scale(kernel), 1) for kernel in kernels]


def _appraised(contender: Contender, X: np.ndarray, y: np.ndarray, settings: SearchSettings) -> Appraisal:
    """The 95 % intervals of the hyperparameters, and which components are worth a word, largest first.

    No component was removed, and no row left out, to see what it is worth.
    """
    mode, count = contender.structure.mode, len(contender.structure.parts)
    assert mode is not None
    z, weights = contender.scale.forward(y), mode.model.prior.quantile(0.5)[None]
    means = exact_posterior(mode.model, X, z, settings, weights).component_means(X)[0]
    sizes = means[:count].std(axis=1)
    smallest = settings.structural.smallest_share * np.sum(sizes**2)
    order = tuple(int(i) for i in np.argsort(sizes)[::-1] if sizes[i] ** 2 > smallest)
    low, high = intervals(contender.structure)
    return Appraisal(low, high, (None,) * count, (), order, tuple(float(size) for size in sizes))
