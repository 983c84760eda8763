"""A fitted model's components as tables: what they are, how large, and what each adds at given rows.

`ComponentTable` is one row a kernel, largest first; it prints the rows that matter and sums up the others in one, so
that the shares still mean something. `Decomposition` holds the mean and standard deviation of every component at
some rows; the means add up to the prediction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

import numpy as np

from farrier.model.tables import frame_like

NEGLIGIBLE = 1e-3
"""A component whose share of the variance is below this goes into the row of the rest."""


@dataclass(frozen=True)
class Component:
    """One kernel of the pool after the fit; lengths in the units of the inputs, sizes in the units of y."""

    index: int
    """Its place in the pool, and in a decomposition."""
    formula: str
    kernel: str
    """The kernel with its parameters, as Python."""
    weight: float
    """The median of w under q, and its 95 % interval."""
    weight_low: float
    weight_high: float
    sd: float
    """The standard deviation, over the rows it was fitted to, of what the component adds."""
    share: float
    """The square of that, over the variance of y (of the fit, for classes); parts overlap: shares need not add up."""
    evidence: float | None
    """Nats of log evidence that its removal costs; None where nobody looked."""
    period: str
    """The periods of its periodic factors, empty if it has none."""


@dataclass(frozen=True)
class ComponentTable(Sequence[Component]):
    """The components, largest first."""

    rows: tuple[Component, ...]
    rest: float = 0.0
    """The standard deviation of what all kernels beside the components add together."""
    others: int = 0
    """How many such kernels there are."""

    @overload
    def __getitem__(self, index: int) -> Component: ...
    @overload
    def __getitem__(self, index: slice) -> "ComponentTable": ...
    def __getitem__(self, index: int | slice) -> "Component | ComponentTable":
        return (
            ComponentTable(self.rows[index], self.rest, self.others) if isinstance(index, slice) else self.rows[index]
        )

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Component]:
        return iter(self.rows)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name."""
        return {field.name: [getattr(row, field.name) for row in self.rows] for field in fields(Component)}

    def to_frame(self, like: Any) -> Any:
        """A frame of the same kind as `like`, for instance the pandas or polars frame that was fitted."""
        return frame_like({name: np.asarray(column) for name, column in self.to_dict().items()}, like)

    def large(self) -> tuple[Component, ...]:
        """The components that matter: those above a thousandth of the variance, at least the largest."""
        return tuple(row for i, row in enumerate(self.rows) if i == 0 or row.share >= NEGLIGIBLE)

    def lines(self) -> list[tuple[str, ...]]:
        """The printed table: a header, the components that matter, and a line for the rest."""
        table = [("component", "weight", "95 % interval", "sd", "share", "period")]
        for row in self.large():
            interval = f"{row.weight_low:.3g} to {row.weight_high:.3g}"
            table.append((row.formula, f"{row.weight:.3g}", interval, f"{row.sd:.3g}", f"{row.share:.1%}", row.period))
        rest = self.rows[len(self.large()) :]
        if self.others:
            table.append(("the rest", "", "", f"{self.rest:.3g}", "", ""))
        elif rest:
            largest = max(rest, key=lambda row: row.sd)
            label = f"the rest ({len(rest)} kernel{'s' if len(rest) > 1 else ''})"
            table.append((label, f"< {max(row.weight for row in rest):.2g}", "", f"< {largest.sd:.2g}", "", ""))
        return table

    def __str__(self) -> str:
        lines = self.lines()
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        return "\n".join([text[0], "  ".join("-" * width for width in widths), *text[1:]])


@dataclass(frozen=True)
class Decomposition:
    """What each component adds at some rows: `mean` and `sd` are (components, rows), in the units of y.

    The first component is the constant level. The means add up to the prediction; the standard deviations do not,
    because components are estimated together.
    """

    names: tuple[str, ...]
    mean: np.ndarray
    sd: np.ndarray

    def total(self) -> np.ndarray:
        """The prediction: the sum of all means."""
        return self.mean.sum(axis=0)

    def to_frame(self, like: Any) -> Any:
        """Two columns a component, its mean and its sd, in a frame of the same kind as `like`."""
        columns: dict[str, np.ndarray] = {}
        for name, mean, sd in zip(self.names, self.mean, self.sd, strict=True):
            columns[name] = mean
            columns[f"{name} sd"] = sd
        return frame_like(columns, like)
