"""What explains a series: the projection of the model that predicts, made when somebody asks for it.

1. The model that predicts is projected onto few components, at rows and at the steps of a forecast
   (search/projection.py). Each model of the path is fitted to y, and the one with the highest evidence is taken.
2. Small changes are tried in place (search/polishing.py): a change of level, a side of it, growth of a season.
3. The components are those of that structure, given the rows and what is forecast: they add up to the forecast up to a
   remainder, which is stated.
"""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.linalg import one_thread
from farrier.inference.linear_posterior import LinearPosterior
from farrier.inference.noise import Noise
from farrier.inference.posteriors import GaussianPosterior, LaplacePosterior, Posterior
from farrier.model.count_series import explained_counts
from farrier.model.fitted import Alone, Fitted, Rival
from farrier.model.members import weights_of_structure
from farrier.model.rows import search_rows
from farrier.model.tiers import FEATURE_LIMITS
from farrier.search.appraisal import Z95, appraise
from farrier.search.projection import Projection, explaining, formula_of
from farrier.search.rows import Rows
from farrier.search.scoring import Evaluator
from farrier.search.structure import Decision, Structure

AHEAD, MOST_AHEAD = 6, 24
"""Steps of the forecast that is explained: a part of the rows, and at most so many. [by judgement, as in reports]"""


@final
@dataclass(frozen=True, eq=False)
class Agreeing:
    """The posterior of what explains: its means agree with the forecast.

    Its variances are those given the rows alone, and how far the means move to agree.
    """

    given: Posterior
    """The posterior given the rows."""
    agreed: Posterior
    """The posterior given the rows and the means of the forecast."""

    def draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f, (1, N) each."""
        return _moved(self.agreed.draws(X), self.given.draws(X))

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each component, or of sums of them."""
        return _moved(self.agreed.components(X, sums), self.given.components(X, sums))

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of f, or of the sum of some components, at all rows together."""
        mean, (before, covariance) = self.agreed.joint(X, parts)[0], self.given.joint(X, parts)
        return mean, covariance + np.outer(mean - before, mean - before)


def _moved(
    agreed: tuple[np.ndarray, np.ndarray], given: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The means of the one, the variances of the other, and how far the means are apart."""
    return agreed[0], given[1] + (agreed[0] - given[0]) ** 2


def explained(fitted: Fitted, X: np.ndarray, y: np.ndarray) -> Fitted:
    """The fitted model of rows X, on the scale of the model, and y, in its own units, with what explains it."""
    if fitted.counts:
        return explained_counts(fitted, X)
    with one_thread():
        z, ahead = fitted.scale.forward(y), steps_ahead(X)
        mean, covariance = fitted.joint(ahead)
        rows = search_rows(X, timed=True)
        factors = _factors(fitted, len(X))
        rivals, some = list[Structure](), (X[rows], z[rows], factors[rows])
        structure, evaluator, record = _projected(fitted, *some, ahead, rivals)
        model, count = structure.at_mode().model, len(structure.parts)
        given, agreed = (
            _posterior(fitted, structure, *rows)
            for rows in (
                (X, z, factors),
                (np.vstack([X, ahead]), np.append(z, mean), np.append(factors, np.ones(len(ahead)))),
            )
        )
        kernels, appraisal = tuple(model.pool)[:count], appraise(evaluator, structure)
        alone = Alone(Agreeing(given, agreed), weights_of_structure(structure), kernels, count, model.noise)
        found = replace(fitted, survivors=count, alone=alone, appraisal=appraisal, record=record, projects=False)
        # quantiles of structures on several scales, or with a floor, may not exist on this one
        half = Z95 * np.sqrt(np.diagonal(covariance) + fitted.noise_variance)
        rest = found.parts(ahead, range(count))[0][1 + count :].sum(axis=0)
        last = [_posterior(fitted, one, *some).draws(ahead[-1:])[0][0, 0] for one in (structure, *rivals)]
        return replace(
            found,
            remainder=float(np.mean(np.abs(rest) / half)),
            rivals=tuple(
                Rival(formula_of(one.parts), structure.score - one.score, float((end - last[0]) / half[-1]))
                for one, end in zip(rivals, last[1:], strict=True)
            ),
        )


def steps_ahead(X: np.ndarray) -> np.ndarray:
    """The inputs of the steps of a forecast behind the rows, with regressors at their means."""
    distinct = np.unique(X[:, 0])
    steps = min(max(len(X) // AHEAD, 1), MOST_AHEAD)
    ahead = np.zeros((steps, X.shape[1]))
    ahead[:, 0] = distinct[-1] + np.median(np.diff(distinct)) * np.arange(1, steps + 1)
    return ahead


def _projected(
    fitted: Fitted,
    X: np.ndarray,
    z: np.ndarray,
    factors: np.ndarray,
    ahead: np.ndarray,
    rivals: list[Structure],
) -> tuple[Structure, Evaluator, tuple[Decision, ...]]:
    """The structure that explains, on some rows, with what evaluates it and how it was found."""
    both, beliefs = np.vstack([X, ahead]), fitted.beliefs
    all_factors = np.append(factors, np.ones(len(ahead)))
    mean, covariance = fitted.joint(both)
    noise = _noise(fitted)
    moments = np.outer(mean, mean) + covariance
    moments[np.diag_indices(len(both))] += noise * all_factors
    same = None if np.ptp(factors) == 0.0 else factors
    evaluator = Evaluator(
        X,
        z,
        covariance_of(X, timed=True),
        known=() if beliefs.clock is None else beliefs.clock.seasons,
        beliefs=beliefs,
        noise=Noise(same),
    )
    weights = fitted.prior.quantile(0.5)
    parts = [evaluator.part(kernel, float(w)) for kernel, w in zip(fitted.kernels[:-1], weights, strict=False)]
    projection = Projection(both, mean, moments, beliefs, Noise(None if same is None else all_factors))
    record = list(fitted.record)
    structure = explaining(evaluator, projection, Structure(tuple(parts), noise, 0.0), Rows(), record, rivals)
    return structure, evaluator, tuple(record)


def _noise(fitted: Fitted) -> float:
    """The noise variance of the model that predicts, of an ordinary row."""
    return float(fitted.noises[0]) if fitted.noises is not None else fitted.noise_variance


def _factors(fitted: Fitted, rows: int) -> np.ndarray:
    """The noise variance of each row over that of an ordinary one."""
    posterior: Any = fitted.posterior
    first = posterior.posteriors[0] if isinstance(posterior, LaplacePosterior) else posterior
    return np.broadcast_to(np.asarray(first.noise) / _noise(fitted), rows)


def _posterior(
    fitted: Fitted, structure: Structure, X: np.ndarray, z: np.ndarray, factors: np.ndarray
) -> GaussianPosterior | LinearPosterior:
    """The posterior of what explains given some rows."""
    model = structure.at_mode().model
    weights, noise = np.asarray(model.prior.quantile(0.5))[None], model.noise * factors
    if fitted.tier == "linear":
        return LinearPosterior(model.pool, weights, noise, X, z, FEATURE_LIMITS)
    return GaussianPosterior(model.pool, weights, noise, X, z)
