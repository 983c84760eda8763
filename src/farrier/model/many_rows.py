"""A table with more rows than exact inference can explain (`EXACT_TABLE_ROWS`).

Structure and pools are fitted to a part of the rows by exact inference (table_fits.py). Then

1. the structure is fitted to all rows by collapsed inference, and explains;
2. the pool of each scale with interactions of all orders predicts at its mode, exactly, given as many rows as memory
   allows (`PREDICTING_ROWS`): inducing points would blur a function of many inputs;
3. the shares of all of them follow from their leave-one-out predictions at some rows (stacking.py). Where effects are
   few and noise is large the structure predicts best, which has seen all rows; where rows are dense the pools do.

Student-t noise and the structure are fitted alternately (student_t_noise.py); the pools have the noise that it expects.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier.inference.collapsed import CollapsedObjective, CollapsedPosterior
from farrier.inference.gaussian_sites import Sites
from farrier.inference.lbfgs import climb
from farrier.inference.linalg import one_thread
from farrier.inference.mixtures import moments
from farrier.inference.noise import ALIKE, Noise, alternately
from farrier.inference.parameter_vector import ExactModel
from farrier.model.fitted import Fitted, Member
from farrier.model.held_out import folds_of
from farrier.model.members import Contender, averaged, fitted_of, stacked_shares, with_models
from farrier.model.rows import judged_rows, predicting_rows
from farrier.model.stacking import LeftOut
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import MOST_POINTS, POINT_LIMITS, TRACE_TOLERANCE, weights_of
from farrier.search.appraisal import Appraisal
from farrier.search.scoring import SHORT_ITERATIONS
from farrier.search.structure import Decision


def many_rows_set(
    contenders: Sequence[Contender],
    X: np.ndarray,
    y: np.ndarray,
    *,
    appraisal: Appraisal | None,
    record: Sequence[Decision],
    steps: int,
) -> tuple[Fitted, Noise]:
    """The fitted model of contenders that were fitted to a part of the rows, and its noise; the first explains."""
    first, mode = contenders[0], contenders[0].structure.at_mode()
    model, z = mode.model, first.scale.forward(y)
    first.evaluator.tell("fitting all rows", first.structure.score)

    def fit(noise: Noise, last: bool) -> tuple[tuple[CollapsedPosterior, float, Noise], np.ndarray]:
        nonlocal model
        model, bound, posterior = _on_all_rows(replace(model, row_noise=noise), X, z)
        if noise.degrees is None:
            return (posterior, bound, noise), np.zeros(0)
        mean, variance = moments(*posterior.draws(X))
        sites = Sites(z, noise.variances(model.noise, len(z)))
        bound += sites.correction(z, mean, variance, first.likelihood(model))
        return (posterior, bound, noise), ((z - mean) ** 2 + variance) / model.noise

    with one_thread(small=False):
        given = first.noise
        (posterior, bound, noise), _ = fit(given, True) if given.degrees is None else alternately(fit, given)
        known = predicting_rows(len(y))
        pools = [replace(one, noise=noise.at(known)) for one in contenders[1:]]
        others = [with_models(one, 0.0, one.models(0), X[known], y[known]) for one in pools]
        left = left_out_predictions(posterior, model.noise, others, first.scale, X, y, noise)
    shares, stacking = stacked_shares(left)
    fitted = fitted_of(
        replace(first, structure=replace(first.structure, mode=replace(mode, model=model))),
        posterior,
        np.array([model.noise]),
        tier="collapsed",
        share=float(shares[0]),
        others=tuple(replace(one, share=float(s)) for one, s in zip(others, shares[1:], strict=True) if s > 0),
        stacking=stacking,
        bound=bound + first.scale.log_jacobian(y),
        steps=steps,
        record=(*record, *averaged(contenders, shares)),
        appraisal=appraisal,
    )
    return fitted, noise


def left_out_predictions(
    posterior: CollapsedPosterior,
    noise: float,
    pools: Sequence[Member],
    scale: TargetScale,
    X: np.ndarray,
    y: np.ndarray,
    row_noise: Noise = ALIKE,
) -> list[LeftOut]:
    """Leave-one-out predictions of some rows by the structure, on its scale, and by the pools."""
    there = judged_rows(len(y))
    places, count = np.searchsorted(predicting_rows(len(y)), there), len(there)
    z, folds, level = scale.forward(y[there]), folds_of(count), np.empty(count)
    given, foreseen = row_noise.at(there), row_noise.foreseen.at(there).relative(count)
    mean, variance = moments(*posterior.left_out(X[there], z, folds, given.relative(count)))
    level[np.concatenate(folds)] = mean[count:]
    sd = np.sqrt(variance[:count] + noise * foreseen)
    found = [LeftOut(mean[:count], sd, z, scale.log_slopes(y[there]), scale, level)]
    for one in pools:
        mean, variance = one.posterior.left_out(places)
        mean, variance = moments(mean, variance + one.noises[:, None] * foreseen)
        slopes = one.scale.log_slopes(y[there])
        found.append(LeftOut(mean, np.sqrt(variance), one.scale.forward(y[there]), slopes, one.scale, level))
    return found


def many_rows_score(fitted: Fitted, X: np.ndarray, y: np.ndarray, noise: Noise = ALIKE) -> float:
    """The log density of all rows under their leave-one-out predictions, from some of them."""
    posterior, stacking = fitted.posterior, fitted.stacking
    assert isinstance(posterior, CollapsedPosterior)
    assert stacking is not None
    left = left_out_predictions(posterior, posterior.noise, fitted.others, fitted.scale, X, y, noise)
    return len(y) * float(np.mean(stacking.log_densities(left)))


def _on_all_rows(start: ExactModel, X: np.ndarray, z: np.ndarray) -> tuple[ExactModel, float, CollapsedPosterior]:
    """The model of a structure fitted to all rows from its present values, its bound and its posterior."""

    def objective(model: ExactModel) -> CollapsedObjective:
        return CollapsedObjective.of(model, X, z, 1, TRACE_TOLERANCE, MOST_POINTS, POINT_LIMITS)

    first = objective(start)
    model = first.model(climb(first, SHORT_ITERATIONS).numbers)
    # inducing points are chosen again for the kernels as they are now
    found = objective(model)
    bound = found.value(found.start()).total
    return model, bound, CollapsedPosterior.of(found, model, weights_of(model, 1))
