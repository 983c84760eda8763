"""The structural model with the noise of higher evidence: Gaussian, or Student-t where there are outliers.

The model and the expected precisions of its rows are fitted alternately (row_noise.py).
"""

from collections.abc import Sequence

import numpy as np

from farrier.inference.blas import one_thread
from farrier.kernels.algebra import Kernel
from farrier.model.fitted import Fitted
from farrier.model.members import Contender, RowNoise
from farrier.model.noise_choice import better_noise
from farrier.model.outliers import Doubt
from farrier.model.row_noise import alternately, noise_after
from farrier.model.structural import (
    fitted_structural,
    structural_beliefs,
    structural_fit,
    structural_fits,
    structural_rows,
    transforms_to_try,
    useful_scales,
)
from farrier.model.target_scale import Transform
from farrier.search.beliefs import Beliefs
from farrier.search.settings import SearchSettings
from farrier.search.structure import Structure


def fit_robust_structural(
    X: np.ndarray,
    y: np.ndarray,
    seasons: Sequence[float] = (),
    *,
    chosen: bool = False,
    calendar: Sequence[Kernel] = (),
    transform: str = "auto",
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """The structural model with Gaussian or Student-t noise; `chosen` says that the user asked for Student-t.

    A long series (tier "linear") keeps Gaussian noise, unless chosen.
    """
    tried = transforms_to_try(y, transform, settings)
    with one_thread():
        fits = structural_fits(X, y, seasons, calendar, tried, None, settings)
        gaussian = fitted_structural(fits, X, y)
    if gaussian.tier == "linear" and not chosen:
        return gaussian
    doubt = Doubt.of(gaussian, X, y)
    if not (doubt.due or chosen):
        return gaussian
    start = noise_after(doubt)
    with one_thread(small=len(X) <= settings.rows.exact):
        best, likely = [], {one.scale.transform.name for one in (gaussian, *gaussian.others)}
        scales = [one for one in tried if one.name in likely]
        usual = {(one.evaluator.beliefs.growth, one.scale.transform.name): one.structure for one in fits}
        for beliefs in structural_beliefs(X, seasons, settings):
            near = {one.name: usual.get((beliefs.growth, one.name)) for one in scales}
            found = [_fitted(X, y, beliefs, one, settings, calendar, start, near[one.name]) for one in scales]
            best.append(max(found, key=lambda one: one.height))
            scales = useful_scales(found, settings)
            if best[0].height < gaussian.bound and not chosen:
                # what one structural model loses by it, the other does not gain
                break
        robust = fitted_structural(best, X, y)
    return better_noise(gaussian, robust, chosen=chosen)


def ordinary_gain(
    gaussian: Fitted,
    X: np.ndarray,
    y: np.ndarray,
    seasons: Sequence[float],
    calendar: Sequence[Kernel],
    noise: RowNoise,
) -> float:
    """The log evidence that Student-t noise gains over Gaussian noise for a structural model on the scale of a fit.

    `noise` is that of all rows at the start. On 22 learn series of M1 and M4 with doubtful residuals it took 4 % of the
    time of their fits. Where it is at most `outliers.minimum_gain` (11 series) the searches had dropped the Student-t
    too; where it is more they had kept it on 10 of 11.
    """
    settings, transform = gaussian.settings, gaussian.scale.transform
    with one_thread(small=len(X) <= settings.rows.exact):
        beliefs = structural_beliefs(X, seasons, settings)[0]
        usual = structural_fit(X, y, beliefs, transform, settings, calendar)
        found = _fitted(X, y, beliefs, transform, settings, calendar, noise, usual.structure)
        return found.height - usual.height


def _fitted(
    X: np.ndarray,
    y: np.ndarray,
    beliefs: Beliefs,
    transform: Transform,
    settings: SearchSettings,
    calendar: Sequence[Kernel],
    noise: RowNoise,
    near: Structure | None,
) -> Contender:
    """A structural model with Student-t noise on one scale of the target, from the noise of all rows at the start and
    the values of the model with Gaussian noise."""
    rows = structural_rows(X, beliefs, settings)
    last = near

    def fit(noise: RowNoise, least: float) -> Contender:
        nonlocal last
        found = structural_fit(X, y, beliefs, transform, settings, calendar, noise, near=last, least=least)
        last = found.structure
        return found

    return alternately(fit, noise, X, y, rows, settings.outliers.rounds)
