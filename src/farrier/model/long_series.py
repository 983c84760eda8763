"""The last steps of a fit of a long series: time and memory are linear in its rows (inference/linear.py).

The hyperparameters of the structure are fitted to windows of the rows (long_rows.py), and the posterior is that of all
rows. Trend, walk and short memory of ordinary series are tried beside the structure; they predict with it if the log
posterior density rises. So many rows determine the parameters, so predictions are those of the mode.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.laplace import Laplace, curvature
from farrier.inference.lbfgs import climb, moving_of
from farrier.inference.linear import LinearObjective
from farrier.inference.linear_plan import plan
from farrier.inference.parameter_vector import ExactModel, ParameterVector
from farrier.inference.point_horseshoe import PointHorseshoe
from farrier.kernels.registry import Matern12
from farrier.model.finishing import Predictor, finished, prediction_pool, search_rows
from farrier.model.fitted import Fitted
from farrier.model.long_rows import window_rows
from farrier.model.scales import Scaled
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import Tell, linear_posterior
from farrier.search.appraisal import Appraisal, appraise, intervals
from farrier.search.search import Search
from farrier.search.settings import SearchSettings
from farrier.search.structure import LEVEL, Decision, Mode, Part, Structure


@final
@dataclass(frozen=True, eq=False)
class Windows:
    """The rows of a long series to which parameters are fitted."""

    X: np.ndarray
    z: np.ndarray
    factors: np.ndarray | None = None
    """The noise variance of each row over the common one; None if all are alike."""

    @classmethod
    def of(cls, X: np.ndarray, z: np.ndarray, settings: SearchSettings, factors: np.ndarray | None = None) -> "Windows":
        """Windows of all rows (long_rows.py)."""
        seen = window_rows(X[:, 0], settings.long)
        return cls(X[seen], z[seen], None if factors is None else factors[seen])


def finish_long_series(scaled: Scaled, X: np.ndarray, y: np.ndarray) -> Fitted:
    """The structure that was found on some rows, fitted to more of them, with its posterior given all rows."""
    search, settings = scaled.search, scaled.search.settings
    rows = Windows.of(X, scaled.scale.forward(y), settings)
    search.tell("fitting the long series", scaled.structure.score)
    found = scaled.structure
    structure = fitted_to(search, found.parts, found.noise, rows)
    rough = with_memory(search, structure, rows)
    if rough is not structure:
        found = search.fit([*found.parts, rough.parts[-1]], found.noise)
    structure = with_deviations(rough, rows, settings)
    wide = with_ordinary(search, structure, rows)
    return _finished(search, found, structure, wide, scaled.scale, X, y, search.record)


def refit_long_series(fitted: Fitted, X: np.ndarray, y: np.ndarray, tell: Tell) -> Fitted:
    """A structure that is known, fitted to other rows."""
    settings, own, z = fitted.settings, fitted.explaining, fitted.scale.forward(y)
    rows, windows = search_rows(X, settings, timed=True), Windows.of(X, z, settings)
    covariance = covariance_of(X[rows], timed=True)
    search = Search(X[rows], z[rows], covariance, (), tell, settings=settings, beliefs=fitted.beliefs)
    weights, noise = own.prior.quantile(0.5), fitted.noise_variance
    parts = [search.part(kernel, float(w)) for kernel, w in zip(own.kernels, weights, strict=False)]
    found = search.fit(parts, noise)
    structure = fitted_to(search, parts, noise, windows)
    structure = wide = with_deviations(structure, windows, settings)
    if fitted.alone is not None or not parts:
        others, weights = fitted.kernels[fitted.survivors : -1], fitted.prior.quantile(0.5)[fitted.survivors :]
        more = [search.part(kernel, float(w)) for kernel, w in zip(others, weights, strict=False)]
        wide = fitted_to(search, [*structure.parts, *more], structure.noise, windows)
    return _finished(search, found, structure, wide, fitted.scale, X, y, fitted.record)


def _finished(
    search: Search,
    found: Structure,
    structure: Structure,
    wide: Structure,
    scale: TargetScale,
    X: np.ndarray,
    y: np.ndarray,
    record: Sequence[Decision],
) -> Fitted:
    """The fitted model: `found` on the rows of the search, `structure` on more rows explains, `wide` predicts."""
    model, settings = wide.model, search.settings
    assert model is not None
    search.tell("computing the posterior of all rows", wide.score)
    posterior = linear_posterior(model, X, scale.forward(y), settings)
    return finished(
        Predictor(model, posterior, tuple(model.pool), "linear", bound_given(model, posterior.evidence)),
        structure,
        X,
        y,
        scale=scale,
        level=len(wide.parts),
        steps=search.steps,
        settings=settings,
        record=record,
        appraisal=appraised(search, found, structure),
        beliefs=search.beliefs,
    )


def fitted_to(
    search: Search, parts: Sequence[Part], noise: float, rows: Windows, iterations: int | None = None
) -> Structure:
    """A structure with all parameters fitted to some rows, from their current values; its score is the log posterior
    density."""
    settings = search.settings
    own = settings.long
    model = search.beliefs.model([*parts, LEVEL], max(noise, own.start_noise), rows.X.shape[1])
    model = replace(model, factors=rows.factors)
    objective = LinearObjective.of(model, rows.X, rows.z, 1, own.limits)
    u, terms, _ = climb(
        objective,
        iterations or settings.fits.iterations,
        own.tolerance,
        callback=lambda i, t: search.tell("fitting", t.total),
    )
    search.steps += len(terms)
    fitted = objective.model(u)
    weights = fitted.prior.quantile(0.5)
    found = tuple(Part(fitted.pool[i], part.centre, float(weights[i]), part.scale) for i, part in enumerate(parts))
    return Structure(found, fitted.noise, terms[-1].total, fitted, terms[-1])


def with_deviations(structure: Structure, rows: Windows, settings: SearchSettings) -> Structure:
    """The structure with Laplace's approximation at its parameters, by the rows to which it was fitted."""
    model = structure.model
    assert model is not None
    objective = LinearObjective.of(model, rows.X, rows.z, 1, settings.long.limits)
    u, limits = objective.start(), objective.limits()
    moving = moving_of(limits)
    H = curvature(objective, u, moving, settings.appraisal.difference * objective.typical())
    mode = Mode(model, u, moving, Laplace.of(u[moving], H, settings.structural.least_curvature))
    assert isinstance(model.prior, PointHorseshoe)
    prior = replace(model.prior, deviation=mode.deviations[: len(model.pool)])
    return replace(structure, model=replace(model, prior=prior), mode=mode)


