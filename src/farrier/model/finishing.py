"""The last step of a fit with one pool, for any likelihood: from a structure and a pool to a fitted model.

It serves long series, given kernels and likelihoods with sites; members.py serves the others.

Two models are kept apart on purpose. The *survivors* explain: few components, fitted alone. The whole *pool* predicts:
the survivors together with all ordinary candidates at small weights, so that a forecast does not depend on a trend
being exactly linear or a season being exactly periodic. The contribution of the other candidates is reported as one
part, the rest.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import Gaussian, Likelihood
from farrier.inference.mixtures import moments
from farrier.inference.parameter_vector import ExactModel
from farrier.model.fitted import Alone, Fitted
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import POSTERIORS, bound_of
from farrier.search.appraisal import Appraisal
from farrier.search.beliefs import Beliefs
from farrier.search.structure import Decision, Structure


def finished(
    model: ExactModel,
    tier: str,
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
    sites: Sites | None = None,
    beliefs: Beliefs = Beliefs(),
) -> Fitted:
    """The fitted model for rows X, on the scale of the model, and y, in its own units.

    The pool of the model predicts; its first kernels are those of the structure, which explains. For a likelihood that
    is not Gaussian, `sites` are the pseudo-observations; their variances are the noise of the model.
    """
    z = scale.forward(y)
    target, likelihood = z if sites is None else sites.target, likelihood or Gaussian(model.noise)
    posterior, bound = POSTERIORS[tier](model, X, target), bound_of(tier, model, X, target)
    if sites is not None:
        bound += sites.correction(z, *moments(*posterior.draws(X)), likelihood)
    alone, own, kernels = None, structure.model, tuple(part.kernel for part in structure.parts)
    if own is not None and own is not model and kernels:
        given = POSTERIORS[tier](replace(own, row_noise=model.row_noise), X, target)
        noise = None if model.row_noise.known else own.noise
        alone = Alone(given, own.prior, kernels, None if level is None else len(kernels), noise)
    return Fitted(
        posterior=posterior,
        likelihood=likelihood,
        prior=model.prior,
        kernels=tuple(model.pool),
        survivors=len(kernels),
        scale=scale,
        bound=bound + scale.log_jacobian(y),
        tier=tier,
        steps=steps,
        level=level,
        record=tuple(record),
        appraisal=appraisal,
        alone=alone,
        beliefs=beliefs,
    )
