"""The methods of a `Forecaster` that other libraries have too, and those that look back.

forecaster.predict(12)                    # the means of the next steps as an array
forecaster.score(times, values)           # R squared of the predictions at these times
forecaster.sample(12, count=100)          # paths that the series may take
forecaster.anomalies(new_rows)            # values that the model did not expect
forecaster.changepoints_                  # when the series changed, with intervals
forecaster.digest()                       # of many series: which structures, how often, how sure
"""

from abc import abstractmethod
from collections import Counter, defaultdict
from html import escape
from numbers import Integral, Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.metrics import r2_score

from farrier.data.quoting import quoted
from farrier.estimators.fitted_series import FittedSeries
from farrier.estimators.panel import Panel
from farrier.estimators.parameters import CheckedParameters
from farrier.explain.facts import Factor, Facts
from farrier.explain.findings import findings
from farrier.explain.frames import to_frame
from farrier.model.outliers import expected_intervals
from farrier.model.paths import sample_paths
from farrier.series.observed import read, take

DATED = ("from", "until", "bend", "shock")
"""The kinds of factors that have a date."""
MOST_SAMPLED = 100_000_000
"""Most values of all paths that are drawn at once: 800 MB. By judgement."""


class SeriesMethods(CheckedParameters):
    """Methods of a `Forecaster` that need nothing but its fitted series."""

    fitted_: FittedSeries | Panel

    @abstractmethod
    def _one(self) -> FittedSeries:
        """The only series."""

    @abstractmethod
    def _many(self) -> Panel:
        """All series."""

    def predict(self, when: Any, *, future: Any = None) -> np.ndarray:
        """The mean of the next `when` steps, or at given times, as an array. (One series.)

        `future` is a frame with the regressors at these times; `forecast` gives intervals too.
        """
        one = self._one()
        return one.model.predict(one.ahead(when, future).X)

    def score(self, series: Any, y: Any = None) -> float:
        """R squared of the predictions at the times of other rows, in the forms that `fit` takes. (One series.)

        1 is perfect, 0 is as good as the mean of these rows.
        """
        one = self._one()
        rows = self._rows(series, y)
        present = rows.present
        if len(present) < 2:
            raise ValueError(f"series: {len(present)} values have no R squared: give two or more.")
        X = one.observed.inputs(one.observed.axis.locate(rows.stamps)[present], rows.extra[present])
        return float(r2_score(rows.y[present], one.model.predict(X)))

    def sample(self, when: Any, count: int = 100, *, future: Any = None, random_state: int = 0) -> Any:
        """Paths of the next `when` steps, or at given times: the times, then a column for each path. (One series.)

        Steps of one path depend on each other as the model says; at each step the paths have the distribution of the
        forecast. Sums over steps, such as the total of a year, have the right uncertainty.
        """
        if not isinstance(count, Integral) or count < 1:
            raise ValueError(f"count: {quoted(count)} is not a number of paths: give 1 or more.")
        if random_state is not None and (not isinstance(random_state, Integral) or random_state < 0):
            raise ValueError(f"random_state: {quoted(random_state)} is not a seed: give a whole number, 0 or more.")
        one = self._one()
        ahead = one.ahead(when, future)
        result = one.model.result_
        X = np.asarray(ahead.X, float)
        most = MOST_SAMPLED // max(len(X), 1)
        if count > most:
            raise ValueError(f"count: {quoted(count)} paths of {len(X)} steps are too many: give at most {most:,}.")
        paths = sample_paths(result.fitted, result.at(X), int(count), random_state)
        return one.observed.layout.write(ahead.stamps, {f"path_{i}": path for i, path in enumerate(paths, 1)})

    def anomalies(self, series: Any = None, y: Any = None, *, level: float = 99.0) -> Any:
        """The values outside the interval that holds `level` per cent of new values. (One series.)

        Parameters
        ----------
        series, y : new rows in the forms that `fit` takes, default=None
            The values to judge, usually later than those of the fit. None judges the rows of the fit, each by what all
            other rows make expected, as `outliers` does, which lists those beyond four standard deviations.
        level : float, default=99
            In per cent. Of ordinary values about 100 - level in 100 lie outside.

        Returns
        -------
        table
            The time, value, expected (the median), and the ends of the interval, low and high.
        """
        if not isinstance(level, Real) or not 0.0 < level < 100.0:
            raise ValueError(f"level: {quoted(level)} is not a percentage between 0 and 100: 99 is usual.")
        one = self._one()
        rows = one.observed if series is None else self._rows(series, y)
        present, value = rows.present, rows.y[rows.present]
        if series is None:
            median, low, high = expected_intervals(one.model.result_, float(level))
        else:
            X = one.observed.inputs(one.observed.axis.locate(rows.stamps)[present], rows.extra[present])
            tail = 0.5 - level / 200.0
            low, median, high = one.model.predict_quantiles(X, [tail, 0.5, 1.0 - tail]).T
        outside = np.flatnonzero((value < low) | (value > high))
        columns = {"value": value, "expected": median, "low": low, "high": high}
        stamps = take(rows.stamps, present[outside])
        return one.observed.layout.write(stamps, {name: column[outside] for name, column in columns.items()})

    @property
    def changepoints_(self) -> Any:
        """When the series changed: one row for each changepoint of a component. (One series.)

        Columns: the time of the first row after the change, the ends low and high of its 95 % interval, its kind
        ("level", "slope", "shock", or "part" if another component begins or ends), the change of the level or the size
        of the shock, the slopes before and after a change of the slope, the time in which half of a shock heals, and
        the component in words. Slopes are per step and times in steps of the series. What a kind does not have is NaN.
        """
        one = self._one()
        model = one.described()
        found = findings(model.result_, model.context_)
        titles = model.explain().to_frame(like=np.zeros(0))["component"]
        rows = [
            (factor, factor.location, facts, str(title))
            for facts, title in zip(found.facts, titles, strict=True)
            for factor in facts.factors
            if factor.kind in DATED and factor.location is not None
        ]
        numbers = one.observed.axis.numbers
        places = [[int(np.argmin(np.abs(numbers - x))) for x in (at.value, at.low, at.high)] for _, at, _, _ in rows]
        index = np.array(places, int).reshape(-1, 3)
        first, low, high = (take(one.observed.stamps, index[:, k]) for k in range(3))
        columns = {"low": low, "high": high, "kind": [_kind(factor, facts) for factor, _, facts, _ in rows]}
        step = found.setting.axis.spacing
        numbers = [_numbers(factor, facts, step) for factor, _, facts, _ in rows]
        names = ("change", "before", "after", "half")
        columns |= {name: np.array([each[k] for each in numbers], float) for k, name in enumerate(names)}
        return one.observed.layout.write(first, columns | {"component": [title for *_, title in rows]})

    def digest(self) -> Any:
        """Of many series: which structures were found, in how many of them, and how sure. (Many series.)

        Columns: structure, series (their number), share (the mean part of the forecast that is its own), example.
        """
        panel = self._many()
        counts: Counter[str] = Counter()
        shares, examples = defaultdict(list), {}
        for name, one in panel.series.items():
            result = one.model.result_
            formulas = sorted({kernel.formula(result.names) for kernel in result.kernels})
            structure = " + ".join(formulas) or "constant"
            counts[structure] += 1
            shares[structure].append(result.fitted.share)
            examples.setdefault(structure, name)
        ordered = [structure for structure, _ in counts.most_common()]
        return to_frame(
            {
                "structure": ordered,
                "series": [counts[one] for one in ordered],
                "share": [float(np.mean(shares[one])) for one in ordered],
                "example": [examples[one] for one in ordered],
            }
        )

    def _rows(self, series: Any, y: Any) -> Any:
        """New rows, read as those of the fit were."""
        layout = self._one().observed.layout
        framed = isinstance(nw.from_native(series, eager_only=True, pass_through=True), nw.DataFrame)
        names: dict[str, Any] = {"time": layout.time, "target": layout.target, "regressors": layout.regressors}
        return read(series, y, **(names if framed else {}))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if "fitted_" not in vars(self) or isinstance(self.fitted_, Panel):
            return bundle
        text = str(self._one().described().explain())
        return bundle | {"text/html": "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n"))}


def _kind(factor: Factor, facts: Facts) -> str:
    """The kind of a changepoint."""
    if factor.kind in ("bend", "shock"):
        return {"bend": "slope", "shock": "shock"}[factor.kind]
    return "part" if facts.jump is None else "level"


def _numbers(factor: Factor, facts: Facts, step: float) -> tuple[float, ...]:
    """The change, the slopes before and after it, and the time in which half of it heals."""
    before, after = (np.nan, np.nan) if facts.slopes_around is None else (one.value for one in facts.slopes_around)
    length = factor.lengthscale if factor.kind == "shock" else None
    half = np.nan if length is None or not step else np.log(2.0) * length.value / step
    return np.nan if facts.jump is None else facts.jump.value, before * step, after * step, half
