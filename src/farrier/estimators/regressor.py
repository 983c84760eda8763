"""`Regressor`: explain and predict a number.

model = Regressor().fit(X, y)
mean, std = model.predict(X_new, return_std=True)
print(model.explain())
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from time import perf_counter
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from farrier.data.column_order import reordered
from farrier.data.tables import Scale, check_cells, check_varies, column_names, frame_library
from farrier.estimators.arguments import (
    bounds_of,
    check_periods,
    check_scale,
    check_table,
)
from farrier.estimators.counting import COUNTS
from farrier.estimators.estimator import Estimator
from farrier.estimators.large_tables import LargeTableMixin, is_large
from farrier.estimators.predicting import PredictingEstimator
from farrier.estimators.watching import Show, kind_of, told, watched
from farrier.estimators.weights import check_weights, factors_of
from farrier.inference.likelihoods import Gaussian, Likelihood
from farrier.inference.noise import Noise
from farrier.inference.student_t import StudentT
from farrier.kernels.algebra import Kernel
from farrier.model.fit import fit
from farrier.model.fitted import Fitted
from farrier.model.problem import Given, Problem
from farrier.model.result import Result
from farrier.model.target_scale import TRANSFORMS, TargetScale, named
from farrier.search.scoring import START_NOISE
from farrier.series.calendar import TimeAxis

STUDENT_DEGREES = 4.0
"""Degrees of freedom of Student's t. [degrees of freedom; by judgement]"""


