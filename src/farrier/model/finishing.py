"""The last step of a fit with one pool, for any likelihood: from a structure and a pool to a fitted model.

It serves fits of many rows, of given kernels and of noise that is not Gaussian; members.py serves the others.

Two models are kept apart on purpose. The *survivors* explain: few components, fitted alone. The whole *pool* predicts:
the survivors together with all ordinary candidates at small weights, so that a forecast does not depend on a trend
being exactly linear or a season being exactly periodic. The contribution of the other candidates is reported as one
part, the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from farrier.inference.likelihoods import Gaussian, Likelihood
from farrier.inference.parameter_vector import ExactModel
from farrier.kernels.algebra import Kernel
from farrier.model.fitted import Alone, Fitted
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import EXACT_ROWS, POSTERIORS
from farrier.model.windows import SEARCH_ROWS, resolved_rows, uncommon_rows
from farrier.search.appraisal import Appraisal
from farrier.search.beliefs import Beliefs
from farrier.search.structure import Decision, Structure
from farrier.search.table_moves import TABLE_ROWS


@final
@dataclass(frozen=True, eq=False)
class Predictor:
    """The pool that predicts, with its posterior given all rows; its first kernels are the survivors."""

    model: ExactModel
    posterior: Any
    kernels: tuple[Kernel, ...]
    tier: str
    bound: float
    """The evidence lower bound of z."""


def finished(
    predictor: Predictor,
    structure: Structure,
    X: np.ndarray,
    y: np.ndarray,
    *,
    scale: TargetScale,
    level: int | None,
    steps: int,
    record: Sequence[Decision] = (),
    appraisal: Appraisal | None = None,
    likelihood: Likelihood | None = None,
    sites: np.ndarray | None = None,
    beliefs: Beliefs = Beliefs(),
) -> Fitted:
    """The fitted model for rows X, on the scale of the model, and y, in its own units.

    For a likelihood that is not Gaussian, `sites` are the pseudo-observations; their variances are in the model.
    """
    z = scale.forward(y) if sites is None else sites
    return Fitted(
        posterior=predictor.posterior,
        likelihood=likelihood or Gaussian(predictor.model.noise),
        prior=predictor.model.prior,
        kernels=predictor.kernels,
        survivors=len(structure.parts),
        scale=scale,
        bound=predictor.bound + scale.log_jacobian(y),
        tier=predictor.tier,
        steps=steps,
        level=level,
        record=tuple(record),
        appraisal=appraisal,
        alone=_survivors(predictor, structure, X, z, level),
        beliefs=beliefs,
    )


def _survivors(
    predictor: Predictor,
    structure: Structure,
    X: np.ndarray,
    z: np.ndarray,
    level: int | None,
) -> Alone | None:
    """The posterior of the structure given all rows; None if it is the whole pool, or empty."""
    model, kernels = structure.model, tuple(part.kernel for part in structure.parts)
    if model is None or model is predictor.model or not kernels:
        return None
    known = predictor.model.rows
    posterior = POSTERIORS[predictor.tier](replace(model, rows=known), X, z)
    noise = model.noise if known is None else None
    return Alone(posterior, model.prior, kernels, None if level is None else len(kernels), noise)


def search_rows(X: np.ndarray, *, timed: bool = False) -> np.ndarray:
    """The rows that the search uses: all, or a part that is the same at every call.

    `timed` says that the first input is time; one input is always treated like that.
    """
    series = timed or X.shape[1] == 1
    if series and len(X) > EXACT_ROWS:
        rows = resolved_rows(X[:, 0])
        return np.union1d(rows, uncommon_rows(X, rows, SEARCH_ROWS))
    if len(X) <= (SEARCH_ROWS if series else TABLE_ROWS):
        return np.arange(len(X))
    if not series:
        return np.sort(np.random.default_rng(0).choice(len(X), TABLE_ROWS, replace=False))
    # a series: half of the rows in contiguous pieces, for short lengthscales; half spread evenly, for long ones
    order = np.argsort(X[:, 0])
    spread = np.linspace(0, len(X) - 1, SEARCH_ROWS // 2).astype(int)
    length = SEARCH_ROWS // 2 // 4
    starts = np.linspace(0, len(X) - length, 4).astype(int)
    pieces = (starts[:, None] + np.arange(length)).ravel()
    rows = order[np.union1d(spread, pieces)]
    return np.union1d(rows, more) if len(more := uncommon_rows(X, rows, SEARCH_ROWS)) else rows
