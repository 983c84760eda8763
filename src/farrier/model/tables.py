"""From a table to a fitted model, with the noise of higher evidence: Gaussian, or Student-t where there are outliers.

1. Everything is fitted with Gaussian noise (table_fits.py; many_rows.py for many rows).
2. Leave-one-out residuals say whether a Student-t would suit them clearly better (inference/student_t.py). Ordinary
   data end here, after a small part of the time of the fit.
3. Several members predict together, and the log density of their leave-one-out predictions decides, before anything is
   fitted again (robust_table.py). The structure is then found again on all rows, each with its variance. In a large
   table it decides after the fit with Student-t noise (sites.py).
"""

from dataclasses import replace

from farrier.data.copies import counted
from farrier.inference.linalg import one_thread
from farrier.inference.posteriors import LaplacePosterior
from farrier.model.fitted import Fitted
from farrier.model.many_rows import fit_many_rows
from farrier.model.noise_choice import better_noise
from farrier.model.outliers import Doubt, left_out_score
from farrier.model.problem import Problem
from farrier.model.robust_table import RobustTable
from farrier.model.sites import fit_students_t
from farrier.model.table_fits import fit_few_rows, projected_table
from farrier.model.tiers import EXACT_ROWS
from farrier.search.evidence import VERY_STRONG


def fit_table(table: Problem, *, likelihood: str = "auto") -> Fitted:
    """The model of a table; its noise is Gaussian, Student-t, or what has more evidence ("auto")."""
    if table.factors is None:
        X, y = counted(table.X, table.y)
        table = replace(table, X=X, y=y)
    gaussian, chosen = _gaussian(table), likelihood == "student-t"
    if likelihood == "gaussian":
        return gaussian
    doubt = Doubt.of(gaussian, table.X, table.y)
    if not (doubt.due or chosen):
        return gaussian
    table.tell("looking for outliers", gaussian.bound)
    if isinstance(gaussian.posterior, LaplacePosterior):
        return _robust(table, gaussian, doubt, chosen=chosen)
    kept = ~doubt.suspicious
    with one_thread():
        first = projected_table(replace(table, X=table.X[kept], y=table.y[kept], factors=None))[0]
    with one_thread(small=len(table.X) <= EXACT_ROWS):
        robust = fit_students_t(first, table.X, table.y, doubt.tails.degrees)
    # the members of a large table have no evidence in common
    scores = [left_out_score(one, table.X, table.y) for one in (gaussian, robust)]
    return better_noise(gaussian, robust, chosen=chosen, gain=scores[1] - scores[0])


def _gaussian(table: Problem) -> Fitted:
    """The model with Gaussian noise."""
    with one_thread():
        found = projected_table(table)
    return (fit_few_rows if table.tier == "exact" else fit_many_rows)(found, table.X, table.y)


def _robust(table: Problem, gaussian: Fitted, doubt: Doubt, *, chosen: bool) -> Fitted:
    """The noise of a table whose members predict together; with Student-t noise the structure is found again."""
    X, y, tell = table.X, table.y, table.tell
    with one_thread(small=len(X) <= EXACT_ROWS):
        robust = RobustTable.of(gaussian, X, y, doubt.tails.degrees)
        gain = robust.gain()
        if not chosen and gain <= VERY_STRONG:
            return better_noise(gaussian, gaussian, chosen=False, gain=gain)
        if doubt.suspicious.any():
            found = _gaussian(replace(table, factors=robust.factors))
            again = RobustTable.of(found, X, y, Doubt.of(found, X, y).tails.degrees)
            best = max(robust, again, key=lambda one: one.evidence(tell))
            robust = best.beside_pools_of(robust)
        return better_noise(gaussian, robust.fitted(tell), chosen=chosen, gain=gain)
