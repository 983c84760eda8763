"""The ways to train a pool on data, each from the same settings to the same kind of result.

`exact` integrates the functions out: Gaussian noise, time cubic in the rows. `stochastic` is the paper's algorithm:
any likelihood, any number of rows. Inputs and targets come standardised.
"""

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from farrier.fit import History, Progress, Settings, padded, train
from farrier.horseshoe import Horseshoe
from farrier.inducing import spread_points
from farrier.kernels.pool import Pool
from farrier.likelihoods import Gaussian, Likelihood
from farrier.maximise import maximise
from farrier.objective import ExactModel, Model, evidence_bound, exact_bound
from farrier.posteriors.exact import ExactGP
from farrier.posteriors.interface import Posterior
from farrier.posteriors.stochastic import MultiSVGP
from farrier.priors import NoPrior, Softmax, SpikeAndSlab, WeightPrior, quasi_normal

PRIORS: dict[str, type[Horseshoe | NoPrior | Softmax | SpikeAndSlab]] = {
    "horseshoe": Horseshoe,
    "none": NoPrior,
    "softmax": Softmax,
    "spike-and-slab": SpikeAndSlab,
}
EXACT_ROWS = 600
"""The most rows for which the exact bound is the default."""
EXACT_DRAWS = 8
"""Points at which predictions integrate over the weights; each takes a Cholesky factor of all rows."""
STOCHASTIC_DRAWS = 64
"""The same where a point costs next to nothing."""
TRAINING_DRAWS = 8
"""Draws of the weights in one stochastic step. The paper takes one; more cost little and quieten the steps."""
START_SPREAD = 0.1
"""The standard deviation of q(u) at the start, against 1 in the prior: means move first, then the uncertainty."""

_exact_bound = eqx.filter_jit(exact_bound)
_evidence_bound = eqx.filter_jit(evidence_bound)


@dataclass(frozen=True)
class Training:
    """What both tiers are told; the exact one has no use for the last four."""

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
    """What training leaves: q(w), the noise, the kernels, the posterior over draws of q(w), and how it went."""

    prior: WeightPrior
    likelihood: Likelihood
    pool: Pool
    posterior: Posterior
    bound: float
    history: History


def exact(pool: Pool, X: np.ndarray, y: np.ndarray, likelihood: Gaussian, training: Training) -> Trained:
    """The exact bound, climbed by L-BFGS."""
    start = ExactModel(PRIORS[training.prior].initial(len(pool)), likelihood, pool)
    model, history = maximise(start, X, y, training.iterations, training.tolerance, training.progress)
    noise = jnp.asarray(quasi_normal(EXACT_DRAWS, model.prior.noise_size))
    rows, target = jnp.asarray(X), jnp.asarray(y)
    bound = float(_exact_bound(model, rows, target, noise).total)
    posterior = ExactGP(model.pool, model.prior.draw(noise), jnp.asarray(model.likelihood.variance), rows, target)
    return Trained(model.prior, model.likelihood, model.pool, posterior, bound, history)


def stochastic(pool: Pool, X: np.ndarray, y: np.ndarray, likelihood: Likelihood, training: Training) -> Trained:
    """The paper's algorithm."""
    start = Model(
        PRIORS[training.prior].initial(len(pool)),
        likelihood,
        MultiSVGP.initial(pool, spread_points(X, training.points, training.seed), spread=START_SPREAD),
    )
    settings = Settings(
        iterations=training.iterations,
        batch_size=training.batch_size,
        learning_rate=training.learning_rate,
        draws=TRAINING_DRAWS,
        tolerance=training.tolerance,
    )
    model, history = train(start, X, y, settings, jax.random.key(training.seed), training.progress)
    noise = jnp.asarray(quasi_normal(STOCHASTIC_DRAWS, model.prior.noise_size))
    bound = float(_evidence_bound(model, padded(X, y), noise).total)
    posterior = model.posterior.at(model.prior.draw(noise))
    return Trained(model.prior, model.likelihood, posterior.pool, posterior, bound, history)
