"""The methods of a `Forecaster` that explain, report and plot one series."""

import os
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from farrier.estimators.fitted_series import FittedSeries
from farrier.explain.backtest import Backtest

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    from farrier.explain.explanation import Explanation


class SeriesReports:
    """Methods of a `Forecaster` that tell what was found in its series."""

    @abstractmethod
    def _one(self) -> FittedSeries:
        """The only series."""

    @abstractmethod
    def backtest(self, folds: int | None = None, horizon: int | None = None, *, search_again: bool = False) -> Backtest:
        """Forecasts from past origins beside what came true."""

    def explain(self) -> "Explanation":
        """The components in plain English, largest first; it prints as text, and converts to a table or to Markdown."""
        return self._one().described().explain()

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        horizon: int | None = None,
        backtest: bool | None = None,
    ) -> Path:
        """Write the report, one HTML file that needs nothing but a browser.

        `horizon` is the number of steps to forecast; by default a sixth of the rows if times are evenly spaced. With
        `backtest=True` it shows how good such forecasts were in the past, with a backtest of the same horizon unless
        there was one before. None shows the last backtest if there was one, False shows none.
        """
        if backtest and self._one().backtest is None:
            self.backtest(horizon=horizon or None)
        one = self._one()
        shown = None if backtest is False else one.backtest
        return one.described().report(path, title=title, horizon=horizon, backtest=shown)

    def plot(self, *, horizon: int | None = 0, ax: "Axes | None" = None) -> "Axes":
        """Plot data, fit and 95 % band, with a forecast of `horizon` steps."""
        return self._one().described().plot(horizon=horizon, ax=ax)

    def plot_components(self, *, horizon: int | None = 0) -> "np.ndarray":
        """Plot every component with its 95 % band, one panel each, and return their axes."""
        return self._one().described().plot_components(horizon=horizon)

    def plot_weights(self, *, ax: "Axes | None" = None) -> "Axes":
        """Plot the weight of every candidate before and after the fit."""
        return self._one().described().plot_weights(ax=ax)
