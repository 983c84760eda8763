"""The grids on which kernels start, and how near two of them may be before they are the same one.

Lengths over time are parts of its range, those of the inputs of a table their standard deviations.

Which candidates are the same: equal formulas with nearly equal lengthscales, periods and changepoints.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from farrier.kernels.algebra import Kernel, product_of
from farrier.kernels.normal import simplify
from farrier.kernels.registry import Step, StepUntil

LENGTHSCALES = (1.0, 0.3, 0.1, 0.03)
"""Starting lengthscales over time: of curves, of rough drifts, of the change of a cycle's shape. [part of the range; by
judgement]"""
SHAPES = (1.0, 0.5)
"""Starting lengthscales of a periodic kernel; cycles that drift or grow start at the first. [radians; by judgement]"""
CHANGEPOINT_WIDTH = 0.25
"""Starting width of a changepoint. [steps between neighbours; by judgement]"""
INPUT_LENGTHSCALES = (3.0, 1.0)
"""Starting lengthscales of one input of a table; of all together, times the square root of their number. [standard
deviations of the input; measured on inner splits of seven tables]"""
INPUT_LENGTHSCALE = 2.0
"""That of each input in the pool of a table and in interactions. [standard deviations of the input; measured on inner
splits of seven tables]"""
SAME_LENGTHSCALE = 0.6
"""Difference up to which two candidates have the same lengthscale. [log of the lengthscale; by judgement]"""
SAME_PERIOD = 0.04
"""Difference up to which two periods are the same. [part of the period; by judgement]"""
SAME_CHANGE = 0.1
"""Distance up to which two changepoints are the same. [standard deviations of time; by judgement]"""


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
