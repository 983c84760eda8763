"""The result of a fit: `result_` of every fitted estimator. Explanations, reports, plots and refits read nothing else.

    result = Regressor().fit(X, y).result_
    result.rows, result.target            # the data, in the user's units
    result.kernels                        # the components that explain, in the user's units
    result.fitted.moments(result.at(X))   # predictions

The model works on scaled inputs and a scaled target. `Fitted` is the model on that scale. `Result` adds the rows and
the conversion to the user's units. Both are immutable.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from farrier.data.table_inputs import TableInputs
from farrier.data.tables import Scale
from farrier.kernels.algebra import Kernel
from farrier.model.explaining import explained
from farrier.model.fitted import Fitted
from farrier.search.structure import Decision

WEIGHTS = "sample_weight"
"""The argument of `fit` that holds the weights of the rows."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """How to repeat a fit: the call, as plain values."""

    estimator: str
    """The name of the class in `farrier`."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """All arguments of the estimator: numbers, text, None, and lists and dicts of these. Kernels are written as Python
    code, holidays as a dict of ISO dates and names."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """The default values of these arguments."""
    call: str = "fit(X, y)"
    """The call of `fit`, as Python code."""

    @classmethod
    def of(cls, estimator: str, settings: Mapping[str, Any], defaults: Mapping[str, Any], call: str) -> "Recipe":
        """The recipe for arguments of any type; callbacks are left out."""
        plain = [
            {name: plain_value(value) for name, value in values.items() if not callable(value)}
            for values in (settings, defaults)
        ]
        return cls(estimator, *plain, call=call)

    @property
    def seed(self) -> int | None:
        """`random_state` if it is an integer, else None."""
        seed = self.settings.get("random_state")
        return seed if isinstance(seed, int) else None

    def weighted(self) -> "Recipe":
        """The same for rows with weights."""
        return replace(self, call=f"{self.call[:-1]}, {WEIGHTS}={WEIGHTS})")

    @property
    def has_weights(self) -> bool:
        """Whether the rows of the fit had weights."""
        return WEIGHTS in self.call

    @property
    def code(self) -> str:
        """The fit as a line of Python, with the arguments that differ from their defaults."""
        changed = [f"{name}={value!r}" for name, value in self.settings.items() if value != self.defaults.get(name)]
        return f"farrier.{self.estimator}({', '.join(changed)}).{self.call}"


@dataclass(frozen=True, eq=False)
class Result:
    """A fitted model, the N rows of D inputs that it was fitted to, and the conversion to the user's units."""

    fitted: Fitted
    """The model on its own scale: posterior, prior, likelihood, tier, bound."""
    inputs: np.ndarray
    """The rows on the scale of the model, (N, D)."""
    target: np.ndarray
    """The target in the user's units, (N,); 0 and 1 for classes."""
    scale: Scale
    """The scale of the inputs (and of the target, as it was at the first fit)."""
    columns: tuple[str, ...]
    """The names of the inputs."""
    seconds: float
    """The time of the fit."""
    recipe: Recipe
    """How to repeat the fit."""
    classes: tuple[str, ...] | None = None
    """The labels of the classes 0 and 1; None if the target is a number."""
    table: TableInputs | None = None
    """What was done with each column of the user's table; None if all are numbers without empty cells."""
    order: tuple[int, ...] | None = None
    """Which of the user's inputs each input of the model is (column_order.py); None if their order is the same."""
    sampled_from: int | None = None
    """The rows that were fitted, if they were read in blocks and `inputs` and `target` are a sample of them."""

    @property
    def explained(self) -> Fitted:
        """The fitted model with what explains it, which is made when it is asked for the first time."""
        if not self.fitted.projects:
            return self.fitted
        if not self.fitted.explanations:
            self.fitted.explanations.append(explained(self.fitted, self.inputs, self.target))
        return self.fitted.explanations[0]

    @property
    def rows(self) -> np.ndarray:
        """The rows in the user's units, (N, D)."""
        return self.inputs * self.scale.x_scale + self.scale.x_mean

    @property
    def scaled_target(self) -> np.ndarray:
        """The target on the scale of the model, (N,)."""
        return self.fitted.scale.forward(self.target)

    @property
    def kernels(self) -> list[Kernel]:
        """The kernels of the components that explain, in the units of the inputs."""
        return [self.in_units(kernel) for kernel in self.explained.explaining.kernels]

    @property
    def pool(self) -> list[Kernel]:
        """The same for rows whose inputs are in the user's order."""
        return self.kernels if self.order is None else [kernel.reorder(self.order) for kernel in self.kernels]

    @property
    def record(self) -> tuple[Decision, ...]:
        """How the explanation was found, with inputs by their names."""

        def names(match: re.Match[str]) -> str:
            return f"[{', '.join(self.columns[int(place)] for place in match[1].split(', '))}]"

        def named(text: str) -> str:
            return re.sub(r"\[(\d+(?:, \d+)*)\]", names, text)

        return tuple(
            replace(one, formula=named(one.formula), reason=named(one.reason)) for one in self.explained.record
        )

    def levels_of(self, column: int) -> tuple[str, ...]:
        """The names of the levels of an input that is a code; none for a number."""
        return () if self.table is None else self.table.levels[self.given(column)]

    def given(self, column: int) -> int:
        """The place of an input of the model among the user's inputs."""
        return column if self.order is None else self.order[column]

    @property
    def given_columns(self) -> tuple[str, ...]:
        """The names of the inputs in the user's order."""
        places = sorted(range(len(self.columns)), key=self.given)
        return tuple(self.columns[d] for d in places)

    def ordered(self, X: np.ndarray) -> np.ndarray:
        """Rows of the user's inputs, with the inputs in the order of the model."""
        return X if self.order is None else X[:, list(self.order)]

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the inputs for formulas; None if there is only one input."""
        return self.columns if len(self.columns) > 1 else None

    def in_units(self, kernel: Kernel) -> Kernel:
        """A kernel of the model in the units of the inputs."""
        return kernel.rescale(self.scale.x_scale, self.scale.x_mean)

    def at(self, X: np.ndarray) -> np.ndarray:
        """Rows in the user's units, converted to the scale of the model."""
        return self.scale.inputs(X)


def plain_value(value: Any) -> Any:
    """A setting as numbers, text and lists; anything else as `str` writes it."""
    if isinstance(value, list | tuple):
        return [plain_value(each) for each in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
