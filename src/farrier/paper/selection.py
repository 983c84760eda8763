"""Training in two stages: the whole pool on some rows, then the kernels that the prior has kept on all rows.

The paper trains all 24 kernels to the end, though the horseshoe shrinks most of them in the first few hundred steps.
Here the first stage trains the whole pool with few inducing points on at most `rows` rows. Groups that explain less
than a small part of the noise leave, and at most `kept` of the others stay. The second stage goes on from there with
all rows, more inducing points and fresh moments of Adam. Its steps cost a fraction, so it can have more points: a given
number for each kernel, or those of the kernels that have left (`handed_on`).

    share_i = E w_i^2 mean_n k_i(x_n, x_n) / noise variance

is the variance of component i in parts of the noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Gaussian
from farrier.paper.inducing import spread_points
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Model
from farrier.paper.pool import stack
from farrier.paper.training import History, Settings, train_starts
from farrier.paper.weight_moments import weight_moments


@dataclass(frozen=True)
class Selection:
    """The first stage; all values by judgement."""

    rows: int = 400
    """Most rows, drawn at random."""
    points: int = 60
    """Inducing points of each kernel."""
    steps: int = 200
    learning_rate: float = 0.1
    kept: int = 8
    """Most kernels that stay."""
    least: float = 0.01
    """The least variance of a component that stays, in parts of the noise variance."""
    handed_on: bool = False
    """Whether the kernels that stay share the inducing points of those that leave, so that there are as many in all."""


FIRST_STAGE = Selection()
"""The first stage of `python -m benchmarks run reproduction --staged`."""


def train_in_stages(
    models: Sequence[Model],
    X: np.ndarray,
    y: np.ndarray,
    settings: Settings,
    key: PRNGKeyArray,
    *,
    points: int,
    seed: int,
    selection: Selection,
) -> tuple[Model, History]:
    """Train starts with few points on some rows, then the kept kernels of the best with `points` on all rows."""
    some = _some(len(y), selection.rows, seed)
    first = replace(
        settings, iterations=selection.steps, learning_rate=selection.learning_rate, full_rows=selection.rows
    )
    model, _ = train_starts(models, X[some], y[some], first, key)
    chosen = needed_groups(model, X, selection)
    if selection.handed_on:
        points = len(model.posterior.pool) * selection.points // len(chosen)
    model = kept_groups(model, chosen, spread_points(X, points, seed))
    return train_starts([model], X, y, settings, jax.random.fold_in(key, 1))


def needed_groups(model: Model, X: np.ndarray, selection: Selection) -> np.ndarray:
    """The places of the kernels that stay, in rising order."""
    shares = component_shares(model, X)
    largest = np.argsort(-shares)[: selection.kept]
    return np.sort(largest[shares[largest] >= min(selection.least, shares.max())])


def kept_groups(model: Model, chosen: np.ndarray, Z: np.ndarray) -> Model:
    """The model with the chosen kernels only, each with inducing points Z."""
    assert isinstance(model.posterior, MultiSVGP)
    pool = stack([model.posterior.pool[int(i)] for i in chosen], inputs=Z.shape[1])
    prior = model.prior
    if isinstance(prior, Horseshoe):
        prior = replace(prior, mu=np.asarray(prior.mu)[chosen], v=np.asarray(prior.v)[chosen])
    else:
        prior = jax.tree.map(lambda leaf: np.asarray(leaf)[chosen], prior)
    return Model(prior, model.likelihood, MultiSVGP.initial(pool, Z))


def component_shares(model: Model, X: np.ndarray) -> np.ndarray:
    """The prior variance of each component, averaged over the rows, in parts of the noise variance."""
    assert isinstance(model.likelihood, Gaussian)
    variances = weight_moments(model.prior).squares * jnp.mean(_diag(model.posterior.pool, jnp.asarray(X)), axis=1)
    return np.asarray(variances / jnp.asarray(model.likelihood.variance))


_diag = eqx.filter_jit(lambda pool, X: pool.diag(X))


def _some(rows: int, most: int, seed: int) -> np.ndarray:
    if rows <= most:
        return np.arange(rows)
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
