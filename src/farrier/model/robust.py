"""The choice between Gaussian and Student-t noise, where the structure is searched for.

1. Everything is fitted with Gaussian noise (learning.py).
2. Leave-one-out residuals say whether a Student-t would suit them clearly better (inference/heavy_tails.py). Ordinary
   data end here, after a small part of the time of the fit.
3. Outliers mislead a search that takes the noise for Gaussian. So the scale and the structure are found again on the
   rows that are not suspicious, and then fitted to all rows with Student-t noise (other_noise.py).
4. The Student-t is kept if its evidence is clearly higher.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier.inference.blas import one_thread
from farrier.inference.heavy_tails import Tails
from farrier.model.fitted import Fitted
from farrier.model.learning import learn
from farrier.model.other_noise import fit_students_t
from farrier.model.outliers import residuals_of, suspicious
from farrier.model.scales import best_scale
from farrier.model.tiers import Tell
from farrier.search.settings import SearchSettings
from farrier.search.structure import Decision


def learn_robust(
    X: np.ndarray,
    y: np.ndarray,
    *,
    chosen: bool = False,
    known: Sequence[float] = (),
    transform: str = "auto",
    timed: bool = False,
    tell: Tell = lambda what, bound: None,
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """Find the structure of y given standardised inputs, and fit it with the noise of higher evidence.

    `chosen` says that the user asked for Student-t noise; then it is kept in any case. The other arguments are those
    of `learn`. A long series that is predicted block by block keeps Gaussian noise, unless chosen.
    """
    gaussian = learn(X, y, known=known, transform=transform, timed=timed, tell=tell, settings=settings)
    if gaussian.tier == "local" and not chosen:
        return gaussian
    _, residuals = residuals_of(gaussian, X, gaussian.scale.forward(y))
    tails = Tails.of(residuals, settings.outliers.degrees)
    if tails.gain < settings.outliers.margin and not chosen:
        return gaussian
    tell("looking for outliers", gaussian.bound)
    kept = ~suspicious(residuals, settings.outliers)
    possible = "identity" if transform == "auto" and y.min() <= 0.0 else transform
    with one_thread():
        found = best_scale(X[kept], y[kept], known, possible, timed, tell, settings)
    with one_thread(small=len(X) <= settings.rows.exact):
        robust = fit_students_t(found, X, y, tails.degrees)
    return better_noise(gaussian, robust, chosen=chosen)


def better_noise(gaussian: Fitted, robust: Fitted, *, chosen: bool) -> Fitted:
    """Student-t noise if its evidence is clearly higher, or if it was chosen; with the decision in the record."""
    gain, needed = float(robust.bound - gaussian.bound), gaussian.settings.outliers.minimum_gain
    if chosen:
        decision, best = Decision(0, "kept", "noise: Student-t", gain, "asked for"), robust
    else:
        action, best = ("kept", robust) if gain > needed else ("dropped", gaussian)
        decision = Decision(0, action, "noise: Student-t", gain, "evidence of the noise")
    return replace(best, record=(*best.record, decision))
