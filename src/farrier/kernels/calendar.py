"""Calendar patterns: functions of the local day alone, with one level for each kind of day.

    k(x, z) = (1[l = m] - p_l - p_m + s) / (1 - s),    s = sum_j p_j^2,    l, m the levels of x and z

is the covariance of independent levels minus their mean over the calendar, in which level l has the share p_l of all
days; its mean variance is one. So a pattern of the week, the month or the year carries no level. Events (holidays,
month ends) have k(x, z) = 1 if x and z are the same event, else 0: they are zero on all other days.

The clock says how x maps to local days. Local time is (x - origin) / day in days since 1970-01-01, plus an offset of
its own between any two `changes` of the clock: the offset from UTC of a time zone with daylight saving. Nothing of the
clock is trained. The families have no formula in jax: the stochastic tier refuses them.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Slopes, Values
from farrier.kernels.parameters import fixed, positive
from farrier.kernels.periodic import SHAPE, CentredPeriodic

SLACK = 1e-8
"""What is added to a time before its day is taken, so that a rounded midnight is not the day before. [days, about a
millisecond; by judgement]"""
YEAR = 365.2425
"""The mean length of a year. [days; Gregorian calendar]"""
MONTHS = np.array([31.0, 28.2425, 31.0, 30.0, 31.0, 30.0, 31.0, 31.0, 30.0, 31.0, 30.0, 31.0])
"""The mean length of each month. [days; Gregorian calendar]"""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def local_times(values: Values, x: np.ndarray) -> np.ndarray:
    """Local time in days since 1970-01-01."""
    day, changes = values["day"][0], values["changes"]
    times = (x - values["origin"][0]) / day
    if not len(values["offsets"]):
        return times
    return times + values["offsets"][np.searchsorted(changes, x + SLACK * day, side="right")]


def local_days(values: Values, x: np.ndarray) -> np.ndarray:
    """The local date as days since 1970-01-01, integers."""
    return np.floor(local_times(values, x) + SLACK).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class _Clocked(Base):
    """A function of local time."""

    origin: PerColumn = fixed(default=0.0)
    """x at 1970-01-01 00:00 of the clock before its offset."""
    day: PerColumn = fixed(default=1.0)
    """The length of a day."""
    changes: PerColumn = fixed(default=(), whole=True)
    """Where the offset changes, in rising order."""
    offsets: PerColumn = fixed(default=(), whole=True)
    """The offset before, between and after the changes, in days; none for a clock that never changes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.offsets) != len(self.changes) + bool(len(self.offsets)):
            raise ValueError(
                f"{type(self).__name__}: offsets has {len(self.offsets)} entries for {len(self.changes)} changes of "
                f"the clock: give {len(self.changes) + 1}."
            )

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self.replace(
            origin=self.origin * scale + shift, day=self.day * scale, changes=self.changes * scale + shift
        )


@dataclass(frozen=True, eq=False, repr=False)
class CalendarPattern(_Clocked):
    """A pattern with one level for each kind of day."""

    shares: ClassVar[np.ndarray | None] = None
    """The part of all days that has each level; None for events, whose level 0 is "no event"."""
    names: ClassVar[tuple[str, ...]] = ()
    """What the levels are called."""

    @classmethod
    @abstractmethod
    def level_of(cls, values: Values, days: np.ndarray) -> np.ndarray:
        """The level of local days."""

    @classmethod
    def levels(cls, values: Values, X: np.ndarray) -> np.ndarray:
        """The level of each row of X (N, 1)."""
        cls.check_one_column(X)
        return cls.level_of(values, local_days(values, X[:, 0]))

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        left, right = cls.levels(values, X), cls.levels(values, Z)
        return cls.of_levels(int(max(left.max(initial=0), right.max(initial=0))))[left][:, right], lambda dK: {}

    @classmethod
    def of_levels(cls, last: int) -> np.ndarray:
        """The covariance of all pairs of levels; events have the levels 0 to `last`."""
        if cls.shares is None:
            return np.diag(np.arange(last + 1) > 0).astype(np.float64)
        p, s = cls.shares, np.sum(cls.shares**2)
        return (np.eye(len(p)) - p[:, None] - p[None, :] + s) / (1.0 - s)

    @classmethod
    def at(cls, values: Values, X: np.ndarray) -> tuple[np.ndarray, Back]:
        level = cls.levels(values, X)
        return np.diagonal(cls.of_levels(int(level.max(initial=0))))[level], lambda dk: {}

    def levels_at(self, x: np.ndarray) -> np.ndarray:
        """The level at times x (N,)."""
        return self.levels({name: self.entries(name, 1) for name in self.parameters()}, x[:, None])

    def level_names(self) -> tuple[str, ...]:
        """What the levels are called, in their order."""
        return self.names


