"""What is fitted: the rows, and what is known of them before y is looked at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from farrier.inference.collapsed import RowBlocks
from farrier.inference.noise import ALIKE, Noise
from farrier.kernels.algebra import Kernel
from farrier.model.target_scale import HARD_TO_READ, TargetScale, Transform, named, towards, worth_trying
from farrier.model.tiers import EXACT_TABLE_ROWS, Tell, tier_for
from farrier.search.beliefs import Beliefs


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """The rows of a series, a curve or a table."""

    X: np.ndarray
    """Standardised inputs; codes of categories as they are. Of a series the first is time."""
    y: np.ndarray
    """The target in its own units."""
    seasons: Sequence[float] | None = None
    """All seasons of a series, in units of its time; None if they are not known."""
    calendar: Sequence[Kernel] = ()
    """Patterns of the calendar over time."""
    timed: bool = False
    """Whether the first input is time."""
    coded: tuple[int, ...] = ()
    """The inputs that are codes of categories."""
    noise: Noise = ALIKE
    """The noise of the rows: with weights its variances differ."""
    scale: str = "auto"
    """The name of the scale of y on which components add up; "auto" is chosen by evidence."""
    bounds: tuple[float | None, float | None] = (None, None)
    """The lowest and the highest possible y; growth of a series slows towards the latter."""
    engine: str = "auto"
    """Exact, linear or collapsed inference; "auto" is exact for few rows."""
    blocks: Callable[[TargetScale], RowBlocks] | None = None
    """All rows on a scale of y, if X and y are a sample of a table that is read in blocks."""
    tell: Tell = lambda what, bound: None
    """Called with the current phase and bound."""

    @property
    def of_series(self) -> bool:
        """Whether the rows are a series or a curve over one input; else they are a table."""
        return not self.coded and (self.timed or self.X.shape[1] == 1)

    @property
    def tier(self) -> str:
        """The engine for these rows."""
        if self.of_series or self.engine != "auto":
            return tier_for(len(self.X), self.engine, series=self.of_series)
        return "exact" if len(self.X) <= EXACT_TABLE_ROWS else "collapsed"

    @property
    def beliefs(self) -> Beliefs:
        """What is believed of the components of such rows."""
        return Beliefs.of(self.X, self.seasons, timed=self.timed, coded=self.coded)

    @property
    def scales(self) -> list[Transform]:
        """The scales of y that are compared, or the one that was asked for."""
        if self.scale != "auto":
            return [named(self.scale)]
        floor, cap = self.bounds
        if self.timed and cap is not None and (capped := towards(cap, floor, self.y)):
            return list(capped)
        # between growth by an amount and growth by a factor; only a series averages over scales
        roots = self.timed and self.tier == "exact"
        return [one for one in worth_trying(self.y) if roots or one.name != HARD_TO_READ]

    def scale_by(self, transform: Transform) -> TargetScale:
        """The scale of y by a transform; suspicious rows do not set it."""
        return TargetScale.of(transform, self.y if self.noise.ordinary is None else self.y[self.noise.ordinary])

    @property
    def one_scale(self) -> TargetScale:
        """The scale of y where none is chosen: the one that was asked for, or the identity."""
        return TargetScale.of(named("identity" if self.scale == "auto" else self.scale), self.y)


@final
@dataclass(frozen=True, eq=False)
class Given:
    """Kernels that the user names: nothing is added but perhaps a level, and nothing is dropped."""

    kernels: Sequence[Kernel]
    prior: str = "horseshoe"
    """The prior on their weights, by its name."""
    iterations: int = 300
    tolerance: float = np.inf
    """Gain of five steps below which the fit ends, if it is less than that of the engine. [nats]"""
