"""One series with its fitted model: future times, and predictions at times.

It converts the user's columns (observed.py) to the inputs of a `Regressor`: the times as numbers first, then the known
regressors.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.data.quoting import quoted
from farrier.estimators.regressor import Regressor
from farrier.estimators.watching import Show
from farrier.explain.backtest import Backtest
from farrier.explain.parts import in_degrees
from farrier.model.outliers import outliers_of
from farrier.model.result import Recipe
from farrier.series.calendar import TimeAxis
from farrier.series.calendar_patterns import calendar_patterns, shows_days, year_range
from farrier.series.holidays import read_holidays
from farrier.series.observed import Observed, native_column, read_regressors, take

OWN = (
    "kernels",
    "prior",
    "likelihood",
    "scale",
    "periods",
    "method",
    "floor",
    "cap",
    "iterations",
    "random_state",
    "progress",
)
"""The parameters of a `Forecaster` that are passed on to its `Regressor`."""
DATED = ("country", "holidays")
"""The parameters of a `Forecaster` from which the patterns of the calendar are made."""
STEP = "step"
"""The parameter of a `Forecaster` that is the step of a forecast of irregular times."""
CALL = "times, y"
"""What a recipe gives to `fit` where there are no regressors."""


class TimeRegressor(Regressor):
    """The regressor of a `Forecaster`, whose first input is time."""

    _timed = True

    def _recipe(self) -> Recipe:
        own = {name: value for name, value in self.get_params().items() if name in OWN and name != "progress"}
        return Recipe.of("Forecaster", own, type(self)().get_params() | {"floor": "auto"}, f"fit({CALL})")


@dataclass(frozen=True, eq=False)
class Ahead:
    """Times at which the model predicts."""

    stamps: Any
    """The times in the type of the series."""
    X: Any
    """The inputs of the model at these times."""


@dataclass(frozen=True, eq=False)
class FittedSeries:
    """One series and its model."""

    observed: Observed
    model: Regressor
    backtest: Backtest | None = None
    """The last backtest of this model, for its reports."""

    @classmethod
    def fit(cls, observed: Observed, settings: dict[str, Any]) -> "FittedSeries":
        """Fit with the settings of a `Forecaster`; periods and patterns to try come from the calendar."""
        observed = replace(observed, axis=observed.axis.stepped(settings.get(STEP)))
        rows = observed.check().present
        X = observed.inputs(observed.axis.numbers[rows], observed.extra[rows])
        made = dated(settings, observed.axis, observed.axis.take(rows))
        if made["floor"] == "auto" and in_degrees(observed.layout.target or "", ""):
            made["floor"] = None  # zero degrees are no limit
        regressor = TimeRegressor(**made)
        weights = None if observed.weights is None else observed.weights[rows]
        model = _without_callback(regressor.fit(X, observed.y[rows], weights))
        model.result_ = replace(model.result_, recipe=_repeating(model.result_.recipe, observed, settings))
        return cls(observed, model)

    def updated(self, more: Observed, progress: bool | Show | None = None) -> "FittedSeries":
        """The series with more rows, fitted with the same structure."""
        observed = self.observed.extended(more)
        rows = observed.present
        X = observed.inputs(observed.axis.numbers[rows], observed.extra[rows])
        return FittedSeries(observed, _without_callback(self.model.refit(X, observed.y[rows], progress=progress)))

    def ahead(self, when: Any, future: Any) -> Ahead:
        """The next `when` steps, or the given stamps; `future` holds the regressors at these times."""
        observed, axis = self.observed, self.observed.axis
        names = observed.layout.regressors
        frame = None if future is None else nw.from_native(future, eager_only=True, pass_through=True)
        if frame is not None and not isinstance(frame, nw.DataFrame):
            raise ValueError(f"future: {type(future).__name__} is not a frame: give one with a row for each time.")
        if frame is None and names:
            raise ValueError(
                f"future: None, but the series was fitted with {', '.join(map(repr, names))}: give a frame of these "
                "columns with a row for each time ahead."
            )
        if not (when is None or isinstance(when, Integral) or _is_list(when)):
            raise ValueError(
                f"horizon: {quoted(when)} is not a number of steps: give one such as 12, or a list of times."
            )
        if when is None and frame is None:
            raise ValueError("horizon: None: give the number of steps ahead, such as 12.")
        missing = [name for name in names if frame is not None and name not in frame.columns]
        if missing:
            raise ValueError(f"future: there is no column {missing[0]!r}: give {', '.join(map(repr, names))}.")
        count = int(when) if isinstance(when, Integral) else None if when is None else len(when)
        if frame is not None and count is not None and len(frame) < count:
            raise ValueError(f"future: {len(frame)} rows for {count} times: give a row for each.")
        steps = len(frame) if frame is not None and count is None else count or 0
        if steps == 0 and not isinstance(when, Integral):
            raise ValueError("horizon: no times: give one or more, or the number of steps ahead, such as 12.")
        if when is not None and not isinstance(when, Integral):
            stamps = native_column(when)
            numbers = axis.locate(stamps)
        elif frame is not None and observed.layout.time in frame.columns:
            stamps = native_column(frame[observed.layout.time].to_native()[:steps])
            numbers = axis.locate(stamps)
        else:
            if steps < 1:
                raise ValueError(f"horizon: {when} steps: give 1 or more.")
            found = axis.future(steps)
            stamps, numbers = found.stamps, found.numbers
        extra = np.empty((len(numbers), 0)) if frame is None else read_regressors(frame, names)[: len(numbers)]
        return Ahead(stamps, observed.inputs(numbers, extra))

    def within(self) -> Ahead:
        """All times of the series, also those without a value."""
        observed = self.observed
        return Ahead(observed.stamps, observed.inputs(observed.axis.numbers, observed.extra))

    def expected(self, ahead: Ahead, levels: Sequence[float]) -> dict[str, np.ndarray]:
        """Mean, median and the ends of the prediction intervals, by name."""
        ends = [0.5 + sign * level / 200.0 for level in levels for sign in (-1.0, 1.0)]
        mean, quantiles = self.model.predict_summary(ahead.X, [0.5, *ends])
        names = ["median", *(f"{end}_{level:g}" for level in levels for end in ("low", "high"))]
        return {"mean": mean} | dict(zip(names, quantiles.T, strict=True))

    def quantiles(self, ahead: Ahead, levels: Sequence[float]) -> dict[str, np.ndarray]:
        """Quantiles, by name."""
        found = self.model.predict_quantiles(ahead.X, levels)
        return {f"quantile_{level:g}": column for level, column in zip(levels, found.T, strict=True)}

    def outliers(self) -> tuple[Any, dict[str, np.ndarray]]:
        """The times of the values that are far from what the other rows make expected, and columns about them."""
        found = outliers_of(self.model.result_)
        stamps = take(self.observed.stamps, self.observed.present[found.rows])
        return stamps, {"value": found.value, "expected": found.expected, "sds": found.sds}

    def described(self) -> Regressor:
        """The model with the names of its target and of its rows."""
        observed, rows = self.observed, self.observed.present
        axis = observed.axis.take(rows)
        names, layout = axis.labels(), observed.layout
        columns = [layout.time, *layout.regressors]
        return copy(self.model).describe(target_name=layout.target, axis=axis, labels=names, columns=columns)


def dated(settings: dict[str, Any], axis: TimeAxis, present: TimeAxis) -> dict[str, Any]:
    """The settings of a `Regressor` from those of a `Forecaster`: with the seasons of an axis, if none are given, and
    with the patterns of the calendar that the rows with a value show.
    """
    made = {name: value for name, value in settings.items() if name not in (*DATED, STEP)}
    if made.get("periods") is None:
        # plain numbers may have a season that the calendar does not tell
        made["periods"] = axis.calendar_periods() or (None if axis.kind == "number" else [])
    country, given = (settings.get(name) for name in DATED)
    if (country is not None or given is not None) and axis.kind == "number":
        raise ValueError(
            f"country={quoted(country)}, holidays={quoted(given)}: the times of {quoted(axis.name)} are plain numbers: "
            "give dates."
        )
    # what is given is checked for longer steps too, which show no days
    years = year_range(present) if shows_days(present) else (2000, 2000)
    return made | {"calendar": calendar_patterns(present, read_holidays(country, given, *years))}


def _repeating(recipe: Recipe, observed: Observed, settings: dict[str, Any]) -> Recipe:
    """The recipe of the regressor with what a `Forecaster` alone was given: country, holidays, step and regressors."""
    own = {name: settings[name] for name in ("country", STEP) if settings.get(name) is not None}
    if settings.get("holidays") is not None:
        own["holidays"] = {
            day.isoformat(): name for day, name in read_holidays(None, settings["holidays"], 0, 0).items()
        }
    layout, call = observed.layout, recipe.call
    if layout.regressors:
        names = f"time={layout.time!r}, target={layout.target!r}, regressors={list(layout.regressors)!r}"
        call = call.replace(CALL, f"frame, {names}", 1)
    return replace(recipe, settings={**recipe.settings, **own}, call=call)


def _without_callback(model: Regressor) -> Regressor:
    """The model without its callback, which perhaps cannot be saved or sent to another process."""
    model.progress = None
    return model


def _is_list(values: Any) -> bool:
    """Whether values have a length, and are no text."""
    try:
        return len(values) >= 0 and not isinstance(values, str | bytes | Mapping)
    except TypeError:
        return False
