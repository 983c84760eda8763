"""What an event adds, over all components that know the holidays.

Patterns of named holidays, of all holidays together, and of days off share what a holiday does: a sale of +100 may be
+70 of its own and +30 as a day off. The reported effect of an event is the total: the sum of these components on its
days, minus their sum on ordinary days of the same kind (working days or weekends).
"""

from collections.abc import Sequence

import numpy as np

from farrier.explain.facts import Estimate, Level
from farrier.explain.measures import Say, estimate
from farrier.kernels.algebra import Kernel
from farrier.kernels.calendar import AnyHoliday, DayOff, Holiday, local_days
from farrier.model.result import Result

AND_HOLIDAYS = " and holidays"
"""What the name of days off says of holidays, which have a component of their own."""
Pattern = Holiday | AnyHoliday | DayOff


def in_total(result: Result, i: int, profile: Sequence[Level], say: Say) -> tuple[Level, ...]:
    """The levels of component i; events in total, where other components know the holidays too."""
    kernels = result.kernels
    known = {j: pattern for j, kernel in enumerate(kernels) if (pattern := _pattern(kernel)) is not None}
    own = known.get(i)
    if own is None or len(known) < 2 or all(isinstance(one, DayOff) for one in known.values()):
        return tuple(profile)
    if isinstance(own, DayOff):
        return tuple(Level(level.name.removesuffix(AND_HOLIDAYS), level.value) for level in profile)
    d = int((own.dims or (0,))[0])
    days = local_days({name: own.entries(name, 1) for name in own.parameters()}, result.rows[:, d])
    _, first = np.unique(days, return_index=True)
    days, level = days[first], own.levels_at(result.rows[first, d])
    off = (days + 3) % 7 >= 5
    ordinary = ~np.isin(days, np.concatenate([np.asarray(one.holidays, float) for one in known.values()]))
    found = []
    for one in profile:
        there = np.flatnonzero(level == own.level_names().index(one.name))
        beside = [np.flatnonzero(ordinary & (off == off[k])) for k in there]
        if not len(there) or not all(len(rows) for rows in beside):
            found.append(one)
            continue
        near = [rows[np.argmin(np.abs(days[rows] - days[k]))] for k, rows in zip(there, beside, strict=True)]
        found.append(Level(one.name, _difference(result, first[there], first[near], list(known), say)))
    return tuple(found)


def _pattern(kernel: Kernel) -> Pattern | None:
    """The pattern that is a component by itself and knows the holidays; None for others."""
    factors = [factor for factor in kernel.products()[0] if factor.kind != "constant"]
    return factors[0] if len(factors) == 1 and isinstance(factors[0], Pattern) else None


def _difference(result: Result, there: np.ndarray, near: np.ndarray, components: Sequence[int], say: Say) -> Estimate:
    """The mean of the sum of some components over the rows `there` minus that over the rows `near`."""
    rows = result.inputs[np.concatenate([there, near])]
    mean, covariance = result.explained.explaining.posterior.joint(rows, np.array(components))
    apart = np.repeat([1.0, -1.0], len(there)) / len(there)
    sd = float(np.sqrt(max(apart @ covariance @ apart, 0.0)))
    return estimate(float(apart @ mean), sd, result.explained.scale.sd, say)
