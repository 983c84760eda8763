"""`Classifier`: explain and predict classes.

Of two classes one model gives the chance of the second. Of more, each class has a model of its own against all others,
and the chances of all are divided by their sum.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from farrier.data.column_order import reordered
from farrier.data.table_inputs import TableInputs
from farrier.data.tables import Scale, check_varies, column_names
from farrier.estimators.arguments import check_scale, check_table
from farrier.estimators.counting import SEARCHES
from farrier.estimators.estimator import Estimator
from farrier.estimators.watching import Folds, Show, told, watched
from farrier.inference.likelihoods import Bernoulli
from farrier.kernels.algebra import Kernel
from farrier.model.fit import fit
from farrier.model.fitted import Fitted
from farrier.model.problem import Given, Problem
from farrier.model.result import Result
from farrier.model.target_scale import TargetScale
from farrier.series.calendar import TimeAxis


class Classifier(ClassifierMixin, Estimator):
    """Explain and predict classes by a probit model, whose components add up on the probit scale.

    It has the parameters of `Regressor` except `likelihood`, `scale` and `periods`. `method` is "auto" or "stochastic",
    the paper's algorithm. It has the attributes of `Regressor`, and `classes_`. Of three or more classes `models_` has
    a classifier for each class against all others, in the order of `classes_`; `explain` and `report` tell all of them,
    and other attributes, plots and decompositions are those of each.
    """

    models_: "list[Classifier]"
    """A classifier for each of three or more classes."""

    _parameter_constraints = Estimator._parameter_constraints | {"method": [StrOptions({"auto", "stochastic"})]}

    def __init__(
        self,
        kernels: Literal["auto", "paper"] | Sequence[Kernel | str] = "auto",
        *,
        prior: str = "horseshoe",
        method: Literal["auto", "stochastic"] = "auto",
        inducing: int | None = None,
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
        self.method = method

    def fit(self, X: Any, y: Any) -> "Classifier":
        """Find the components of the probability of the second class, or of each of three or more."""
        self._validate_params()
        check_table(y, "y")
        rows, labels, table = self._read(X, y)
        check_classification_targets(labels)
        classes, target = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y holds one class only ({classes[0]!r}): a classifier needs rows of two.")
        self.classes_ = classes
        if len(classes) == 2:
            return self._named(self._fit_two(X, rows, target, table, tuple(str(label) for label in classes)), y)
        with watched(self.progress) as show:
            folds = Folds(show, "fitting a model of each class", [1.0] * len(classes))
            self.models_ = []
            for k, label in enumerate(classes):
                folds.start(k)
                self.models_.append(self._against_others(X, target == k, str(label), folds))
        return self._named(self, y)

    @staticmethod
    def _named(model: "Classifier", y: Any) -> "Classifier":
        """The model with the name of y, if it has one."""
        name = getattr(y, "name", None)
        return model.describe(target_name=name) if isinstance(name, str) and name else model

    def _against_others(self, X: Any, inside: np.ndarray, name: str, show: Show) -> "Classifier":
        """A classifier of one class against all others."""
        copy: Any = clone(self)
        model: Classifier = copy.set_params(progress=show).fit(X, inside)
        model.progress = None
        return model.hold(replace(model.result_, classes=(f"not {name}", name)))

    def _fit_two(
        self, X: Any, rows: np.ndarray, target: np.ndarray, table: TableInputs | None, names: tuple[str, ...]
    ) -> "Classifier":
        """Fit the probability of the second of two classes."""
        columns = column_names(X, rows.shape[1]) if table is None else list(table.names)
        coded = () if table is None else table.coded
        check_scale(rows, None, columns)
        check_varies(rows, None, columns)
        order = self._order(rows, target)
        if order is not None:
            rows, columns, coded = rows[:, list(order)], [columns[i] for i in order], reordered(coded, order)
        begin = perf_counter()
        scale, target = Scale.of(rows, None, coded), target.astype(np.float64)
        inputs = scale.inputs(rows)
        with watched(self.progress) as show:
            fitted = self._fit(inputs, target, scale, columns, coded, show)
        return self.hold(
            Result(
                fitted=fitted,
                inputs=inputs,
                target=target,
                scale=scale,
                columns=tuple(columns),
                seconds=perf_counter() - begin,
                recipe=self._recipe(),
                classes=names,
                table=table,
                order=order,
            )
        )

    def _fit(
        self,
        inputs: np.ndarray,
        y: np.ndarray,
        scale: Scale,
        columns: list[str],
        coded: tuple[int, ...],
        show: Show | None,
    ) -> Fitted:
        """Search for a structure, or fit the given kernels."""
        problem = Problem(inputs, y, coded=coded, tell=told(show, "sites", SEARCHES))
        if self.method == "auto" and self._searches():
            return fit(problem, likelihood=Bernoulli())
        kernels = self._chosen(inputs, y, scale, columns, self._seed(), coded)
        if self.method == "auto" and self.prior == "horseshoe":
            return fit(problem, Given(kernels), likelihood=Bernoulli())
        return self._sparse([kernels], inputs, y, TargetScale(), Bernoulli(), show)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, in the order of `classes_`."""
        check_is_fitted(self)
        if len(self.classes_) > 2:
            each = np.stack([model.predict_proba(X)[:, 1] for model in self.models_], axis=1)
            return each / each.sum(axis=1, keepdims=True)
        inputs = self._inputs(X)
        probability, _ = self.result_.fitted.observed(inputs)
        second = probability.mean(axis=0)
        return np.stack([1.0 - second, second], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class."""
        found = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[found]

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
        """Name the data, for explanations, reports and plots; see `Regressor.describe`."""
        check_is_fitted(self)
        said: dict[str, Any] = {"title": title, "target_name": target_name, "target_unit": target_unit}
        said |= {"axis": axis, "labels": labels, "columns": columns}
        if len(self.classes_) == 2:
            return super().describe(**said)
        for model in self.models_:
            model.describe(**said)
        return self

    def explain(self) -> Any:
        """The components in plain English, largest first; of three or more classes, those of each."""
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return super().explain()
        from farrier.explain.many_classes import ClassExplanations

        return ClassExplanations({str(k): one.explain() for k, one in zip(self.classes_, self.models_, strict=True)})

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write the report; of three or more classes a page for each, and at `path` one that links to them."""
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return super().report(path, title=title)
        from farrier.explain.many_classes import write_pages

        return write_pages(self.explain(), path, title)
