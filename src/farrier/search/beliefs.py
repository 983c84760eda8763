"""What is believed of a structure before the rows are seen: priors of its weights, hyperparameters and noise.

- A weight is half-Cauchy: the local scales of a horseshoe. Its scale was learned for components of ordinary series.
  So is the standard deviation of the noise of a series.
- A hyperparameter is normal on its unbounded scale. Mean and spread were learned for the same components (a season's
  shape and drift, the damping of a trend ...); elsewhere they are those of its family, about the starting value.
- A period that the data suggest is uniform on its logarithm between two steps and half the range, and the location of
  a changepoint is uniform over the range. A period of the calendar is known and is not fitted.

All densities are normalised, so that the evidence of different structures can be compared (scoring.py). The learned
numbers are in learned_priors.csv.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import final

import numpy as np

from farrier.evaluation.products import Number, Products
from farrier.inference.exact import LOG_2PI
from farrier.inference.horseshoe import PointHorseshoe
from farrier.inference.noise import ALIKE, Noise
from farrier.inference.parameter_vector import NOISE_CENTRE, ExactModel, spreads
from farrier.kernels.algebra import Base, Kernel, product_of
from farrier.kernels.registry import (
    CALENDAR,
    CentredPeriodic,
    Constant,
    DampedTrend,
    Linear,
    Matern12,
    Periodic,
    RandomWalk,
    Shock,
    SquaredExponential,
    Step,
    StepUntil,
)
from farrier.search.learned_priors import Clock, Priors, priors_for
from farrier.search.structure import LEVEL, Part
from farrier.search.thresholds import jumps_of

PRIOR_SCALE = 0.5
"""Prior scale of the weight of a component for which none was learned, and weight at which an added one starts.
[standard deviations of y; by judgement]"""
ROUNDING_OF_PERIODS = 1e-6
"""Relative difference up to which two periods are the same. [part of the period; by judgement]"""
FEWEST_STEPS, MOST_STEPS = 13, 100
"""Steps of a season that also has a level of its own for each step: months are few enough for one smooth shape, and of
more than a hundred steps the rows of a fit show too few rounds. [steps; by judgement]"""


@final
@dataclass(frozen=True)
class Beliefs:
    """The priors for rows that are a series with a clock, or a table."""

    clock: Clock | None = None
    given: Priors | None = None
    """Priors in place of the learned ones."""
    growth: str = "line"
    """What the growth of an ordinary series fades to: a line, or nothing."""
    transform: str = "identity"
    """The name of the scale of the target on which components add up."""

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        known: Sequence[float] | None = None,
        *,
        timed: bool = False,
        coded: Sequence[int] = (),
    ) -> "Beliefs":
        """For rows X with known periods, None if they are not known.

        `timed` says that the first input is time, `coded` which inputs are codes.

        A single input that is no code is a series.
        """
        series = timed or (X.shape[1] == 1 and not coded)
        return cls(Clock.of(X[:, 0], known, of_time=timed) if series else None)

    @property
    def of_time(self) -> bool:
        """Whether the rows are a series in time."""
        return self.clock is not None and self.clock.of_time

    def on_time(self, kernel: Kernel, inputs: int) -> Kernel:
        """A product for rows of so many inputs: of a series with regressors, factors without columns act on time."""
        if self.clock is None or inputs == 1:
            return kernel
        return product_of([f.replace(dims=(0,)) if f.dims is None else f for f in kernel.products()[0]])

    def part(self, kernel: Kernel, weight: float, inputs: int, scale: float | None = None) -> Part:
        """A component that starts at its kernel's values; `scale` replaces the prior scale of its weight."""
        kernel = self.on_time(kernel, inputs)
        if self.clock is None:
            return Part(kernel, kernel, weight, scale or PRIOR_SCALE)
        pool = Products.of([kernel], inputs)
        centre = pool.unbounded.copy()
        for place, number in enumerate(pool.layout):
            learned = self._learned(pool, number)
            if learned is not None:
                centre[place] = learned[0]
        return Part(kernel, pool.with_unbounded(centre)[0], weight, scale or self.scale(kernel))

    def scale(self, kernel: Kernel) -> float:
        """The prior scale of the weight of a product."""
        name = self._size_of(kernel)
        return PRIOR_SCALE if self.clock is None or name is None else self._median(name)

    def model(self, parts: Sequence[Part], noise: float, inputs: int, row_noise: Noise = ALIKE) -> ExactModel:
        """The model of some components, and of a level if it is among them."""
        pool = Products.of([part.kernel for part in parts], inputs)
        centre = Products.of([part.centre for part in parts], inputs).unbounded
        scales = np.array([part.scale for part in parts])
        shrunk = np.array([0.0 if part is LEVEL else 1.0 for part in parts])
        # a weight of zero would have no gradient
        sizes = np.array([max(part.weight, 1e-3) for part in parts])
        weights = PointHorseshoe(sizes, scales, shrunk)
        return ExactModel(weights, noise, pool, centre, row_noise, self._spreads(pool), noise_scale=self._noise_scale)

    def log_densities(self, model: ExactModel, range: float, spacing: float) -> np.ndarray:
        """The log prior density of each parameter in the vector of a model; 0 for those that are not fitted."""
        assert model.spread is not None
        assert isinstance(model.prior, PointHorseshoe)
        weights = model.prior.conditional_log_densities()
        noise = 0.0 if model.row_noise.known else _log_density_of_noise(model)
        # a period lies between two steps and half of the range, on its logarithm
        widths = {"period": float(np.log(max(0.25 * range / spacing, np.e)))}
        each = zip(model.pool.layout, model.pool.unbounded, model.centre, model.spread, strict=True)
        numbers = [
            0.0
            if spread == 0.0
            else _normal(u, centre, spread)
            if np.isfinite(spread)
            else -float(np.log(widths.get(number.name, range)))
            for number, u, centre, spread in each
        ]
        return np.concatenate([weights, [noise], numbers])

    def structural(self, periods: Sequence[float]) -> list[Kernel]:
        """What ordinary series are made of, at the medians of the priors.

        A trend whose slope fades, a walk, AR(1), seasons that move, and a line if growth fades to one. The size of a
        line is that over standardised inputs. The first season has a smooth shape, and where it has many steps also a
        level for each of them: corners, and weeks with holidays.
        """
        clock = self.clock
        if clock is None:
            return []
        unit = clock.unit
        return [
            *([Linear(0.0)] if self.growth == "line" else []),
            DampedTrend(self._median("damping") / unit, clock.origin, unit),
            RandomWalk(clock.origin, unit),
            Matern12(self._median("ar_length") * unit),
            # before the seasons: a fit that starts from another one takes the values of the first with its formula
            *(
                Matern12(self._median("levels_drift") * period) * CentredPeriodic(period, self._step_shape(period))
                for period in clock.seasons[:1]
                if FEWEST_STEPS <= period / clock.step <= MOST_STEPS
            ),
            *(
                Matern12(self._median("drift") * period) * cycle
                for period, cycle in zip(periods, self._cycles(periods), strict=True)
            ),
        ]

    def _step_shape(self, period: float) -> float:
        """The lengthscale of a cycle whose steps have next to nothing in common."""
        assert self.clock is not None
        return float(np.pi) * self.clock.step / period

    def has_levels(self, kernel: Kernel) -> bool:
        """Whether a product is a season with a level for each step."""
        return self.clock is not None and any(
            isinstance(factor, CentredPeriodic)
            and np.size(factor.period) == 1
            and abs(float(np.ravel(factor.lengthscale)[0]) / self._step_shape(float(np.ravel(factor.period)[0])) - 1.0)
            < ROUNDING_OF_PERIODS
            for factor in kernel.products()[0]
        )

    def _cycles(self, periods: Sequence[float]) -> list[Kernel]:
        """A cycle for each period. One that holds a shorter one a whole number of times, as a week holds days, is a
        modulation of it: the hour of the week."""
        shape = self._median("shape")
        found: list[Kernel] = []
        for place, period in enumerate(periods):
            inside = [one for one in periods[:place] if abs(period / one - round(period / one)) < ROUNDING_OF_PERIODS]
            found.append(product_of([CentredPeriodic(one, shape) for one in (*inside[-1:], period)]))
        return found

    @property
    def walk(self) -> RandomWalk | None:
        """The random walk of a series in time."""
        return RandomWalk(self.clock.origin, self.clock.unit) if self.clock is not None and self.of_time else None

    def _median(self, name: str) -> float:
        return float(np.exp(self._priors[name].mean))

    def ordinary(self, kernel: Kernel) -> bool:
        """Whether a product is one of what ordinary series are made of, or its limit: a line, an exact season."""
        factors = kernel.products()[0]
        cycles = [factor for factor in factors if isinstance(factor, _CYCLES)]
        if not self.of_time:
            return False
        if not cycles:
            return len(factors) == 1 and isinstance(factors[0], Linear | DampedTrend | RandomWalk | Matern12)
        others = [factor for factor in factors if not isinstance(factor, (*_CYCLES, Matern12))]
        return not others and all(self._known(float(np.ravel(one.period)[0])) for one in cycles)

    def log_structure(self, parts: Sequence[Part], inputs: int, rows: int = 1) -> float:
        """The log prior of a structure.

        Every factor is one of the families, and in a table of one of the inputs or of any set of them. A step in a
        table, and a shock, is at one of the gaps between the rows. A line from there on is one thing with a step, a
        bend, whose place is known less well. A series has time, and regressors that the user has named: no input is
        chosen among others.
        """
        total = 0.0
        for part in parts:
            factors = part.kernel.products()[0]
            if self.clock is None:
                alone = _priced(factors)
                bends = len(factors) - len(alone)
                # a bend can be told from another at some ten places, a jump at each row
                places = min(float(rows), 10.0)
                total -= (jumps_of(part.kernel) - bends) * float(np.log(rows)) + bends * float(np.log(places))
                factors = alone
            sizes = [inputs if factor.dims is None else len(factor.dims) for factor in factors]
            # one of the inputs; or any number of them, and of these any set
            sets = [inputs if size == 1 else inputs * comb(inputs, size) for size in sizes]
            columns = sum(np.log(one) for one in sets) if inputs > 1 and self.clock is None else 0.0
            shocks = sum(isinstance(factor, Shock) for factor in factors)
            total -= float(len(factors) * np.log(len(VOCABULARY)) + columns + shocks * np.log(rows))
        return total

    def names(self, model: ExactModel) -> list[tuple[str, float, float] | None]:
        """For each parameter the name of its learned prior, and what turns it into the logarithm there.

        That is (u + offset) * factor for a name, offset and factor; None for a parameter without a learned prior.
        """
        pool = model.pool
        sizes = [self._size_of(kernel) for kernel in pool]
        found: list[tuple[str, float, float] | None] = [None if one is None else (one, 0.0, 1.0) for one in sizes]
        found.append(("noise", 0.0, 0.5))
        for number in pool.layout:
            name = self._parameter_of(pool, number)
            found.append(None if name is None else (name, self._offset(name, pool.kernels[number.product]), 1.0))
        return found

    @property
    def _priors(self) -> Priors:
        if self.given is not None:
            return self.given
        return priors_for("other" if self.clock is None else self.clock.frequency, self.growth, self.transform)

    @property
    def noise(self) -> float:
        """The prior median of the noise variance."""
        return float(np.exp(NOISE_CENTRE)) if self._noise_scale is None else self._noise_scale**2

    @property
    def _noise_scale(self) -> float | None:
        """The prior scale of the noise's standard deviation, if it was learned."""
        return None if self.clock is None else self._median("noise")

    def _size_of(self, kernel: Kernel) -> str | None:
        """The name of the learned prior of a product's weight; None if there is none."""
        return "levels" if self.has_levels(kernel) else _size_of(kernel.products()[0])

    def _parameter_of(self, pool: Products, number: Number) -> str | None:
        """The name of the learned prior of a hyperparameter; None if there is none."""
        factors = pool.kernels[number.product]
        name = _parameter_of(factors, factors[number.factor], number.name)
        if name in ("shape", "drift") and self.has_levels(pool[number.product]):
            return None if name == "shape" else "levels_drift"
        return name

    def _spreads(self, pool: Products) -> np.ndarray:
        """The prior standard deviation of each hyperparameter: 0 if it is known, infinite if its prior is uniform."""
        found = spreads(pool)
        for place, number in enumerate(pool.layout):
            learned = self._learned(pool, number)
            if learned is not None:
                found[place] = learned[1]
            known = number.name == "period" and self._known(float(pool.numbers[place]))
            # where a line by itself is zero is a matter of the level
            alone = number.name == "location" and len(pool.kernels[number.product]) == 1
            if known or (alone and self.clock is not None and isinstance(pool.kernels[number.product][0], Linear)):
                found[place] = 0.0
            if number.name == "location" and self._jumps(pool, number):
                found[place] = 0.0
        return found

    def _jumps(self, pool: Products, number: Number) -> bool:
        """Whether a number belongs to a shock, or to a step of a table. Its place is a gap between rows: the likelihood
        has no slope there, so that the place is chosen and not fitted."""
        factor = pool.kernels[number.product][number.factor]
        return isinstance(factor, Shock) or (self.clock is None and isinstance(factor, Step | StepUntil))

    def _known(self, period: float) -> bool:
        seasons = () if self.clock is None else self.clock.seasons
        return any(abs(period / season - 1.0) < ROUNDING_OF_PERIODS for season in seasons)

    def _learned(self, pool: Products, number: Number) -> tuple[float, float] | None:
        """Mean and spread of a learned prior in the units of the rows, on the unbounded scale."""
        factors, name = pool.kernels[number.product], self._parameter_of(pool, number)
        factor = factors[number.factor]
        if (
            number.name == "lengthscale"
            and isinstance(factor, CentredPeriodic)
            and self.has_levels(pool[number.product])
        ):
            return float(np.log(np.ravel(factor.lengthscale)[0])), 0.0
        if self.clock is None or name is None:
            return None
        mean, sd = self._priors[name]
        return mean - self._offset(name, factors), sd

    def _offset(self, name: str, factors: Sequence[Base]) -> float:
        """What is added to the logarithm of a hyperparameter to have it in the units of its learned prior.

        Times are counted in the shortest season, and the drift of a cycle in its own periods.
        """
        if self.clock is None or name == "shape":
            return 0.0
        periods = [float(np.ravel(factor.period)[0]) for factor in factors if isinstance(factor, _CYCLES)]
        unit = float(np.log(max(periods, default=self.clock.unit)))
        return unit if name == "damping" else -unit


