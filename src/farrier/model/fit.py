"""The one way from rows to a fitted model.

    fit(problem)                             # a pool of what such rows can be made of, shrunk by the horseshoe
    fit(problem, Given(kernels))             # kernels that the user names
    fit(problem, fitted)                     # what was fitted before, to other rows: a refit, or an update

What follows depends on the rows: a series or a curve (series.py), a table (tables.py; block_fits.py where it is read in
blocks), or a target whose likelihood needs a Gaussian site for each row (sites.py; count_series.py). Whole numbers may
be counts (counting.py).
"""

from farrier.inference.counts import CountLikelihood
from farrier.inference.likelihoods import Likelihood
from farrier.model.block_fits import fit_in_blocks
from farrier.model.counting import fit_counts, with_counts
from farrier.model.fitted import Fitted
from farrier.model.given import fit_given
from farrier.model.problem import Given, Problem
from farrier.model.refit import refit
from farrier.model.series import fit_series
from farrier.model.sites import fit_sites
from farrier.model.tables import fit_table


def fit(problem: Problem, structure: Given | Fitted | None = None, *, likelihood: str | Likelihood = "auto") -> Fitted:
    """The fitted model of some rows.

    The likelihood is "gaussian", "student-t", "auto" (of these two the one with more evidence, or counts if the target
    is), or one of its own for counts and classes. A refit keeps the one it had, and kernels that are given take
    Gaussian noise for "auto".
    """
    if isinstance(structure, Fitted):
        return refit(structure, problem)
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
