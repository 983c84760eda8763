"""The forecast of one series, as a pure function: rows and a plan in, an outcome out. Nothing is raised.

plan = Plan.of(time="month", target="sales", horizon=12, levels=(80, 95), settings={"country": "DE"})
outcome = forecast_series(Job("north", stamps, values), plan)
outcome.error or outcome.columns["mean"]
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from farrier.estimators.arguments import check_percent
from farrier.estimators.fitted_series import FittedSeries
from farrier.estimators.forecaster import Forecaster
from farrier.inference.linalg import one_thread
from farrier.series.columns import read_numbers
from farrier.series.observed import Layout, Observed
from farrier.series.stamps import Column


@dataclass(frozen=True)
class Plan:
    """What to forecast of every series, and how."""

    time: str
    target: str
    horizon: int
    levels: tuple[float, ...]
    settings: Mapping[str, Any]
    """The parameters of a `Forecaster` that differ from their defaults."""

    @classmethod
    def of(
        cls, *, time: str, target: str, horizon: int, levels: Sequence[float], settings: Mapping[str, Any]
    ) -> "Plan":
        """A plan whose settings have been checked; ValueError or TypeError if one is wrong."""
        if isinstance(horizon, bool) or not isinstance(horizon, int | np.integer) or horizon < 1:
            raise ValueError(f"horizon: {horizon!r} is not a number of steps: give 1 or more.")
        check_percent(levels)
        Forecaster(**settings).checked_settings()
        return cls(time, target, int(horizon), tuple(map(float, levels)), dict(settings))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a message."""
        return asdict(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a forecast after the id and the time."""
        return ("mean", "median", *(f"{end}_{level:g}" for level in self.levels for end in ("low", "high")))


@dataclass(frozen=True, eq=False)
class Job:
    """The rows of one series."""

    name: Any
    """The value that identifies the series."""
    stamps: Any
    values: Any
    """Cells of the target: numbers, None where they are missing, or text that is an error."""
    rows: Sequence[str] | None = None
    """The names of the rows in errors, such as "line 7"; None counts them."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The forecast of one series, or why there is none."""

    name: Any
    error: str | None = None
    stamps: Any = ()
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    structure: str = ""
    """The kernels of the large components, in alphabetical order, and the scale if it is not that of the target."""
    rows: int = 0
    seconds: float = 0.0
    """Seconds of processing, as the clock on the wall shows."""


def forecast_series(job: Job, plan: Plan) -> Outcome:
    """Fit one series and forecast it; an error is part of the outcome."""
    begin = perf_counter()
    try:
        with one_thread():
            outcome = _forecast(job, plan)
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        known = isinstance(error, ValueError | ArithmeticError)
        outcome = Outcome(job.name, why if known else f"{type(error).__name__}: {why}", rows=len(job.values))
    return replace(outcome, seconds=perf_counter() - begin)


def _forecast(job: Job, plan: Plan) -> Outcome:
    if job.name is None or job.name != job.name:
        raise ValueError("these rows name no series: fill in the id.")
    y = read_numbers(job.values, Column(plan.target, job.rows))
    observed = Observed.of(Layout(plan.time, plan.target), job.stamps, y)
    fitted = FittedSeries.fit(observed, Forecaster(**plan.settings).checked_settings())
    ahead = fitted.ahead(plan.horizon, None)
    columns = fitted.expected(ahead, plan.levels)
    formulas = sorted(component.formula for component in fitted.model.components_.large())
    scale = str(fitted.model.transform_)
    told = " + ".join(formulas) or "constant"
    structure = told if scale == "identity" else f"{scale}: {told}"
    return Outcome(job.name, None, ahead.stamps, columns, structure, len(y))
