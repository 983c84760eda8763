"""More rows, the same structure: weights and hyperparameters are fitted again from where they are, without a search.

Both models of learning.py are fitted again: the survivors, which explain, and the whole shrunk pool, which predicts.
The scale of inputs and target stays that of the first fit, so that every number keeps its meaning. A fit from the
start spends most of its time on the search for the structure; this spends none. Noise that is not Gaussian goes
through refit_sites.py.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.likelihoods import Gaussian
from farrier.inference.weight_priors import WeightPrior
from farrier.kernels.algebra import Kernel
from farrier.model.fitted import Fitted
from farrier.model.learning import Learned, search_rows
from farrier.model.refit_sites import refit_sites
from farrier.model.result import Result
from farrier.model.survivors import from_learned
from farrier.model.tiers import POSTERIORS, Tell, exact_posterior, weights_of
from farrier.model.warm_start import climbed, without_level
from farrier.search.appraisal import appraise
from farrier.search.averaging import Average, Member, average
from farrier.search.search import Search
from farrier.search.settings import SearchSettings
from farrier.search.structure import LEVEL, Structure


def refitted(result: Result, X: np.ndarray, y: np.ndarray, tell: Tell = lambda what, bound: None) -> Result:
    """The structure of a result, fitted to rows X on the scale of the model, and y in the user's units.

    Not for the stochastic tier, whose posterior has no such start.
    """
    begin, fitted, low = perf_counter(), result.fitted, float(y.min())
    if fitted.tier == "stochastic":
        raise ValueError("tier='stochastic' cannot be refitted from where it stands: fit all rows again.")
    if low <= fitted.transform.lowest:
        raise ValueError(
            f"y: {low:g} has no place on the {fitted.transform.name} scale of the structure so far: fit all rows again."
        )
    tell("fitting the same structure again", np.nan)
    if isinstance(fitted.likelihood, Gaussian):
        again = from_learned(refit(fitted, float(fitted.likelihood.variance), X, y, tell), X, y)
    else:
        again = refit_sites(fitted, X, y, tell)
    return replace(result, fitted=again, inputs=X, target=y, seconds=perf_counter() - begin)


def refit(fitted: Fitted, noise: float, X: np.ndarray, y: np.ndarray, tell: Tell) -> Learned:
    """The structure of a fitted model with this variance of the noise, fitted to rows X, y; X on the model's scale."""
    settings = fitted.settings
    z, rows = fitted.scaled(y), search_rows(X, settings.rows)
    seen = rows if fitted.tier == "local" else np.arange(len(X))
    exact = fitted.tier != "collapsed"
    pools = [climbed(*pool, noise, X[seen], z[seen], settings, exact=exact) for pool in _pools(fitted)]
    structure, search = pools[0], None
    if fitted.alone is not None or fitted.level is not None:
        search = Search(X[rows], z[rows], covariance_of(X[rows]), (), tell, settings=settings)
        structure = search.empty()
    if search is not None and fitted.alone is not None:
        kernels = (*fitted.alone.kernels, *([] if fitted.alone.level is None else [LEVEL.kernel]))
        structure = climbed(kernels, fitted.alone.prior, pools[0].noise, search.X, search.y, settings, exact=True)
        structure = without_level(structure, len(fitted.alone.kernels), len(search.y))
    whole = _together(pools, settings)
    by_tier = POSTERIORS[fitted.tier] if fitted.tier != "exact" else partial(exact_posterior, weights=whole.weights)
    jacobian = float(fitted.transform.log_slope(y).sum()) - len(y) * float(np.log(fitted.z_scale))
    return Learned(
        transform=fitted.transform,
        z_mean=fitted.z_mean,
        z_scale=fitted.z_scale,
        structure=structure,
        model=whole.model,
        kernels=whole.kernels,
        level=fitted.level,
        posterior=by_tier(whole.model, X, z, settings),
        bound=whole.bound + jacobian,
        tier=fitted.tier,
        steps=fitted.steps,
        appraisal=None if search is None or fitted.appraisal is None else appraise(search, structure),
        record=fitted.record,
        members=whole.members,
        settings=settings,
    )


def _pools(fitted: Fitted) -> list[tuple[Sequence[Kernel], WeightPrior]]:
    """The kernels and q(w) of each pool that predicts."""
    found, first = [], 0
    for prior in [member.prior for member in fitted.members] or [fitted.prior]:
        count = len(np.asarray(prior.quantile(0.5)))
        found.append((fitted.kernels[first : first + count], prior))
        first += count
    return found


def _together(pools: Sequence[Structure], settings: SearchSettings) -> Average:
    """One pool as it is, or several averaged; each of several ends with its level."""
    if len(pools) > 1:
        return average([replace(pool, parts=pool.parts[:-1]) for pool in pools], settings)
    (pool,) = pools
    assert pool.model is not None
    assert pool.terms is not None
    kernels = tuple(part.kernel for part in pool.parts)
    weights = weights_of(pool.model, settings.posterior.draws)
    return Average(pool.model, weights, kernels, pool.terms.total, (Member(pool.model.prior, 1.0),))
