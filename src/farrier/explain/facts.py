"""What is known of a component, as plain numbers in the user's units: the only thing sentences are made of.

`Facts` is one component, a product of `Factor`s. An `Axis` says what an input is, a `Target` what y is. Whoever fits a
model fills these in; numbers.py and sentences.py turn them into words. No numerical library is imported here or there.
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
    """What an input is: its name, its range over the data, and how its numbers are to be read."""

    name: str
    low: float
    high: float
    kind: str = "number"
    """'number'; 'years': decimal calendar years (1949.5 is mid 1949); 'days': days since 1970-01-01 (UTC)."""
    unit: str = ""
    """The unit of a plain number, for instance 'mm'; empty when nobody said."""
    spacing: float = 0.0
    """The median distance of neighbouring points; 0 where it means nothing."""


@dataclass(frozen=True)
class Target:
    """What y is, and on which scale the components add up."""

    name: str
    unit: str = ""
    scale: str = "additive"
    """'additive'; 'multiplicative': components multiply, sizes are relative; 'transformed': sizes on a transformed
    scale; 'odds': the probit score of the second class, which `name` names."""


@dataclass(frozen=True)
class Factor:
    """One factor of a product."""

    kind: str
    """'constant', 'noise', 'linear', 'smooth', 'rough', 'periodic', 'walk', 'damped', 'from' or 'until'; any other has
    no wording."""
    columns: tuple[str, ...]
    """The names of the inputs it acts on."""
    location: Estimate | None = None
    """Where a line is zero; when a change takes place."""
    width: float | None = None
    """Over how much the change takes place."""
    lengthscale: Estimate | None = None
    """In units of the input; of a periodic factor the lengthscale within a period, which has no unit."""
    period: Estimate | None = None
    damping: Estimate | None = None
    """Of a damped trend: over h units of the input its growth fades by 1 - exp(-damping h)."""


@dataclass(frozen=True)
class Facts:
    """One component; sizes in units of y, or relative (0.12 is 12 %) where components multiply."""

    formula: str
    factors: tuple[Factor, ...]
    share: float
    """Its variance over the variance of y."""
    cumulative: float
    """The share that it and all larger components explain together."""
    sd: float
    """The standard deviation over the data of what it adds."""
    weight: Estimate
    evidence: float | None
    """The nats of log evidence lost when it is removed and the others are fitted again."""
    error_before: float | None
    """The cross-validated error without it and with it, components added in order of size."""
    error_after: float | None
    slope: Estimate | None = None
    """Of a linear trend alone: the change of y for a unit of x."""
    monotone: str | None = None
    """'rising' or 'falling' when all differences of the posterior mean over the data have one sign."""
    amplitude: str | None = None
    """Of products with linear factors: 'growing', 'shrinking' or 'smallest inside', as the zero of the line lies left
    of the data, right of them or among them."""
    move: Estimate | None = None
    """Of a random walk alone: the standard deviation of its change over a unit of x; it grows with the root of x."""
    overall: str | None = None
    """Of a damped trend: 'rising' or 'falling' where nearly all changes of its posterior mean have one sign."""
    heading: str | None = None
    """Of a damped trend: 'rising' or 'falling', where its posterior mean goes at the end of the data; None if level."""
