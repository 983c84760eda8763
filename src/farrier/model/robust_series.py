"""A dated series with Student-t noise: what predicts are the same members as with Gaussian noise.

The structure was found on rows that are not suspicious. It is fitted to all rows, and so are the ordinary candidates,
alternately with the expected precisions of the rows (row_noise.py).
"""

from dataclasses import replace

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.model.finishing import search_rows
from farrier.model.fitted import Fitted
from farrier.model.learning import contenders_on
from farrier.model.members import Contender, RowNoise, fitted_set, predicting
from farrier.model.row_noise import alternately, expected
from farrier.model.scales import Scaled
from farrier.model.target_scale import TargetScale
from farrier.search.appraisal import appraise
from farrier.search.search import Search


def fit_robust_series(found: Scaled, X: np.ndarray, y: np.ndarray, noise: RowNoise) -> Fitted:
    """The members with Student-t noise for all rows, from the noise at the start."""
    settings = found.search.settings
    scale, rows = TargetScale.of(found.scale.transform, y[noise.ordinary]), search_rows(X, settings, timed=True)
    found.search.tell("fitting the predictive model", found.structure.score)
    covariance, z, last = covariance_of(X[rows], timed=True), scale.forward(y)[rows], found.structure

    def fit(noise: RowNoise, least: float) -> Contender:
        nonlocal last
        search = replace(found.search, X=X[rows], y=z, covariance=covariance, factors=noise.factors[rows])
        last = search.fit(last.parts, last.noise, least=least)
        return Contender("the best structure", last, search, scale, y[rows], noise)

    best = alternately(fit, noise, X, y, rows, settings.outliers.rounds)
    assert best.noise is not None
    search = fit(best.noise, -np.inf).evaluator
    assert isinstance(search, Search)
    own = replace(found, scale=scale, search=search, structure=last, whole=None)
    members = [expected(replace(one, noise=best.noise), X, y, rows) for one in contenders_on(own, y[rows])]
    if len(rows) < len(y):
        members = [expected(one, X, y, np.arange(len(y))) for one in predicting(members, X, y, settings)]
    return fitted_set(
        members,
        best,
        X,
        y,
        appraisal=appraise(own.search, own.structure),
        record=found.search.record,
        settings=settings,
        steps=found.search.steps,
    )
