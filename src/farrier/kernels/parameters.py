"""Hyperparameters as marks on the fields of frozen dataclasses.

    lengthscale: PerColumn = positive(ParameterPrior(spread=1.0, reach=3.0, typical=1.0))

A mark gives the constraint of a field (real, or positive and trained as a logarithm) and its prior. A field without a
mark is not a hyperparameter; `fixed()` marks one that is never trained. The optimisers read the marks:
inference/parameter_vector.py for L-BFGS, paper/trees.py for the stochastic gradient steps of the paper.
"""

from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ParameterPrior:
    """The prior of a hyperparameter on its unbounded scale (the logarithm if positive), for standardised inputs.

    All values were set by judgement for version 0.1.0.
    """

    spread: float = 1.0
    """Standard deviation of the normal prior, which is centred at the starting value; infinite for a uniform prior."""
    reach: float = 3.0
    """Largest distance from the starting value in a fit. Candidates with other starting values cover the rest."""
    typical: float = 1.0
    """Typical posterior standard deviation, by which the optimiser divides the parameter."""
    typical_of_value: bool = False
    """Whether `typical` is proportional to the value; it is then given for a value of one."""


@dataclass(frozen=True)
class Constraint:
    """The values that a field may take; `trained` is False for constants."""

    name: str
    trained: bool = True


REAL = Constraint("real")
"""Any real number, trained as it is."""
POSITIVE = Constraint("positive")
"""A positive number, trained as its logarithm."""
FIXED = Constraint("fixed", trained=False)
"""A number that is never trained."""


@dataclass(frozen=True)
class Mark:
    """The constraint and the prior of one field."""

    constraint: Constraint
    prior: ParameterPrior
    shared: bool
    """Whether all columns that the kernel acts on share one value; otherwise each may have its own."""
    whole: bool = False
    """Whether the array is one value, a table of any length, instead of one number for each column."""


def _marked(
    constraint: Constraint, prior: ParameterPrior | None, shared: bool, default: Any, whole: bool = False
) -> Any:
    return field(default=default, metadata={"mark": Mark(constraint, prior or ParameterPrior(), shared, whole)})


def real(prior: ParameterPrior | None = None, *, shared: bool = False, default: Any = MISSING) -> Any:
    """A field of real numbers, trained as they are."""
    return _marked(REAL, prior, shared, default)


def positive(prior: ParameterPrior | None = None, *, shared: bool = False, default: Any = MISSING) -> Any:
    """A field of positive numbers, trained as logarithms."""
    return _marked(POSITIVE, prior, shared, default)


def fixed(*, default: Any = MISSING, whole: bool = False) -> Any:
    """A field of numbers that are never trained; `whole` marks a table, which all columns share."""
    return _marked(FIXED, ParameterPrior(), False, default, whole)


@lru_cache
def marks(kind: type[Any]) -> dict[str, Mark]:
    """The marked fields of a dataclass, in their order."""
    return {one.name: one.metadata["mark"] for one in fields(kind) if "mark" in one.metadata}


@lru_cache
def trained(kind: type[Any]) -> dict[str, Mark]:
    """The marked fields that are trained, in their order."""
    return {name: mark for name, mark in marks(kind).items() if mark.constraint.trained}


def as_array(value: Any) -> Any:
    """The value as a float64 array; None stays None."""
    return value if value is None else np.asarray(value, dtype=np.float64)


def check_fields(module: Any) -> None:
    """Convert the marked fields of a frozen dataclass to arrays; raise ValueError for values outside a constraint."""
    for name, mark in marks(type(module)).items():
        value = as_array(getattr(module, name))
        object.__setattr__(module, name, value)
        if value is None and mark.constraint.trained:
            raise ValueError(f"{type(module).__name__}: {name} is missing: give a number.")
        if value is not None and mark.constraint is POSITIVE and not np.all(value > 0):
            raise ValueError(f"{type(module).__name__}: {name} must be positive, got {value}.")


def unbounded(value: np.ndarray, constraint: Constraint) -> np.ndarray:
    """A value on its unbounded scale, on which it is trained."""
    return np.log(value) if constraint is POSITIVE else value


def bounded(value: np.ndarray, constraint: Constraint) -> np.ndarray:
    """The value of a parameter given on its unbounded scale."""
    return np.exp(value) if constraint is POSITIVE else value
