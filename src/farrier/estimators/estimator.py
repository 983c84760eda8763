"""What `Regressor` and `Classifier` share: scikit-learn's conventions around a fitted model. No mathematics.

Inputs and targets are standardised inside; everything that comes back is in the user's units. Predictions integrate
over q(w) at fixed quasi-random points, so two calls give the same numbers. All work is done in 64-bit floats, which
are switched on for the duration of a call and no longer.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Literal

import jax
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from farrier.estimators.explaining import Tells
from farrier.explain.components import Component, ComponentTable, Decomposition
from farrier.inference.likelihoods import Likelihood
from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import CentredPeriodic, Periodic
from farrier.model.fitted import Fitted
from farrier.model.learning import PRIORS
from farrier.model.progress import Progress
from farrier.model.tables import Scale, check_cells
from farrier.model.target_scale import named
from farrier.paper.pool import Pool, stack
from farrier.search.starting_kernels import Start

DEFAULT_INDUCING = 100


class Estimator(Tells, BaseEstimator):
    """What regression and classification share."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        "kernels": [StrOptions({"auto", "paper"}), list, tuple],
        "prior": [StrOptions(set(PRIORS))],
        "inducing": [Interval(Integral, 1, None, closed="left"), None],
        "iterations": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "progress": [callable, None],
    }

    def __init__(
        self,
        kernels: Literal["auto", "paper"] | Sequence[Kernel | str] = "auto",
        *,
        prior: str = "horseshoe",
        inducing: int | None = None,
        iterations: int = 2500,
        batch_size: int = 256,
        learning_rate: float = 0.01,
        tolerance: float = 2e-3,
        random_state: int | np.random.RandomState | None = 0,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.kernels = kernels
        self.prior = prior
        self.inducing = inducing
        self.iterations = iterations
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.tolerance = tolerance
        self.random_state = random_state
        self.progress = progress

    def decompose(self, X: Any) -> Decomposition:
        """Mean and standard deviation of every component at the rows of X, on the scale of `transform_`.

        The means add up to the prediction on that scale.
        """
        inputs = self._inputs(X)
        fitted = self._fitted
        with jax.enable_x64(True):
            mean, variance = fitted.parts(inputs, range(fitted.survivors))
        names = ["level", *(f"{i}: {kernel.formula(self._columns)}" for i, kernel in enumerate(self.pool_))]
        names += ["the rest"] * (len(mean) - len(names))
        mean = mean * fitted.z_scale
        mean[0] += fitted.z_mean
        return Decomposition(tuple(names), mean, np.sqrt(np.maximum(variance, 0.0)) * fitted.z_scale)

    @abstractmethod
    def _variance_to_explain(self, z: np.ndarray, f: np.ndarray) -> float:
        """What the variance of a component is a share of, given the target and the fit f on the model's scale."""

    def _finish(self, fitted: Fitted, scale: Scale, columns: list[str], inputs: np.ndarray, z: np.ndarray) -> None:
        """Keep what was found, in the user's units where the user sees it."""
        # numpy arrays keep their 64 bits wherever they are taken
        self._fitted, self._scale, self._columns = fitted, scale, columns
        self._rows = inputs
        self.pool_ = [kernel.rescale(scale.x_scale, scale.x_mean) for kernel in fitted.explaining.kernels]
        self.components_ = self._component_table(inputs, z)
        self.transform_ = fitted.transform.name
        self.record_ = fitted.record
        self.tier_ = fitted.tier
        self.elbo_ = fitted.bound
        self.n_iter_ = fitted.steps

    def _component_table(self, inputs: np.ndarray, z: np.ndarray) -> ComponentTable:
        fitted = self._fitted
        mean, _ = fitted.parts(inputs, range(fitted.survivors))
        total = self._variance_to_explain(z, mean.sum(axis=0))
        named, rest = mean[1 : 1 + fitted.survivors].std(axis=1), mean[1 + fitted.survivors :].sum(axis=0).std()
        quantiles = [np.asarray(fitted.explaining.prior.quantile(p)) * fitted.z_scale for p in (0.025, 0.5, 0.975)]
        losses = fitted.appraisal.losses if fitted.appraisal else [None] * fitted.survivors
        rows = [
            Component(
                index=i,
                formula=kernel.formula(self._columns),
                kernel=repr(kernel),
                weight=float(quantiles[1][i]),
                weight_low=float(quantiles[0][i]),
                weight_high=float(quantiles[2][i]),
                sd=float(named[i]) * fitted.z_scale,
                share=float(named[i] ** 2) / max(total, np.finfo(float).tiny),
                evidence=losses[i],
                period=_periods_of(kernel),
            )
            for i, kernel in enumerate(self.pool_)
        ]
        others = len(fitted.kernels) - fitted.survivors - (fitted.level is not None)
        return ComponentTable(tuple(sorted(rows, key=lambda row: -row.sd)), float(rest) * fitted.z_scale, others)

    def _given(self, inputs: np.ndarray, y: np.ndarray, scale: Scale, columns: list[str], seed: int) -> list[Kernel]:
        """The kernels that somebody chose, on the scale of the model; the user's own are in the user's units."""
        if not self.kernels:
            raise ValueError("kernels must hold at least one kernel, got none: 'auto' finds them.")
        start = Start(inputs, y, np.random.default_rng(seed))
        kernels = []
        for kernel in self.kernels:
            if isinstance(kernel, str):
                kernels.append(start.named(kernel))
            elif isinstance(kernel, Kernel):
                kernels.append(kernel.bind(columns).rescale(1.0 / scale.x_scale, -scale.x_mean / scale.x_scale))
            else:
                raise ValueError(f"kernels must hold kernels or formulas such as 'SE * Per', got {kernel!r}.")
        return kernels

    def _pool(self, inputs: np.ndarray, y: np.ndarray, scale: Scale, columns: list[str], seed: int) -> Pool:
        """The candidates of the stochastic tier."""
        if isinstance(self.kernels, str):
            return Pool.paper(inputs, y, seed=seed)
        return stack(self._given(inputs, y, scale, columns, seed), inputs=inputs.shape[1])

    def _sparse(
        self, inputs: np.ndarray, y: np.ndarray, scale: Scale, columns: list[str], likelihood: Likelihood
    ) -> Fitted:
        """The stochastic tier, which is loaded when somebody needs it; in the units of the model."""
        from farrier.paper.prediction import InBlocks
        from farrier.paper.sparse import SparseTraining, train_sparse

        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        training = SparseTraining(
            prior=self.prior,
            iterations=int(self.iterations),
            tolerance=float(self.tolerance),
            progress=self.progress,
            batch_size=int(self.batch_size),
            learning_rate=float(self.learning_rate),
            points=self._number_of_inducing_points(inputs),
            seed=seed,
        )
        pool = self._pool(inputs, y, scale, columns, seed)
        trained = train_sparse(pool, inputs, y, likelihood, training)
        self.history_ = trained.history
        likelihood, posterior = jax.tree.map(np.asarray, (trained.likelihood, trained.posterior))
        return Fitted(
            posterior=InBlocks(posterior),
            likelihood=likelihood,
            prior=trained.prior,
            kernels=tuple(trained.pool),
            survivors=len(trained.pool),
            transform=named("identity"),
            z_mean=0.0,
            z_scale=1.0,
            bound=trained.bound,
            tier="stochastic",
            steps=len(trained.history.bound),
        )

    def _tell(self) -> Callable[[str, float], None]:
        if self.progress is None:
            return lambda what, bound: None
        progress, count = self.progress, [0]

        def tell(what: str, bound: float) -> None:
            count[0] += 1
            progress(Progress(what, count[0], 0, bound))

        return tell

    def _number_of_inducing_points(self, X: np.ndarray) -> int:
        if self.inducing is not None and self.inducing > len(X):
            raise ValueError(f"inducing={self.inducing} is more than the {len(X)} rows of X: ask for at most {len(X)}.")
        return min(self.inducing or DEFAULT_INDUCING, len(X))

    def _inputs(self, X: Any) -> np.ndarray:
        """New rows, checked, on the scale of the model."""
        check_is_fitted(self)
        check_cells(X, "X")
        rows: Any = validate_data(self, X, reset=False, dtype=np.float64)
        return self._scale.inputs(rows)


def _periods_of(kernel: Kernel) -> str:
    factors = [f for f in kernel.products()[0] if isinstance(f, Periodic | CentredPeriodic)]
    return ", ".join(f"{value:.4g}" for f in factors for value in np.ravel(np.asarray(f.period)))