@final
@dataclass(frozen=True, eq=False, repr=False)
class DayOfWeek(CalendarPattern):
    """One level for each day of the week."""

    symbol: ClassVar[str] = "Weekday"
    rank: ClassVar[int] = 20
    kind: ClassVar[str] = "weekday"
    shares: ClassVar[np.ndarray | None] = np.full(7, 1 / 7)
    names: ClassVar[tuple[str, ...]] = WEEKDAYS
    dims: Dims = None

    @classmethod
    def level_of(cls, values: Values, days: np.ndarray) -> np.ndarray:
        return (days + 3) % 7  # 1970-01-01 was a Thursday


@final
@dataclass(frozen=True, eq=False, repr=False)
class Weekend(CalendarPattern):
    """Two levels: working days (Monday to Friday) and weekends."""

    symbol: ClassVar[str] = "Weekend"
    rank: ClassVar[int] = 21
    kind: ClassVar[str] = "weekend"
    shares: ClassVar[np.ndarray | None] = np.array([5 / 7, 2 / 7])
    names: ClassVar[tuple[str, ...]] = ("working days", "weekends")
    dims: Dims = None

    @classmethod
    def level_of(cls, values: Values, days: np.ndarray) -> np.ndarray:
        return np.where((days + 3) % 7 >= 5, 1, 0)


@final
@dataclass(frozen=True, eq=False, repr=False)
class MonthOfYear(CalendarPattern):
    """One level for each month of the year."""

    symbol: ClassVar[str] = "Month"
    rank: ClassVar[int] = 22
    kind: ClassVar[str] = "month"
    shares: ClassVar[np.ndarray | None] = MONTHS / YEAR
    names: ClassVar[tuple[str, ...]] = MONTH_NAMES
    dims: Dims = None

    @classmethod
    def level_of(cls, values: Values, days: np.ndarray) -> np.ndarray:
        return days.astype("M8[D]").astype("M8[M]").astype(np.int64) % 12


@final
@dataclass(frozen=True, eq=False, repr=False)
class DayOfMonth(CalendarPattern):
    """One level for each day of the month, 1 to 31."""

    symbol: ClassVar[str] = "Monthday"
    rank: ClassVar[int] = 23
    kind: ClassVar[str] = "monthday"
    shares: ClassVar[np.ndarray | None] = np.array([12.0] * 28 + [11.2425, 11.0, 7.0]) / YEAR
    names: ClassVar[tuple[str, ...]] = tuple(str(day) for day in range(1, 32))
    dims: Dims = None

    @classmethod
    def level_of(cls, values: Values, days: np.ndarray) -> np.ndarray:
        dates = days.astype("M8[D]")
        return (dates - dates.astype("M8[M]").astype("M8[D]")).astype(np.int64)


@final
@dataclass(frozen=True, eq=False, repr=False)
class MonthEnd(CalendarPattern):
    """An event on the last day of each month."""

    symbol: ClassVar[str] = "Monthend"
    rank: ClassVar[int] = 24
    kind: ClassVar[str] = "monthend"
    names: ClassVar[tuple[str, ...]] = ("other days", "the last day of the month")
    dims: Dims = None

    @classmethod
    def level_of(cls, values: Values, days: np.ndarray) -> np.ndarray:
        return np.where(days.astype("M8[D]") == _last_days(days), 1, 0)


