"""The components of a fitted model as tables, and their values at given rows.

`ComponentTable` has one row for each kernel, largest first. It prints the large components and one row for all others.
`Decomposition` holds the mean and standard deviation of every component at some rows; the means add up to the
prediction. Both are made from a `Result`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

import numpy as np

from farrier.explain.frames import html_table, to_frame
from farrier.explain.numbers import per_cent, significant
from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import CentredPeriodic, Periodic
from farrier.model.result import Result

NEGLIGIBLE = 1e-3
"""Share of the variance below which a component belongs to the rest, by judgement."""


MOST_ROWS = 20_000
"""Most rows over which sizes of components are taken, by judgement."""


@dataclass(frozen=True, eq=False)
class Parts:
    """The components at fitted rows, on the scale of the model: all sizes and shares are computed from these."""

    rows: np.ndarray
    """The indices of the rows: all, or a random sample, since evenly chosen ones would favour some hours of the day."""
    mean: np.ndarray
    """The level, the survivors and the rest if there is one, (components, rows)."""
    spread: np.ndarray
    """The variances of these."""
    target: np.ndarray
    """What they explain: the scaled target; for classes and counts, which have no such scale, their sum."""

    @classmethod
    def of(cls, result: Result) -> "Parts":
        """From a result."""
        n, fitted = len(result.inputs), result.explained
        rows = np.arange(n)
        if n > MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))
        mean, spread = fitted.parts(result.inputs[rows], range(fitted.survivors))
        latent = result.classes is not None or fitted.counts
        return cls(rows, mean, spread, mean.sum(axis=0) if latent else result.scaled_target[rows])

    @property
    def variance(self) -> float:
        """The variance to which shares refer."""
        return max(float(np.var(self.target)), np.finfo(float).tiny)

    @property
    def sd(self) -> np.ndarray:
        """The standard deviation of each component, the level first."""
        return self.mean.std(axis=1)

    @property
    def shares(self) -> np.ndarray:
        """The share of each component in the variance; components overlap, so these need not add up to one."""
        return self.mean.var(axis=1) / self.variance


@dataclass(frozen=True)
class Component:
    """One kernel of the pool after the fit; lengths in the units of the inputs, sizes in the units of y."""

    index: int
    """Its index in the pool and in a decomposition."""
    formula: str
    kernel: str
    """The kernel with its hyperparameters, as Python code."""
    weight: float
    """The median of q(w), and below it the 95 % interval."""
    weight_low: float
    weight_high: float
    sd: float
    """The standard deviation of its posterior mean over the fitted rows."""
    share: float
    """sd^2 over the variance of y (for classes: of the fit). Components overlap, so shares need not add up to one."""
    evidence: float | None
    """The log evidence, in nats, that is lost without it; None where it was not computed."""
    period: str
    """The periods of its periodic factors, empty if it has none."""


@dataclass(frozen=True)
class ComponentTable(Sequence[Component]):
    """The components, largest first."""

    rows: tuple[Component, ...]
    rest: float = 0.0
    """The standard deviation of the sum of all other kernels."""
    others: int = 0
    """The number of these other kernels."""

    @classmethod
    def of(cls, result: Result) -> "ComponentTable":
        """The components of a result."""
        fitted = result.explained
        parts = Parts.of(result)
        named, shares = (each[1 : 1 + fitted.survivors] for each in (parts.sd, parts.shares))
        rest = parts.mean[1 + fitted.survivors :].sum(axis=0).std()
        low, median, high = (fitted.weights(level) for level in (0.025, 0.5, 0.975))
        losses = fitted.appraisal.losses if fitted.appraisal else [None] * fitted.survivors
        rows = [
            Component(
                index=i,
                formula=kernel.formula(result.columns),
                kernel=repr(result.pool[i]),
                weight=float(median[i]),
                weight_low=float(low[i]),
                weight_high=float(high[i]),
                sd=float(named[i]) * fitted.scale.sd,
                share=float(shares[i]),
                evidence=losses[i],
                period=_periods_of(kernel),
            )
            for i, kernel in enumerate(result.kernels)
        ]
        others = len(fitted.kernels) - fitted.survivors - (fitted.level is not None)
        return cls(tuple(sorted(rows, key=lambda row: -row.sd)), float(rest) * fitted.scale.sd, others)

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
        """The columns of the table by name."""
        return {field.name: [getattr(row, field.name) for row in self.rows] for field in fields(Component)}

    def to_frame(self, like: Any = None) -> Any:
        """A frame of the same kind as `like`; without it one of pandas or polars, whichever is installed."""
        return to_frame(self.to_dict(), like)

    def _repr_html_(self) -> str:
        head, *rows = self.lines()
        return html_table(head, rows)

    def large(self) -> tuple[Component, ...]:
        """The largest component, and all others whose share of the variance is at least `NEGLIGIBLE`."""
        return tuple(row for i, row in enumerate(self.rows) if i == 0 or row.share >= NEGLIGIBLE)

    def lines(self) -> list[tuple[str, ...]]:
        """The printed table: a header, the large components, and a line for the rest."""
        table = [("component", "weight", "95 % interval", "sd", "share", "period")]
        for row in self.large():
            known = row.weight_low < row.weight_high
            interval = f"{significant(row.weight_low)} to {significant(row.weight_high)}" if known else ""
            table.append(
                (row.formula, significant(row.weight), interval, significant(row.sd), per_cent(row.share), row.period)
            )
        rest = self.rows[len(self.large()) :]
        if self.others:
            table.append(("the rest", "", "", significant(self.rest), "", ""))
        elif rest:
            largest = max(rest, key=lambda row: row.sd)
            label = f"the rest ({len(rest)} kernel{'s' if len(rest) > 1 else ''})"
            table.append(
                (
                    label,
                    f"< {significant(max(row.weight for row in rest), 2)}",
                    "",
                    f"< {significant(largest.sd, 2)}",
                    "",
                    "",
                )
            )
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
    """The value of each component at some rows: `mean` and `sd` are (components, rows), in the units of y.

    The first component is the constant level. The means add up to the prediction; the standard deviations do not,
    because components are estimated together.
    """

    names: tuple[str, ...]
    mean: np.ndarray
    sd: np.ndarray

    @classmethod
    def of(cls, result: Result, X: np.ndarray) -> "Decomposition":
        """At rows X in the user's units, on the scale of the transform."""
        fitted = result.explained
        mean, variance = fitted.parts(result.at(X), range(fitted.survivors))
        names = ["level", *(f"{i}: {kernel.formula(result.columns)}" for i, kernel in enumerate(result.kernels))]
        names += ["the rest"] * (len(mean) - len(names))
        mean = mean * fitted.scale.sd
        mean[0] += fitted.component_scale.mean
        return cls(tuple(names), mean, np.sqrt(np.maximum(variance, 0.0)) * fitted.scale.sd)

    def total(self) -> np.ndarray:
        """The prediction: the sum of all means."""
        return self.mean.sum(axis=0)

    def to_frame(self, like: Any = None) -> Any:
        """Two columns a component, its mean and its sd, in a frame of the same kind as `like`.

        Without `like`: a frame of pandas or polars, whichever is installed, or a dictionary of columns.
        """
        columns: dict[str, np.ndarray] = {}
        for name, mean, sd in zip(self.names, self.mean, self.sd, strict=True):
            columns[name] = mean
            columns[f"{name} sd"] = sd
        return to_frame(columns, like)


def _periods_of(kernel: Kernel) -> str:
    factors = [f for f in kernel.products()[0] if isinstance(f, Periodic | CentredPeriodic)]
    return ", ".join(f"{value:.4g}" for f in factors for value in np.ravel(np.asarray(f.period)))
