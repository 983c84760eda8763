"""The stochastic tier: the paper's algorithm over a fixed pool, for any likelihood and any number of rows.

Inputs and targets are standardised. Estimators import this module by name when they need it, and call `fit_sparse`. The
exact and the collapsed tier are in model/learning.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from farrier.baselines.weight_priors import PRIORS, StochasticPrior, draw
from farrier.data.progress import Progress
from farrier.inference.likelihoods import Likelihood
from farrier.inference.weight_priors import quasi_normal
from farrier.kernels.algebra import Kernel
from farrier.model.fitted import Fitted
from farrier.model.target_scale import TargetScale
from farrier.paper.batches import Held, RowSource
from farrier.paper.cache import keep_compiled_programs
from farrier.paper.forks import refuse_after_fork
from farrier.paper.inducing import spread_points
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Model, evidence_bound
from farrier.paper.pool import Pool, stack
from farrier.paper.posterior import Posterior
from farrier.paper.prediction import InBlocks
from farrier.paper.training import History, Settings, train_source
from farrier.paper.trees import JAX

STOCHASTIC_DRAWS = 64
"""Draws of the weights in predictions, by judgement: each costs little."""
TRAINING_DRAWS = 8
"""Draws of the weights in one stochastic step, by judgement. The paper takes one; more reduce the variance of the
gradient at little cost."""
START_SPREAD = 0.1
"""The standard deviation of q(u) at the start where Adam trains it, by judgement. It is 1 in the prior; if small, the
means move first."""

_evidence_bound = eqx.filter_jit(evidence_bound)


@dataclass(frozen=True)
class SparseTraining:
    """The settings of the algorithm."""

    prior: str
    iterations: int
    tolerance: float
    progress: Callable[[Progress], None] | None
    batch_size: int
    learning_rate: float
    points: int
    seed: int


@dataclass(frozen=True)
class Trained:
    """The result of training: q(w), the likelihood, the kernels, the posterior with draws of q(w), and the history."""

    prior: StochasticPrior
    likelihood: Likelihood
    pool: Pool
    posterior: Posterior
    bound: float
    history: History


def fit_sparse(
    starts: Sequence[Sequence[Kernel]],
    X: np.ndarray,
    y: np.ndarray,
    scale: TargetScale,
    likelihood: Likelihood,
    training: SparseTraining,
    rows: RowSource | None = None,
) -> tuple[Fitted, History]:
    """The fitted model, and the history of training; the likelihood is that of y on its `scale`.

    `starts` are the same kernels with different starting values; the result is that with the highest bound. If X and y
    are a sample, `rows` are all rows on the scale of the model, and the sample gives the inducing points.
    64-bit floats are switched on for the duration of the call. Results are numpy arrays.
    """
    refuse_after_fork()
    keep_compiled_programs()
    with jax.enable_x64(True):
        pools = [stack(kernels, inputs=X.shape[1]) for kernels in starts]
        rows = rows or Held(X, scale.forward(y))
        trained = train_sparse(pools, X, rows, likelihood, training)
        noise, posterior, prior = jax.tree.map(np.asarray, (trained.likelihood, trained.posterior, trained.prior))
        fitted = Fitted(
            posterior=InBlocks(posterior),
            likelihood=noise,
            prior=prior,
            kernels=tuple(trained.pool),
            survivors=len(trained.pool),
            scale=scale,
            bound=trained.bound + _log_jacobian(scale, rows),
            tier="stochastic",
            steps=len(trained.history.bound),
        )
    return fitted, trained.history


def train_sparse(
    pools: Sequence[Pool], X: np.ndarray, rows: RowSource, likelihood: Likelihood, training: SparseTraining
) -> Trained:
    """Train by the paper's algorithm; `pools` are the starts, and inducing points start where X has rows."""
    Z = spread_points(X, training.points, training.seed)
    models = [
        Model(PRIORS[training.prior].initial(len(pool)), likelihood, MultiSVGP.initial(pool, Z, spread=START_SPREAD))
        for pool in pools
    ]
    settings = Settings(
        iterations=training.iterations,
        batch_size=training.batch_size,
        learning_rate=training.learning_rate,
        draws=TRAINING_DRAWS,
        tolerance=training.tolerance,
    )
    model, history = train_source(models, rows, settings, jax.random.key(training.seed), training.progress)
    noise = jnp.asarray(quasi_normal(STOCHASTIC_DRAWS, model.prior.noise_size))
    terms = [_evidence_bound(model, batch, noise) for batch in rows.batches()]
    bound = sum(float(one.likelihood) for one in terms) - float(terms[0].kl_inducing) - float(terms[0].kl_weights)
    posterior = model.posterior.at(draw(model.prior, noise, JAX))
    return Trained(model.prior, model.likelihood, posterior.pool, posterior, bound, history)


def _log_jacobian(scale: TargetScale, rows: RowSource) -> float:
    """The log Jacobian of the scale at all rows."""
    return sum(float(scale.log_slopes(scale.inverse(np.asarray(one.y))) @ one.counts) for one in rows.batches())