class Regressor(RegressorMixin, LargeTableMixin, PredictingEstimator):
    """Explain and predict a number.

    Parameters
    ----------
    kernels : "auto", "paper" or a list, default="auto"
        "auto" predicts with a pool of what such rows can be made of, shrunk by a horseshoe: of a series trends, a
        random walk, seasons that move, patterns of the calendar; of a curve over another input smooth curves, a line
        and cycles; of a table curves of each input and interactions. Its projection onto few components explains; of a
        series or a curve it is made when somebody asks for it.
        "paper" fits the paper's pool of 24 kernels. A list holds kernels in the units of X
        (``SquaredExponential(8.0) * Periodic(1.0)``) and formulas (``"SE * Per"``), whose hyperparameters start at
        values taken from the data. A list with a ``Step`` gets a level beside it, unless it holds a ``Constant``.
    prior : {"horseshoe", "none", "softmax", "spike-and-slab"}, default="horseshoe"
        The prior on the weights of the candidates.
    likelihood : {"auto", "gaussian", "student-t", "poisson", "negative-binomial", "hurdle"}, default="auto"
        The distribution of the noise; Student's t is robust to outliers. The last three are for counts: components add
        up on the log scale. The negative binomial takes counts that vary more than a Poisson, and the hurdle counts
        that are often zero: components then are those of how often they are not. "auto" chooses by evidence. Student's
        t is tried only if the leave-one-out residuals have clearly heavier tails than a normal, and kept if it has
        clearly more evidence; counts only if all values are whole and many are below 20, and kept unless Gaussian noise
        predicts left-out rows clearly better. For given kernels, other priors, other methods than "auto" and weighted
        rows "auto" is Gaussian. A series of more than 20,000 rows has no Student's t.
    scale : {"auto", "identity", "log", "square root"}, default="auto"
        The scale of y on which components add up. "auto" chooses by evidence (identity if `kernels` are given).
    periods : list of float, default=None
        Periods to try, in the units of X. None takes those of the calendar if X is one column that looks like years.
        Periods that the data show are always tried.
    calendar : list of Kernel, default=None
        Patterns over the first input to try, in the units of X, such as ``DayOfWeek()`` for days since 1970-01-01. A
        `Forecaster` takes those of its dates.
    method : {"auto", "exact", "collapsed", "stochastic"}, default="auto"
        "exact" integrates over the functions exactly, for Gaussian noise, in cubic time. "collapsed" uses inducing
        points, in time linear in the rows. "stochastic" is the paper's algorithm, for any noise and given candidates;
        ``pip install "farrier[paper]"`` adds what it needs. "auto" takes the first that suits noise, kernels and
        rows, and for more than 1,000 rows of one input the linear tier: smooth components are features, rough ones
        Markov processes (`tier_` is "linear").
    floor : "auto", float or None, default=None
        The lowest possible y. What the model predicts below the floor counts as the floor, in the mean, the standard
        deviation and the quantiles. "auto" takes 0 if no y is negative; None sets no floor.
    cap : float or None, default=None
        The highest possible y, in the same way.
    inducing : int, default=None
        Inducing points for each kernel; None takes 100, or the number of distinct rows if fewer. (Stochastic only; the
        collapsed tier chooses their number for each kernel.)
    starts : int, default=1
        Draws of the starting hyperparameters that are trained together; the highest bound wins. (Stochastic only.)
    iterations : int, default=2500
        Most training steps; training ends earlier if the bound no longer rises.
    batch_size : int, default=256
        Rows in one step, at most all rows. (Stochastic only.)
    learning_rate : float, default=0.01
        The step size of Adam. (Stochastic only.)
    tolerance : float, default=0.002
        Training ends if the bound gains less than this, in nats per row. Without stochastic training it goes on while
        five steps gain 0.005 nats in all, or 0.1 nats for a long series.
    random_state : int, default=0
        Seed of the starting values, the batches and the draws; the same number gives the same model.
    progress : bool or callable, default=None
        True shows a bar with the time left. A callable gets a ``farrier.data.progress.Progress`` again and again.

    Attributes
    ----------
    result_ : Result
        The result of the fit, from which all other attributes, explanations, reports and plots are made.
    context_ : Context
        What `describe` said about the data.
    components_ : ComponentTable
        One row for each component, largest first, in the units of X and of y on the scale of `transform_`.
    transform_ : str
        The scale of y on which components add up.
    record_ : tuple of Decision
        How the explanation was found: the models of the projection's path and the changes that were tried, with their
        gain in log evidence and the reason.
    pool_ : list of Kernel
        The kernels after the fit, in the units of X.
    elbo_ : float
        The evidence lower bound of y, in nats.
    tier_ : str
        "exact", "collapsed", "linear" or "stochastic".
    likelihood_ : str
        The distribution of the noise that was fitted: "gaussian", "student-t", "poisson", "negative-binomial" or
        "hurdle".
    frame_ : str or None
        The library of the frame that `fit` was given ("pandas", "polars" ...); None for an array.
    seconds_ : float
        The duration of the fit in seconds.
    """

    _parameter_constraints = Estimator._parameter_constraints | {
        "likelihood": [StrOptions({"auto", "gaussian", "student-t", *COUNTS})],
        "scale": [StrOptions({"auto", *(transform.name for transform in TRANSFORMS)})],
        "periods": [list, tuple, None],
        "calendar": [list, tuple, None],
        "method": [StrOptions({"auto", "exact", "collapsed", "stochastic"})],
        "floor": [StrOptions({"auto"}), Real, None],
        "cap": [Real, None],
        "starts": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        kernels: Literal["auto", "paper"] | Sequence[Kernel | str] = "auto",
        *,
        prior: str = "horseshoe",
        likelihood: Literal["auto", "gaussian", "student-t", "poisson", "negative-binomial", "hurdle"] = "auto",
        scale: str = "auto",
        periods: Sequence[float] | None = None,
        calendar: Sequence[Kernel] | None = None,
        method: Literal["auto", "exact", "collapsed", "stochastic"] = "auto",
        floor: float | Literal["auto"] | None = None,
        cap: float | None = None,
        inducing: int | None = None,
        starts: int = 1,
        iterations: int = 2500,
        batch_size: int = 256,
        learning_rate: float = 0.01,
        tolerance: float = 2e-3,
        random_state: int | np.random.RandomState | None = 0,
        progress: bool | Show | None = None,
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
        self.calendar = calendar
        self.method = method
        self.floor = floor
        self.cap = cap
        self.starts = starts

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Regressor":
        """Find the components of y as a function of X.

        `sample_weight` says how much each row counts: a row of weight 4 has half the noise of a row of weight 1. With
        weights the noise is Gaussian, and inference exact or collapsed. Dask arrays and large memory maps are read in
        blocks.
        """
        if is_large(X):
            return self._fit_large(X, y, sample_weight)
        self._validate_params()
        check_periods(self.periods)
        check_table(y, "y")
        check_cells(y, "y")
        rows, target, table = self._read(X, y, y_numeric=True)
        target = np.array(target, np.float64)
        columns = column_names(X, rows.shape[1]) if table is None else list(table.names)
        coded = () if table is None else table.coded
        check_scale(rows, target, columns)
        check_varies(rows, target, columns)
        order = self._order(rows, target)
        if order is not None:
            rows, columns, coded = rows[:, list(order)], [columns[i] for i in order], reordered(coded, order)
        if self.likelihood == "student-t" and self.method in ("exact", "collapsed"):
            raise ValueError(
                f"method={self.method!r} needs likelihood='gaussian', got {self.likelihood!r}: try method='auto'."
            )
        self._check_counts(target)
        self._number_of_inducing_points(rows)
        transform = named("identity" if self.scale == "auto" or self.likelihood in COUNTS else self.scale)
        if target.min() <= transform.lowest:
            raise ValueError(f"scale={self.scale!r} needs a positive y, got {target.min():g}: try 'identity'.")
        self.frame_ = frame_library(X)
        floor, cap = bounds_of(target, self.floor, self.cap)
        factors = factors_of(sample_weight, len(rows))
        if factors is not None:
            check_weights(self, *rows.shape, searched=self._searches() and not self._timed)
        begin = perf_counter()
        scale = Scale.of(rows, transform.forward(target), coded)
        inputs = scale.inputs(rows)
        with watched(self.progress) as show:
            fitted = self._fit(inputs, target, scale, columns, coded, show, factors)
        self.hold(
            Result(
                fitted=replace(fitted, floor=floor, cap=cap),
                inputs=inputs,
                target=target,
                scale=scale,
                columns=tuple(columns),
                seconds=perf_counter() - begin,
                recipe=self._recipe() if factors is None else self._recipe().weighted(),
                table=table,
                order=order,
            )
        )
        name = getattr(y, "name", None)
        return self.describe(target_name=name) if isinstance(name, str) and name else self

    def refit(self, X: Any, y: Any, *, progress: bool | Show | None = None) -> "Regressor":
        """A copy of this model with its structure fitted to other rows, usually the old ones and more.

        The components that predict stay. Weights and hyperparameters start at their present values, and the scale of
        inputs and target stays. The stochastic tier fits from the beginning.
        """
        inputs = self._inputs(X)
        if self.result_.recipe.has_weights:
            raise ValueError("refit: this model was fitted with sample_weight: fit all rows again.")
        target = self._values(y, len(inputs))
        again = copy(self)
        again.progress = progress
        if self.tier_ == "stochastic":
            # the kind of noise is part of what was found
            again.likelihood = self.likelihood_
            again.fit(X, target).likelihood = self.likelihood
            return again
        floor, cap, begin = *bounds_of(target, self.floor, self.cap), perf_counter()
        with watched(progress) as show:
            found = fit(Problem(inputs, target, tell=told(show)), self.result_.fitted)
        fitted = replace(found, floor=floor, cap=cap)
        seconds = perf_counter() - begin
        return again.hold(replace(self.result_, fitted=fitted, inputs=inputs, target=target, seconds=seconds))

    def _fit(
        self,
        inputs: np.ndarray,
        y: np.ndarray,
        scale: Scale,
        columns: list[str],
        coded: tuple[int, ...],
        show: Show | None,
        factors: np.ndarray | None = None,
    ) -> Fitted:
        """Fit by the tier that suits the noise, the kernels and the number of rows."""
        if self.likelihood in COUNTS:
            known = self._known_periods(inputs, scale), self._patterns(scale)
            return self._fit_counts(inputs, y, scale, columns, coded, *known, show)
        target = TargetScale.of(named("identity" if self.scale == "auto" else self.scale), y)
        chosen = self.likelihood == "student-t"
        problem = Problem(
            inputs,
            y,
            seasons=self._known_periods(inputs, scale),
            bounds=bounds_of(y, self.floor, self.cap),
            calendar=self._patterns(scale),
            timed=self._timed,
            coded=coded,
            noise=Noise(factors),
            scale=self.scale,
            engine=self.method,
            tell=told(show, kind_of(inputs, coded=bool(coded), timed=self._timed)),
        )
        if self._searches() and self.method != "stochastic":
            weighted = factors is not None or self.method != "auto"
            return fit(problem, likelihood="gaussian" if weighted else self.likelihood)
        kernels = self._chosen(inputs, target.forward(y), scale, columns, self._seed(), coded)
        if self.method == "stochastic" or (chosen and self.prior != "horseshoe"):
            more = [self._seed() + i for i in range(1, int(self.starts))]
            others = [self._chosen(inputs, target.forward(y), scale, columns, seed, coded) for seed in more]
            return self._sparse([kernels, *others], inputs, y, target, self._noise(), show)
        given = Given(kernels, self.prior, int(self.iterations), self.tolerance * len(y))
        return fit(problem, given, likelihood=self._noise() if chosen else "gaussian")

    def _known_periods(self, inputs: np.ndarray, scale: Scale) -> list[float] | None:
        """The seasons of the rows in units of the standardised inputs; None if they are not known."""
        unit = float(scale.x_scale[0])
        if self.periods is not None:
            timed = inputs.shape[1] == 1 or self._timed
            return [float(period) / unit for period in self.periods] if timed else None
        times = inputs[:, 0] * unit + scale.x_mean[0]
        if inputs.shape[1] > 1 or len(np.unique(times)) < len(times):
            return None
        return [period / unit for period in TimeAxis.of(times, self._first_column()).calendar_periods()] or None

    def _patterns(self, scale: Scale) -> tuple[Kernel, ...]:
        """The patterns of the calendar in the units of the model."""
        by, mean = float(scale.x_scale[0]), float(scale.x_mean[0])
        return tuple(kernel.rescale(1.0 / by, -mean / by) for kernel in self.calendar or ())

    def _first_column(self) -> str:
        """The name of the first input."""
        return str(getattr(self, "feature_names_in_", ["x0"])[0])

    def _noise(self) -> Likelihood:
        if self.likelihood == "student-t":
            return StudentT.with_degrees(np.sqrt(START_NOISE), STUDENT_DEGREES)
        return Gaussian(START_NOISE)
