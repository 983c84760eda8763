"""The base class of `Regressor` and `Classifier`: scikit-learn's conventions around a fitted model.

Inputs and targets are standardised inside; all results are in the user's units. Predictions integrate over q(w) at
fixed quasi-random points, so two calls give the same numbers. A fit makes one `Result`, from which all other fitted
attributes are read. The paper's algorithm is imported only when it is used.
"""

from collections.abc import Sequence
from importlib import import_module
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state, check_X_y
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from farrier.data.column_order import column_order
from farrier.data.quoting import one_line, quoted
from farrier.data.table_inputs import Cells, TableInputs
from farrier.data.tables import Scale, check_cells
from farrier.estimators.arguments import check_reach, check_table, refuse_masks
from farrier.estimators.explaining import ExplainingMixin
from farrier.estimators.on_numbers import moved, on_numbers
from farrier.estimators.parameters import CheckedParameters
from farrier.estimators.watching import Show
from farrier.explain.components import Decomposition
from farrier.explain.context import Context
from farrier.inference.likelihoods import Likelihood
from farrier.kernels.algebra import Kernel
from farrier.model.fitted import Fitted
from farrier.model.given import PRIORS
from farrier.model.result import Recipe, Result
from farrier.model.target_scale import TargetScale
from farrier.search.structure import Decision

DEFAULT_INDUCING = 100
"""Inducing points for each kernel of the stochastic tier, if not given; by judgement."""


