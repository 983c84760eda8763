"""`Regressor` and `Classifier`: scikit-learn estimators around the model. Validation and glue, no mathematics.

    model = Regressor().fit(X, y)
    mean, std = model.predict(X_new, return_std=True)
    print(model.components_)

Inputs and targets are standardised inside; everything that comes back is in the user's units. Predictions integrate
over q(w) at fixed quasi-random points, so two calls give the same numbers. All work is done in 64-bit floats, which
are switched on for the duration of a call and no longer.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from farrier import prediction
from farrier.data import Scale, check_cells, check_varies, column_names
from farrier.explain.components import Component, ComponentTable, Decomposition
from farrier.fit import Progress
from farrier.kernels.algebra import Kernel
from farrier.kernels.base import CentredPeriodic, Periodic
from farrier.kernels.initial import Start
from farrier.kernels.pool import Pool, stack
from farrier.likelihoods import Bernoulli, Gaussian, Likelihood, StudentT
from farrier.parameters import as_array
from farrier.priors import WeightPrior
from farrier.tiers import EXACT_ROWS, PRIORS, Trained, Training, exact, stochastic

DEFAULT_INDUCING = 100
START_NOISE = 0.1
"""The variance of the noise at the start, y having variance 1."""


class _Estimator(BaseEstimator):
    """What regression and classification share."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        "kernels": [StrOptions({"paper"}), list, tuple],
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
        kernels: Literal["paper"] | Sequence[Kernel | str] = "paper",
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
        """Mean and standard deviation of every component at the rows of X; the means add up to the prediction."""
        inputs = self._inputs(X)
        with jax.enable_x64(True):
            mean, variance = prediction.components(self._posterior, inputs)
        level = np.full((1, len(inputs)), self._scale.y_mean)
        names = ("level", *(f"{i}: {kernel.formula(self._columns)}" for i, kernel in enumerate(self.pool_)))
        scale = self._scale.y_scale
        return Decomposition(
            names,
            np.concatenate([level, mean * scale]),
            np.concatenate([np.zeros_like(level), np.sqrt(np.maximum(variance, 0.0)) * scale]),
        )

    @abstractmethod
    def _likelihood(self) -> Likelihood:
        """The likelihood at the start, on the scale of the model."""

    @abstractmethod
    def _variance_to_explain(self, y: np.ndarray, f: np.ndarray) -> float:
        """What the variance of a component is a share of, given y and the fit f at the same rows."""

    def _fit(self, X: np.ndarray, y: np.ndarray, scale: Scale, columns: list[str]) -> None:
        """Train on rows that have been checked; y is what the likelihood sees."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        training = Training(
            prior=self.prior,
            iterations=int(self.iterations),
            tolerance=float(self.tolerance),
            progress=self.progress,
            batch_size=int(self.batch_size),
            learning_rate=float(self.learning_rate),
            points=self._number_of_inducing_points(X),
            seed=seed,
        )
        inputs = scale.inputs(X)
        pool = self._pool(inputs, y, scale, columns, seed)
        self._scale, self._columns = scale, columns
        with jax.enable_x64(True):
            trained = self._train(pool, inputs, y, training)
            # numpy arrays keep their 64 bits wherever they are taken
            self._likelihood_, self._posterior = jax.tree.map(np.asarray, (trained.likelihood, trained.posterior))
            self.pool_ = [kernel.rescale(scale.x_scale, scale.x_mean) for kernel in trained.pool]
            self.components_ = self._component_table(trained.prior, inputs, y)
        self.history_ = trained.history
        self.n_iter_ = len(trained.history.bound)
        # the density of y in its own units is that of the scaled y divided by the scale
        self.elbo_ = trained.bound - len(y) * np.log(scale.y_scale)

    def _train(self, pool: Pool, inputs: np.ndarray, y: np.ndarray, training: Training) -> Trained:
        return stochastic(pool, inputs, y, self._likelihood(), training)

    def _component_table(self, prior: WeightPrior, inputs: np.ndarray, y: np.ndarray) -> ComponentTable:
        mean, _ = prediction.components(self._posterior, inputs)
        spread, total = mean.std(axis=1), self._variance_to_explain(y, mean.sum(axis=0))
        quantiles = [np.asarray(prior.quantile(p)) * self._scale.y_scale for p in (0.025, 0.5, 0.975)]
        rows = [
            Component(
                index=i,
                formula=kernel.formula(self._columns),
                kernel=repr(kernel),
                weight=float(quantiles[1][i]),
                weight_low=float(quantiles[0][i]),
                weight_high=float(quantiles[2][i]),
                sd=float(spread[i]) * self._scale.y_scale,
                share=float(spread[i] ** 2) / max(total, np.finfo(float).tiny),
                period=_periods_of(kernel),
            )
            for i, kernel in enumerate(self.pool_)
        ]
        return ComponentTable(tuple(sorted(rows, key=lambda row: -row.sd)))

    def _pool(self, inputs: np.ndarray, y: np.ndarray, scale: Scale, columns: list[str], seed: int) -> Pool:
        """The candidate kernels on the scale of the model; the user's own are written in the user's units."""
        if isinstance(self.kernels, str):
            return Pool.paper(inputs, y, seed=seed)
        start = Start(inputs, y, np.random.default_rng(seed))
        kernels = []
        for kernel in self.kernels:
            if isinstance(kernel, str):
                kernels.append(start.named(kernel))
            elif isinstance(kernel, Kernel):
                kernels.append(kernel.bind(columns).rescale(1.0 / scale.x_scale, -scale.x_mean / scale.x_scale))
            else:
                raise ValueError(f"kernels must hold kernels or formulas such as 'SE * Per', got {kernel!r}.")
        return stack(kernels, inputs=inputs.shape[1])

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

    def _draws(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f for each draw of the weights, (S, N)."""
        inputs = self._inputs(X)
        return prediction.draws(self._posterior, inputs)

    def _observed(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of an observation for each draw of the weights, (S, N)."""
        draws = self._draws(X)
        return prediction.observed(self._likelihood_, *draws)


class Regressor(RegressorMixin, _Estimator):
    """Explain and predict a number.

    Parameters
    ----------
    kernels : "paper" or a list, default="paper"
        The candidates: the paper's pool of 24, or a list of kernels in the units of X
        (``SquaredExponential(8.0) * Periodic(1.0)``) and formulas (``"SE * Per"``), which start from the data.
    prior : {"horseshoe", "none", "softmax", "spike-and-slab"}, default="horseshoe"
        The prior on the weights of the candidates.
    likelihood : {"gaussian", "student-t"}, default="gaussian"
        The noise; Student's t bears outliers.
    method : {"auto", "exact", "stochastic"}, default="auto"
        "exact" integrates the functions out and climbs the bound by L-BFGS: Gaussian noise, time cubic in the rows.
        "stochastic" is the paper's algorithm, for any noise and any number of rows. "auto" takes the exact one for
        Gaussian noise and up to 600 rows.
    inducing : int, default=None
        Inducing points for each kernel; None takes 100, or as many as there are distinct rows if fewer. (Stochastic.)
    iterations : int, default=2500
        The most steps to train; training ends earlier when the bound is flat.
    batch_size : int, default=256
        Rows in one step; all of them where there are no more. (Stochastic.)
    learning_rate : float, default=0.01
        The step size of Adam. (Stochastic.)
    tolerance : float, default=0.002
        Nats for each row below which a gain over a few hundred steps counts as flat.
    random_state : int, default=0
        Seeds the starting values, the rows and the draws; the same number gives the same model.
    progress : callable, default=None
        Called with a ``farrier.fit.Progress`` now and then.

    Attributes
    ----------
    components_ : ComponentTable
        One row a kernel, largest first, in the units of X and y.
    pool_ : list of Kernel
        The kernels after training, in the units of X.
    elbo_ : float
        The lower bound on the log evidence of y.
    history_ : History
        The bound and its terms at every step.
    """

    _parameter_constraints = _Estimator._parameter_constraints | {
        "likelihood": [StrOptions({"gaussian", "student-t"})],
        "method": [StrOptions({"auto", "exact", "stochastic"})],
    }

    def __init__(
        self,
        kernels: Literal["paper"] | Sequence[Kernel | str] = "paper",
        *,
        prior: str = "horseshoe",
        likelihood: Literal["gaussian", "student-t"] = "gaussian",
        method: Literal["auto", "exact", "stochastic"] = "auto",
        inducing: int | None = None,
        iterations: int = 2500,
        batch_size: int = 256,
        learning_rate: float = 0.01,
        tolerance: float = 2e-3,
        random_state: int | np.random.RandomState | None = 0,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        super().__init__(
            kernels,
            prior=prior,
            inducing=inducing,
            iterations=iterations,
            batch_size=batch_size,
            learning_rate=learning_rate,
            tolerance=tolerance,
            random_state=random_state,
            progress=progress,
        )
        self.likelihood = likelihood
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> "Regressor":
        """Find the components of y as a function of X."""
        check_cells(X, "X")
        check_cells(y, "y")
        checked: Any = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        rows, target = checked
        target = np.asarray(target, np.float64)
        columns = column_names(X, rows.shape[1])
        check_varies(rows, target, columns)
        scale = Scale.of(rows, target)
        self._fit(rows, scale.target(target), scale, columns)
        return self

    def predict(self, X: Any, *, return_std: bool = False, return_cov: bool = False) -> Any:
        """The mean of y at the rows of X; with its standard deviation, or covariance, of a new observation."""
        if return_std and return_cov:
            raise ValueError("return_std and return_cov: ask for one of them, got both.")
        with jax.enable_x64(True):
            if return_cov:
                return self._predict_joint(self._inputs(X))
            mean, variance = self._observed(X)
        center = mean.mean(axis=0) * self._scale.y_scale + self._scale.y_mean
        if not return_std:
            return center
        return center, np.sqrt(variance.mean(axis=0) + mean.var(axis=0)) * self._scale.y_scale

    def log_density(self, X: Any, y: Any) -> np.ndarray:
        """log p(y | X, data) of new observations, one number a row."""
        with jax.enable_x64(True):
            mean, variance = self._draws(X)
            target = jnp.asarray(self._scale.target(np.asarray(y, np.float64)))
            if target.shape != mean.shape[1:]:
                raise ValueError(f"y has {len(target)} values and X has {mean.shape[1]} rows: give one value a row.")
            log_density = jax.vmap(self._likelihood_.log_density, in_axes=(None, 0, 0))
            each = log_density(target, jnp.asarray(mean), jnp.asarray(variance))
            mixture = jax.nn.logsumexp(each, axis=0) - np.log(len(mean))
        return np.asarray(mixture) - np.log(self._scale.y_scale)

    def _predict_joint(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, covariance = prediction.joint(self._posterior, inputs)
        at_points, variance = np.asarray(mean)[None, :], np.diag(covariance)[None, :]
        _, with_noise = prediction.observed(self._likelihood_, at_points, variance)
        covariance = covariance + np.diag((with_noise - variance)[0])
        return mean * self._scale.y_scale + self._scale.y_mean, covariance * self._scale.y_scale**2

    def _train(self, pool: Pool, inputs: np.ndarray, y: np.ndarray, training: Training) -> Trained:
        few = self.likelihood == "gaussian" and len(y) <= EXACT_ROWS
        if self.method == "stochastic" or (self.method == "auto" and not few):
            return super()._train(pool, inputs, y, training)
        if self.likelihood != "gaussian":
            raise ValueError(f"method='exact' needs likelihood='gaussian', got {self.likelihood!r}: try method='auto'.")
        return exact(pool, inputs, y, Gaussian(as_array(START_NOISE)), training)

    def _likelihood(self) -> Likelihood:
        if self.likelihood == "student-t":
            return StudentT.with_degrees(np.sqrt(START_NOISE), 4.0)
        return Gaussian(as_array(START_NOISE))

    def _variance_to_explain(self, y: np.ndarray, f: np.ndarray) -> float:
        return float(np.var(y))


class Classifier(ClassifierMixin, _Estimator):
    """Explain and predict one of two classes, by a probit model; components are on the probit's scale.

    Takes the parameters of `Regressor` except `likelihood`. For more than two classes wrap it in
    `sklearn.multiclass.OneVsRestClassifier`.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> "Classifier":
        """Find the components of the odds of the second class."""
        check_cells(X, "X")
        checked: Any = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        rows, labels = checked
        check_classification_targets(labels)
        classes, target = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y holds one class only ({classes[0]!r}): a classifier needs rows of two.")
        if len(classes) > 2:
            kind = type_of_target(labels)
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}, with {len(classes)} "
                "classes: wrap the Classifier in sklearn.multiclass.OneVsRestClassifier."
            )
        columns = column_names(X, rows.shape[1])
        check_varies(rows, None, columns)
        self.classes_ = classes
        self._fit(rows, target.astype(np.float64), Scale.of(rows), columns)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, in the order of `classes_`."""
        with jax.enable_x64(True):
            probability, _ = self._observed(X)
        second = probability.mean(axis=0)
        return np.stack([1.0 - second, second], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """The more probable class."""
        second = self.predict_proba(X)[:, 1] > 0.5
        return self.classes_[second.astype(int)]

    def _likelihood(self) -> Likelihood:
        return Bernoulli()

    def _variance_to_explain(self, y: np.ndarray, f: np.ndarray) -> float:
        return float(np.var(f))


def _periods_of(kernel: Kernel) -> str:
    factors = [f for f in kernel.products()[0] if isinstance(f, Periodic | CentredPeriodic)]
    return ", ".join(f"{value:.4g}" for f in factors for value in np.ravel(np.asarray(f.period)))
