"""The facts about a component, as plain numbers in the user's units. All sentences are made from them.

`Facts` describes one component, a product of `Factor`s. `Axis` describes an input, `Target` describes y. findings.py
fills them in; numbers.py and sentences.py turn them into words. None of these needs a numerical library.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Axis:
    """An input: its name, its range over the data, and what its numbers mean."""

    name: str
    low: float
    high: float
    kind: str = "number"
    """'number'; 'years': decimal calendar years (1949.5 is mid 1949); 'days': days since 1970-01-01 (UTC); 'category':
    codes of levels."""
    unit: str = ""
    """The unit of a plain number, for instance 'mm'; empty if not given."""
    spacing: float = 0.0
    """The median distance between neighbouring points; 0 if unknown."""
    timed: bool = False
    """Whether it is the time of a series, which may have further inputs: its regressors."""
    weekdays: bool = False
    """Whether it is the time of a series of business days, of which a week has five."""


@dataclass(frozen=True)
class Target:
    """The target y, and the scale on which the components add up."""

    name: str
    unit: str = ""
    scale: str = "additive"
    """'additive'; 'multiplicative': components multiply, sizes are relative; 'transformed': components add up on
    another scale, sizes are in units of y where y is near `typical`; 'odds': the probit score of the second class,
    which `name` names."""
    typical: float | None = None
    """On a transformed scale: the y at which sizes are reported."""
    counts: bool = False
    """Whether it is a count, whose rate the components multiply."""


@dataclass(frozen=True)
class Factor:
    """One factor of a product."""

    kind: str
    """'constant', 'noise', 'linear', 'smooth', 'rough', 'periodic', 'walk', 'damped', 'from', 'until', 'saturating',
    'bend', 'shock', 'category' or a
    kind of calendar_words.py; any other has no wording."""
    columns: tuple[str, ...]
    """The names of the inputs it acts on."""
    location: Estimate | None = None
    """Where a line is zero, or where a changepoint, a bend or a shock lies."""
    width: float | None = None
    """The width of a changepoint, in units of the input."""
    lengthscale: Estimate | None = None
    """In units of the input; for a periodic factor the lengthscale within a period, without unit; for a shock the
    distance over which it heals to 37 %."""
    period: Estimate | None = None
    damping: Estimate | None = None
    """Of a damped trend: over h units of the input its growth fades by 1 - exp(-damping h)."""


@dataclass(frozen=True)
class Level:
    """One level of a category, or of a pattern of the calendar: Sundays, Christmas Day."""

    name: str
    value: Estimate
    """In units of y, or relative where components multiply."""


@dataclass(frozen=True)
class Round:
    """One year, week or day of all components that repeat so, together."""

    name: str
    """'yearly', 'weekly' or 'daily'."""
    profile: tuple[Level, ...]
    components: tuple[int, ...]
    """Their places among the components."""


@dataclass(frozen=True)
class Turn:
    """Where the curve of one input turns, once: a U or a hump."""

    kind: str
    """'lowest' or 'highest'."""
    at: float
    """In units of the input."""


@dataclass(frozen=True)
class Facts:
    """One component. Sizes are in units of y, or relative (0.12 is 12 %) where components multiply."""

    formula: str
    factors: tuple[Factor, ...]
    share: float
    """Its variance over the variance of y."""
    cumulative: float
    """The share that it and all larger components explain together."""
    sd: float
    """The standard deviation of its posterior mean over the data."""
    weight: Estimate
    evidence: float | None
    """The log evidence, in nats, lost when it is removed and the others are fitted again."""
    error_before: float | None
    """The cross-validated error before and after it is added; components are added in order of size."""
    error_after: float | None
    slope: Estimate | None = None
    """For a linear trend: the change of y per unit of x."""
    monotone: str | None = None
    """'rising' or 'falling' if the posterior mean does so over all the data."""
    amplitude: str | None = None
    """Of products with linear factors: 'growing', 'shrinking' or 'smallest inside', as the zero of the line lies left
    of the data, right of them or among them."""
    move: Estimate | None = None
    """Of a random walk alone: the standard deviation of its change over a unit of x; it grows with the root of x."""
    overall: str | None = None
    """Of a damped trend, and of a curve of a table: 'rising' or 'falling' where nearly all changes of its posterior
    mean have one sign."""
    heading: str | None = None
    """Of a damped trend: 'rising' or 'falling', where its posterior mean goes at the end of the data; None if level."""
    profile: tuple[Level, ...] = ()
    """Of a category, highest first, or of a pattern of the calendar: its levels among the rows, without the days on
    which an event is not. Of a cycle of a year, a week or a day: one round of it, month by month, day by day or hour by
    hour."""
    partial: bool = False
    """Whether other components go through the same round: its high and low are then not those of the data."""
    swing: float = float("nan")
    """From low to high: within a typical period of a cycle, else over all rows."""
    jump: Estimate | None = None
    """Of a change of the level: the level after it minus that before; of a shock at its place."""
    slopes_around: tuple[Estimate, Estimate] | None = None
    """Of a bend: the change of y per unit of x before and after it, by all straight components together."""
    bent: bool = False
    """Of a line: whether the slope breaks, so that the line is that before the first break."""
    level: Estimate | None = None
    """Of growth that ends: the level that it approaches, in units of y."""
    open_level: bool = False
    """Whether the rows leave open where that is."""
    slows: bool = False
    """Whether growth that ends has slowed."""
    turn: Turn | None = None
    """Of the curve of one input: where it turns, if it is a U or a hump."""
    plane: tuple[tuple[str, Estimate], ...] = ()
    """Of a linear effect of several inputs: the change of y per unit of each."""
    straight: Estimate | None = None
    """Of a curve of one input that is nearly straight: its change per unit of x."""
    contrast: Estimate | None = None
    """Of a pattern of two levels, and of the effect of an input with two values: the second minus the first."""
    slopes: tuple[Level, ...] = ()
    """Of a category times a line: the slope of each level beside the mean slope, highest first."""
