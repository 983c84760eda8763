"""The paper's additive classification by the paper's algorithm: one kernel for each set of d inputs, MultiSVGP.

    k(x, x') = sum_S w_S^2 prod_{i in S} SE(x_i, x'_i),     S runs over all sets of d inputs

`SetsClassifier` gives the weights a horseshoe prior, `FreeSetsClassifier` none (the paper's column "no prior"). The
order d is that of the paper's table, or the strongest order of `AdditiveClassifier` if none is given. Each set has a
group of inducing points of its own, q(u) is trained by natural gradients and everything else by Adam, on minibatches.
Lengthscales start near one standard deviation and the inducing points at random rows, as in the authors' programs; both
are what a seed changes.

Deviations: inputs are standardised, the authors' are raw (starting values of one raw unit end at the same test error on
pima, and so does Adam for all parameters); 8 draws of the weights in a step instead of one.
`SubsetClassifier` in additive.py fits the same model on all rows, without inducing points.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from farrier.baselines.additive import AdditiveClassifier
from farrier.baselines.common import Baseline, some_rows
from farrier.baselines.weight_priors import NoPrior, draw
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Bernoulli
from farrier.inference.weight_priors import quasi_normal
from farrier.kernels.registry import SquaredExponential
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Model
from farrier.paper.pool import stack
from farrier.paper.prediction import InBlocks
from farrier.paper.training import Settings, train
from farrier.paper.trees import JAX

START_SPREAD = 0.1
"""The largest logarithm of a lengthscale at the start, in standard deviations of the input; from the authors' code."""
PREDICTION_DRAWS = 64
"""Draws of the weights in predictions, by judgement."""
TRAINING_DRAWS = 8
"""Draws of the weights in one step, by judgement."""


@dataclass(kw_only=True)
class SetsClassifier(Baseline):
    """All sets of `order` inputs under a horseshoe prior: `predict` gives P(y = 1) and the standard deviation of y."""

    name: ClassVar[str] = "sets-classifier"
    order: int | None = None
    """Inputs of each set; None takes the strongest order of additive Gaussian processes on the same rows."""
    points: int = 50
    """Inducing points for each set; the authors have 100."""
    iterations: int = 400
    batch_size: int = 128
    learning_rate: float = 0.05
    """The step size of Adam, by judgement; the authors have 0.01 and 5,000 steps."""

    _prior: ClassVar[Any] = Horseshoe

    def _scaled(self, y: np.ndarray) -> None:
        if not np.isin(y, (0.0, 1.0)).all():
            raise ValueError(f"y must hold 0 and 1 only, got {np.unique(y)[:5]}: encode the two classes so.")

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.order_ = self.order or AdditiveClassifier(seed=self.seed).fit(X, y).order_
        """Inputs of each set."""
        self.sets_ = list(combinations(range(X.shape[1]), self.order_))
        """The sets of inputs, in the order of `weights_`."""
        settings = Settings(
            iterations=self.iterations,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            draws=TRAINING_DRAWS,
            tolerance=0.0,
        )
        model, self.history_ = train(self._start(X), X, y, settings, jax.random.key(self.seed))
        self.model_ = jax.tree.map(np.asarray, model)
        self.weights_ = np.asarray(model.prior.quantile(0.5))

    def _start(self, X: np.ndarray) -> Model:
        generator = np.random.default_rng(self.seed)
        lengthscales = np.exp(START_SPREAD * generator.random((len(self.sets_), self.order_)))
        kernels = [SquaredExponential(lengths, S) for lengths, S in zip(lengthscales, self.sets_, strict=True)]
        pool = stack(kernels, inputs=X.shape[1])
        Z = X[some_rows(len(X), self.points, self.seed)]
        return Model(self._prior.initial(len(pool)), Bernoulli(), MultiSVGP.initial(pool, Z))

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        prior, posterior = self.model_.prior, self.model_.posterior
        noise = jnp.asarray(quasi_normal(PREDICTION_DRAWS if prior.noise_size else 1, prior.noise_size))
        mean, variance = InBlocks(posterior.at(draw(prior, noise, JAX))).draws(X)
        p = np.asarray(self.model_.likelihood.predict(mean, variance)[0]).mean(axis=0)
        return p, p * (1.0 - p)


@dataclass(kw_only=True)
class FreeSetsClassifier(SetsClassifier):
    """The same without a prior on the weights."""

    name: ClassVar[str] = "free-sets-classifier"
    _prior: ClassVar[Any] = NoPrior
