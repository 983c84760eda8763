"""The predictions of a `Regressor`: means, quantiles, densities, covariances, and the rows that are outliers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from farrier.data.quoting import quoted
from farrier.data.tables import check_cells, frame_of
from farrier.estimators.arguments import check_prediction, check_reach, check_table, outside
from farrier.estimators.counting import CountingEstimator
from farrier.inference.counts import NegativeBinomial, Poisson
from farrier.inference.hurdle import Hurdle
from farrier.inference.student_t import StudentT
from farrier.model.outliers import outliers_of


class PredictingEstimator(CountingEstimator):
    """An estimator that predicts a number."""

    frame_: str | None
    """The library of the frame that `fit` was given; None for an array."""

    @property
    def likelihood_(self) -> Literal["gaussian", "student-t", "poisson", "negative-binomial", "hurdle"]:
        """The distribution of the noise that was fitted."""
        match self.result_.fitted.likelihood:
            case StudentT():
                return "student-t"
            case Poisson():
                return "poisson"
            case NegativeBinomial():
                return "negative-binomial"
            case Hurdle():
                return "hurdle"
        return "gaussian"

    def outliers(self) -> Any:
        """The rows that are far from what the other rows make expected, the furthest first.

        Columns: row (counted from 0), value, expected (the median given all other rows), and sds, the distance in
        standard deviations on the scale of `transform_`, at least 4. A frame of the kind that `fit` was given, or a
        dictionary of arrays.
        """
        check_is_fitted(self)
        found = outliers_of(self.result_)
        columns = {"row": found.rows, "value": found.value, "expected": found.expected, "sds": found.sds}
        return frame_of(columns, self.frame_)

    def predict(self, X: Any, *, return_std: bool = False, return_cov: bool = False) -> Any:
        """The mean of y at the rows of X; if asked, also the standard deviation or covariance of new observations.

        On a transformed scale the mean is that of the middle 95 % of the distribution: the mean of all values would be
        dominated by a few huge ones where intervals are wide. Mean and covariance together disregard floor and cap.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov: ask for one of them, got both.")
        inputs = self._inputs(X)
        if return_cov:
            return self._predict_joint(inputs)
        mean, std = self.result_.fitted.moments(inputs)
        check_prediction(np.column_stack([mean, std]) if return_std else mean, self.transform_)
        return (mean, std) if return_std else mean

    def predict_quantiles(self, X: Any, levels: Sequence[float] = (0.025, 0.1, 0.5, 0.9, 0.975)) -> np.ndarray:
        """Quantiles of a new observation at the rows of X, one column for each level."""
        _check_levels(levels)
        inputs = self._inputs(X)
        quantiles = self.result_.fitted.quantiles(inputs, levels).T
        check_prediction(quantiles, self.transform_)
        return quantiles

    def predict_summary(
        self, X: Any, levels: Sequence[float] = (0.025, 0.1, 0.5, 0.9, 0.975)
    ) -> tuple[np.ndarray, np.ndarray]:
        """What `predict` and `predict_quantiles` give, in about half the time of both."""
        _check_levels(levels)
        inputs = self._inputs(X)
        mean, _, quantiles = self.result_.fitted.summary(inputs, levels)
        check_prediction(np.column_stack([mean, quantiles.T]), self.transform_)
        return mean, quantiles.T

    def log_density(self, X: Any, y: Any) -> np.ndarray:
        """log p(y | X, data) of new observations, one number for each row."""
        inputs = self._inputs(X)
        target = self._values(y, len(inputs))
        return self.result_.fitted.log_density(inputs, target)

    def _values(self, y: Any, rows: int) -> np.ndarray:
        """New values of y after validation, in their units."""
        check_table(y, "y")
        check_cells(y, "y")
        target = np.array(y, np.float64)
        if target.shape != (rows,):
            raise ValueError(f"y has {np.size(target)} values and X has {rows} rows: give one value a row.")
        fitted = self.result_.target
        with np.errstate(over="ignore"):
            check_reach((target - fitted.mean()) / fitted.std(), "y")
        return target

    def _predict_joint(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        fitted = self.result_.fitted
        if self.transform_ != "identity":
            raise ValueError(
                f"return_cov: components add up on the {self.transform_} scale, on which y has no simple "
                "covariance: use return_std or predict_quantiles, or fit with scale='identity'."
            )
        mean, covariance = fitted.joint(inputs)
        _, std = replace(fitted, floor=None, cap=None).moments(inputs)
        # std is that of an observation: it includes the noise
        covariance = covariance * fitted.scale.sd**2
        covariance[np.diag_indices(len(covariance))] = std**2
        return fitted.scale.inverse(mean), covariance


def _check_levels(levels: Sequence[float]) -> None:
    """Raise ValueError for levels that are not those of quantiles."""
    bad = outside(levels, 1.0)
    if bad:
        raise ValueError(f"levels: quantiles lie between 0 and 1, got {quoted(bad[0])}: 0.5 is the median.")
