"""The candidates of a series or a curve: products of kernels with starting values from the data.

Of one input, which may be the time of a series with regressors: lines; smooth kernels on a grid of
lengthscales; cycles with the periods of the residual and of the calendar, also with a drifting shape or a growing
amplitude; a change of level where the residual has one; and every component found so far times a line, a smooth kernel,
or one side of that change. Inputs are standardised. Starting values are on grids, which replaces random restarts.

Each regressor has one effect, so that its size can be told: a line, or a smooth curve in its place where a number of
more than two values needs one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from farrier.kernels.algebra import Base, Kernel, product_of
from farrier.kernels.normal import simplify
from farrier.kernels.registry import (
    CentredPeriodic,
    DampedTrend,
    Linear,
    Matern12,
    RandomWalk,
    SquaredExponential,
    Step,
    StepUntil,
)
from farrier.search.beliefs import Beliefs
from farrier.search.periods import REPEATS, find_periods, multiples_of
from farrier.search.starting_values import (
    CHANGEPOINT_WIDTH,
    INPUT_LENGTHSCALES,
    LENGTHSCALES,
    SAME_CHANGE,
    SAME_LENGTHSCALE,
    SAME_PERIOD,
    SHAPES,
)

MOST_FACTORS = 3
"""Most factors of a product, changepoints not counted. [factors; by judgement]"""
MOST_PERIODS = 3
"""Most periods found in the data that are tried. [periods; by judgement]"""
SHORTEST_PERIOD = 2.5
"""Shortest known period that is tried. [steps between neighbours; by judgement]"""


@dataclass(frozen=True)
class Extent:
    """The range of one input and the median distance of neighbours."""

    low: float
    high: float
    spacing: float

    @classmethod
    def of(cls, x: np.ndarray) -> "Extent":
        """The extent of some rows."""
        distinct = np.unique(x)
        return cls(float(distinct[0]), float(distinct[-1]), float(np.median(np.diff(distinct))))

    @property
    def range(self) -> float:
        """high - low."""
        return self.high - self.low


def series(
    x: np.ndarray,
    left: np.ndarray,
    known: Sequence[float],
    found: Sequence[Kernel],
    change: float | None,
    beliefs: Beliefs,
) -> list[Kernel]:
    """Candidates for one input: `left` is the residual, `change` the location of a possible changepoint."""
    extent = Extent.of(x)
    fresh = [*_smooth(extent), Linear(0.0)]
    periods = find_periods(x, left, MOST_PERIODS, known)
    periods += multiples_of(x, left, periods)
    every = [*periods, *(p for p in known if p not in periods and _fits(p, extent))]
    fresh += beliefs.structural(every)
    for period in every:
        fresh += _cycles(period, extent)
    if change is not None:
        fresh += _changes(change, extent, found)
    fresh += [more for kernel in found for more in grown(kernel, extent)]
    return distinct(fresh, found)


def ordinary_curve(x: np.ndarray, periods: Sequence[float], found: Sequence[Kernel]) -> list[Kernel]:
    """The ordinary candidates of one input that is not time, without those in `found`: curves, lines and cycles."""
    extent = Extent.of(x)
    growing = SquaredExponential(LENGTHSCALES[0] * extent.range) * line_before(extent)
    kernels: list[Kernel] = [SquaredExponential(extent.range * part) for part in LENGTHSCALES]
    kernels += [Linear(0.0), Linear(0.0) * Linear(0.0), growing]
    for period in periods[:MOST_PERIODS]:
        kernels += _cycles(period, extent)[1:]
    return distinct(kernels, found)


def ordinary_series(beliefs: Beliefs, periods: Sequence[float], found: Sequence[Kernel]) -> list[Kernel]:
    """What ordinary series are made of, without what is in `found`: trend, walk, seasons that move, AR(1)."""
    kernels = beliefs.structural(periods[:MOST_PERIODS])
    return distinct(kernels, found)


def of_calendar(patterns: Sequence[Kernel], found: Sequence[Kernel]) -> list[Kernel]:
    """Patterns of the calendar that are not in `found`."""
    return distinct(patterns, found)


def acts_on(kernel: Kernel) -> tuple[int, ...]:
    """The regressors that a product acts on; none for a component over time."""
    columns = {int(d) for factor in kernel.products()[0] for d in factor.dims or ()}
    return tuple(sorted(columns - {0}))


def lines(inputs: int, found: Sequence[Kernel]) -> list[Kernel]:
    """A line for each regressor without an effect of its own among `found`."""
    there = {acts_on(kernel) for kernel in found}
    return [Linear(0.0, dims=(d,)) for d in range(1, inputs) if (d,) not in there]


def curves_for(kernel: Kernel, X: np.ndarray) -> list[Kernel]:
    """Curves in place of the line of a regressor of more than two values; nothing for another kernel."""
    (first, *more), on = kernel.products()[0], acts_on(kernel)
    if more or not isinstance(first, Linear) or len(on) != 1 or len(np.unique(X[:, on[0]])) <= 2:
        return []
    return [SquaredExponential(length, dims=on) for length in INPUT_LENGTHSCALES]


def straight(kernel: Kernel) -> list[Kernel]:
    """A line in place of the curve of a regressor; nothing for another kernel."""
    (first, *more), on = kernel.products()[0], acts_on(kernel)
    return [Linear(0.0, dims=on)] if isinstance(first, SquaredExponential) and not more and len(on) == 1 else []


def has_step(kernel: Kernel) -> bool:
    """Whether a product has a changepoint."""
    return any(isinstance(factor, Step | StepUntil) for factor in kernel.products()[0])


def narrowed(kernel: Kernel, flat: float) -> Kernel | None:
    """The kernel without inputs whose lengthscale is above `flat`; None if that drops no input, or all of them."""
    factors = list(kernel.products()[0])
    for place, factor in enumerate(factors):
        lengths = np.ravel(factor.parameters().get("lengthscale", 0.0))
        keep = lengths <= flat
        if len(lengths) < 2 or keep.all() or not keep.any():
            continue
        columns = np.arange(len(lengths)) if factor.dims is None else np.asarray(factor.dims)
        dims = tuple(int(d) for d in columns[keep])
        each = {name: np.ravel(v) for name, v in factor.parameters().items() if np.size(v) == len(lengths)}
        kept = {name: v[keep] if keep.sum() > 1 else v[keep][0] for name, v in each.items()}
        factors[place] = factor.replace(**kept, dims=dims)
        return product_of(simplify(factors))
    return None


def simpler(kernel: Kernel, walk: RandomWalk | None = None) -> list[Kernel]:
    """The product without one of its factors, with a smooth factor in place of a rough one, the limits of a damped
    trend (a line and a random walk), and the limit of a rough kernel, which is the given walk."""
    factors = kernel.products()[0]
    fewer = [product_of([f for k, f in enumerate(factors) if k != gone]) for gone in range(len(factors))]
    smooth = [
        product_of([_smooth_like(f, part) if f is rough else f for f in factors])
        for rough in factors
        if isinstance(rough, Matern12)
        for part in LENGTHSCALES[:2]
    ]
    if len(factors) > 1:
        return [*fewer, *smooth]
    damped = [one for one in factors if isinstance(one, DampedTrend)]
    limits = [limit for one in damped for limit in (Linear(0.0), RandomWalk(one.origin, one.scale))]
    walks = [walk for one in factors if walk is not None and isinstance(one, Matern12)]
    return [*smooth, *limits, *walks]


def other_periods(kernel: Kernel, extent: Extent, seasons: Sequence[float], *, longer: bool) -> list[Kernel]:
    """The product with another period; what happens within it takes as long.

    That is each of the seasons that divide its period, or that its period divides: daily rows cannot tell a week from a
    half or a third of it. With `longer`, twice and three times the period are candidates too where the rows span
    `REPEATS` of them: the period that was found may be that of a harmonic.
    """
    factors, found = kernel.products()[0], []
    for cycle in (factor for factor in factors if isinstance(factor, CentredPeriodic)):
        period = float(np.ravel(cycle.period)[0])
        times = [(season, max(period / season, season / period)) for season in seasons]
        others = [season for season, n in times if round(n) > 1 and abs(n / round(n) - 1.0) < 1e-3]
        others += [n * period for n in (2.0, 3.0) if longer and REPEATS * n * period <= extent.range]
        for other in others:
            new = cycle.replace(period=other, lengthscale=cycle.lengthscale * period / other)
            found.append(product_of([new if factor is cycle else factor for factor in factors]))
    return found


def _smooth_like(rough: Base, part: float) -> Base:
    """A smooth factor whose lengthscale is a part of that of a rough one."""
    return SquaredExponential(part * rough.parameters()["lengthscale"], rough.dims)


def simple(x: np.ndarray, periods: Sequence[float]) -> list[Kernel]:
    """Simple kernels for one side of a changepoint: smooth curves and cycles."""
    extent = Extent.of(x)
    return [
        *(SquaredExponential(extent.range * part) for part in LENGTHSCALES[1:]),
        *(CentredPeriodic(period, shape) for period in periods for shape in SHAPES),
    ]


def step_at(place: float, extent: Extent) -> Step:
    """A sharp changepoint."""
    return Step(place, CHANGEPOINT_WIDTH * extent.spacing)


def split_rows(x: np.ndarray, parts: Sequence[float]) -> list[int]:
    """Row indices of sorted x at which a second regime may begin, near some fractions of the rows.

    No index separates rows with equal x.
    """
    starts = {int(np.searchsorted(x, x[int(part * len(x))])) for part in parts}
    return sorted(starts - {0})


def places_between(x: np.ndarray, margin: int) -> np.ndarray:
    """The middles between distinct neighbours of sorted x, with more than `margin` rows on either side."""
    middles = (0.5 * (x[1:] + x[:-1]))[margin : len(x) - 1 - margin]
    return middles[(x[1:] > x[:-1])[margin : len(x) - 1 - margin]]


def changes_of(kernels: Sequence[Kernel]) -> list[float]:
    """The distinct changepoints of some products of one input."""
    places: list[float] = []
    for kernel in kernels:
        for factor in kernel.products()[0]:
            if isinstance(factor, Step | StepUntil):
                place = float(np.ravel(factor.location)[0])
                if not any(abs(place - other) < SAME_CHANGE for other in places):
                    places.append(place)
    return places


def moved(kernel: Kernel, change: float, place: float) -> Kernel:
    """The product with its steps at one changepoint moved to another location."""

    def there(factor: Base) -> bool:
        if not isinstance(factor, Step | StepUntil):
            return False
        return abs(float(np.ravel(factor.location)[0]) - change) < SAME_CHANGE

    return product_of([f.replace(location=place) if there(f) else f for f in kernel.products()[0]])


def repeats_inside_window(kernel: Kernel, extent: Extent) -> bool:
    """Whether all cycles of a product repeat often enough inside its active window.

    The window is the part of the range where the steps of the product are on; without steps there is no condition.
    """
    factors, low, high = kernel.products()[0], extent.low, extent.high
    for factor in factors:
        if isinstance(factor, Step):
            low = max(low, float(np.ravel(factor.location)[0]))
        elif isinstance(factor, StepUntil):
            high = min(high, float(np.ravel(factor.location)[0]))
    if high - low == extent.range:
        return True
    return all(REPEATS * period <= high - low for period in periods_of([kernel]))


def is_noise(kernel: Kernel, extent: Extent) -> bool:
    """Whether a smooth or rough kernel of one input is noise: neighbouring rows have next to no correlation."""
    factors = kernel.products()[0]
    if len(factors) != 1 or not all(isinstance(factor, SquaredExponential | Matern12) for factor in factors):
        return False
    near = kernel.gram(np.zeros((1, 1)), np.array([[extent.spacing]]))
    # neighbouring rows have next to no correlation
    return float(near[0, 0]) < 0.3


def over_time(kernels: Sequence[Kernel]) -> list[Kernel]:
    """The components of a series that act on time, as products of one input; those of its regressors are left out."""
    over = [kernel.products()[0] for kernel in kernels if not acts_on(kernel)]
    return [product_of([factor.replace(dims=None) for factor in factors]) for factors in over]


def periods_of(kernels: Sequence[Kernel]) -> list[float]:
    """The distinct periods of some products."""
    factors = [factor for kernel in kernels for factor in kernel.products()[0]]
    periods = [float(np.ravel(one.period)[0]) for one in factors if isinstance(one, CentredPeriodic)]
    return distinct_periods(periods)


def distinct_periods(periods: Sequence[float]) -> list[float]:
    """The periods without those that are nearly equal to an earlier one."""
    found: list[float] = []
    for period in periods:
        if not any(abs(np.log(period / other)) < SAME_PERIOD for other in found):
            found.append(period)
    return found


def _smooth(extent: Extent) -> list[Kernel]:
    # below the distance of neighbours it would be noise
    shortest = 1.2 * extent.spacing
    lengths = [extent.range * part for part in LENGTHSCALES if extent.range * part > shortest]
    return [*(SquaredExponential(length) for length in lengths), *(Matern12(length) for length in lengths)]


def _cycles(period: float, extent: Extent) -> list[Kernel]:
    # a shape that changes within a period is no cycle
    drifts = sorted({max(part * extent.range, 1.5 * period) for part in LENGTHSCALES[:3]})
    strict = [CentredPeriodic(period, shape) for shape in SHAPES]
    line = line_before(extent)
    return [
        *strict,
        *(strict[0] * SquaredExponential(length) for length in drifts),
        strict[0] * line,
        strict[0] * line * SquaredExponential(drifts[-1]),
    ]


def line_before(extent: Extent) -> Linear:
    """A line that is zero before the first row, so that products with it grow."""
    # in parts of the range, by judgement
    return Linear(extent.low - 0.3 * extent.range)


def _changes(place: float, extent: Extent, found: Sequence[Kernel]) -> list[Kernel]:
    def step() -> Step:
        return step_at(place, extent)

    fresh: list[Kernel] = [step(), step() * Linear(place), (1 - step()) * Linear(place)]
    for length in LENGTHSCALES[1:3]:
        smooth = SquaredExponential(length * extent.range)
        fresh += [step() * smooth, (1 - step()) * smooth]
    return [*fresh, *(side for kernel in found for side in sides(kernel, [place], extent))]


def sides(kernel: Kernel, changes: Sequence[float], extent: Extent) -> list[Kernel]:
    """A component without changepoints, only after each of some changes and only before it."""
    if has_step(kernel):
        return []
    steps = [step_at(place, extent) for place in changes]
    both = [side for step in steps for side in (kernel * step, kernel * (1 - step))]
    return [side for side in both if repeats_inside_window(side, extent)]


def grown(kernel: Kernel, extent: Extent) -> list[Kernel]:
    """A component times a line, and times a smooth kernel."""
    factors = kernel.products()[0]
    if sum(not isinstance(f, Step | StepUntil) for f in factors) >= MOST_FACTORS:
        return []
    more: list[Kernel] = []
    if not any(isinstance(f, Linear) for f in factors):
        more.append(kernel * line_before(extent))
    elif len(factors) == 1:
        more.append(kernel * Linear(0.0))
    if not any(isinstance(f, SquaredExponential | Matern12) for f in factors):
        more += [kernel * SquaredExponential(part * extent.range) for part in LENGTHSCALES[:2]]
    return [product_of(simplify(one.products()[0])) for one in more]


def _fits(period: float, extent: Extent) -> bool:
    return SHORTEST_PERIOD * extent.spacing < period < extent.range / REPEATS


def distinct(kernels: Sequence[Kernel], found: Sequence[Kernel]) -> list[Kernel]:
    """The kernels in normal form, without duplicates and without those in `found`."""
    there = [Signature.of(kernel) for kernel in found]
    fresh: list[Kernel] = []
    for kernel in kernels:
        candidate = product_of(simplify(kernel.products()[0]))
        signature = Signature.of(candidate)
        if not any(signature.alike(other) for other in there):
            fresh.append(candidate)
            there.append(signature)
    return fresh


@dataclass(frozen=True)
class Signature:
    """The formula, log lengthscales, log periods and changepoints of a product, for finding duplicates."""

    formula: str
    lengths: tuple[float, ...]
    periods: tuple[float, ...]
    changes: tuple[float, ...]

    @classmethod
    def of(cls, kernel: Kernel) -> "Signature":
        """The signature of one product."""
        numbers: dict[str, list[float]] = {"lengthscale": [], "period": [], "change": []}
        for factor in kernel.products()[0]:
            for name, value in factor.parameters().items():
                kind = "change" if name == "location" and isinstance(factor, Step | StepUntil) else name
                if kind in numbers:
                    logarithm = np.ravel(value) if kind == "change" else np.log(np.ravel(value))
                    numbers[kind] += [float(one) for one in logarithm]
        return cls(kernel.formula(), *(tuple(numbers[name]) for name in ("lengthscale", "period", "change")))

    def alike(self, other: "Signature") -> bool:
        """Whether the two products are so close that they count as one candidate."""
        if self.formula != other.formula:
            return False
        pairs = (
            (self.lengths, other.lengths, SAME_LENGTHSCALE),
            (self.periods, other.periods, SAME_PERIOD),
            (self.changes, other.changes, SAME_CHANGE),
        )
        return all(abs(a - b) <= tolerance for one, two, tolerance in pairs for a, b in zip(one, two, strict=True))
