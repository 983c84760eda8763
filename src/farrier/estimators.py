"""`Regressor` and `Classifier`: scikit-learn estimators around the model. Validation and glue, no mathematics.

    model = Regressor().fit(X, y)
    mean, std = model.predict(X_new, return_std=True)
    print(model.explain())

Inputs and targets are standardised inside; everything that comes back is in the user's units. Predictions integrate
over q(w) at fixed quasi-random points, so two calls give the same numbers. All work is done in 64-bit floats, which
are switched on for the duration of a call and no longer.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from time import perf_counter
from typing import Any, Literal

import jax
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from farrier import prediction
from farrier.cache import keep_compiled_programs
from farrier.data import Scale, check_cells, check_varies, column_names
from farrier.explain.components import Component, ComponentTable, Decomposition
from farrier.explain.telling import Tells
from farrier.fit import Progress
from farrier.fitted import Fitted, gaussian_noise
from farrier.kernels.algebra import Kernel
from farrier.kernels.base import CentredPeriodic, Periodic
from farrier.kernels.initial import Start
from farrier.kernels.pool import Pool, stack
from farrier.learning import PRIORS, START_NOISE, Learned, fit_given, learn
from farrier.likelihoods import Bernoulli, Likelihood, StudentT
from farrier.sparse import SparseTraining, train_sparse
from farrier.survivors import survivors
from farrier.timeaxis import TimeAxis
from farrier.transforms import TRANSFORMS, named

DEFAULT_INDUCING = 100


class _Estimator(Tells, BaseEstimator):
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
        """The stochastic tier."""
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
            posterior=prediction.InBlocks(posterior),
            likelihood=likelihood,
            prior=trained.prior,
            kernels=tuple(trained.pool),
            survivors=len(trained.pool),
            transform=named("identity"),
            z_mean=scale.y_mean,
            z_scale=scale.y_scale,
            # the density of y in its own units is that of the scaled y divided by the scale
            bound=trained.bound - len(y) * float(np.log(scale.y_scale)),
            tier="stochastic",
            steps=len(trained.history.bound),
        )

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


class Regressor(RegressorMixin, _Estimator):
    """Explain and predict a number.

    Parameters
    ----------
    kernels : "auto", "paper" or a list, default="auto"
        "auto" finds the structure: candidates come from the data, each must be worth its price. Otherwise the
        candidates are fixed: the paper's pool of 24, or a list of kernels in the units of X
        (``SquaredExponential(8.0) * Periodic(1.0)``) and formulas (``"SE * Per"``), which start from the data.
    prior : {"horseshoe", "none", "softmax", "spike-and-slab"}, default="horseshoe"
        The prior on the weights of the candidates.
    likelihood : {"gaussian", "student-t"}, default="gaussian"
        The noise; Student's t bears outliers.
    scale : {"auto", "identity", "log", "square root"}, default="auto"
        The scale on which components add up; "auto" lets evidence decide (identity where `kernels` are given).
    periods : list of float, default=None
        Periods worth trying, in the units of X. None takes those of the calendar if X is one column that looks like
        years; what the data show is tried in any case.
    method : {"auto", "exact", "collapsed", "stochastic"}, default="auto"
        "exact" integrates the functions out: Gaussian noise, time cubic in the rows. "collapsed" does so through
        inducing points, time linear in the rows. "stochastic" is the paper's algorithm, for any noise, over fixed
        candidates. "auto" takes the first that suits the noise and the number of rows.
    inducing : int, default=None
        Inducing points for each kernel; None takes 100, or as many as there are distinct rows if fewer. (Stochastic;
        the collapsed tier takes as many as each kernel needs.)
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
        One row a component, largest first, in the units of X and (on the scale of `transform_`) y.
    transform_ : str
        The scale on which components add up.
    record_ : tuple of Decision
        What was tried, what it gained, why it went or stayed.
    pool_ : list of Kernel
        The kernels after training, in the units of X.
    elbo_ : float
        The lower bound on the log evidence of y.
    tier_ : str
        "exact", "collapsed" or "stochastic".
    seconds_ : float
        How long the fit took.
    """

    _parameter_constraints = _Estimator._parameter_constraints | {
        "likelihood": [StrOptions({"gaussian", "student-t"})],
        "scale": [StrOptions({"auto", *(transform.name for transform in TRANSFORMS)})],
        "periods": [list, tuple, None],
        "method": [StrOptions({"auto", "exact", "collapsed", "stochastic"})],
    }

    def __init__(
        self,
        kernels: Literal["auto", "paper"] | Sequence[Kernel | str] = "auto",
        *,
        prior: str = "horseshoe",
        likelihood: Literal["gaussian", "student-t"] = "gaussian",
        scale: str = "auto",
        periods: Sequence[float] | None = None,
        method: Literal["auto", "exact", "collapsed", "stochastic"] = "auto",
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
        self.scale = scale
        self.periods = periods
        self.method = method

    _timed = False
    """Whether the first of several inputs is time: a Forecaster's is."""

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
        if self.likelihood != "gaussian" and self.method in ("exact", "collapsed"):
            raise ValueError(
                f"method={self.method!r} needs likelihood='gaussian', got {self.likelihood!r}: try method='auto'."
            )
        self._number_of_inducing_points(rows)
        transform = named("identity" if self.scale == "auto" else self.scale)
        if target.min() <= transform.lowest:
            raise ValueError(f"scale={self.scale!r} needs a positive y, got {target.min():g}: try 'identity'.")
        keep_compiled_programs()
        begin = perf_counter()
        scale = Scale.of(rows, transform.forward(target))
        inputs = scale.inputs(rows)
        with jax.enable_x64(True):
            if self.method == "stochastic" or self.likelihood != "gaussian":
                z = scale.target(transform.forward(target))
                fitted = self._sparse(inputs, z, scale, columns, self._noise())
            else:
                fitted = self._integrated(inputs, target, scale, columns)
            self._finish(fitted, scale, columns, inputs, fitted.scaled(target))
        self._target = target
        self.seconds_ = perf_counter() - begin
        return self

    def _integrated(self, inputs: np.ndarray, y: np.ndarray, scale: Scale, columns: list[str]) -> Fitted:
        """The exact and the collapsed tier."""
        tell = self._tell()
        common = {"transform": self.scale, "tier": self.method, "tell": tell}
        if isinstance(self.kernels, str) and self.kernels == "auto" and self.prior == "horseshoe":
            known = [period / float(scale.x_scale[0]) for period in self._known_periods(inputs, scale)]
            timed = self._timed and inputs.shape[1] > 1
            tell("compiling", float("nan"))
            return _from_learned(learn(inputs, y, known=known, timed=timed, **common), inputs, y)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if isinstance(self.kernels, str):
            kernels = list(Pool.paper(inputs, (y - y.mean()) / y.std(), seed=seed))
        else:
            kernels = self._given(inputs, (y - y.mean()) / y.std(), scale, columns, seed)
        tell("compiling", float("nan"))
        options = {"prior": self.prior, "iterations": int(self.iterations), "tolerance": self.tolerance * len(y)}
        return _from_learned(fit_given(kernels, inputs, y, **options, **common), inputs, y)

    def _known_periods(self, inputs: np.ndarray, scale: Scale) -> list[float]:
        if inputs.shape[1] > 1 or self.periods is not None:
            return [float(period) for period in self.periods or ()] if inputs.shape[1] == 1 or self._timed else []
        times = inputs[:, 0] * scale.x_scale[0] + scale.x_mean[0]
        if len(np.unique(times)) < len(times):
            return []
        return TimeAxis.of(times, self._columns_name(scale)).calendar_periods()

    def _columns_name(self, scale: Scale) -> str:
        return str(getattr(self, "feature_names_in_", ["x0"])[0])

    def _tell(self) -> Callable[[str, float], None]:
        if self.progress is None:
            return lambda what, bound: None
        progress, count = self.progress, [0]

        def tell(what: str, bound: float) -> None:
            count[0] += 1
            progress(Progress(what, count[0], 0, bound))

        return tell

    def predict(self, X: Any, *, return_std: bool = False, return_cov: bool = False) -> Any:
        """The mean of y at the rows of X; with its standard deviation, or covariance, of a new observation."""
        if return_std and return_cov:
            raise ValueError("return_std and return_cov: ask for one of them, got both.")
        inputs = self._inputs(X)
        with jax.enable_x64(True):
            if return_cov:
                return self._predict_joint(inputs)
            mean, std = self._fitted.moments(inputs)
        return (mean, std) if return_std else mean

    def predict_quantiles(self, X: Any, levels: Sequence[float] = (0.025, 0.1, 0.5, 0.9, 0.975)) -> np.ndarray:
        """Quantiles of a new observation at the rows of X, one column a level."""
        bad = [level for level in levels if not 0.0 < level < 1.0]
        if bad:
            raise ValueError(f"levels: quantiles lie between 0 and 1, got {bad[0]}: 0.5 is the median.")
        inputs = self._inputs(X)
        with jax.enable_x64(True):
            return self._fitted.quantiles(inputs, levels).T

    def log_density(self, X: Any, y: Any) -> np.ndarray:
        """log p(y | X, data) of new observations, one number a row."""
        inputs, target = self._inputs(X), np.asarray(y, np.float64)
        if target.shape != (len(inputs),):
            raise ValueError(f"y has {np.size(target)} values and X has {len(inputs)} rows: give one value a row.")
        with jax.enable_x64(True):
            return self._fitted.log_density(inputs, target)

    def _predict_joint(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        fitted = self._fitted
        if fitted.transform.name != "identity":
            raise ValueError(
                f"return_cov: components add up on the {fitted.transform.name} scale here, where a covariance of y "
                "has no meaning; ask for return_std or predict_quantiles, or fit with scale='identity'."
            )
        mean, covariance = fitted.posterior.joint(inputs)
        _, std = fitted.moments(inputs)
        # the noise is what an observation has beyond f
        covariance = covariance * fitted.z_scale**2
        covariance[np.diag_indices(len(covariance))] = std**2
        return mean * fitted.z_scale + fitted.z_mean, covariance

    def _noise(self) -> Likelihood:
        if self.likelihood == "student-t":
            return StudentT.with_degrees(np.sqrt(START_NOISE), 4.0)
        return gaussian_noise(START_NOISE)

    def _variance_to_explain(self, z: np.ndarray, f: np.ndarray) -> float:
        return float(np.var(z))


def _from_learned(learned: Learned, inputs: np.ndarray, y: np.ndarray) -> Fitted:
    return Fitted(
        posterior=learned.posterior,
        likelihood=gaussian_noise(learned.noise),
        prior=learned.model.prior,
        kernels=learned.kernels,
        survivors=learned.survivors,
        level=learned.level,
        transform=learned.transform,
        z_mean=learned.z_mean,
        z_scale=learned.z_scale,
        bound=learned.bound,
        tier=learned.tier,
        steps=learned.steps,
        record=learned.record,
        appraisal=learned.appraisal,
        alone=survivors(learned, inputs, y),
    )


class Classifier(ClassifierMixin, _Estimator):
    """Explain and predict one of two classes, by a probit model; components are on the probit's scale.

    Takes the parameters of `Regressor` except `likelihood`, `scale`, `periods` and `method`. For more than two
    classes wrap it in `sklearn.multiclass.OneVsRestClassifier`.
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
        keep_compiled_programs()
        begin = perf_counter()
        scale, target = Scale.of(rows), target.astype(np.float64)
        inputs = scale.inputs(rows)
        with jax.enable_x64(True):
            self._finish(self._sparse(inputs, target, scale, columns, Bernoulli()), scale, columns, inputs, target)
        self._target = target
        self.seconds_ = perf_counter() - begin
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, in the order of `classes_`."""
        inputs = self._inputs(X)
        with jax.enable_x64(True):
            probability, _ = self._fitted.observed(inputs)
        second = probability.mean(axis=0)
        return np.stack([1.0 - second, second], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """The more probable class."""
        second = self.predict_proba(X)[:, 1] > 0.5
        return self.classes_[second.astype(int)]

    def _variance_to_explain(self, z: np.ndarray, f: np.ndarray) -> float:
        return float(np.var(f))


def _periods_of(kernel: Kernel) -> str:
    factors = [f for f in kernel.products()[0] if isinstance(f, Periodic | CentredPeriodic)]
    return ", ".join(f"{value:.4g}" for f in factors for value in np.ravel(np.asarray(f.period)))
