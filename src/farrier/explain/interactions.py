"""Words for products over several inputs: which inputs act together, and the shape along each of them."""

from collections.abc import Mapping

from farrier.explain.facts import Axis, Factor
from farrier.explain.numbers import count, length, listing
from farrier.explain.parts import NAMED, Parts, axis_of, given, pace

WAYS = {"walk": "wandering", "damped": "levelling off"}
"""The adjective for a factor of each of these kinds."""
POWERS = ("", "linear", "quadratic", "cubic", "quartic")
"""The adjective for so many linear factors."""


def interaction(parts: Parts, axes: Mapping[str, Axis], *, brief: bool) -> str:
    """The noun phrase: 'an interaction of cement and age'."""
    names = list(parts.columns)
    noun = "a linear effect" if parts.plane else "an interaction"
    if len(names) == len(axes) > NAMED:
        return f"{noun} of all {count(len(names))} inputs"
    if brief and len(names) > NAMED + 1:
        names = [*names[:NAMED], f"{count(len(names) - NAMED)} more inputs"]
    return f"{noun} of {listing(names)}"


def shape(parts: Parts, axes: Mapping[str, Axis]) -> str:
    """The shape along each of its inputs: 'linear in cement and smooth in age over about 12.3 days'."""
    if parts.plane:
        return "a line along each, added up"
    said = by_column(parts, axes)
    return "; ".join(said) if len(said) > 1 and any(" and " in clause for clause in said) else listing(said)


def by_column(parts: Parts, axes: Mapping[str, Axis]) -> list[str]:
    """The shape along each of its inputs, one clause for each kind of factor."""
    return [_in_column(factors, parts, axes) for factors in _by_column(parts)]


def course(parts: Parts) -> str:
    """What it does beyond the data along each input. The factor that forgets fastest decides."""
    memory: dict[str, str] = {}
    for verb, factors in (
        ("goes on as it is", parts.lines),
        ("levels off", parts.damped),
        ("repeats", parts.periodic),
        ("stays at its last value", parts.walks),
        ("returns to the mean", parts.smooth),
    ):
        memory |= dict.fromkeys((column for factor in factors for column in factor.columns), verb)
    verbs = list(dict.fromkeys(memory.values()))
    along = {verb: [column for column, said in memory.items() if said == verb] for verb in verbs}
    if len(verbs) == 1:
        return f"beyond the data it {verbs[0]}"
    return f"beyond the data it {listing([f'{verb} along {_named(tuple(along[verb]), parts)}' for verb in verbs])}"


def _named(columns: tuple[str, ...], parts: Parts) -> str:
    """Some inputs of a product: by name if they are few, else their number."""
    if set(columns) == set(parts.columns):
        return "both" if len(columns) == 2 else "all of them"
    return listing(list(columns)) if len(columns) <= NAMED + 1 else f"{count(len(columns))} of its inputs"


def _by_column(parts: Parts) -> list[list[Factor]]:
    """The factors except windows, grouped by kind and inputs."""
    groups: dict[tuple[str, tuple[str, ...]], list[Factor]] = {}
    for factor in (*parts.lines, *parts.walks, *parts.damped, *parts.smooth, *parts.periodic):
        groups.setdefault((factor.kind, factor.columns), []).append(factor)
    return list(groups.values())


def _in_column(factors: list[Factor], parts: Parts, axes: Mapping[str, Axis]) -> str:
    """The shape along one input: 'linear in cement', 'smooth in age over about 12.3 days'."""
    factor, k = factors[0], len(factors)
    axis = axis_of(factor.columns, axes)
    names = factor.columns or (axis.name,)
    where = f"in {_named(names, parts)}"
    if factor.kind == "linear":
        return f"{POWERS[k] if k < len(POWERS) else f'a polynomial of degree {k}'} {where}"
    if factor.kind in WAYS:
        return f"{WAYS[factor.kind]} {where}"
    if factor.kind == "periodic":
        period = given(factor.period) if len(names) == 1 else None
        return f"periodic {where}{f' every {length(period, axis)}' if period else ''}"
    lengthscale = factor.lengthscale if len(names) == 1 else None
    speed = pace(lengthscale, axis)
    if lengthscale is None or speed in ("slow", "unknown"):
        return f"{'very ' if speed == 'slow' and factor.kind == 'smooth' else ''}{factor.kind} {where}"
    kind = f"changing fast{'' if factor.kind == 'smooth' else ' and roughly'}" if speed == "fast" else factor.kind
    return f"{kind} {where} over about {length(lengthscale, axis)}"
