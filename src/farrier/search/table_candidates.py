"""The candidates of a table: products of kernels of one, two, three or all inputs.

Each input alone: a line, and curves on a small grid of lengthscales, of the warped input too where it is skewed
(below). All inputs together: smooth and rough kernels. Pairs and triples: those with the highest score for an
interaction (scoring.py), as products of lines, of a line and a curve, and as a smooth surface. A kernel of interactions
of all orders only predicts.

The power transform of each input of a table, chosen from the inputs alone.

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
from farrier.kernels.registry import AllOrders, Linear, Matern12, RationalQuadratic, SquaredExponential
from farrier.kernels.warped import WARPED, warped
from farrier.search.candidates import MOST_FACTORS
from farrier.search.periods import FEWEST_VALUES
from farrier.search.starting_values import INPUT_LENGTHSCALE, INPUT_LENGTHSCALES, distinct


@final
@dataclass(frozen=True, eq=False)
class Warps:
    """The power of each input, and the standard deviation of each input after the transform."""

    powers: np.ndarray
    sds: np.ndarray

    @classmethod
    def none(cls, inputs: int) -> "Warps":
        """No input is transformed."""
        return cls(np.ones(inputs), np.ones(inputs))

    @classmethod
    def of(cls, X: np.ndarray) -> "Warps":
        """The transforms of standardised inputs X."""
        powers = np.array([_power(x) for x in X.T])
        return cls(powers, np.where(powers == 1.0, 1.0, warped(X, powers).std(axis=0)))

    def kernel(self, family: type[Any], lengths: float | np.ndarray, dims: Sequence[int] | None = None) -> Base:
        """A kernel of some inputs (None: all), of warped ones if one of them is; lengths for standard deviation one."""
        columns = np.arange(len(self.powers)) if dims is None else np.asarray(dims, int)
        chosen = None if dims is None else tuple(int(d) for d in dims)
        powers, lengthscale = self.powers[columns], np.broadcast_to(lengths, columns.shape) * self.sds[columns]
        if len(columns) == 1:
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


def table(
    warps: Warps,
    found: Sequence[Kernel],
    interacting: Sequence[tuple[int, ...]],
    *,
    many: bool = False,
) -> list[Kernel]:
    """Candidates for an additional component; `interacting` are sets of inputs that may interact."""
    plain = Warps.none(len(warps.powers))
    fresh: list[Kernel] = []
    for d in range(len(warps.powers)):
        lengths = INPUT_LENGTHSCALES
        smooth = [one.kernel(SquaredExponential, length, (d,)) for one in (plain, warps) for length in lengths]
        fresh += [Linear(0.0, dims=(d,)), *smooth]
    fresh += joint(warps, many=many)
    for inputs in interacting:
        fresh += interaction(plain, inputs) + interaction(warps, inputs)
    return distinct(fresh, found)


def joint(warps: Warps, *, many: bool) -> list[Kernel]:
    """Kernels of all inputs: a smooth one of many lengthscales, and a rough one; of `many` rows a far-reaching one too.

    The first two can adapt to what varies between neighbours. Beyond the rows the last one then still tells how the
    effect of an input changes with others.
    """
    root = float(np.sqrt(len(warps.powers)))
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


def sets_of_inputs(inputs: int) -> list[tuple[int, ...]]:
    """The pairs of inputs, and the triples if they are not too many."""
    pairs, triples = (list(combinations(range(inputs), size)) for size in (2, 3))
    # scores of more triples would take long
    return [*pairs, *triples] if len(triples) <= 300 else pairs


def all_orders(warps: Warps, coded: Sequence[int]) -> AllOrders:
    """The kernel of all inputs with interactions of every order; `coded` are the inputs that are codes."""
    inputs = len(warps.powers) + len(coded)
    numbers = [d for d in range(inputs) if d not in coded]
    lengths, powers = np.ones((2, inputs))
    lengths[numbers], powers[numbers] = INPUT_LENGTHSCALE * warps.sds, warps.powers
    codes = np.isin(np.arange(inputs), coded).astype(float)
    return AllOrders(lengths, power=powers, coded=codes)


def ordinary_table(warps: Warps, found: Sequence[Kernel], *, many: bool = False) -> list[Kernel]:
    """The ordinary candidates of a table, without those in `found`: all inputs together, and every input alone."""
    length = INPUT_LENGTHSCALE
    alone: list[Kernel] = [warps.kernel(SquaredExponential, length, (d,)) for d in range(len(warps.powers))]
    return distinct([*joint(warps, many=many), *alone], found)
