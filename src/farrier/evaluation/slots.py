"""A pool of products that all have the same slots: which are filled, and with what, is data.

Kernel i is a product of what stands in its slots, and an empty slot is one:

    k_i(x, z) = from_i(x, z) until_i(x, z) prod_s line_is(x, z) smooth_i(x, z) prod_s repeat_is(x, z)

products.py evaluates them.

Lines are counted in units of their root mean square over standardised inputs, (x - c) / sqrt(1 + c^2): then the
weight of a product is the size of what it adds, wherever its line is zero, and no product escapes shrinkage by moving
that place away.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from types import SimpleNamespace
from typing import Any, final

import equinox as eqx
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from farrier.kernels.algebra import Base, Kernel, product_of
from farrier.kernels.base import (
    CentredPeriodic,
    Constant,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    Step,
    StepUntil,
)
from farrier.kernels.normal import simplify
from farrier.kernels.parameters import Module, fixed, positive, real

LINES = 3
REPEATS = 2
SMOOTH: tuple[type[Any], ...] = (SquaredExponential, Matern12, Matern32, Matern52, RationalQuadratic)
REPEATING: tuple[type[Any], ...] = (Periodic, CentredPeriodic)
NUMBERS = ("lengthscale", "mixture", "period", "shape", "line", "start", "start_width", "end", "end_width")
"""The fields that are trained."""


def _as_codes(value: Any) -> Any:
    return np.asarray(value)


@final
class SlotPool(Module):
    """m products of at most one step from and one until a place, three lines, one smooth factor and two periodic ones.

    `*_on` says on which columns a slot acts (all zero: it is empty), `smooth` and `repeat` which family fills it,
    counted from 1 in SMOOTH and REPEATING.
    """

    smooth: Int[Array, " m"] = eqx.field(converter=_as_codes)
    repeat: Int[Array, "m R"] = eqx.field(converter=_as_codes)
    smooth_on: Float[Array, "m D"] = fixed()
    repeat_on: Float[Array, "m R D"] = fixed()
    line_on: Float[Array, "m P D"] = fixed()
    from_on: Float[Array, "m D"] = fixed()
    until_on: Float[Array, "m D"] = fixed()
    lengthscale: Float[Array, "m D"] = positive()
    mixture: Float[Array, " m"] = positive()
    period: Float[Array, "m R"] = positive()
    shape: Float[Array, "m R"] = positive()
    """The lengthscale within a period."""
    line: Float[Array, "m P D"] = real()
    """Where the lines are zero."""
    start: Float[Array, " m"] = real()
    """From where on the kernel holds, and over which width it sets in."""
    start_width: Float[Array, " m"] = positive()
    end: Float[Array, " m"] = real()
    """Until where the kernel holds, and over which width it fades."""
    end_width: Float[Array, " m"] = positive()

    @classmethod
    def of(cls, kernels: Sequence[Kernel], inputs: int) -> "SlotPool":
        """The pool of the given kernels, each a product in standardised inputs.

        A line's own scale is not kept: it is counted in the unit that the top of this file names.
        """
        products = [simplify(factors) for kernel in kernels for factors in kernel.products()]
        table = _empty(len(products), inputs)
        for i, factors in enumerate(products):
            for factor in factors:
                _fill(table, i, factor, inputs)
        return cls(**table)

    def __len__(self) -> int:
        return self.smooth.shape[0]

    def arrays(self) -> dict[str, np.ndarray]:
        """All fields by name."""
        return {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}

    @property
    def inputs(self) -> int:
        """How many columns there are."""
        return self.lengthscale.shape[1]

    def __getitem__(self, i: int) -> Kernel:
        if not -len(self) <= i < len(self):
            raise IndexError(f"The pool has {len(self)} kernels, got index {i}.")
        return product_of(_factors(SimpleNamespace(**{name: values[i] for name, values in self.arrays().items()})))

    def __iter__(self) -> Iterator[Kernel]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        return "\n".join(f"{i:3d}  {kernel}" for i, kernel in enumerate(self))


def holds(kernels: Sequence[Kernel], inputs: int) -> bool:
    """Whether each product of some kernels has a place in a pool of so many inputs."""
    try:
        SlotPool.of(kernels, inputs)
    except ValueError:
        return False
    return True


def _empty(size: int, inputs: int) -> dict[str, Any]:
    def by_column() -> np.ndarray:
        return np.zeros((size, inputs))

    return {
        "smooth": np.zeros(size, np.int32),
        "repeat": np.zeros((size, REPEATS), np.int32),
        "smooth_on": by_column(),
        "repeat_on": np.zeros((size, REPEATS, inputs)),
        "line_on": np.zeros((size, LINES, inputs)),
        "from_on": by_column(),
        "until_on": by_column(),
        "lengthscale": np.ones((size, inputs)),
        "mixture": np.ones(size),
        "period": np.ones((size, REPEATS)),
        "shape": np.ones((size, REPEATS)),
        "line": np.zeros((size, LINES, inputs)),
        "start": np.zeros(size),
        "start_width": np.ones(size),
        "end": np.zeros(size),
        "end_width": np.ones(size),
    }


def _fill(table: dict[str, Any], i: int, factor: Base, inputs: int) -> None:
    """Put one factor into the first empty slot that takes it."""
    columns = list(range(inputs)) if factor.dims is None else [int(d) for d in factor.dims]
    values = {name: np.broadcast_to(value, (len(columns),)) for name, value in factor.parameters().items()}
    if isinstance(factor, Constant):
        return
    if isinstance(factor, SMOOTH) and not table["smooth"][i]:
        table["smooth"][i] = SMOOTH.index(type(factor)) + 1
        table["smooth_on"][i, columns] = 1.0
        table["lengthscale"][i, columns] = values["lengthscale"]
        table["mixture"][i] = values.get("mixture", np.ones(1))[0]
    elif isinstance(factor, REPEATING) and len(columns) == 1 and (free := _first_empty(table["repeat"][i])) is not None:
        table["repeat"][i, free] = REPEATING.index(type(factor)) + 1
        table["repeat_on"][i, free, columns] = 1.0
        table["period"][i, free], table["shape"][i, free] = values["period"][0], values["lengthscale"][0]
    elif isinstance(factor, Linear) and (free := _first_empty(table["line_on"][i].any(axis=-1))) is not None:
        table["line_on"][i, free, columns] = 1.0
        table["line"][i, free, columns] = values["location"]
    elif isinstance(factor, Step) and not table["from_on"][i].any():
        table["from_on"][i, columns] = 1.0
        table["start"][i], table["start_width"][i] = values["location"][0], values["width"][0]
    elif isinstance(factor, StepUntil) and not table["until_on"][i].any():
        table["until_on"][i, columns] = 1.0
        table["end"][i], table["end_width"][i] = values["location"][0], values["width"][0]
    else:
        raise ValueError(
            f"{factor} has no place in a product of at most one step from and one until a place, {LINES} lines, one "
            f"smooth factor and {REPEATS} periodic ones of one input: try method='stochastic'."
        )


def _first_empty(filled: np.ndarray) -> int | None:
    empty = np.flatnonzero(np.asarray(filled) == 0)
    return int(empty[0]) if len(empty) else None


def _factors(k: Any) -> list[Base]:
    """The factors in the slots of one kernel, in the order of a formula."""
    found: list[Base] = []
    if k.from_on.any():
        found.append(Step(k.start, k.start_width, _dims(k.from_on)))
    if k.until_on.any():
        found.append(StepUntil(k.end, k.end_width, _dims(k.until_on)))
    for s in np.flatnonzero(k.line_on.any(axis=-1)):
        location = _entries(k.line[s], k.line_on[s])
        found.append(Linear(location, np.sqrt(1.0 + location**2), _dims(k.line_on[s])))
    if k.smooth:
        family = SMOOTH[int(k.smooth) - 1]
        others = {"mixture": k.mixture} if family is RationalQuadratic else {}
        lengthscale = _entries(k.lengthscale, k.smooth_on)
        found.append(family(lengthscale=lengthscale, dims=_dims(k.smooth_on), **others))
    for s in np.flatnonzero(k.repeat):
        family = REPEATING[int(k.repeat[s]) - 1]
        found.append(family(period=k.period[s], lengthscale=k.shape[s], dims=_dims(k.repeat_on[s])))
    return sorted(found, key=lambda factor: factor.rank) or [Constant()]


def _dims(on: np.ndarray) -> tuple[int, ...] | None:
    return None if on.all() else tuple(int(d) for d in np.flatnonzero(on))


def _entries(values: np.ndarray, on: np.ndarray) -> np.ndarray:
    chosen = values[on > 0]
    return chosen.reshape(()) if len(chosen) == 1 else chosen
