"""`Classifier`: explain and predict one of two classes."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from farrier.estimators.arguments import check_scale, check_table
from farrier.estimators.estimator import Estimator, progress_callback
from farrier.inference.likelihoods import Bernoulli
from farrier.kernels.algebra import Kernel
from farrier.model.fitted import Fitted
from farrier.model.other_noise import fit_given_sites, learn_sites
from farrier.model.progress import Progress
from farrier.model.result import Result
from farrier.model.tables import Scale, check_varies, column_names
from farrier.model.target_scale import TargetScale


class Classifier(ClassifierMixin, Estimator):
    """Explain and predict one of two classes by a probit model, whose components add up on the probit scale.

    It has the parameters of `Regressor` except `likelihood`, `scale` and `periods`. `method` is "auto" or "stochastic",
    the paper's algorithm. For more than two classes wrap it in `sklearn.multiclass.OneVsRestClassifier`. It has the
    attributes of `Regressor`, and `classes_`.
    """

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
        progress: Callable[[Progress], None] | None = None,
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> "Classifier":
        """Find the components of the probability of the second class."""
        self._validate_params()
        check_table(y, "y")
        rows, labels, table = self._read(X, y)
        check_classification_targets(labels)
        classes, target = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y holds one class only ({classes[0]!r}): a classifier needs rows of two.")
        if len(classes) > 2:
            kind = type_of_target(labels)
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}, with {len(classes)} "
                "classes: wrap the Classifier in sklearn.multiclass.OneVsRestClassifier."
            )
        columns = column_names(X, rows.shape[1]) if table is None else list(table.names)
        coded = () if table is None else table.coded
        check_scale(rows, None, columns)
        check_varies(rows, None, columns)
        self.classes_ = classes
        begin = perf_counter()
        scale, target = Scale.of(rows, None, coded), target.astype(np.float64)
        inputs = scale.inputs(rows)
        fitted = self._fit(inputs, target, scale, columns, coded)
        return self.hold(
            Result(
                fitted=fitted,
                inputs=inputs,
                target=target,
                scale=scale,
                columns=tuple(columns),
                seconds=perf_counter() - begin,
                recipe=self._recipe(),
                classes=tuple(str(label) for label in classes),
                table=table,
            )
        )

    def _fit(
        self, inputs: np.ndarray, y: np.ndarray, scale: Scale, columns: list[str], coded: tuple[int, ...]
    ) -> Fitted:
        """Search for a structure, or fit the given kernels."""
        tell = progress_callback(self.progress)
        if self.method == "auto" and self._searches():
            return learn_sites(inputs, y, Bernoulli(), coded=coded, tell=tell)
        kernels = self._chosen(inputs, y, scale, columns, self._seed(), coded)
        if self.method == "auto" and self.prior == "horseshoe":
            return fit_given_sites(kernels, inputs, y, Bernoulli(), tell=tell)
        return self._sparse([kernels], inputs, y, TargetScale(), Bernoulli())

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, in the order of `classes_`."""
        inputs = self._inputs(X)
        probability, _ = self.result_.fitted.observed(inputs)
        second = probability.mean(axis=0)
        return np.stack([1.0 - second, second], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """The more probable class."""
        second = self.predict_proba(X)[:, 1] > 0.5
        return self.classes_[second.astype(int)]
