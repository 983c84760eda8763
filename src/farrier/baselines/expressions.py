"""Kernels as functions of a vector of parameters, with derivatives, for a search over hundreds of expressions.

kernels/ gives the values and derivatives of the base kernels; this file combines them over sums and products, forwards
and backwards. White noise belongs to each observation: it is on the diagonal of K(X, X) and nowhere else, even where
rows repeat.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from farrier.baselines.terms import MIRRORS, Level, Switch
from farrier.kernels.algebra import Base, Dims, Kernel, Product, Sum
from farrier.kernels.parameters import POSITIVE, bounded, marks, trained, unbounded
from farrier.kernels.registry import White


@dataclass(frozen=True)
class _Leaf:
    kind: type[Base]
    dims: Dims
    at: slice
    """The position of its parameters in the vector."""
    constants: dict[str, Any]
    """Its parameters that are not trained."""

    def evaluate(
        self, numbers: np.ndarray, noise: Any, rows: tuple[np.ndarray, ...]
    ) -> tuple[Any, Callable[[np.ndarray], np.ndarray]]:
        """Its values for all pairs of rows, or for each row, and the function from dL/dvalues to dL/dparameters."""
        if self.kind is White:
            return noise, lambda slope: np.zeros(0)
        values = _values(self.kind, numbers[self.at])
        if self.kind is Level:
            variance = float(values["variance"])
            return variance, lambda slope: np.array([variance * np.sum(slope)])
        columns = [X if self.dims is None else X[:, np.asarray(self.dims, int)] for X in rows]
        each = {name: np.full(columns[0].shape[1], value) for name, value in (values | self.constants).items()}
        found, back = (self.kind.between if len(rows) == 2 else self.kind.at)(each, *columns)

        def pulled(slope: np.ndarray) -> np.ndarray:
            by_name = back(np.ascontiguousarray(slope))
            own = trained(self.kind)
            stretch = [values[name] if mark.constraint is POSITIVE else 1.0 for name, mark in own.items()]
            return np.array([np.sum(by_name.get(name, 0.0)) for name in own]) * stretch

        return found, pulled


class Expression:
    """A kernel as a function of a vector of unconstrained parameters, with its derivative."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._leaves: list[_Leaf] = []
        numbers: list[np.ndarray] = []
        self._plan = self._planned(kernel, numbers)
        self.numbers = np.concatenate([np.zeros(0), *numbers])

    def gram(self, numbers: np.ndarray, X: np.ndarray, Z: np.ndarray | None = None) -> tuple[np.ndarray, Callable]:
        """K(X, Z), or K(X, X) with noise on its diagonal, and the function from dL/dK to dL/dparameters."""
        noise = np.eye(len(X)) if Z is None else 0.0
        right = X if Z is None else Z
        return self._evaluate(numbers, noise, (X, right), (len(X), len(right)))

    def diag(self, numbers: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, Callable]:
        """k(x, x) for every row, with noise, and the function from dL/dk to dL/dparameters."""
        return self._evaluate(numbers, 1.0, (X,), (len(X),))

    def at(self, numbers: np.ndarray) -> Kernel:
        """The kernel with these parameters."""
        return self._rebuilt(self.kernel, iter(self._leaves), numbers)

    def _evaluate(self, numbers: np.ndarray, noise: Any, rows: tuple[np.ndarray, ...], shape: tuple[int, ...]) -> Any:
        made = [leaf.evaluate(numbers, noise, rows) for leaf in self._leaves]
        K, back = _combined(self._plan, [value for value, _ in made])

        def pulled(dK: np.ndarray) -> np.ndarray:
            gradient = np.zeros_like(numbers)
            for i, slope in back(dK):
                gradient[self._leaves[i].at] += made[i][1](np.broadcast_to(slope, shape))
            return gradient

        return np.broadcast_to(K, shape), pulled

    def _planned(self, kernel: Kernel, numbers: list[np.ndarray]) -> Any:
        if isinstance(kernel, Base):
            start = sum(map(len, numbers))
            own = trained(type(kernel))
            free = [np.ravel(unbounded(getattr(kernel, name), mark.constraint))[:1] for name, mark in own.items()]
            numbers.append(np.concatenate([np.zeros(0), *free]))
            constants = {name: getattr(kernel, name) for name in marks(type(kernel)) if name not in own}
            self._leaves.append(_Leaf(type(kernel), kernel.dims, slice(start, start + len(free)), constants))
            return len(self._leaves) - 1
        if isinstance(kernel, Switch):
            inside = self._planned(kernel.gate, numbers)
            gate = self._leaves[inside]
            self._leaves.append(_Leaf(MIRRORS[gate.kind], gate.dims, gate.at, gate.constants))
            parts = [self._planned(part, numbers) for part in (kernel.before, kernel.after)]
            return "+", [("*", [inside + 1, parts[0]]), ("*", [inside, parts[1]])]
        parts = kernel.terms if isinstance(kernel, Sum) else kernel.factors if isinstance(kernel, Product) else ()
        return ("+" if isinstance(kernel, Sum) else "*"), [self._planned(part, numbers) for part in parts]

    def _rebuilt(self, kernel: Kernel, leaves: Iterator[_Leaf], numbers: np.ndarray) -> Kernel:
        if isinstance(kernel, Base):
            u = numbers[next(leaves).at]
            return kernel.replace(**_values(type(kernel), u))
        if isinstance(kernel, Switch):
            gate = self._rebuilt(kernel.gate, leaves, numbers)
            next(leaves)
            assert isinstance(gate, Base)
            return Switch(gate, *(self._rebuilt(part, leaves, numbers) for part in (kernel.before, kernel.after)))
        if isinstance(kernel, Sum):
            return Sum(tuple(self._rebuilt(term, leaves, numbers) for term in kernel.terms))
        assert isinstance(kernel, Product)
        return Product(tuple(self._rebuilt(factor, leaves, numbers) for factor in kernel.factors))


def _combined(plan: Any, values: list[Any]) -> tuple[Any, Callable]:
    """The value of an expression, and the function from its derivative to those of its leaves."""
    if isinstance(plan, int):
        return values[plan], lambda slope: [(plan, slope)]
    operation, parts = plan
    children = [_combined(part, values) for part in parts]
    if operation == "+":
        total = sum((value for value, _ in children[1:]), start=children[0][0])
        return total, lambda slope: [pair for _, back in children for pair in back(slope)]

    def without(j: int) -> Any:
        product = 1.0
        for i, (value, _) in enumerate(children):
            product = product if i == j else product * value
        return product

    return without(-1), lambda slope: [p for j, (_, back) in enumerate(children) for p in back(slope * without(j))]


def _values(kind: type[Base], u: np.ndarray) -> dict[str, Any]:
    """The parameters of a family from the unconstrained ones."""
    return {name: bounded(u[i], mark.constraint) for i, (name, mark) in enumerate(trained(kind).items())}