@final
@dataclass(frozen=True, eq=False, repr=False)
class LastWorkday(CalendarPattern):
    """An event on the last working day (Monday to Friday) of each month."""

    symbol: ClassVar[str] = "Lastworkday"
    rank: ClassVar[int] = 25
    kind: ClassVar[str] = "monthend"
    names: ClassVar[tuple[str, ...]] = ("other days", "the last working day of the month")
    dims: Dims = None

    @classmethod
    def level_of(cls, values: Values, days: np.ndarray) -> np.ndarray:
        return np.where(days.astype("M8[D]") == np.busday_offset(_last_days(days), 0, roll="backward"), 1, 0)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Holiday(CalendarPattern):
    """One event for each named holiday, whenever it comes round."""

    symbol: ClassVar[str] = "Holiday"
    rank: ClassVar[int] = 26
    kind: ClassVar[str] = "holiday"
    holidays: PerColumn = fixed(default=(), whole=True)
    """Days since 1970-01-01, in rising order."""
    called: PerColumn = fixed(default=(), whole=True)
    """For each of these days the number of its name, from 1."""
    titles: tuple[str, ...] = ()
    """The names."""
    dims: Dims = None

    @classmethod
    def level_of(cls, values: Values, days: np.ndarray) -> np.ndarray:
        known = values["holidays"]
        if not len(known):
            return np.zeros(len(days), np.int64)
        place = np.minimum(np.searchsorted(known, days), len(known) - 1)
        return np.where(known[place] == days, values["called"][place].astype(np.int64), 0)

    def level_names(self) -> tuple[str, ...]:
        return ("other days", *self.titles)


@final
@dataclass(frozen=True, eq=False, repr=False)
class AnyHoliday(CalendarPattern):
    """One event for all holidays together."""

    symbol: ClassVar[str] = "Anyholiday"
    rank: ClassVar[int] = 27
    kind: ClassVar[str] = "holiday"
    names: ClassVar[tuple[str, ...]] = ("other days", "holidays")
    holidays: PerColumn = fixed(default=(), whole=True)
    """Days since 1970-01-01, in rising order."""
    dims: Dims = None

    @classmethod
    def level_of(cls, values: Values, days: np.ndarray) -> np.ndarray:
        return np.where(np.isin(days, values["holidays"]), 1, 0)


@final
@dataclass(frozen=True, eq=False, repr=False)
class DayOff(CalendarPattern):
    """Two levels: working days, and weekends with holidays.

    The shares are those of the week: it is centred but for the holidays on weekdays.
    """

    symbol: ClassVar[str] = "Dayoff"
    rank: ClassVar[int] = 28
    kind: ClassVar[str] = "weekend"
    shares: ClassVar[np.ndarray | None] = np.array([5 / 7, 2 / 7])
    names: ClassVar[tuple[str, ...]] = ("working days", "weekends and holidays")
    holidays: PerColumn = fixed(default=(), whole=True)
    """Days since 1970-01-01, in rising order."""
    dims: Dims = None

    @classmethod
    def level_of(cls, values: Values, days: np.ndarray) -> np.ndarray:
        return np.where(((days + 3) % 7 >= 5) | np.isin(days, values["holidays"]), 1, 0)


@final
@dataclass(frozen=True, eq=False, repr=False)
class LocalDay(_Clocked):
    """The centred periodic kernel with a period of one day of local time: it follows daylight saving."""

    symbol: ClassVar[str] = "Perday"
    rank: ClassVar[int] = 29
    kind: ClassVar[str] = "periodic"
    lengthscale: PerColumn = positive(SHAPE, default=1.0)
    dims: Dims = None

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        cls.check_one_column(X)
        one_day = {"period": np.ones(1), "lengthscale": values["lengthscale"]}
        # regular rows share a few times of the day, and the kernel is evaluated once for each pair of these
        (left, of_x), (right, of_z) = (_times_of_day(values, A[:, 0]) for A in (X, Z))
        K, back_all = CentredPeriodic.between(one_day, left[:, None], right[:, None])

        def back(dK: np.ndarray) -> Slopes:
            by_rows = np.zeros((len(left), dK.shape[1]))
            np.add.at(by_rows, of_x, dK)
            by_times = np.zeros((len(right), len(left)))
            np.add.at(by_times, of_z, by_rows.T)
            return {"lengthscale": back_all(by_times.T)["lengthscale"]}

        return K[of_x][:, of_z], back

    @classmethod
    def at(cls, values: Values, X: np.ndarray) -> tuple[np.ndarray, Back]:
        return np.ones(len(X)), lambda dk: {"lengthscale": np.zeros(1)}


def _times_of_day(values: Values, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct local times of the day, in days, and for each row the index of its own."""
    times = local_times(values, x) + SLACK
    whole, which = np.unique(np.floor((times - np.floor(times)) / SLACK), return_inverse=True)
    return whole * SLACK, which


def _last_days(days: np.ndarray) -> np.ndarray:
    """The last day of the month of each day."""
    return (days.astype("M8[D]").astype("M8[M]") + 1).astype("M8[D]") - 1
