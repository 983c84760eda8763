"""The families of kernels that there are: by the name of their class, and by their symbol in a formula.

A new family stands in a file of its own, is added to `FAMILIES`, and gets its words in explain/. Somebody else's
family is made known by `register`; a saved model that holds it can then be loaded.
"""

from farrier.kernels.algebra import Base
from farrier.kernels.constant import Constant
from farrier.kernels.damped_trend import DampedTrend
from farrier.kernels.linear import Linear
from farrier.kernels.matern import Matern12, Matern32, Matern52
from farrier.kernels.periodic import CentredPeriodic, Periodic
from farrier.kernels.random_walk import RandomWalk
from farrier.kernels.rational_quadratic import RationalQuadratic
from farrier.kernels.squared_exponential import SquaredExponential
from farrier.kernels.step import Step, StepUntil
from farrier.kernels.white import White

FAMILIES: tuple[type[Base], ...] = (
    Constant,
    Step,
    StepUntil,
    Linear,
    SquaredExponential,
    RationalQuadratic,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    CentredPeriodic,
    White,
    RandomWalk,
    DampedTrend,
)
"""Farrier's own, in the order of their ranks."""

_KNOWN: dict[str, type[Base]] = {family.__name__: family for family in FAMILIES}


def register(family: type[Base]) -> type[Base]:
    """Make a family known by the name of its class; also as a decorator."""
    known = _KNOWN.get(family.__name__)
    if known is not None and known.__module__ != family.__module__:
        raise ValueError(f"family: there is a kernel {family.__name__} already, in {known.__module__}: choose a name.")
    _KNOWN[family.__name__] = family
    return family


def known_families() -> dict[str, type[Base]]:
    """All families by the name of their class."""
    return dict(_KNOWN)
