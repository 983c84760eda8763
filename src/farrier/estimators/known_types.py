"""The types that a model file may hold, by name.

A file names types. Only the types listed here and the kernel families of kernels/registry.py are built. Your own kernel
is added by `farrier.kernels.registry.register`. A module is imported when a file needs one of its types, so that most
models do not load the stochastic tier.
"""

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from farrier.kernels.registry import known_families

HOMES: dict[str, tuple[str, ...]] = {
    "farrier.kernels.algebra": ("Product", "Sum"),
    "farrier.evaluation.products": ("Products",),
    "farrier.inference.exact_posterior": ("GaussianPosterior",),
    "farrier.inference.collapsed": ("CollapsedPosterior",),
    "farrier.inference.laplace": ("LaplacePosterior",),
    "farrier.inference.linear_posterior": ("LinearPosterior",),
    "farrier.inference.linear_plan": ("FeatureLimits",),
    "farrier.inference.inducing_points": ("Groups", "PointLimits"),
    "farrier.inference.likelihoods": ("Gaussian", "Bernoulli", "StudentT", "Poisson"),
    "farrier.inference.counts": ("NegativeBinomial",),
    "farrier.inference.weight_priors": ("NoPrior", "HalfCauchy", "Softmax", "SpikeAndSlab"),
    "farrier.inference.horseshoe": ("Horseshoe",),
    "farrier.search.appraisal": ("Appraisal",),
    "farrier.search.beliefs": ("Beliefs",),
    "farrier.search.clock": ("Clock",),
    "farrier.search.structure": ("Decision",),
    "farrier.model.fitted": ("Fitted", "Alone", "Member"),
    "farrier.model.result": ("Result", "Recipe"),
    "farrier.model.stacking": ("Stacking",),
    "farrier.data.tables": ("Scale",),
    "farrier.data.table_inputs": ("TableInputs",),
    "farrier.data.input_columns": ("NumberInput", "CategoryInput", "DateInput", "LeftOut"),
    "farrier.model.target_scale": ("Transform", "TargetScale"),
    "farrier.series.backtests": ("PastForecasts",),
    "farrier.series.calendar": ("TimeAxis",),
    "farrier.series.observed": ("Observed", "Layout"),
    "farrier.series.recurrences": ("HalfMonths", "Openings", "WorkingDays"),
    "farrier.series.steps": ("Steps",),
    "farrier.series.stamp_forms": (
        "Number",
        "NumpyTime",
        "PandasTime",
        "PandasPeriod",
        "PolarsTime",
        "PythonTime",
        "Text",
    ),
    "farrier.explain.backtest": ("Backtest",),
    "farrier.explain.components": ("Component", "ComponentTable"),
    "farrier.explain.context": ("Context",),
    "farrier.estimators.regressor": ("Regressor",),
    "farrier.estimators.classifier": ("Classifier",),
    "farrier.estimators.forecaster": ("Forecaster",),
    "farrier.estimators.fitted_series": ("TimeRegressor", "FittedSeries"),
    "farrier.estimators.panel": ("Panel",),
    "farrier.paper.prediction": ("InBlocks",),
    "farrier.paper.multisvgp": ("MultiSVGP", "SVGP"),
    "farrier.paper.inducing": ("SharedPoints", "GroupedPoints"),
    "farrier.paper.pool": ("Pool", "Stack"),
    "farrier.paper.training": ("History",),
}
"""The types of Farrier by the module that defines them."""
_HOME_OF = {name: home for home, names in HOMES.items() for name in names}


@dataclass(frozen=True)
class Hook:
    """How to save a type that cannot be built from all its fields."""

    fields: tuple[str, ...]
    """The fields that are saved."""
    build: Callable[..., Any]
    """Builds the object from these fields, by name."""


def _transform(name: str) -> Any:
    return import_module("farrier.model.target_scale").named(name)


def _observed(layout: Any, stamps: Any, y: Any, extra: Any) -> Any:
    return import_module("farrier.series.observed").Observed.of(layout, stamps, y, extra)


HOOKS = {
    "Transform": Hook(("name",), _transform),
    "Observed": Hook(("layout", "stamps", "y", "extra"), _observed),
}
"""A transform holds functions and is saved by its name; the time axis of a series is made from its stamps."""


def name_of(cls: type) -> str | None:
    """The name of a type in files; None if files may not hold it."""
    known = known_families().get(cls.__name__)
    if known is None and _HOME_OF.get(cls.__name__) == cls.__module__:
        known = cls
    return cls.__name__ if known is cls else None


def type_named(name: str) -> type | None:
    """The type with this name in files; None if there is none."""
    if name in known_families():
        return known_families()[name]
    return getattr(import_module(_HOME_OF[name]), name) if name in _HOME_OF else None


def saved_fields(cls: type) -> tuple[str, ...]:
    """The names of the fields from which an object of this type is built."""
    if cls.__name__ in HOOKS and name_of(cls) == cls.__name__:
        return HOOKS[cls.__name__].fields
    if _is_named_tuple(cls):
        return tuple(getattr(cls, "_fields"))  # noqa: B009 (not a private field: the protocol of NamedTuple)
    return tuple(field.name for field in fields(cls) if field.init) if is_dataclass(cls) else ()


def build(cls: type, values: Mapping[str, Any]) -> Any:
    """An object from its fields, by its constructor; TypeError if the fields do not fit the type."""
    if set(values) != set(saved_fields(cls)):
        raise TypeError(f"{cls.__name__} has the fields {saved_fields(cls)}, got {tuple(values)}")
    hints = _hints(cls)
    for name, value in values.items():
        if not fits(value, hints.get(name, Any)):
            raise TypeError(f"{cls.__name__}.{name} cannot be {type(value).__name__}")
    hook = HOOKS.get(cls.__name__)
    return cls(**values) if hook is None else hook.build(**values)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value fits an annotation; True if that cannot be decided."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is None or hint is type(None):
        return value is None
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is tuple and isinstance(value, tuple):
        return _fits_tuple(value, inner)
    if origin in (list, Sequence) and isinstance(value, list | tuple):
        return all(fits(entry, inner[0]) for entry in value)
    kind = hint if origin is None else origin
    if kind is Callable:
        return False
    try:
        return not isinstance(kind, type) or _is_of(value, kind)
    except TypeError:  # a protocol that isinstance cannot check
        return True


def _fits_tuple(value: tuple[Any, ...], inner: tuple[Any, ...]) -> bool:
    if len(inner) == 2 and inner[1] is ...:
        return all(fits(entry, inner[0]) for entry in value)
    return len(value) == len(inner) and all(fits(entry, hint) for entry, hint in zip(value, inner, strict=True))


def _is_of(value: Any, kind: type) -> bool:
    if kind is float:
        return isinstance(value, float | int | np.number) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if kind.__module__.partition(".")[0] in ("jax", "jaxlib", "jaxtyping"):
        return isinstance(value, np.ndarray | np.number | float)
    return isinstance(value, kind)


@lru_cache
def _hints(cls: type) -> dict[str, Any]:
    """The annotations of a type; empty if they need names that only type checkers see."""
    try:
        return typing.get_type_hints(cls)
    except (NameError, TypeError, AttributeError):
        return {}


def _is_named_tuple(cls: type) -> bool:
    return issubclass(cls, tuple) and cls is not tuple and "_fields" in vars(cls)
