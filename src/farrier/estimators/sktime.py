"""`FarrierForecaster` for sktime. It needs sktime: `pip install farrier[sktime]`.

    from farrier.estimators.sktime import FarrierForecaster

    forecaster = FarrierForecaster().fit(y, fh=[1, 2, 3])
    forecaster.predict_interval(coverage=0.9)

Exogenous X are known regressors, whose future values are needed to predict. `update` keeps the structure.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from farrier.estimators.fitted_series import FittedSeries
from farrier.estimators.forecaster import Forecaster
from farrier.series.observed import Observed

try:
    from sktime.forecasting.base import BaseForecaster  # pyright: ignore[reportMissingImports]
except ImportError as error:
    raise ImportError("farrier.estimators.sktime needs sktime: pip install 'farrier[sktime]'") from error

TIME, TARGET = "farrier_time", "farrier_target"
"""Names of columns, unlikely to be those of X."""


class FarrierForecaster(BaseForecaster):
    """`farrier.Forecaster` for sktime.

    Parameters
    ----------
    kernels, prior, scale, periods, method, floor, iterations, random_state
        As in `farrier.Forecaster`.

    Examples
    --------
    >>> from farrier.estimators.sktime import FarrierForecaster
    >>> from sktime.datasets import load_airline
    >>> forecaster = FarrierForecaster(kernels=["Lin", "SE * Per"], iterations=20)
    >>> forecaster = forecaster.fit(load_airline(), fh=[1, 2, 3])
    >>> forecaster.predict().shape
    (3,)
    """

    _tags = {  # noqa: RUF012 (sktime's convention)
        "authors": ["farrier"],
        "maintainers": ["farrier"],
        "python_dependencies": ["farrier"],
        "y_inner_mtype": "pd.Series",
        "X_inner_mtype": "pd.DataFrame",
        "scitype:y": "univariate",
        "capability:exogenous": True,
        "capability:insample": True,
        "capability:missing_values": True,
        "capability:pred_int": True,
        "capability:pred_int:insample": True,
        "capability:random_state": True,
        "property:randomness": "derandomized",
        "requires-fh-in-fit": False,
        "X-y-must-have-same-index": True,
        "enforce_index_type": None,
    }

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        prior: str = "horseshoe",
        scale: str = "auto",
        periods: Sequence[float] | None = None,
        method: str = "auto",
        floor: Any = "auto",
        iterations: int = 2500,
        random_state: Any = 0,
    ) -> None:
        self.kernels = kernels
        self.prior = prior
        self.scale = scale
        self.periods = periods
        self.method = method
        self.floor = floor
        self.iterations = iterations
        self.random_state = random_state
        super().__init__()

    def _fit(self, y: Any, X: Any = None, fh: Any = None) -> "FarrierForecaster":
        self._name = y.name
        self.forecaster_ = Forecaster(**self.get_params(deep=False))
        frame = self._frame(y, X)
        self.forecaster_.fit(frame, time=TIME, target=TARGET, regressors=[] if X is None else self._names(X))
        return self

    def _update(self, y: Any, X: Any = None, update_params: bool = True) -> "FarrierForecaster":
        seen = self._series().observed
        fresh = ~pd.Index(y.index).isin(pd.Index(seen.stamps[seen.present]))
        if update_params and fresh.any() and y[fresh].notna().any():
            self.forecaster_.update(self._frame(y[fresh], None if X is None else X.loc[y.index[fresh]]))
        return self

    def _predict(self, fh: Any, X: Any = None) -> Any:
        index = fh.to_absolute_index(self.cutoff)
        values = self._at(index, X, [0.5])
        return pd.Series(values["mean"].to_numpy(), index=index, name=self._name)

    def _predict_quantiles(self, fh: Any, X: Any, alpha: Sequence[float]) -> Any:
        index = fh.to_absolute_index(self.cutoff)
        values = self._at(index, X, alpha).drop(columns="mean")
        columns = pd.MultiIndex.from_product([[self._get_varnames()[0]], alpha])
        return pd.DataFrame(values.to_numpy(), index=index, columns=columns)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Small settings for sktime's own checks."""
        return [{"kernels": ["Lin", "SE"], "iterations": 5}, {"kernels": ["SE"], "prior": "none", "iterations": 5}]

    def _series(self) -> FittedSeries:
        found = self.forecaster_.fitted_
        assert isinstance(found, FittedSeries), "sktime vectorises over many series"
        return found

    def _frame(self, y: Any, X: Any) -> Any:
        frame = pd.DataFrame({TIME: y.index, TARGET: y.to_numpy()})
        if X is not None:
            frame = pd.concat([frame, X.loc[y.index].set_axis(self._names(X), axis=1).reset_index(drop=True)], axis=1)
        return frame

    def _names(self, X: Any) -> list[str]:
        return [str(name) for name in X.columns]

    def _at(self, index: Any, X: Any, levels: Sequence[float]) -> Any:
        """Mean and quantiles at any times, past or future."""
        one = self._series()
        future = self._known(one.observed, index, X) if one.observed.layout.regressors else None
        ahead = one.ahead(index, future)
        return pd.DataFrame({"mean": one.model.predict(ahead.X), **one.quantiles(ahead, levels)})

    def _known(self, seen: Observed, index: Any, X: Any) -> Any:
        """The regressors at some times: given now, or seen before."""
        names = list(seen.layout.regressors)
        before = pd.DataFrame(seen.extra, index=pd.Index(seen.stamps), columns=names)
        known = before if X is None else pd.concat([before, X.set_axis(names, axis=1)])
        return known[~known.index.duplicated(keep="last")].loc[index].reset_index(drop=True)