VOCABULARY = (Linear, DampedTrend, RandomWalk, SquaredExponential, Matern12, CentredPeriodic, Step)
"""The families from which the search makes components; a product has each factor from one of them."""


def _log_density_of_noise(model: ExactModel) -> float:
    """The log prior density of the log noise variance."""
    if model.noise_scale is None:
        return _normal(float(np.log(model.noise)), *model.noise_prior)
    away = 0.5 * float(np.log(model.noise)) - float(np.log(model.noise_scale))
    return -float(np.logaddexp(away, -away) + np.log(np.pi))


def _normal(u: float, mean: float, sd: float) -> float:
    """log N(u; mean, sd^2)."""
    return -0.5 * float(((u - mean) / sd) ** 2 + LOG_2PI) - float(np.log(sd))


def _priced(factors: Sequence[Base]) -> list[Base]:
    """The factors of a product of a table, without the steps of columns that have another factor: a bend."""
    others = {factor.dims for factor in factors if not isinstance(factor, Step | StepUntil)}
    return [factor for factor in factors if not (isinstance(factor, Step | StepUntil) and factor.dims in others)]


_CYCLES = (Periodic, CentredPeriodic)


def of_first(factors: Sequence[Base]) -> bool:
    """Whether some factors act on the first input alone, which is time where there are regressors; of a single input
    they have no columns."""
    return all(factor.dims is None or tuple(factor.dims) == (0,) for factor in factors)


def _size_of(factors: Sequence[Base]) -> str | None:
    """The name of the learned prior of a product's weight; None if there is none, as for effects of regressors."""
    if not of_first(factors):
        return None
    if any(isinstance(factor, (*_CYCLES, *CALENDAR)) for factor in factors):
        return "season"
    if len(factors) != 1:
        return None
    kinds = {Linear: "line", DampedTrend: "trend", RandomWalk: "walk", Matern12: "ar", Constant: "level"}
    return kinds.get(type(factors[0]))


def _parameter_of(factors: Sequence[Base], factor: Base, name: str) -> str | None:
    """The name of the learned prior of a factor's hyperparameter; None if there is none."""
    if name == "damping":
        return "damping"
    if name != "lengthscale":
        return None
    if isinstance(factor, _CYCLES):
        return "shape"
    if isinstance(factor, Matern12 | SquaredExponential) and any(isinstance(one, _CYCLES) for one in factors):
        return "drift"
    return "ar_length" if isinstance(factor, Matern12) and len(factors) == 1 else None
