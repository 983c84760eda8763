"""The candidates of a table: products of kernels of one, two, three or all inputs.

Each number alone: a line, and curves on a small grid of lengthscales, of the warped number too where it is skewed
(below). All numbers together: smooth and rough kernels. Pairs and triples: those with the highest score for an
interaction (scoring.py), as products of lines, of a line and a curve, and as a smooth surface. A kernel of interactions
of all orders only predicts.

Some inputs may be codes of categories. Only `Category` acts on these: each category alone, a category times a line or a
smooth kernel of a number (an effect that differs between the levels), and pairs of categories that are both found.

The power transform of each number, chosen from the inputs alone.

The power p maximises the likelihood of a normal distribution of the transformed input, as in Yeo and Johnson (2000):

    -n log sd(w_p(x)) + (p - 1) sum_n sign(x_n) log(1 + |x_n|)

Inputs with few distinct values, and those that are nearly symmetric, keep the power 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

import numpy as np

from farrier.kernels.algebra import Base, Kernel, product_of
from farrier.kernels.registry import AllOrders, Category, Linear, Matern12, RationalQuadratic, SquaredExponential
from farrier.kernels.warped import WARPED, warped
from farrier.search.candidates import MOST_FACTORS, distinct
from farrier.search.periods import FEWEST_VALUES
from farrier.search.starting_values import INPUT_LENGTHSCALE, INPUT_LENGTHSCALES

PAIRED_INPUTS = 6
"""Most numbers that are tried times a category: those with the highest correlation with the residual. [inputs; by
judgement]"""


@final
@dataclass(frozen=True, eq=False)
class Warps:
    """The numbers among the inputs of a table: their columns, their powers, and their standard deviations after the
    transforms."""

    columns: tuple[int, ...]
    powers: np.ndarray
    sds: np.ndarray
    inputs: int
    """The number of inputs, codes included."""

    @classmethod
    def of(cls, X: np.ndarray, coded: Sequence[int] = ()) -> "Warps":
        """The transforms of standardised inputs X that are not codes."""
        plain = cls.none(X.shape[1], coded)
        numbers = X[:, list(plain.columns)]
        powers = np.array([_power(x) for x in numbers.T])
        sds = np.where(powers == 1.0, 1.0, warped(numbers, powers).std(axis=0))
        return cls(plain.columns, powers, sds, plain.inputs)

    @classmethod
    def none(cls, inputs: int = 0, coded: Sequence[int] = ()) -> "Warps":
        """No input is transformed."""
        columns = tuple(d for d in range(inputs) if d not in coded)
        return cls(columns, np.ones(len(columns)), np.ones(len(columns)), inputs)

    @property
    def plain(self) -> "Warps":
        """The same numbers without transforms."""
        return Warps(self.columns, np.ones(len(self.columns)), np.ones(len(self.columns)), self.inputs)

    def kernel(self, family: type[Any], lengths: float | np.ndarray, dims: Sequence[int] | None = None) -> Base:
        """A kernel of some inputs (None: all numbers), of warped ones if one of them is; lengths for standard deviation
        one."""
        chosen = tuple(int(d) for d in (self.columns if dims is None else dims))
        places = [self.columns.index(d) for d in chosen]
        powers, lengthscale = self.powers[places], np.broadcast_to(lengths, len(places)) * self.sds[places]
        chosen = None if dims is None and len(chosen) == self.inputs else chosen
        if len(places) == 1:
            powers, lengthscale = powers[0], lengthscale[0]
        if np.all(powers == 1.0):
            return family(lengthscale, dims=chosen)
        return WARPED[family](lengthscale, power=powers, dims=chosen)


def _power(x: np.ndarray) -> float:
    if len(np.unique(x)) < FEWEST_VALUES:
        return 1.0
    tried = np.linspace(-2.0, 4.0, 61)
    slope = float(np.sum(np.sign(x) * np.log1p(np.abs(x))))
    heights = [-len(x) * np.log(max(warped(x, p).std(), 1e-12)) + (p - 1.0) * slope for p in tried]
    best = float(tried[int(np.argmax(heights))])
    # nearly straight is straight
    return 1.0 if abs(best - 1.0) < 0.35 else best


CURVED = ("smooth", "rough")
"""The kinds of kernels for which simpler ones are tried."""


def additional(
    warps: Warps,
    coded: Sequence[int],
    found: Sequence[Kernel],
    interacting: Sequence[tuple[int, ...]],
    useful: Sequence[int] = (),
    *,
    many: bool = False,
) -> list[Kernel]:
    """Candidates for an additional component; `interacting` are sets of numbers that may interact.

    Effects of numbers may differ between the levels of the codes in `coded`; `useful` are inputs by importance.
    """
    plain, fresh = warps.plain, list[Kernel]()
    for d in warps.columns:
        lengths = INPUT_LENGTHSCALES
        smooth = [one.kernel(SquaredExponential, length, (d,)) for one in (plain, warps) for length in lengths]
        fresh += [Linear(0.0, dims=(d,)), *smooth]
    fresh += joint(warps, many=many)
    for inputs in interacting:
        fresh += interaction(plain, inputs) + interaction(warps, inputs)
    there = {d for kernel in found for factor in kernel.products()[0] for d in factor.positions(warps.inputs)}
    useful = [d for d in useful if d in warps.columns]
    # products of inputs that are found come first
    fresh += [*_crossed(coded, there), *_differing(coded, there, useful)][:40]
    return distinct(fresh, found)


def categories(warps: Warps) -> list[Kernel]:
    """Each category alone."""
    return [Category(dims=(c,)) for c in range(warps.inputs) if c not in warps.columns]


def _crossed(coded: Sequence[int], there: set[int]) -> list[Kernel]:
    """Pairs of categories that are both found."""
    both = [c for c in coded if c in there]
    return [Category(dims=(c,)) * Category(dims=(e,)) for c in both for e in both if c < e]


def _differing(coded: Sequence[int], there: set[int], useful: Sequence[int]) -> list[Kernel]:
    """Effects of a number that differ between the levels of a category; those of inputs that are found come first."""
    pairs = [(c, d) for d in useful[:PAIRED_INPUTS] for c in coded]
    pairs.sort(key=lambda pair: -len(there & set(pair)))
    kernels: list[Kernel] = []
    for c, d in pairs:
        lengths = INPUT_LENGTHSCALES[: len(there & {c, d})]
        smooth = (SquaredExponential(length, dims=(d,)) for length in lengths)
        kernels += [Category(dims=(c,)) * kernel for kernel in (Linear(0.0, dims=(d,)), *smooth)]
    return kernels


def joint(warps: Warps, *, many: bool) -> list[Kernel]:
    """Kernels of all numbers: a smooth one of many lengthscales, a rough one, and of `many` rows a far-reaching one.

    The first two can adapt to what varies between neighbours. Beyond the rows the last one then still tells how the
    effect of an input changes with others.
    """
    if not warps.columns:
        return []
    root = float(np.sqrt(len(warps.columns)))
    found: list[Kernel] = [
        warps.kernel(RationalQuadratic, INPUT_LENGTHSCALES[1] * root),
        warps.kernel(Matern12, INPUT_LENGTHSCALES[0] * root),
    ]
    far = warps.kernel(SquaredExponential, INPUT_LENGTHSCALE * root)
    return [far, *found] if many else found


def interaction(warps: Warps, inputs: Sequence[int]) -> list[Kernel]:
    """An interaction of some inputs: a product of lines, products of lines and one curve, and a smooth surface."""
    lines = {d: Linear(0.0, dims=(d,)) for d in inputs}
    curves = {d: warps.kernel(SquaredExponential, INPUT_LENGTHSCALE, (d,)) for d in inputs}
    bent = [product_of([curves[d] if d == e else lines[d] for d in inputs]) for e in inputs]
    surface = warps.kernel(SquaredExponential, INPUT_LENGTHSCALE, inputs)
    return [product_of([*lines.values()]), *bent, surface]


def simpler(kernel: Kernel) -> list[Kernel]:
    """Kernels that are easier to read than one smooth or rough kernel of one, two or three inputs, simplest first."""
    first, *more = kernel.products()[0]
    dims = first.dims
    if more or dims is None or len(dims) > MOST_FACTORS or first.kind not in CURVED:
        return []
    inputs = tuple(int(d) for d in dims)
    plain = Warps.none(max(inputs) + 1)
    if len(inputs) > 1:
        return [one for one in interaction(plain, inputs) if one.formula() != kernel.formula()]
    curve = [plain.kernel(SquaredExponential, INPUT_LENGTHSCALE, inputs)]
    return [Linear(0.0, dims=inputs), *(one for one in curve if one.formula() != kernel.formula())]


def sets_of_inputs(columns: Sequence[int]) -> list[tuple[int, ...]]:
    """The pairs of inputs, and the triples if they are not too many."""
    pairs, triples = (list(combinations(columns, size)) for size in (2, 3))
    # scores of more triples would take long
    return [*pairs, *triples] if len(triples) <= 300 else pairs


def all_orders(warps: Warps) -> AllOrders:
    """The kernel of all inputs with interactions of every order."""
    numbers = list(warps.columns)
    lengths, powers = np.ones((2, warps.inputs))
    lengths[numbers], powers[numbers] = INPUT_LENGTHSCALE * warps.sds, warps.powers
    codes = np.isin(np.arange(warps.inputs), numbers, invert=True).astype(float)
    return AllOrders(lengths, power=powers, coded=codes)


def ordinary(warps: Warps, found: Sequence[Kernel], *, many: bool = False) -> list[Kernel]:
    """The ordinary candidates of a table, without those in `found`: all numbers together, and every input alone."""
    alone: list[Kernel] = [warps.kernel(SquaredExponential, INPUT_LENGTHSCALE, (d,)) for d in warps.columns]
    return distinct([*joint(warps, many=many), *alone, *categories(warps)], found)
