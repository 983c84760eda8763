"""The one way from rows to a fitted model.

    fit(problem)                             # a pool of what such rows can be made of, shrunk by the horseshoe
    fit(problem, Given(kernels))             # kernels that the user names
    fit(problem, fitted)                     # what was fitted before, to other rows: a refit, or an update

What follows depends on the rows: a series or a curve (series.py), a table (tables.py; block_fits.py where it is read in
blocks), or a target whose likelihood needs a Gaussian site for each row (sites.py; count_series.py). Whole numbers may
be counts (counting.py). A refit starts from the values that were fitted, on the scale of the first fit, so that
parameters keep their units; the kind of noise stays.
"""

from dataclasses import replace

import numpy as np

from farrier.inference.counts import CountLikelihood
from farrier.inference.likelihoods import Gaussian, Likelihood
from farrier.inference.linalg import one_thread
from farrier.inference.student_t import StudentT
from farrier.model.block_fits import fit_in_blocks
from farrier.model.count_series import refit_count_series
from farrier.model.counting import fit_counts, with_counts
from farrier.model.fitted import Fitted
from farrier.model.given import fit_given, refit_given
from farrier.model.problem import Given, Problem
from farrier.model.series import fit_series, refit_series
from farrier.model.sites import fit_sites, refit_sites
from farrier.model.tables import fit_table, refit_table
from farrier.model.tiers import EXACT_ROWS


def fit(problem: Problem, structure: Given | Fitted | None = None, *, likelihood: str | Likelihood = "auto") -> Fitted:
    """The fitted model of some rows.

    The likelihood is "gaussian", "student-t", "auto" (of these two the one with more evidence, or counts if the target
    is), or one of its own for counts and classes. A refit keeps the one it had, and kernels that are given take
    Gaussian noise for "auto".
    """
    if isinstance(structure, Fitted):
        return _refit(structure, problem)
    own = None if isinstance(likelihood, str) else likelihood
    if structure is not None:
        return fit_given(problem, structure, own)
    if own is not None:
        return fit_counts(problem, own) if isinstance(own, CountLikelihood) else fit_sites(problem, own)
    if problem.blocks is not None:
        return fit_in_blocks(problem)
    assert isinstance(likelihood, str)
    found = (fit_series if problem.of_series else fit_table)(problem, likelihood=likelihood)
    return with_counts(problem, found) if likelihood == "auto" else found


def _refit(fitted: Fitted, problem: Problem) -> Fitted:
    """The structure of a fitted model, fitted to other rows.

    Raises ValueError for the stochastic tier, which cannot be refitted, and for y outside the scale of the first fit.
    """
    y, transform = problem.y, fitted.scale.transform
    if fitted.tier == "stochastic":
        raise ValueError("a model of method='stochastic' cannot be refitted: fit all rows again.")
    if float(y.min()) <= transform.lowest:
        raise ValueError(
            f"y: {y.min():g} is not possible on the {transform.name} scale of the fitted model: fit all rows again."
        )
    problem.tell("refitting the structure", np.nan)
    if fitted.counts and fitted.beliefs.of_time:
        return refit_count_series(fitted, problem)
    if fitted.projects:
        return refit_series(fitted, replace(problem, timed=fitted.beliefs.of_time, engine=fitted.tier))
    with one_thread(small=len(y) <= EXACT_ROWS):
        if fitted.appraisal is None:
            return refit_given(fitted, problem)
        numbers = isinstance(fitted.likelihood, Gaussian | StudentT)
        return (refit_table if numbers else refit_sites)(fitted, problem)
