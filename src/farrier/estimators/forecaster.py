"""`Forecaster`: explain a series with dates, and forecast it with intervals.

    forecaster = Forecaster().fit(series)                 # a pandas Series; a frame; times and values
    forecaster.forecast(12, levels=(80, 95))              # a table of the kind that came in
    forecaster.backtest(folds=3, horizon=12)              # such forecasts in the past beside what came true
    forecaster.update(new_rows)                           # the structure stays
    print(forecaster.explain())

series/calendar.py reads the times: months are equal steps, future stamps follow the same rule as the old ones (month
ends, business days ...), and the year, the week and the day are tried as periods. Rows without a value are left out of
the fit, never filled. Times may be irregular. panel.py fits many series.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.exceptions import NotFittedError

from farrier.data.progress import Progress
from farrier.data.quoting import quoted
from farrier.estimators import files as saving
from farrier.estimators.arguments import check_frame, check_percent, check_periods
from farrier.estimators.backtesting import backtest_of
from farrier.estimators.fitted_series import DATED, OWN, STEP, Ahead, FittedSeries
from farrier.estimators.panel import ID, Panel, fit_panel
from farrier.estimators.regressor import Regressor
from farrier.estimators.series_methods import SeriesMethods
from farrier.estimators.series_reports import SeriesReports
from farrier.estimators.watching import Show, watched
from farrier.explain.backtest import Backtest
from farrier.explain.components import ComponentTable, Decomposition
from farrier.kernels.algebra import Kernel
from farrier.model.result import Result
from farrier.series.observed import Layout, beside, read


class Forecaster(SeriesReports, SeriesMethods):
    """Explain and forecast one series, or many.

    Parameters
    ----------
    kernels, prior, likelihood, scale, method, iterations, random_state, progress
        As in `Regressor`.
    periods : list of float, default=None
        Periods to try: in years if steps are months or longer, in days if they are shorter, for plain numbers in their
        unit. None takes those of the calendar. Periods that the data show are always tried.
    country : str, default=None
        Whose holidays to try if steps are days or shorter, such as "DE", "US" or "DE-BY" (needs the package
        ``holidays``). Patterns of the week and the month are always tried for such steps.
    holidays : list of dates, or dict of date to name, default=None
        Further days to try, also future ones. Days with one name share their effect.
    floor : "auto", float or None, default="auto"
        The lowest possible value. What the model predicts below the floor counts as the floor, in the mean, the median
        and the intervals. "auto" takes 0 if no value is negative, unless the target is called a temperature; None sets
        no floor.
    cap : float or None, default=None
        The highest possible value. What grows slows towards it: components add up on the scale of the logit between
        floor and cap, or of the distance to the cap. A series that has reached it is only cut off there.
    step : str or float, default=None
        The step of a forecast where times are irregular: "day", "2 weeks", "15 min", "month", or a number if times are
        plain numbers. None takes the median distance of two times.
    n_jobs : int, default=None
        Jobs for many series, by the backend of `joblib.parallel_config` (threads, Dask, Ray), or else by local
        processes. None means one unless that sets another number, -1 one for each processor.

    Attributes
    ----------
    fitted_ : FittedSeries or Panel
        The series with its model, or many of them by name.
    components_ : ComponentTable
        One row for each component, as in `Regressor`. (One series.)
    result_ : Result
        The result of the fit, as in `Regressor`. (One series.)
    model_ : Regressor
        The fitted model; its first input is time as numbers. (One series.)
    series_ : dict
        A fitted Forecaster for each series, by name. (Many series; `forecaster[name]` is the same.)
    errors_ : dict
        The exceptions of the series that could not be fitted, by name. (Many series.)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        **{name: Regressor._parameter_constraints[name] for name in OWN},
        "country": [str, None],
        "holidays": ["array-like", dict, None],
        "n_jobs": [Integral, None],
        "step": [str, Real, None],
    }

    def __init__(
        self,
        kernels: Literal["auto", "paper"] | Sequence[Kernel | str] = "auto",
        *,
        prior: str = "horseshoe",
        likelihood: Literal["auto", "gaussian", "student-t", "poisson", "negative-binomial", "hurdle"] = "auto",
        scale: str = "auto",
        periods: Sequence[float] | None = None,
        country: str | None = None,
        holidays: Sequence[Any] | dict[Any, str] | None = None,
        method: Literal["auto", "exact", "collapsed", "stochastic"] = "auto",
        floor: float | Literal["auto"] | None = "auto",
        cap: float | None = None,
        step: str | float | None = None,
        iterations: int = 2500,
        random_state: int | np.random.RandomState | None = 0,
        progress: bool | Show | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernels = kernels
        self.prior = prior
        self.likelihood = likelihood
        self.scale = scale
        self.periods = periods
        self.country = country
        self.holidays = holidays
        self.method = method
        self.floor = floor
        self.cap = cap
        self.step = step
        self.iterations = iterations
        self.random_state = random_state
        self.progress = progress
        self.n_jobs = n_jobs

    def fit(
        self,
        series: Any,
        y: Any = None,
        *,
        time: str | None = None,
        target: str | None = None,
        regressors: Sequence[str] = (),
        id: str | None = None,
        sample_weight: Any = None,
    ) -> "Forecaster":
        """Find the components of a series.

        Parameters
        ----------
        series : pandas Series, frame, or times
            The index of a Series holds the times. A frame has a column of times (in pandas also an index of dates) and
            a column of values. Times are dates, ISO text or numbers in an array or a list; give their values as `y`.
        y : values, default=None
            One value for each time, if `series` are times. Missing values (NaN, None) are left out.
        time, target : str, default=None
            The columns of a frame; guessed if only one column is possible.
        regressors : list of str, default=()
            Further columns of numbers whose future is known; `forecast` then needs their future values.
        id : str, default=None
            The column that identifies the series of a panel; None takes "unique_id" if the frame has it.
        sample_weight : numbers, or the name of a column, default=None
            How much each row counts: a row of weight 4 has half the noise of a row of weight 1. (One series.)
        """
        settings = self.checked_settings()
        check_frame(series, "series")
        check_frame(y, "y")
        if series is None:
            raise ValueError("series: None: give times with values, a frame, or a pandas Series.")
        table = nw.from_native(series, eager_only=True, pass_through=True)
        if isinstance(table, nw.DataFrame) and (id is not None or ID in table.columns):
            names = {"time": time, "target": target, "regressors": regressors}
            if sample_weight is not None:
                raise ValueError("sample_weight: it is for one series: leave it out, or fit the series one by one.")
            layout = Layout(id=id or ID)
            with watched(self.progress) as show:
                self.fitted_: FittedSeries | Panel = fit_panel(
                    series, layout, names, settings, self.n_jobs, _counted(show)
                )
            return self
        if id is not None:
            raise ValueError(f"id={quoted(id)} names a column of a frame: give a frame, or leave it out.")
        names = {"time": time, "target": target, "regressors": regressors, "sample_weight": sample_weight}
        observed = read(series, y, **names)
        self.fitted_ = FittedSeries.fit(observed, self._settings())
        return self

    def checked_settings(self) -> dict[str, Any]:
        """The settings with which each of many series is fitted; raises an exception for the first that is wrong."""
        self._validate_params()
        check_periods(self.periods)
        return self._settings(progress=None)

    def update(self, series: Any, y: Any = None) -> "Forecaster":
        """Append rows. The structure stays; weights and hyperparameters are fitted again from their present values.

        Times that already have a value raise ValueError. Among many series, those without new rows do not change, and
        new series are fitted.
        """
        found = self._fitted()
        check_frame(series, "series")
        check_frame(y, "y")
        if isinstance(found, Panel):
            with watched(self.progress) as show:
                self.fitted_ = found.updated(series, self._settings(progress=None), self.n_jobs, _counted(show))
            return self
        layout = found.observed.layout
        framed = isinstance(nw.from_native(series, eager_only=True, pass_through=True), nw.DataFrame)
        names: dict[str, Any] = {"time": layout.time, "target": layout.target, "regressors": layout.regressors}
        self.fitted_ = found.updated(read(series, y, **(names if framed else {})), self.progress)
        return self

    def forecast(self, horizon: int | None = None, levels: Sequence[float] = (80, 95), *, future: Any = None) -> Any:
        """Mean, median and prediction intervals of the next `horizon` steps.

        Columns: the time under its own name ("time" for arrays), mean, median, and for each level in per cent low_80,
        high_80 ... (a time that is called so gets brackets). A pandas Series, or a frame indexed by dates, gives a
        frame indexed by the new dates, arrays give a dictionary of arrays, many series give one long table. `future`
        is a frame with the future values of the regressors; if it has the column of times, these are the times of the
        forecast.
        """
        check_percent(levels)
        return self._table(horizon, future, lambda one, ahead: one.expected(ahead, levels))

    def predict_quantiles(
        self, when: Any = None, levels: Sequence[float] = (0.025, 0.1, 0.5, 0.9, 0.975), *, future: Any = None
    ) -> Any:
        """Quantiles of a new value, in columns quantile_0.1 ...: for the next `when` steps, or at given stamps."""
        return self._table(when, future, lambda one, ahead: one.quantiles(ahead, levels))

    def predict_in_sample(self, levels: Sequence[float] = (80, 95)) -> Any:
        """The fit at all times of the series, also those without a value, and the values.

        Each row is fitted with the knowledge of all others, so this is not a forecast.
        """
        check_percent(levels)

        def make(one: FittedSeries) -> tuple[Any, dict[str, Any]]:
            ahead = one.within()
            return ahead.stamps, beside({one.observed.layout.target: one.observed.y}, one.expected(ahead, levels))

        found = self._fitted()
        if isinstance(found, Panel):
            return found.each(lambda name, one: make(one))
        return found.observed.layout.write(*make(found))

    def outliers(self) -> Any:
        """The values that are far from what the other rows make expected, the furthest first.

        Columns: the time under its own name, value, expected (the median given all other rows), and sds, the distance
        in standard deviations, at least 4. The table is of the kind that came in; many series give one long table.
        """
        found = self._fitted()
        if isinstance(found, Panel):
            return found.each(lambda name, one: one.outliers())
        return found.observed.layout.write(*found.outliers())

    def backtest(self, folds: int | None = None, horizon: int | None = None, *, search_again: bool = False) -> Backtest:
        """Forecast from past origins, and compare with what came true.

        Parameters
        ----------
        folds : int, default=None
            The number of origins. They lie `horizon` rows apart, the last one `horizon` rows before the end. None
            takes three, or fewer if the first one would know less than half of the rows.
        horizon : int, default=None
            Rows that each origin forecasts; None takes a tenth of the rows, at least one.
        search_again : bool, default=False
            Whether the components are chosen at every origin. By default they are chosen at the first one, from the
            rows before it, and kept; weights and hyperparameters are fitted again at each.

        Returns
        -------
        Backtest
            It prints as two lines. `table` has one row a step ahead: mean absolute errors of the median forecast, of
            the last value, of the last season and, if statsforecast is installed, of its AutoETS; CRPS, MSIS, and the
            part of the values inside the 80 and 95 % intervals. `summary` has these figures over all steps, `origins`
            those of each origin, `forecasts` every forecast beside its value; `plot()` draws them. Later reports show
            it. (One series.)
        """
        one = self._one()
        settings = self._settings(progress=None)
        with watched(self.progress) as show:
            found = backtest_of(one.observed, settings, folds, horizon, search_again=search_again, progress=show)
        self.fitted_ = replace(one, backtest=found)
        return found

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the forecaster, of one series or of many, to a file for `farrier.load`."""
        self._fitted()
        return saving.save(self, path)

    def decompose(self, when: Any = None, *, future: Any = None) -> Decomposition:
        """Mean and standard deviation of every component: for the next `when` steps, or at stamps.

        None: at all times of the series. The scale is that of `model_.transform_`.
        """
        one = self._one()
        ahead = one.within() if when is None and future is None else one.ahead(when, future)
        return one.described().decompose(ahead.X)

    @property
    def components_(self) -> ComponentTable:
        """One row for each component, largest first."""
        return self._one().model.components_

    @property
    def result_(self) -> Result:
        """The result of the fit of one series."""
        return self._one().model.result_

    @property
    def model_(self) -> Regressor:
        """The model of one series."""
        return self._one().described()

    @property
    def series_(self) -> dict[Any, "Forecaster"]:
        """A Forecaster for each of many series."""
        return {name: self[name] for name in self._many().series}

    @property
    def errors_(self) -> dict[Any, Exception]:
        """The errors of the series that could not be fitted, by name."""
        return dict(self._many().errors)

    def __getitem__(self, name: Any) -> "Forecaster":
        """The Forecaster of one of many series."""
        panel = self._many()
        if name in panel.errors and name not in panel.series:
            raise KeyError(f"{name!r} could not be fitted: {panel.errors[name]}")
        one = Forecaster(**self.get_params(deep=False))
        one.fitted_ = panel.series[name]
        return one

    def __sklearn_is_fitted__(self) -> bool:
        return "fitted_" in vars(self)

    def _fitted(self) -> FittedSeries | Panel:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("This Forecaster is not fitted yet: call fit first.")
        return self.fitted_

    def _one(self) -> FittedSeries:
        found = self._fitted()
        if isinstance(found, Panel):
            name = next(iter(found.series))
            raise AttributeError(f"this Forecaster has many series: choose one of them, such as forecaster[{name!r}].")
        return found

    def _many(self) -> Panel:
        found = self._fitted()
        if isinstance(found, FittedSeries):
            raise AttributeError("this Forecaster has one series, without a name: use its own methods.")
        return found

    def _table(self, when: Any, future: Any, make: Callable[[FittedSeries, Ahead], dict[str, np.ndarray]]) -> Any:
        found = self._fitted()
        check_frame(future, "future")
        if isinstance(found, Panel):

            def part(name: Any, one: FittedSeries) -> tuple[Any, dict[str, Any]]:
                ahead = one.ahead(when, found.future_of(future, name))
                return ahead.stamps, make(one, ahead)

            return found.each(part)
        ahead = found.ahead(when, future)
        return found.observed.layout.write(ahead.stamps, make(found, ahead))

    def _settings(self, **changes: Any) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*OWN, *DATED, STEP)} | changes


def _counted(show: Show | None) -> Callable[[int, int], None]:
    """Reports how many of many series are finished."""
    if show is None:
        return lambda done, count: None
    return lambda done, count: show(Progress("fitting series", done, count, float("nan")))
