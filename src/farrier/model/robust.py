"""The choice between Gaussian and Student-t noise, where the structure is searched for.

1. Everything is fitted with Gaussian noise (learning.py).
2. Leave-one-out residuals say whether a Student-t would suit them clearly better (inference/heavy_tails.py). Ordinary
   data end here, after a small part of the time of the fit. So do dated series whose ordinary components have no more
   evidence with Student-t noise: a level that moves by larger steps now and then looks like outliers, and is none.
3. Outliers mislead a search that takes the noise for Gaussian. So the scale and the structure are found again on the
   rows that are not suspicious, and then fitted to all rows with Student-t noise (robust_series.py for dated series,
   other_noise.py otherwise).
4. The Student-t is kept if its evidence is clearly higher.

In a table several members predict together, and the log density of leave-one-out predictions decides, before anything
is fitted again (robust_table.py). The structure is then found again on all rows, each with its variance. In a large
table (many_rows.py) it decides after the fit with Student-t noise.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from farrier.data.copies import counted
from farrier.inference.blas import one_thread
from farrier.inference.laplace import LaplacePosterior
from farrier.inference.mixtures import moments
from farrier.kernels.algebra import Kernel
from farrier.model.finishing import search_rows
from farrier.model.fitted import Fitted
from farrier.model.learning import learn
from farrier.model.noise_choice import better_noise
from farrier.model.other_noise import fit_students_t
from farrier.model.outliers import Doubt, left_out_score, suspicious
from farrier.model.robust_long import finish_robust_long
from farrier.model.robust_series import fit_robust_series
from farrier.model.robust_structural import ordinary_gain
from farrier.model.robust_table import RobustTable
from farrier.model.row_noise import noise_after
from farrier.model.scales import Scaled, searched_scales
from farrier.model.tiers import Tell, exact_posterior
from farrier.search.settings import SearchSettings


def learn_robust(
    X: np.ndarray,
    y: np.ndarray,
    *,
    chosen: bool = False,
    known: Sequence[float] | None = None,
    transform: str = "auto",
    timed: bool = False,
    calendar: tuple[Kernel, ...] = (),
    coded: tuple[int, ...] = (),
    tell: Tell = lambda what, bound: None,
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """Find the structure of y given standardised inputs, and fit it with the noise of higher evidence.

    `chosen` says that the user asked for Student-t noise; then it is kept in any case. The other arguments are those
    of `learn`. A long series (tier "linear") keeps Gaussian noise, unless chosen (robust_long.py).
    """
    of_table = (X.shape[1] > 1 or bool(coded)) and not timed
    if of_table:
        X, y = counted(X, y)
    given: dict[str, Any] = {
        "known": known,
        "transform": transform,
        "timed": timed,
        "calendar": calendar,
        "coded": coded,
    }
    gaussian = learn(X, y, **given, tell=tell, settings=settings)
    if gaussian.tier == "linear" and not chosen:
        return gaussian
    doubt = Doubt.of(gaussian, X, y)
    if not (doubt.due or chosen):
        return gaussian
    tell("looking for outliers", gaussian.bound)
    if of_table and isinstance(gaussian.posterior, LaplacePosterior):
        return _robust_table(gaussian, X, y, doubt, given, chosen=chosen, tell=tell)
    dated = timed and gaussian.tier == "exact"
    if dated and not chosen:
        gain = ordinary_gain(gaussian, X, y, known or (), calendar, noise_after(doubt))
        if gain <= settings.outliers.minimum_gain:
            return better_noise(gaussian, gaussian, chosen=False, gain=gain)
    possible = "identity" if transform == "auto" and y.min() <= 0.0 else transform

    kept = ~doubt.suspicious
    with one_thread():
        first = searched_scales(X[kept], y[kept], known, possible, timed, tell, settings, calendar, coded)[0]
        if gaussian.tier == "linear":
            robust = finish_robust_long(first, X, y, gaussian, doubt.tails.degrees)
            return better_noise(gaussian, robust, chosen=chosen)
        found = _searched_again(first, X, y, kept)
    with one_thread(small=len(X) <= settings.rows.exact):
        if dated:
            robust = fit_robust_series(found, X, y, noise_after(doubt))
        else:
            robust = fit_students_t(found, X, y, doubt.tails.degrees)
    # the members of a large table have no evidence in common
    scores = [left_out_score(one, X, y) for one in (gaussian, robust) if of_table]
    return better_noise(gaussian, robust, chosen=chosen, gain=scores[1] - scores[0] if scores else None)


def _robust_table(
    gaussian: Fitted, X: np.ndarray, y: np.ndarray, doubt: Doubt, given: dict[str, Any], *, chosen: bool, tell: Tell
) -> Fitted:
    """The noise of a table whose members predict together; with Student-t noise the structure is found again."""
    settings = gaussian.settings
    with one_thread(small=len(X) <= settings.rows.exact):
        robust = RobustTable.of(gaussian, X, y, doubt.tails.degrees)
        gain = robust.gain()
        if not chosen and gain <= settings.outliers.minimum_gain:
            return better_noise(gaussian, gaussian, chosen=False, gain=gain)
        if doubt.suspicious.any():
            found = learn(X, y, **given, factors=robust.factors, tell=tell, settings=settings)
            again = RobustTable.of(found, X, y, Doubt.of(found, X, y).tails.degrees)
            best = max(robust, again, key=lambda one: one.evidence(tell))
            robust = best.beside_pools_of(robust)
        return better_noise(gaussian, robust.fitted(tell), chosen=chosen, gain=gain)


def _searched_again(found: Scaled, X: np.ndarray, y: np.ndarray, kept: np.ndarray) -> Scaled:
    """The structure found on rows that are not suspicious, neither for the fit before nor for the structure itself.

    Components that follow outliers hide them. With fewer such components, more outliers show: the search then goes on
    from the structure that it had found, unless its work is done.
    """
    for _ in range(found.search.settings.outliers.searches - 1):
        if found.search.exhausted:
            break
        again = ~_suspicious(found, X, y, kept)
        if again.all() or np.array_equal(again, kept):
            break
        found, kept = found.on_other_rows(X[again], y[again]), again
    return found


def _suspicious(found: Scaled, X: np.ndarray, y: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Which rows are suspicious for a structure; those that its search saw by leave-one-out residuals."""
    structure, settings, z = found.structure, found.search.settings, found.scale.forward(y)
    mean, variance = np.zeros((2, len(z)))
    if structure.model is not None:
        posterior = exact_posterior(structure.model, found.search.X, found.search.y, settings)
        mean, variance = moments(*posterior.draws(X))
        seen = np.flatnonzero(kept)[search_rows(X[kept], settings, timed=found.search.of_series)]
        mean[seen], variance[seen] = moments(*posterior.left_out())
    return suspicious(z - mean, (z - mean) / np.sqrt(variance + structure.noise), settings.outliers)