def with_memory(search: Search, structure: Structure, rows: Windows) -> Structure:
    """The structure with a rough component that the few rows of the search could not show, if that is better.

    Few rows of a long series are neighbours.
    """
    own, kernels = search.settings.long, [part.kernel.products()[0] for part in structure.parts]
    needed = search.settings.growing.strong_evidence
    if any(len(factors) == 1 and isinstance(factors[0], Matern12) for factors in kernels):
        return structure
    spacing = float(np.median(np.diff(np.unique(rows.X[:, 0]))))
    part = search.part(Matern12(own.memory * spacing), float(np.sqrt(structure.noise)))
    rough = fitted_to(search, [*structure.parts, part], structure.noise, rows)
    gain = rough.score - structure.score
    action = "kept" if gain > needed else "tried"
    search.record.append(Decision(0, action, part.kernel.formula(), gain, "evidence of more rows"))
    return rough if gain > needed else structure


def with_ordinary(search: Search, structure: Structure, rows: Windows) -> Structure:
    """The structure with the ordinary candidates beside it that are cheap, if that is better; else the structure."""
    own = search.settings.long
    others = prediction_pool(search, structure)[len(structure.parts) :]
    if not others:
        return structure
    pool = search.beliefs.model(others, structure.noise, rows.X.shape[1]).pool
    pieces = plan(pool, rows.X, own.limits)
    cheap = [
        part for part, piece in zip(others, pieces, strict=True) if piece.chain is None or len(piece.Z) <= own.copies
    ]
    wide = fitted_to(search, [*structure.parts, *cheap], structure.noise, rows, search.settings.fits.iterations // 3)
    return wide if wide.score > structure.score else structure


def bound_given(model: ExactModel, evidence: float) -> float:
    """The bound of a model without draws of its weights, from its log evidence: log priors are added."""
    vector = ParameterVector(model, np.zeros((1, 0)))
    made = vector.make(vector.start)
    return evidence - made.weighed.kl + made.log_prior


def appraised(search: Search, found: Structure, structure: Structure) -> Appraisal:
    """The appraisal of a structure on the rows of the search, with the intervals of its fit to more rows."""
    appraisal = appraise(search, found)
    if not structure.parts:
        return appraisal
    low, high = intervals(structure)
    return replace(appraisal, low=low, high=high)
