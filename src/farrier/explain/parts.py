"""The factors of a product by their role in a sentence, and the thresholds between words.

One kind of factor gives the noun: the first that is present of noise, periodic, calendar, smooth or rough, random walk,
damped trend, linear, changepoint, constant. The other factors modify it (phrases.py). All thresholds are by judgement.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from farrier.explain.facts import Axis, Estimate, Factor, Facts, Target
from farrier.explain.numbers import known, significant
from farrier.search.evidence import WEAK

SLOW = 1 / 2
"""A lengthscale above this part of the range of the data is a trend, whose length is not given."""
FAST = 1 / 200
"""A lengthscale below this part of the range of the data is fast variation."""
BARELY_PERIODIC = 0.674
"""A pattern whose lengthscale is below this many periods is barely periodic."""
STEADY = 4.0
"""A pattern whose lengthscale is above this many ranges of the data hardly drifts."""
SINE = 2.0
"""A pattern whose lengthscale within a period (without unit) is above this is close to a sine wave."""
WORTH = 1e-3
"""Relative fall of the error, and share of the variance, below which a component is in doubt."""
MOST = 0.9
"""The share of the variance that counts as most of it."""
STRONG, SOME = 0.6, 0.9
"""Error with a component over error without it, below which the component helps strongly, or somewhat."""
GRADUAL = 1 / 100
"""A changepoint wider than this part of the range, and than one step of the data, is gradual."""
NAMED = 3
"""Most inputs that a title names one by one; a summary names one component more than that."""

DEGREES = re.compile(r"°|\b(temp|temps|temperat\w*|température\w*|tmin|tmax|tavg|celsius|fahrenheit|kelvin|degrees?)\b")
"""Names and units, in small letters, of what is measured from an arbitrary zero, so that a part of it says nothing."""

CALENDAR = ("weekday", "weekend", "month", "monthday", "monthend", "holiday")
"""The kinds of factors that are patterns of the calendar."""
CATEGORY = "category"
"""The kind of a factor with one effect for each level."""
KINDS = (
    "constant",
    "noise",
    "linear",
    "smooth",
    "rough",
    "periodic",
    "walk",
    "damped",
    "from",
    "until",
    "saturating",
    "bend",
    "shock",
    CATEGORY,
    *CALENDAR,
)
"""The kinds of factors that have words."""


@dataclass(frozen=True)
class Parts:
    """The factors of one component by their role."""

    noise: bool
    periodic: tuple[Factor, ...]
    smooth: tuple[Factor, ...]
    walks: tuple[Factor, ...]
    damped: tuple[Factor, ...]
    lines: tuple[Factor, ...]
    windows: tuple[Factor, ...]
    calendar: tuple[Factor, ...]
    categories: tuple[Factor, ...]
    changes: tuple[Factor, ...]
    """Growth that ends, breaks of the slope, shocks that heal."""
    columns: tuple[str, ...]
    """The inputs of all factors except windows, in order; those of the windows if there are no other factors."""
    wordless: bool
    """Whether a factor is of a kind that has no words."""

    @property
    def alone(self) -> str:
        """The one kind of noun there is, when nothing else is: 'constant', 'level', 'line', else empty."""
        if self.noise or self.periodic or self.calendar or self.categories or self.smooth or self.walks or self.damped:
            return ""
        if self.changes:
            return ""
        return ("level" if self.windows else "constant") if not self.lines else "line" if len(self.lines) == 1 else ""

    @property
    def interaction(self) -> bool:
        """Whether it is a function of several inputs together."""
        return len(self.columns) > 1 and not self.noise and self.alone != "level"

    @property
    def plane(self) -> bool:
        """Whether it is one linear factor over several inputs: a sum of lines, not a product."""
        return self.alone == "line" and len(self.columns) > 1

    @property
    def rough(self) -> bool:
        """Whether a factor is rough."""
        return any(factor.kind == "rough" for factor in self.smooth)

    def shortest(self) -> Estimate | None:
        """The shortest lengthscale of the smooth and rough factors, over which their product varies."""
        lengths = [factor.lengthscale for factor in self.smooth if factor.lengthscale is not None]
        return min((x for x in lengths if x.value == x.value), key=lambda x: x.value, default=None)


def read(facts: Facts) -> Parts:
    """The factors of a component by their role."""

    def of(*kinds: str) -> tuple[Factor, ...]:
        return tuple(factor for factor in facts.factors if factor.kind in kinds)

    windows = of("from", "until")
    if len(windows) == 1 and all(factor.kind in ("until", "constant") for factor in facts.factors):
        # a level that ends at T is a change of the level at T
        windows = (replace(windows[0], kind="from"),)
    changes = of("saturating", "bend", "shock")
    body = [factor for factor in facts.factors if factor.kind not in ("from", "until", "constant")]
    return Parts(
        noise=bool(of("noise")),
        periodic=of("periodic"),
        smooth=of("smooth", "rough"),
        walks=of("walk"),
        damped=of("damped"),
        lines=of("linear"),
        windows=windows,
        calendar=of(*CALENDAR),
        categories=of(CATEGORY),
        changes=changes,
        columns=tuple(dict.fromkeys(column for factor in body or windows for column in factor.columns)),
        wordless=any(factor.kind not in KINDS for factor in facts.factors) or 0 < len(changes) < len(facts.factors),
    )


def given(estimate: Estimate | None) -> Estimate | None:
    """The estimate if its value is finite, else None."""
    return estimate if estimate is not None and known(estimate.value) else None


def axis_of(columns: tuple[str, ...], axes: Mapping[str, Axis]) -> Axis:
    """The axis of the first column; an axis without range if it is not in `axes`."""
    name = columns[0] if columns else next(iter(axes), "x")
    return axes.get(name, Axis(name, 0.0, 0.0))


def of_table(parts: Parts, axes: Mapping[str, Axis]) -> bool:
    """Whether it is an effect of inputs of a table, or of a regressor, not a component along the time of a series."""
    return len(axes) > 1 and not (len(parts.columns) == 1 and axis_of(parts.columns, axes).timed)


def pace(lengthscale: Estimate | None, axis: Axis) -> str:
    """How fast a lengthscale makes a function vary: 'slow', 'middle', 'fast' or 'unknown'."""
    if lengthscale is None or lengthscale.value != lengthscale.value:
        return "unknown"
    reach = axis.high - axis.low
    if lengthscale.value == float("inf") or 0 < reach < lengthscale.value / SLOW:
        return "slow"
    return "fast" if lengthscale.value < FAST * reach else "middle"


def barely_periodic(parts: Parts) -> bool:
    """Whether a drifting pattern changes its shape within one period."""
    lengthscale = parts.shortest()
    if len(parts.periodic) != 1 or lengthscale is None:
        return False
    period = given(parts.periodic[0].period)
    return period is not None and lengthscale.value < BARELY_PERIODIC * period.value


def steady(parts: Parts, axis: Axis) -> bool:
    """Whether a drifting pattern keeps its shape over all the data."""
    lengthscale, reach = parts.shortest(), axis.high - axis.low
    return bool(parts.periodic) and lengthscale is not None and 0 < STEADY * reach < lengthscale.value


def drifting(parts: Parts, axis: Axis) -> bool:
    """Whether the shape of a pattern changes within the data."""
    return bool(parts.walks or parts.damped or (parts.smooth and not steady(parts, axis)))


def in_degrees(name: str, unit: str) -> bool:
    """Whether a quantity is a temperature, of which nobody says that it rose by 8 %."""
    return bool(DEGREES.search(f"{name} {unit}".lower().replace("_", " "))) or unit in ("C", "F", "K")


def scale_of(target: Target) -> str:
    """Where a size holds that differs with the level of y: ' where sales is near 225 EUR'; empty if it does not."""
    if target.scale != "transformed" or target.typical is None:
        return ""
    return f" where {target.name or 'y'} is near {f'{significant(target.typical, 2)} {target.unit}'.rstrip()}"


def wanders(parts: Parts) -> bool:
    """Whether a component is a random walk alone, whose share of the variance is no merit."""
    return bool(parts.walks) and not (
        parts.periodic or parts.calendar or parts.smooth or parts.lines or parts.damped or parts.windows
    )


def worth_naming(evidence: float | None, gain: float | None) -> bool:
    """Whether what is known of a component speaks for it; otherwise it belongs to the rest.

    The evidence decides. Where it is weak, the component must lower the error. Where it is negative, others could take
    its place, so that it must lower the error clearly, as one of two does that could each take the other's place.
    """
    if evidence is None or evidence >= WEAK:
        return True
    return (gain is None or gain > 0.0) if evidence >= 0.0 else gain is not None and gain >= 1.0 - SOME


def fall(facts: Facts) -> float | None:
    """The relative fall of the cross-validated error when the component is added; None if unknown."""
    return fall_of(facts.error_before, facts.error_after)


def fall_of(before: float | None, after: float | None) -> float | None:
    """The same from the error without and with the component."""
    if before is None or after is None or not (known(before) and known(after)):
        return None
    return (before - after) / before if before > 0 else 0.0
