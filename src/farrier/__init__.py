"""Farrier finds the structure in data: trends, seasons, and what else is there, with forecasts.

    import farrier
    model = farrier.Regressor().fit(X, y)
    print(model.explain())

Names are loaded when they are first used, so that `import farrier` costs nothing.
"""

import os
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

# The compiler's own log has a line for every program that comes out of the cache; jax reads this once, when loaded.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

if TYPE_CHECKING:
    from farrier.estimators.classifier import Classifier as Classifier
    from farrier.estimators.files import load as load
    from farrier.estimators.forecaster import Forecaster as Forecaster
    from farrier.estimators.regressor import Regressor as Regressor
    from farrier.kernels.normal import normal_form as normal_form
    from farrier.kernels.registry import Category as Category
    from farrier.kernels.registry import CentredPeriodic as CentredPeriodic
    from farrier.kernels.registry import Constant as Constant
    from farrier.kernels.registry import DampedTrend as DampedTrend
    from farrier.kernels.registry import Linear as Linear
    from farrier.kernels.registry import Matern12 as Matern12
    from farrier.kernels.registry import Matern32 as Matern32
    from farrier.kernels.registry import Matern52 as Matern52
    from farrier.kernels.registry import Periodic as Periodic
    from farrier.kernels.registry import RandomWalk as RandomWalk
    from farrier.kernels.registry import RationalQuadratic as RationalQuadratic
    from farrier.kernels.registry import SquaredExponential as SquaredExponential
    from farrier.kernels.registry import Step as Step
    from farrier.kernels.registry import White as White
    from farrier.paper.pool import Pool as Pool

__version__ = version("farrier")

_HOMES = {
    "farrier.estimators.regressor": ("Regressor",),
    "farrier.estimators.classifier": ("Classifier",),
    "farrier.estimators.forecaster": ("Forecaster",),
    "farrier.kernels.registry": (
        "SquaredExponential",
        "Linear",
        "Periodic",
        "CentredPeriodic",
        "Matern12",
        "Matern32",
        "Matern52",
        "RationalQuadratic",
        "RandomWalk",
        "DampedTrend",
        "Category",
        "Step",
        "Constant",
        "White",
    ),
    "farrier.kernels.normal": ("normal_form",),
    "farrier.paper.pool": ("Pool",),
    "farrier.estimators.files": ("load",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

_FOLDERS = ("datasets", "fleet")

# Pool is left out: `from farrier import *` needs no packages of an extra.
__all__ = [name for name in (*_FOLDERS, *_HOME_OF) if name != "Pool"]


def __getattr__(name: str) -> Any:
    if name in _FOLDERS:
        return import_module(f"farrier.{name}")
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'farrier' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
