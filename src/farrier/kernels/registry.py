"""The known families of kernels.

A new family of Farrier has its own file, an entry in `FAMILIES`, and its wording in explain/. A family that is defined
elsewhere needs only `register`, so that a saved model with that kernel can be loaded:

    @register
    @dataclass(frozen=True, eq=False, repr=False)
    class Cosine(Stationary): ...
"""

from farrier.kernels.algebra import Base
from farrier.kernels.all_orders import AllOrders
from farrier.kernels.bend import Bend
from farrier.kernels.calendar import (
    AnyHoliday,
    DayOff,
    DayOfMonth,
    DayOfWeek,
    Holiday,
    LastWorkday,
    LocalDay,
    MonthEnd,
    MonthOfYear,
    Weekend,
)
from farrier.kernels.category import Category
from farrier.kernels.constant import Constant
from farrier.kernels.damped_trend import DampedTrend
from farrier.kernels.linear import Linear
from farrier.kernels.matern import Matern12, Matern32, Matern52
from farrier.kernels.periodic import CentredPeriodic, Periodic
from farrier.kernels.random_walk import RandomWalk
from farrier.kernels.rational_quadratic import RationalQuadratic
from farrier.kernels.saturating import Saturating
from farrier.kernels.shock import Shock
from farrier.kernels.squared_exponential import SquaredExponential
from farrier.kernels.step import Step, StepUntil
from farrier.kernels.warped import (
    WarpedMatern12,
    WarpedRationalQuadratic,
    WarpedSquaredExponential,
)
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
"""Farrier's own families, by rank."""
CALENDAR: tuple[type[Base], ...] = (
    DayOfWeek,
    Weekend,
    MonthOfYear,
    DayOfMonth,
    MonthEnd,
    LastWorkday,
    Holiday,
    AnyHoliday,
    DayOff,
    LocalDay,
)
"""The families of the calendar, by rank. They have no formula in jax."""
CODES: tuple[type[Base], ...] = (Category,)
"""The families of codes, which stand for the levels of a category. They have no formula in jax."""
WARPED_FAMILIES: tuple[type[Base], ...] = (
    WarpedSquaredExponential,
    WarpedRationalQuadratic,
    WarpedMatern12,
    AllOrders,
)
"""The families of warped inputs, by rank. They have no formula in jax."""

CHANGES: tuple[type[Base], ...] = (Saturating, Bend, Shock)
"""The families of what changes in a series, by rank. They have no formula in jax."""

_KNOWN: dict[str, type[Base]] = {
    family.__name__: family for family in (*FAMILIES, *CALENDAR, *CODES, *WARPED_FAMILIES, *CHANGES)
}
"""All families by the name of their class, those of `register` included."""


def register(family: type[Base]) -> type[Base]:
    """Add a family, by the name of its class; usable as a class decorator."""
    known = _KNOWN.get(family.__name__)
    if known is not None and known.__module__ != family.__module__:
        raise ValueError(
            f"family: a kernel named {family.__name__} exists already, in {known.__module__}: choose another name."
        )
    _KNOWN[family.__name__] = family
    return family


def known_families() -> dict[str, type[Base]]:
    """All families by the name of their class."""
    return dict(_KNOWN)
