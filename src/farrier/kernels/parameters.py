"""Hyperparameters as marks on the fields of frozen dataclasses.

    lengthscale: PerColumn = positive(ParameterPrior(spread=1.0, reach=3.0, typical=1.0))

A mark says which values a field may take (all real numbers, or positive ones, which are trained as logarithms), and
what is believed of it before the data. A field without a mark is not a hyperparameter; `fixed()` marks one that is
never trained. Nothing here trains anything: inference/parameter_vector.py reads the marks for L-BFGS, paper/trees.py
for the paper's stochastic steps.
"""

from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ParameterPrior:
    """What is believed of a hyperparameter on its unbounded scale (logarithms of positive ones), inputs standardised.

    All numbers were set by judgement for version 0.1.0.
    """

    spread: float = 1.0
    """Standard deviation of the normal prior about the starting value."""
    reach: float = 3.0
    """How far it may move from its starting value: further away it would be another candidate."""
    typical: float = 1.0
    """Typical posterior standard deviation, by which the optimiser divides the parameter."""
    typical_of_value: bool = False
    """Whether `typical` is for a value of one and grows in proportion to the value."""
    price: float = 0.5
    """Cost of the parameter in units of log n: how much narrower n rows make it. One half is Schwarz's criterion."""


@dataclass(frozen=True)
class Constraint:
    """Which values a field may take; `trained` is False for constants."""

    name: str
    trained: bool = True


REAL = Constraint("real")
POSITIVE = Constraint("positive")
FIXED = Constraint("fixed", trained=False)


@dataclass(frozen=True)
class Mark:
    """The mark on one field."""

    constraint: Constraint
    prior: ParameterPrior
    shared: bool
    """One number for all columns that the kernel acts on, instead of one for each."""


def _marked(constraint: Constraint, prior: ParameterPrior | None, shared: bool, default: Any) -> Any:
    return field(default=default, metadata={"mark": Mark(constraint, prior or ParameterPrior(), shared)})


def real(prior: ParameterPrior | None = None, *, shared: bool = False, default: Any = MISSING) -> Any:
    """A field of unbounded numbers, trained as they are."""
    return _marked(REAL, prior, shared, default)


def positive(prior: ParameterPrior | None = None, *, shared: bool = False, default: Any = MISSING) -> Any:
    """A field of positive numbers, trained as logarithms."""
    return _marked(POSITIVE, prior, shared, default)


def fixed(*, default: Any = MISSING) -> Any:
    """A field of numbers that are never trained."""
    return _marked(FIXED, ParameterPrior(price=0.0), False, default)


@lru_cache
def marks(kind: type[Any]) -> dict[str, Mark]:
    """The marked fields of a dataclass, in their order."""
    return {one.name: one.metadata["mark"] for one in fields(kind) if "mark" in one.metadata}


@lru_cache
def trained(kind: type[Any]) -> dict[str, Mark]:
    """The marked fields that are trained, in their order."""
    return {name: mark for name, mark in marks(kind).items() if mark.constraint.trained}


def as_array(value: Any) -> Any:
    """Numbers as float64 arrays; None stays."""
    return value if value is None else np.asarray(value, dtype=np.float64)


def check_fields(module: Any) -> None:
    """Turn the marked fields of a frozen dataclass into arrays, and refuse values outside their constraint."""
    for name, mark in marks(type(module)).items():
        value = as_array(getattr(module, name))
        object.__setattr__(module, name, value)
        if value is None and mark.constraint.trained:
            raise ValueError(f"{type(module).__name__}: {name} is missing: give a number.")
        if value is not None and mark.constraint is POSITIVE and not np.all(value > 0):
            raise ValueError(f"{type(module).__name__}: {name} must be positive, got {value}.")


def unbounded(value: np.ndarray, constraint: Constraint) -> np.ndarray:
    """A value as it is trained."""
    return np.log(value) if constraint is POSITIVE else value


def bounded(value: np.ndarray, constraint: Constraint) -> np.ndarray:
    """The value that belongs to an unbounded one."""
    return np.exp(value) if constraint is POSITIVE else value
