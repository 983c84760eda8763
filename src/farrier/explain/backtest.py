"""`Backtest`, the result of `forecaster.backtest()`: how good such forecasts would have been in the past.

    backtest = forecaster.backtest(folds=3, horizon=12)
    print(backtest)           # two lines
    backtest.table            # one row a step ahead, in the kind of frame that came
    backtest.summary          # the same figures over all steps
    backtest.plot()

series/backtests.py computes the figures. Errors are mean absolute errors of the median forecast, in the units of the
series. CRPS is in the same units: it compares the whole distribution with the value, and for a forecast without
uncertainty it is the absolute error. MSIS is the width of the 95 % intervals plus 40 times the distance of the values
outside them, over the mean step of the known rows from season to season.
"""

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from farrier.explain.context import labels_of, step_of, steps_in_words
from farrier.explain.numbers import listing, significant
from farrier.series.backtests import PastForecasts
from farrier.series.calendar import TimeAxis
from farrier.series.observed import Observed, beside, take

SEASONS = {
    ("years", 1.0): "last year's value",
    ("days", 365.2425): "last year's value",
    ("days", 7.0): "last week's value",
    ("days", 1.0): "the previous day's value",
    ("days", 1 / 24): "the previous hour's value",
    ("days", 1 / 1440): "the previous minute's value",
}
"""The forecast by the last season in words, by the kind of axis and the period."""
SHOWN = 3
"""Most origins that are named one by one, by judgement."""
BEFORE = 2
"""Rows that a picture shows before the first origin, in horizons, by judgement."""


@dataclass(frozen=True, eq=False)
class Backtest:
    """Forecasts from past origins beside what came true."""

    observed: Observed
    """The series."""
    past: PastForecasts
    """The forecasts, over the rows with a value."""
    period: float | None
    """The period of the last season, in units of the axis."""
    searched_again: bool
    """Whether the components were chosen at every origin; if not, they were chosen at the first and kept."""

    @property
    def table(self) -> Any:
        """One row for each step ahead, means over the origins."""
        steps = np.arange(1, self.past.truth.shape[1] + 1)
        return self.observed.layout.table({"step": steps} | self.past.figures(0))

    @property
    def summary(self) -> dict[str, float]:
        """The same figures over all origins and steps."""
        return {name: float(value) for name, value in self.past.figures((0, 1)).items()}

    @property
    def origins(self) -> Any:
        """One row for each origin: the last known time, the last time of the forecast, the known rows, the figures."""
        known, horizon = self.past.known, self.past.truth.shape[1]
        times = {"known_until": self._stamps(known - 1), "forecast_until": self._stamps(known + horizon - 1)}
        return self.observed.layout.table(times | {"known_rows": known} | self.past.figures(1))

    @property
    def forecasts(self) -> Any:
        """One row for each origin and step: the time, the value, and its forecast with intervals."""
        past = self.past
        folds, horizon = past.truth.shape
        rows = (past.known[:, None] + np.arange(horizon)).ravel()
        columns: dict[str, Any] = {
            "known_until": self._stamps(np.repeat(past.known - 1, horizon)),
            "step": np.tile(np.arange(1, horizon + 1), folds),
        }
        for name in ("median", "low_80", "high_80", "low_95", "high_95", "crps", "last_value", "last_season"):
            columns[name] = getattr(past, name).ravel()
        if past.auto_ets is not None:
            columns["auto_ets"] = past.auto_ets.ravel()
        layout = self.observed.layout
        found = beside({layout.time: self._stamps(rows), layout.target: past.truth.ravel()}, columns)
        return layout.table({name: found[name] for name in ("known_until", "step", *found)})

    @property
    def errors(self) -> dict[str, np.ndarray]:
        """The mean absolute error of every method at each step ahead, by the method in words."""
        found = self.past.figures(0)
        season = SEASONS.get((self.observed.axis.kind, self.period or 0.0), "the last season's value")
        names = {
            "error": "the forecast",
            "last_season_error": season,
            "last_value_error": "the last value",
            "auto_ets_error": "AutoETS",
        }
        known = {name for name, values in found.items() if not np.isnan(values).any()}
        return {words: found[name] for name, words in names.items() if name in known}

    def sentences(self) -> tuple[str, str]:
        """The result in two lines: errors; then coverage, origins and what was fitted."""
        (folds, horizon), found = self.past.truth.shape, self.summary
        _, *others = ((words, float(values.mean())) for words, values in self.errors.items())
        against = listing([f"{significant(error)} for {words}" for words, error in others])
        made = f"In {folds} past forecasts" if folds > 1 else "In one past forecast"
        said = f"{made} of {self._steps(horizon)} the error was {significant(found['error'])} on average"
        inside = [f"{round(100 * found[f'inside_{level}'])} %" for level in (95, 80)]
        held = f"95 % intervals held {inside[0]} of the values, 80 % intervals {inside[1]}."
        ets = "" if self.past.auto_ets is not None else " AutoETS is not compared: statsforecast is not installed."
        return f"{said}, against {against}.", f"{held} {self._origins()}.{ets}"

    def _origins(self) -> str:
        """Where the forecasts start, and from what structure."""
        starts = [self.labels()[known - 1] for known in self.past.known.tolist()]
        if len(starts) == 1:
            return f"The forecast starts after {starts[0]}, with the structure found in the rows up to then"
        structure = "searched again each time" if self.searched_again else "found before the first one and kept"
        dates = listing(starts) if len(starts) <= SHOWN else f"{len(starts)} dates from {starts[0]} to {starts[-1]}"
        return f"The forecasts start after {dates}; the structure was {structure}"

    def labels(self) -> list[str]:
        """The times of the rows with a value, as text."""
        axis = self._axis()
        return labels_of(axis, axis.numbers, axis.labels())

    def to_dict(self) -> dict[str, Any]:
        """Everything that the report shows, in text, numbers and lists."""
        past, labels, numbers = self.past, self.labels(), self._axis().numbers
        horizon = past.truth.shape[1]
        shown = slice(max(0, int(past.known[0]) - BEFORE * horizon), None)
        forecasts = [
            {"origin": labels[first - 1]}
            | {"x": numbers[first : first + horizon], "label": labels[first : first + horizon]}
            | {name: getattr(past, name)[fold] for name in ("median", "low_80", "high_80", "low_95", "high_95")}
            for fold, first in enumerate(past.known.tolist())
        ]
        return {
            "sentences": list(self.sentences()),
            "searched_again": self.searched_again,
            "errors": self.errors,
            "steps": past.figures(0),
            "summary": self.summary,
            "step_name": self._steps(1).removeprefix("one ").partition(" of ")[0],
            "x": numbers[shown],
            "label": labels[shown],
            "y": self.observed.y[self.observed.present][shown],
            "forecasts": forecasts,
        }

    def plot(self) -> np.ndarray:
        """Plot the past forecasts over the values, and below the errors by step ahead; the two axes."""
        from farrier.explain import plots

        return plots.plot_backtest(self)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences())

    def __repr__(self) -> str:
        return str(self)

    def _axis(self) -> TimeAxis:
        return self.observed.axis.take(self.observed.present)

    def _stamps(self, rows: np.ndarray) -> Any:
        return take(self.observed.stamps, self.observed.present[rows])

    def _steps(self, number: int) -> str:
        """A number of rows in words: '12 months'; 'values' where some are missing or no calendar has a word."""
        axis = self.observed.axis
        whole = step_of(axis)[0] and not axis.gaps and len(self.observed.present) == len(axis.numbers)
        return steps_in_words(axis, number) if whole else f"{'one value' if number == 1 else f'{number} values'}"
