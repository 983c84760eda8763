"""Starting values of hyperparameters, chosen from the data.

There are two kinds, after Kim and Teh (2018) and the paper. *Weak* values are spread widely around the range of the
inputs. *Strong* values are shorter lengthscales and the periods found in the data. *Authors'* values are those of the
paper's program, for series: short lengthscales, and periods that nobody has looked for. Copies of a kernel must start
at different values, or gradients would keep them equal; so each call draws new values from the generator.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from farrier.kernels.algebra import Kernel, product_of
from farrier.kernels.registry import (
    CentredPeriodic,
    Constant,
    DampedTrend,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RandomWalk,
    RationalQuadratic,
    SquaredExponential,
    White,
)
from farrier.search.candidates import MOST_PERIODS
from farrier.search.periods import find_periods

Initialisation = Literal["both", "weak", "strong", "authors"]


def paper_kernels(
    X: np.ndarray, y: np.ndarray | None, initialisation: Initialisation, seed: int, *, lines: bool = True
) -> list[Kernel]:
    """The paper's pool of 24 kernels: SE, Lin, Per and their nine ordered products, twice.

    With "both", one copy has weak and one has strong starting values. Without `lines` 12 kernels are left, and the
    periods of the data go to them alone.
    """
    known = {"both": ("weak", "strong")} | {kind: (kind, kind) for kind in ("weak", "strong", "authors")}
    if initialisation not in known:
        raise ValueError(f"initialisation must be one of {list(known)}, got {initialisation!r}.")
    start = Start(X, y, np.random.default_rng(seed))
    makers: dict[str, list[Callable[[], Kernel]]] = {
        "weak": [start.weak_smooth, start.weak_line, start.weak_cycle],
        "strong": [start.strong_smooth, start.strong_line, start.strong_cycle],
        "authors": [start.short_smooth, start.inner_line, start.any_cycle],
    }
    kernels: list[Kernel] = []
    for copy in known[initialisation]:
        smooth, line, cycle = makers[copy]
        singles = [(first,) for first in (smooth, line, cycle)]
        pairs = [(first, second) for first in makers[copy] for second in makers[copy]]
        for product in (*singles, *pairs):
            before = start.periods_given
            kernel = product_of([make() for make in product])
            if lines or line not in product:
                kernels.append(kernel)
            else:
                start.periods_given = before
    return kernels


class Start:
    """Draws starting kernels for inputs X (N, D) and, if given, the target y (N,)."""

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray | None,
        generator: np.random.Generator,
    ) -> None:
        self._generator = generator
        self._low, self._high = X.min(axis=0), X.max(axis=0)
        self._range = np.where(self._high > self._low, self._high - self._low, 1.0)
        # squared distances add up over D inputs, so lengthscales that relate rows grow with the root of D
        self._apart = np.sqrt(len(self._range))
        # ten rows
        self._shortest = 10 * self._range / len(X)
        self._periods = [] if y is None or X.shape[1] > 1 else find_periods(X[:, 0], y, MOST_PERIODS)
        self.periods_given = 0
        """How many cycles have started at periods of the data."""

    def _about(self, centre: np.ndarray) -> np.ndarray:
        # weak and strong as in Kim and Teh (2018)
        return centre * np.exp(0.5 * self._generator.standard_normal(centre.shape))

    def _place(self) -> np.ndarray:
        return self._low + self._range * self._generator.random(self._range.shape)

    def named(self, formula: str) -> Kernel:
        """The kernel of a formula such as "SE * Per", with weak starting values and the periods of y, if any."""
        makers: dict[str, Callable[[], Kernel]] = {
            "1": Constant,
            "WN": White,
            "SE": self.weak_smooth,
            "Lin": self.weak_line,
            "Per": lambda: self.strong_cycle() if self._periods else self.weak_cycle(),
            "Per0": lambda: CentredPeriodic(
                **(self.strong_cycle() if self._periods else self.weak_cycle()).parameters()
            ),
            "RQ": lambda: RationalQuadratic(self.weak_smooth().lengthscale),
            "Mat12": lambda: Matern12(self.weak_smooth().lengthscale),
            "Mat32": lambda: Matern32(self.weak_smooth().lengthscale),
            "Mat52": lambda: Matern52(self.weak_smooth().lengthscale),
            "RW": self.walk,
            "Damp": self.damped_trend,
        }
        symbols = [symbol.strip() for symbol in formula.split("*")]
        unknown = [symbol for symbol in symbols if symbol not in makers]
        if unknown:
            raise ValueError(
                f"kernels: {unknown[0]!r} in {formula!r} is not a kernel: write a product of {', '.join(makers)}."
            )
        return product_of([makers[symbol]() for symbol in symbols])

    def weak_smooth(self) -> SquaredExponential:
        """A lengthscale about a third of the range, times `_apart`."""
        return SquaredExponential(self._about(self._range * self._apart / 3))

    def weak_line(self) -> Linear:
        """A line that is zero somewhere within the data."""
        return Linear(self._place())

    def walk(self) -> RandomWalk:
        """A random walk from the first row, with variance one at the last."""
        return RandomWalk(self._low, self._range)

    def damped_trend(self) -> DampedTrend:
        """A trend from the first row whose slope is forgotten over about a third of the range."""
        return DampedTrend(self._about(3 / self._range), self._low, self._range)

    def weak_cycle(self) -> Periodic:
        """A period about a tenth of the range."""
        return self._cycle(self._about(self._range / 10))

    def strong_smooth(self) -> SquaredExponential:
        """A lengthscale about a sixth of the range, times `_apart`."""
        return SquaredExponential(self._about(self._range * self._apart / 6))

    def strong_line(self) -> Linear:
        """A line that is zero below the data, so that products with it grow."""
        return Linear(self._low - self._range * 0.5 * self._generator.random(self._range.shape))

    def strong_cycle(self) -> Periodic:
        """The strongest periods of the data in turn; half the range if none was found."""
        if not self._periods:
            return self._cycle(self._about(self._range / 2))
        period = self._periods[self.periods_given % len(self._periods)]
        self.periods_given += 1
        return self._cycle(np.array([period]))

    def short_smooth(self) -> SquaredExponential:
        """A lengthscale of ten rows. The authors have one unit of x, which on their monthly series is twelve rows."""
        return SquaredExponential(self._shortest * np.exp(0.1 * self._generator.random(self._range.shape)))

    def inner_line(self) -> Linear:
        """A line that is zero within the data, a tenth of the range from its ends at least."""
        return Linear(self._low + self._range * (0.1 + 0.8 * self._generator.random(self._range.shape)))

    def any_cycle(self) -> Periodic:
        """A period of six rows or more, mostly below thirty."""
        longer = np.abs(self._generator.standard_normal(self._range.shape)) - 0.5
        return Periodic(self._shortest * np.exp(longer), np.ones_like(self._range))

    def _cycle(self, period: np.ndarray) -> Periodic:
        return Periodic(period, self._about(np.full_like(self._range, self._apart)))