class Estimator(ExplainingMixin, CheckedParameters):
    """The parameters, attributes and checks of `Regressor` and `Classifier`."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        "kernels": [StrOptions({"auto", "paper"}), list, tuple],
        "prior": [StrOptions(set(PRIORS))],
        "inducing": [Interval(Integral, 1, None, closed="left"), None],
        "iterations": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "progress": [callable, "boolean", None],
    }

    def __init__(
        self,
        kernels: Literal["auto", "paper"] | Sequence[Kernel | str] = "auto",
        *,
        prior: str = "horseshoe",
        inducing: int | None = None,
        iterations: int = 2500,
        batch_size: int = 256,
        learning_rate: float = 0.01,
        tolerance: float = 2e-3,
        random_state: int | np.random.RandomState | None = 0,
        progress: bool | Show | None = None,
    ) -> None:
        self.kernels = kernels
        self.prior = prior
        self.inducing = inducing
        self.iterations = iterations
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.tolerance = tolerance
        self.random_state = random_state
        self.progress = progress

    def decompose(self, X: Any) -> Decomposition:
        """Mean and standard deviation of every component at the rows of X, on the scale of `transform_`.

        The means add up to the prediction on that scale.
        """
        rows = self._rows(X)
        return Decomposition.of(self.result_, rows)

    @property
    def pool_(self) -> list[Kernel]:
        """The kernels of the components after the fit, in the units of X and the order of its columns."""
        return self.result_.pool

    @property
    def transform_(self) -> str:
        """The scale on which components add up."""
        return self.result_.fitted.component_scale.transform.name

    @property
    def record_(self) -> tuple[Decision, ...]:
        """How the explanation was found: what was tried, its gain in log evidence, and the reason."""
        return self.result_.record

    @property
    def tier_(self) -> str:
        """ "exact", "collapsed", "linear" or "stochastic"."""
        return self.result_.fitted.tier

    @property
    def elbo_(self) -> float:
        """The evidence lower bound of y, in nats."""
        return self.result_.fitted.bound

    @property
    def n_iter_(self) -> int:
        """The number of training steps."""
        return self.result_.fitted.steps

    @property
    def seconds_(self) -> float:
        """The duration of the fit in seconds."""
        return self.result_.seconds

    def hold(self, result: Result) -> Self:
        """Take a result as the fit of this estimator. What `describe` said about earlier rows is dropped."""
        self.result_, self.context_ = result, Context()
        self.forget_components()
        return self

    _timed = False
    """Whether the first of several inputs is time, as in a Forecaster."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _read(self, X: Any, y: Any, **checks: Any) -> tuple[np.ndarray, Any, TableInputs | None]:
        """Inputs and target of the rows to fit; the table says how columns became inputs, if not all are numbers."""
        refuse_masks(X, "X")
        if not _listed(X):
            check_table(X, "X")
        table = None if self._timed else TableInputs.of(X)
        if table is None:
            check_table(X, "X")
            check_cells(X, "X")
            checked: Any = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2, **checks)
            return *checked, None
        self._check_categories(table)
        self._check_names(X, y, reset=True)
        checked = check_X_y(table.encode(X), y, ensure_min_samples=2, estimator=self, **checks)
        return *checked, table

    def _check_categories(self, table: TableInputs) -> None:
        """Raise ValueError if kernels are given that act on numbers alone, and X has categories."""
        given = [] if isinstance(self.kernels, str) else [one for one in self.kernels if isinstance(one, Kernel)]
        named = {
            d for kernel in given for factors in kernel.products() for factor in factors for d in factor.dims or ()
        }
        names = table.categories
        if names and not self._searches() and not named & {*names, *map(table.names.index, names)}:
            source = f"prior={self.prior!r}" if self.kernels == "auto" else "kernels"
            raise ValueError(
                f"{source}: no kernel acts on the category {quoted(names[0])}: leave the column out of X, or give "
                f"kernels with Category(dims={names[0]!r})."
            )

    def _check_names(self, X: Any, y: Any, *, reset: bool) -> None:
        """Keep the names of the columns, or compare them with those of the fitted rows."""
        try:
            validate_data(self, X, *([] if y is None else [y]), reset=reset, skip_check_array=True)
        except TypeError:  # some names are text and others are not
            raise ValueError("X: some columns are named by text and others are not: name all by text.") from None

    def _order(self, rows: np.ndarray, target: np.ndarray) -> tuple[int, ...] | None:
        """The order of the inputs of a table whose structure is searched for: it does not depend on that of X."""
        return column_order(rows, target) if self._searches() and not self._timed and rows.shape[1] > 1 else None

    def _recipe(self, call: str = "fit(X, y)") -> Recipe:
        name = type(self).__name__
        own = {name: value for name, value in self.get_params().items() if name != "progress"}
        return Recipe.of(name, own, type(self)().get_params(), call)

    def _searches(self) -> bool:
        """Whether the structure is searched for: the candidates are not given, and the prior is the horseshoe."""
        return isinstance(self.kernels, str) and self.kernels == "auto" and self.prior == "horseshoe"

    def _chosen(
        self,
        inputs: np.ndarray,
        z: np.ndarray,
        scale: Scale,
        columns: list[str],
        seed: int,
        coded: tuple[int, ...] = (),
    ) -> list[Kernel]:
        """The given kernels, or the paper's, on the scale of the model. Given kernels come in the units of X.

        Kernels of all inputs act on those that are numbers, and not on codes of categories.
        """
        columns_of_numbers = [d for d in range(inputs.shape[1]) if d not in coded]
        numbers = inputs[:, columns_of_numbers]
        if not columns_of_numbers:
            raise ValueError("kernels: X holds categories only, on which formulas do not act: leave kernels='auto'.")
        starting = import_module("farrier.baselines.starting_kernels")
        if isinstance(self.kernels, str):
            found = starting.paper_kernels(numbers, z, "both", seed)
            return [moved(kernel, columns_of_numbers) for kernel in found] if coded else found
        if not self.kernels:
            raise ValueError("kernels must hold at least one kernel, got none: 'auto' finds them.")
        start = starting.Start(numbers, z, np.random.default_rng(seed))
        kernels: list[Kernel] = []
        for kernel in self.kernels:
            if isinstance(kernel, str):
                named = start.named(kernel)
                kernels.append(moved(named, columns_of_numbers) if coded else named)
            elif isinstance(kernel, Kernel):
                bound = kernel.bind(columns)
                bound = on_numbers(bound, columns_of_numbers) if coded else bound
                kernels.append(bound.rescale(1.0 / scale.x_scale, -scale.x_mean / scale.x_scale))
            else:
                raise ValueError(f"kernels must hold kernels or formulas such as 'SE * Per', got {quoted(kernel)}.")
        return kernels

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _sparse(
        self,
        starts: Sequence[Sequence[Kernel]],
        inputs: np.ndarray,
        y: np.ndarray,
        target: TargetScale,
        likelihood: Likelihood,
        show: Show | None = None,
        rows: Any = None,
    ) -> Fitted:
        """Fit by the paper's algorithm from all starts; the likelihood is that of y on the scale of the model.

        `rows` gives minibatches of all rows, if inputs and y are a sample.
        """
        sparse = import_module("farrier.paper.sparse")
        training = sparse.SparseTraining(
            prior=self.prior,
            iterations=int(self.iterations),
            tolerance=float(self.tolerance),
            progress=show,
            batch_size=int(self.batch_size),
            learning_rate=float(self.learning_rate),
            points=self._number_of_inducing_points(inputs),
            seed=self._seed(),
        )
        fitted, self.history_ = sparse.fit_sparse(starts, inputs, y, target, likelihood, training, rows)
        return fitted

    def _number_of_inducing_points(self, X: np.ndarray) -> int:
        if self.inducing is not None and self.inducing > len(X):
            raise ValueError(f"inducing={self.inducing} is more than the {len(X)} rows of X: ask for at most {len(X)}.")
        return min(self.inducing or DEFAULT_INDUCING, len(X))

    def _rows(self, X: Any) -> np.ndarray:
        """New rows after validation, in the units of X, with the inputs in the order of the model."""
        check_is_fitted(self)
        table = self.result_.table
        refuse_masks(X, "X")
        if table is None or not _listed(X):
            check_table(X, "X")
        if table is None:
            check_cells(X, "X")
            try:
                rows: Any = validate_data(self, X, reset=False, dtype=np.float64)
            except (TypeError, ValueError, OverflowError) as error:
                raise ValueError(f"X is not a table of numbers like that of the fit. {one_line(str(error))}") from None
        else:
            self._check_names(X, None, reset=False)
            rows = table.encode(X)
        with np.errstate(over="ignore"):
            check_reach(self.result_.at(self.result_.ordered(rows)), "X")
        return self.result_.ordered(rows)

    def _inputs(self, X: Any) -> np.ndarray:
        """New rows after validation, on the scale of the model."""
        rows = self._rows(X)
        return self.result_.at(rows)


def _listed(X: Any) -> bool:
    """Whether a table is no frame; what its cells are decides how it is checked."""
    return isinstance(X, np.ndarray | list | tuple | Cells)
