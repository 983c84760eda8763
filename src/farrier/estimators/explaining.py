"""The methods of every fitted estimator that explain, report, plot and save it."""

import os
from collections.abc import Sequence, Sized
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from farrier.data.quoting import quoted
from farrier.explain.components import ComponentTable
from farrier.explain.context import Context
from farrier.model.result import Result
from farrier.series.calendar import TimeAxis

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    from farrier.explain.backtest import Backtest
    from farrier.explain.explanation import Explanation


class ExplainingMixin:
    """The methods that explain, report, plot and save a fitted model. They read `result_` and `context_`."""

    result_: Result
    """The result of the fit."""
    context_: Context
    """What `describe` said about the data."""

    @cached_property
    def components_(self) -> ComponentTable:
        """The components with their sizes, largest first; worked out when they are first asked for."""
        check_is_fitted(self)
        return ComponentTable.of(self.result_)

    def forget_components(self) -> None:
        """The components are to be worked out again: there is a new result."""
        vars(self).pop("components_", None)

    def describe(
        self,
        *,
        title: str = "",
        target_name: str = "y",
        target_unit: str = "",
        axis: TimeAxis | None = None,
        labels: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Self:
        """Name the data, for explanations, reports and plots.

        Parameters
        ----------
        title : str
            The title of a report.
        target_name, target_unit : str
            The name of y, and its unit.
        axis : TimeAxis, default=None
            The times of the rows, where X is one column of times.
        labels : list of str, default=None
            The labels of the rows, in the order of fitting.
        columns : list of str, default=None
            The names of the inputs; None keeps the present names.
        """
        check_is_fitted(self)
        rows, inputs = self.result_.inputs.shape
        for name, given, count, what in (("labels", labels, rows, "rows"), ("columns", columns, inputs, "inputs")):
            if given is not None and (isinstance(given, str | bytes) or not isinstance(given, Sized)):
                raise ValueError(f"{name}: {quoted(given)} is not a list of names: give one for each of the {what}.")
            if given is not None and len(given) != count:
                raise ValueError(f"{name}: {len(given)} names for {count} {what}: give one for each.")
            odd = [one for one in (() if given is None else given) if not isinstance(one, str)]
            if odd:
                raise ValueError(f"{name}: {quoted(odd[0])} is not a name: give a text for each of the {what}.")
        self.context_ = Context(title, target_name, target_unit, axis, labels)
        if columns is not None:
            given = self.result_.given
            self.result_ = replace(self.result_, columns=tuple(columns[given(d)] for d in range(inputs)))
            self.forget_components()
        return self

    def explain(self) -> "Explanation":
        """The components in plain English, largest first. It prints as text, and converts to a table or to Markdown."""
        from farrier.explain.explanation import Explanation

        check_is_fitted(self)
        return Explanation(self.result_, self.context_)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        horizon: int | None = None,
        backtest: "Backtest | None" = None,
    ) -> Path:
        """Write the report, one HTML file that needs nothing but a browser.

        `horizon` is the number of steps to forecast; by default a sixth of the rows if times are evenly spaced.
        `backtest` is the result of `Forecaster.backtest`, for a section about past forecasts.
        """
        from farrier.explain import report
        from farrier.explain.story import story

        check_is_fitted(self)
        told = story(self.result_, self.context_, title=title, horizon=_steps(horizon), backtest=backtest)
        return report.write(told, path)

    def plot(self, *, horizon: int | None = 0, ax: "Axes | None" = None) -> "Axes":
        """Plot data, fit and 95 % band, with a forecast of `horizon` steps; for a table, observed against fitted."""
        from farrier.explain import plots

        check_is_fitted(self)
        return plots.plot(self.result_, self.context_, horizon=_steps(horizon), ax=ax)

    def plot_components(self, *, horizon: int | None = 0) -> "np.ndarray":
        """Plot every component with its 95 % band, one panel each, and return their axes."""
        from farrier.explain import plots

        check_is_fitted(self)
        return plots.plot_components(self.result_, self.context_, horizon=_steps(horizon))

    def plot_weights(self, *, ax: "Axes | None" = None) -> "Axes":
        """Plot the weight of every candidate before and after the fit."""
        from farrier.explain import plots

        check_is_fitted(self)
        return plots.plot_weights(self.result_, self.context_, ax=ax)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the model to a file for `farrier.load`."""
        from farrier.estimators import files as saving

        check_is_fitted(self)
        return saving.save(self, path)


def _steps(horizon: Any) -> int | None:
    if horizon is not None and (int(horizon) != horizon or horizon < 0):
        raise ValueError(f"horizon: {horizon} is not a number of steps: give 0 or more")
    return None if horizon is None else int(horizon)
