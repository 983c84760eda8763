"""A table with more rows than exact inference can explain (`EXACT_TABLE_ROWS`), for Gaussian noise.

Structure and pools are fitted to a part of the rows by exact inference (table_fits.py). Then

1. the structure is fitted to all rows by collapsed inference, and explains;
2. the pool of each scale with interactions of all orders predicts at its mode, exactly, given as many rows as memory
   allows (`PREDICTING_ROWS`): inducing points would blur a function of many inputs;
3. the shares of all of them follow from their leave-one-out predictions at some rows (stacking.py). Where effects are
   few and noise is large the structure predicts best, which has seen all rows; where rows are dense the pools do.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier.inference.collapsed import CollapsedObjective, CollapsedPosterior
from farrier.inference.horseshoe import PointHorseshoe
from farrier.inference.lbfgs import climb
from farrier.inference.likelihoods import Gaussian
from farrier.inference.linalg import one_thread
from farrier.inference.mixtures import moments
from farrier.inference.parameter_vector import ExactModel
from farrier.model.fitted import Fitted, Member
from farrier.model.held_out import folds_of
from farrier.model.members import Contender, stacked_shares, weights_of_structure, with_models
from farrier.model.stacking import LeftOut
from farrier.model.table_fits import FITTED_ROWS, Scaled, table_contenders
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import MOST_POINTS, POINT_LIMITS, TRACE_TOLERANCE, Tell
from farrier.search.appraisal import Appraisal, appraise
from farrier.search.scoring import SHORT_ITERATIONS
from farrier.search.structure import Decision

PREDICTING_ROWS = 10_000
"""Most rows given which the pools of a larger table predict: a Cholesky factor of 9 s and 800 MB each. [rows; measured
on one core]"""


def fit_many_rows(found: Sequence[Scaled], X: np.ndarray, y: np.ndarray) -> Fitted:
    """The model of a table with many rows, from the scales that were searched."""
    best, contenders = found[0], table_contenders(found, X, y, few=True)
    own = best.evaluator
    assert best.structure is not None
    appraisal = appraise(own, best.structure)
    steps = sum(one.evaluator.steps for one in contenders)
    return many_rows_set(contenders, X, y, own.tell, appraisal, best.record, steps)


def many_rows_set(
    contenders: Sequence[Contender],
    X: np.ndarray,
    y: np.ndarray,
    tell: Tell,
    appraisal: Appraisal,
    record: Sequence[Decision],
    steps: int,
) -> Fitted:
    """The fitted model of contenders that were fitted to a part of the rows; the first explains."""
    first, size = contenders[0], len(contenders[0].structure.parts)
    z = first.scale.forward(y)
    tell("fitting all rows", first.structure.score)
    with one_thread(small=False):
        model, bound, posterior = _on_all_rows(first, X, z)
        known = predicting_rows(len(y))
        pools = [with_models(one, 0.0, one.models(0), X[known], y[known]) for one in contenders[1:]]
        left = left_out_predictions(posterior, model.noise, pools, first.scale, X, y)
    shares, stacking = stacked_shares(left)
    heights = [one.height for one in contenders]
    said = [
        Decision(0, "averaged" if share > 0 else "dropped", one.name, height - heights[0], "evidence of the structure")
        for one, share, height in zip(contenders[1:], shares[1:], heights[1:], strict=True)
    ]
    assert isinstance(model.prior, PointHorseshoe)
    return Fitted(
        posterior=posterior,
        likelihood=Gaussian(model.noise),
        prior=replace(model.prior, deviation=weights_of_structure(first.structure).deviation),
        kernels=tuple(model.pool),
        survivors=size,
        scale=first.scale,
        bound=bound + first.scale.log_jacobian(y),
        tier="collapsed",
        steps=steps,
        level=size,
        record=(*record, *said),
        appraisal=appraisal,
        noises=np.array([model.noise]),
        share=float(shares[0]),
        others=tuple(replace(one, share=float(s)) for one, s in zip(pools, shares[1:], strict=True) if s > 0),
        stacking=stacking,
        beliefs=first.evaluator.beliefs,
    )


def predicting_rows(rows: int) -> np.ndarray:
    """The rows given which pools predict: all, or a random part that is the same at every call."""
    if rows <= PREDICTING_ROWS:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, PREDICTING_ROWS, replace=False))


def judged_rows(rows: int) -> np.ndarray:
    """The rows whose leave-one-out predictions are compared, among those given which pools predict."""
    known = predicting_rows(rows)
    return np.sort(np.random.default_rng(1).choice(known, min(FITTED_ROWS, len(known)), replace=False))


def left_out_predictions(
    posterior: CollapsedPosterior,
    noise: float,
    pools: Sequence[Member],
    scale: TargetScale,
    X: np.ndarray,
    y: np.ndarray,
) -> list[LeftOut]:
    """Leave-one-out predictions of some rows by the structure, on its scale, and by the pools."""
    there = judged_rows(len(y))
    places, count = np.searchsorted(predicting_rows(len(y)), there), len(there)
    z, folds, level = scale.forward(y[there]), folds_of(count), np.empty(count)
    mean, variance = moments(*posterior.left_out(X[there], z, folds))
    level[np.concatenate(folds)] = mean[count:]
    sd = np.sqrt(variance[:count] + noise)
    found = [LeftOut(mean[:count], sd, z, scale.log_slopes(y[there]), scale, level)]
    for one in pools:
        mean, variance = one.posterior.left_out(places)
        mean, variance = moments(mean, variance + one.noises[:, None])
        slopes = one.scale.log_slopes(y[there])
        found.append(LeftOut(mean, np.sqrt(variance), one.scale.forward(y[there]), slopes, one.scale, level))
    return found


def many_rows_score(fitted: Fitted, X: np.ndarray, y: np.ndarray) -> float:
    """The log density of all rows under their leave-one-out predictions, from some of them."""
    posterior, stacking = fitted.posterior, fitted.stacking
    assert isinstance(posterior, CollapsedPosterior)
    assert stacking is not None
    left = left_out_predictions(posterior, posterior.noise, fitted.others, fitted.scale, X, y)
    return len(y) * float(np.mean(stacking.log_densities(left)))


def _on_all_rows(contender: Contender, X: np.ndarray, z: np.ndarray) -> tuple[ExactModel, float, CollapsedPosterior]:
    """The model of the structure, its bound and its posterior, fitted to all rows from its values on a part of them."""
    mode = contender.structure.at_mode()

    def objective(model: ExactModel) -> CollapsedObjective:
        return CollapsedObjective.of(model, X, z, 1, TRACE_TOLERANCE, MOST_POINTS, POINT_LIMITS)

    start = objective(mode.model)
    model = start.model(climb(start, SHORT_ITERATIONS).numbers)
    # inducing points are chosen again for the kernels as they are now
    found = objective(model)
    bound = found.value(found.start()).total
    return model, bound, CollapsedPosterior.of(found, model, model.prior.quantile(0.5)[None])
