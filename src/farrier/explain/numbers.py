"""Numbers, lengths of time and dates in words.

Plain numbers have three significant digits and a unit. Lengths of time have one decimal, in a unit that suits their
size. Dates are as fine as the range of the data needs. Every estimate has its 95 % interval, "12.0 months (11.9 to
12.1)", with enough digits to tell the three numbers apart. All thresholds are by judgement.
"""

import calendar
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from farrier.explain.facts import Axis, Estimate

DAYS_A_YEAR = 365.2425
"""The mean length of a year in the Gregorian calendar."""
DAYS_A_MONTH = DAYS_A_YEAR / 12
HOUR, MINUTE, SECOND = 1 / 24, 1 / 1440, 1 / 86400
"""In days."""

BUSINESS_DAY = ("a business day", 7 / 5)
"""Its words, and its mean length in days, weekends included: a week has five."""
TIME_UNITS = (
    ("years", DAYS_A_YEAR, 0.75 * DAYS_A_YEAR),
    ("months", DAYS_A_MONTH, 2 * DAYS_A_MONTH),
    ("weeks", 7.0, 14.0),
    ("days", 1.0, 0.75),
    ("hours", HOUR, HOUR),
    ("minutes", MINUTE, MINUTE),
    ("seconds", SECOND, 0.0),
)
"""Each unit, its length in days, and the smallest length, in days, that is written in this unit."""

MONTHS_BELOW = 3 * DAYS_A_YEAR
"""In monthly data, lengths below this, in days, are written in months."""
MONTHLY = (0.8 * DAYS_A_MONTH, 1.25 * DAYS_A_MONTH)
"""The smallest and the largest spacing, in days, of monthly data."""

CALENDAR = (
    ("yearly", DAYS_A_YEAR),
    ("half-yearly", DAYS_A_YEAR / 2),
    ("quarterly", DAYS_A_YEAR / 4),
    ("monthly", DAYS_A_MONTH),
    ("weekly", 7.0),
    ("daily", 1.0),
    ("hourly", HOUR),
)
"""The names of periods, and their lengths in days."""
CALENDAR_SLACK = 1e-3
"""Relative tolerance for an interval that must cover a named period: years have 365, 365.2425 or 366 days."""
CALENDAR_REACH = 0.1
"""Largest relative difference between a period and a name, however wide its interval."""

RATES = (
    ("a year", DAYS_A_YEAR, 2 * DAYS_A_YEAR),
    ("a month", DAYS_A_MONTH, 2 * DAYS_A_MONTH),
    ("a day", 1.0, 2.0),
    ("an hour", HOUR, 2 * HOUR),
    ("a minute", MINUTE, 0.0),
)
"""Units of a slope: the words, the length in days, and the smallest range of the data, in days, that uses them."""

UNITS = (
    ("a second", SECOND),
    ("a minute", MINUTE),
    ("an hour", HOUR),
    ("a day", 1.0),
    ("a week", 7.0),
    ("a month", DAYS_A_MONTH),
    ("a quarter", DAYS_A_YEAR / 4),
    ("a year", DAYS_A_YEAR),
)
"""Units of time and their lengths in days, for what happens from one row to the next."""

MOST_LOG = 50.0
"""Growth on the log scale above which nothing compounds: such numbers say nothing. [nats; by judgement]"""

GRAINS = (("year", 20 * DAYS_A_YEAR), ("month", 2 * DAYS_A_YEAR), ("day", 2 * DAYS_A_MONTH), ("minute", 2 * HOUR))
"""The finest unit of a date for data whose range, in days, is above this number; below all, the second."""

WELL_KNOWN = 92.0
"""Width of the interval of a date below which it is given to the day. [days; by judgement]"""

MONTH_BEGINS = 0.07
"""Tolerance for the beginning of a month in decimal years, in months: 1 March is 59 of 365 days, or 1.94 months."""
FACTOR = 0.5
"""The relative size from which a factor is said instead of per cent: nothing goes down by 110 %."""
FINER = 2
"""Most extra decimals to tell the ends of an interval from its value."""
OUT_OF_REACH = "a time out of reach"
"""The words for a date outside the calendar of Python."""

COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def known(x: float | None) -> bool:
    """Whether a number is there and finite."""
    return x is not None and math.isfinite(x)


def count(n: int) -> str:
    """A whole number, as a word up to twelve."""
    return COUNTS[n] if n < len(COUNTS) else f"{n:,}" if n >= 10_000 else str(n)


def ordinal(n: int) -> str:
    """The ordinal number: first, second, ... tenth, 11th, 12th, 21st."""
    if n <= len(ORDINALS):
        return ORDINALS[n - 1]
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def listing(words: Sequence[str], last: str = "and") -> str:
    """The words as a list in a sentence: 'a, b and c'."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def capital(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def decimals(x: float, digits: int) -> int:
    """The number of decimals that gives x so many significant digits; negative for large numbers."""
    rounded = float(f"{abs(x):.{digits - 1}e}")
    return digits - 1 - math.floor(math.log10(rounded)) if rounded else 0


def fixed(x: float, places: int) -> str:
    """x with so many decimals (-1 rounds to tens), and commas from 10,000 on."""
    if abs(x) >= 1e15 or places > 9:
        return f"{x:.3g}"
    rounded = round(x, places) + 0.0
    return f"{rounded:{',' if abs(rounded) >= 10_000 else ''}.{max(places, 0)}f}"


def significant(x: float, digits: int = 3) -> str:
    """x with so many significant digits."""
    return fixed(x, decimals(x, digits))


def per_cent(share: float) -> str:
    """A share in per cent: 12 %, 1.2 %, 99.4 %, under 0.1 %."""
    x = 100 * share
    if abs(x) < 0.1:
        return "under 0.1 %"
    if 99.95 <= x < 100:
        return "over 99.9 %"
    said = fixed(x, 0 if 9.95 <= abs(x) < 98.95 or abs(x) >= 99.95 else 1)
    return f"{said.removesuffix('.0')} %"


def sized(x: float, *, relative: bool, digits: int = 3) -> str:
    """A size with so many significant digits; a relative one in per cent, or from `FACTOR` on 'a factor of 2.1'."""
    if not relative:
        return significant(x, digits)
    return f"a factor of {significant(1 + x, 2)}" if x >= FACTOR else per_cent(x)


def forecast_decimals(low: Sequence[float], high: Sequence[float]) -> int:
    """Decimals for all numbers of a forecast, in sentences and tables: a tenth of its narrowest 80 % interval."""
    widths = [b - a for a, b in zip(low, high, strict=True) if b > a]
    return decimals(min(widths), 2) if widths else decimals(max(map(abs, (*low, *high)), default=0.0), 3)


def table_decimals(low: Sequence[float], high: Sequence[float]) -> int:
    """The same for a table; counts, whose intervals end at whole numbers, have none."""
    return 0 if all(float(x).is_integer() for x in (*low, *high)) else forecast_decimals(low, high)


def interval(estimate: Estimate, places: int, unit: str = "", finer: int = FINER) -> str:
    """The value with its unit and its interval in brackets, with up to `finer` more decimals to tell them apart.

    A number that is fixed, whose interval has no width, has no brackets.
    """
    value, low, high = estimate.value, estimate.low, estimate.high
    space = f" {unit}" if unit else ""
    if math.isnan(low) or math.isnan(high) or low == high or (math.isinf(low) and math.isinf(high)):
        return f"{fixed(value, places)}{space}"
    if math.isinf(high):
        return f"{fixed(value, places)}{space} ({fixed(low, places)} or more)"
    if math.isinf(low):
        return f"{fixed(value, places)}{space} ({fixed(high, places)} or less)"
    texts = [[fixed(x, places + extra) for x in (value, low, high)] for extra in range(finer + 1)]
    apart = [t for t in texts if t[0] not in t[1:]] or [t for t in texts if t[1] != t[2]]
    if not apart:
        return f"{texts[0][0]}{space} (give or take less than {fixed(10.0**-places, places)})"
    middle, left, right = apart[0]
    return f"{middle}{space} ({left} to {right})"


def number(estimate: Estimate, unit: str = "", digits: int = 3) -> str:
    """A plain number with its unit and interval, in three significant digits."""
    ends = [abs(x) for x in (estimate.low, estimate.high) if math.isfinite(x)]
    return interval(estimate, decimals(max(abs(estimate.value), 0.1 * max(ends, default=0.0)), digits), unit)


def is_time(axis: Axis) -> bool:
    """Whether the axis is in years or days."""
    return axis.kind in ("years", "days")


def in_days(axis: Axis) -> float:
    """The length of one unit of a time axis in days."""
    return DAYS_A_YEAR if axis.kind == "years" else 1.0


def unit_of(axis: Axis) -> str:
    """The unit of an axis, or 'units of' its name."""
    return axis.unit or f"units of {axis.name}"


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """The estimate times a factor; a negative factor swaps the ends of the interval."""
    ends = sorted((factor * estimate.low, factor * estimate.high))
    return Estimate(factor * estimate.value, ends[0], ends[1])


def length(estimate: Estimate, axis: Axis, *, brief: bool = False, finer: int = FINER) -> str:
    """A length along an axis: '12.0 months (11.9 to 12.1)', '3.21 mm (3.05 to 3.38)'; without interval if brief."""
    if brief:
        estimate = Estimate(estimate.value, estimate.value, estimate.value)
    if not is_time(axis):
        return number(estimate, unit_of(axis))
    days = abs(estimate.value) * in_days(axis)
    monthly = MONTHLY[0] < axis.spacing * in_days(axis) < MONTHLY[1]
    unit, size, _ = next((u for u in TIME_UNITS if days >= u[2]), TIME_UNITS[-1])
    if monthly and MONTHLY[0] < days < MONTHS_BELOW:
        unit, size = "months", DAYS_A_MONTH
    in_unit = scaled(estimate, in_days(axis) / size)
    return interval(in_unit, 1 if in_unit.value < 99.95 else min(0, decimals(in_unit.value, 3)), unit, finer)


def calendar_name(period: Estimate, axis: Axis) -> str:
    """'yearly', 'weekly', ... if the axis is a time and the interval covers this period, else empty."""
    if not is_time(axis):
        return ""
    days = scaled(period, in_days(axis))
    for name, size in CALENDAR:
        covered = days.low <= size * (1 + CALENDAR_SLACK) and days.high >= size * (1 - CALENDAR_SLACK)
        if covered and abs(days.value / size - 1) <= CALENDAR_REACH:
            return name
    return ""


def say_period(period: Estimate, axis: Axis, *, brief: bool = False) -> str:
    """A period as a length, without extra decimals if it has a name in the calendar."""
    return length(period, axis, brief=brief, finer=0 if calendar_name(period, axis) else FINER)


def rate(slope: Estimate, axis: Axis, *, relative: bool) -> tuple[Estimate, str]:
    """A slope in a unit that suits the range of the data, and the unit in words: 'a year', 'per mm', 'per unit of age'.

    Relative changes compound: 1 % a month is 12.7 % a year.
    """
    if not is_time(axis):
        return slope, _per(axis)
    word, size = _rate_unit(axis)
    factor = size / in_days(axis)
    if not relative or min(slope.low, slope.value) <= -1 or not math.isfinite(slope.high):
        return scaled(slope, factor), word
    if factor * math.log1p(slope.high) > MOST_LOG:
        return scaled(slope, factor), word
    return Estimate(*(math.expm1(factor * math.log1p(x)) for x in (slope.value, slope.low, slope.high))), word


def units_from_spacing(axis: Axis) -> list[tuple[str, float]]:
    """Units in words and in units of the axis, from the one nearest to the spacing of its rows up.

    Of monthly data [('a month', 1 / 12), ('a year', 1.0)]; of plain numbers the one there is, or a step of the rows.
    """
    if not is_time(axis):
        return [("a step", axis.spacing) if axis.spacing > 0 and not axis.unit else (_per(axis), 1.0)]
    days = axis.spacing * in_days(axis) if axis.spacing > 0 else _rate_unit(axis)[1]
    nearest = min(range(len(UNITS)), key=lambda i: abs(math.log(UNITS[i][1] / days)))
    longer = [unit for unit in UNITS[nearest + 1 :] if unit[0] != "a quarter"]
    first = BUSINESS_DAY if axis.weekdays else UNITS[nearest]
    return [(word, size / in_days(axis)) for word, size in (first, *longer)]


def _rate_unit(axis: Axis) -> tuple[str, float]:
    """A unit of time that suits the range, in words and in days."""
    reach = (axis.high - axis.low) * in_days(axis)
    word, size, _ = next((r for r in RATES if reach >= r[2]), RATES[-1])
    return word, size


def _per(axis: Axis) -> str:
    """The unit of a plain number: 'per mm', 'per unit of age'."""
    singular = axis.unit[:-1] if axis.unit in [name for name, _, _ in TIME_UNITS] else axis.unit
    return f"per {singular}" if singular else f"per unit of {axis.name}"


def moment(x: float, axis: Axis) -> str:
    """A point on an axis: '1974', 'March 1974', '3 March 1974', '3 March 1974 at 14:00', or a number with its unit."""
    if not is_time(axis):
        return f"{significant(x)} {axis.unit}".strip()
    grain = _grain(axis)
    try:
        date = _date(x, axis)
    except (OverflowError, ValueError):
        return OUT_OF_REACH
    month = calendar.month_name[date.month]
    if axis.kind == "years" and grain == "month":  # months of equal length, as people write decimal years
        month = calendar.month_name[1 + min(11, max(0, int((x - date.year) * 12 + MONTH_BEGINS)))]
    if grain == "year":
        return str(date.year)
    if grain == "month":
        return f"{month} {date.year}"
    day = f"{date.day} {month} {date.year}"
    return day if grain == "day" else f"{day} at {date:{'%H:%M' if grain == 'minute' else '%H:%M:%S'}}"


def moments(estimate: Estimate, axis: Axis) -> tuple[str, str]:
    """A point and its interval: ('March 1974', ' (January to May 1974)'); the second may be empty."""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return moment(estimate.value, axis), ""
    if not is_time(axis):
        first, bracket, rest = number(estimate, axis.unit).partition(" (")
        return first, bracket + rest
    value, low, high = (moment(x, axis) for x in (estimate.value, estimate.low, estimate.high))
    if OUT_OF_REACH in (value, low, high):
        return value, ""
    if low == high:
        return value, "" if estimate.low == estimate.high else f" (known to the {_grain(axis)})"
    return value, f" ({span(low, high)})"


def close_up(axis: Axis, place: Estimate) -> Axis:
    """The axis on which a place is said: of days, if these are well known, however long the data are."""
    if axis.kind == "days" and place.high - place.low < WELL_KNOWN:
        return replace(axis, low=0.0, high=min(WELL_KNOWN, axis.high - axis.low))
    return axis


def span(low: str, high: str) -> str:
    """Two moments in words as a range, without what both have: '3 to 29 March 1974'."""
    if " at " in low and " at " in high:
        (day, _), (last_day, time) = low.split(" at "), high.split(" at ")
        return f"{low} to {time if day == last_day else high}"
    shorter, longer = low.split(), high.split()
    while len(shorter) > 1 and len(longer) > 1 and shorter[-1] == longer[-1]:
        shorter.pop()
        longer.pop()
    return f"{' '.join(shorter)} to {high}"


def preposition(axis: Axis) -> str:
    """The preposition before a moment: in 1974, in March 1974, on 3 March 1974, at age = 12.3."""
    if not is_time(axis):
        return f"at {axis.name} ="
    return "in" if _grain(axis) in ("year", "month") else "on"


def _grain(axis: Axis) -> str:
    reach = (axis.high - axis.low) * in_days(axis)
    return next((grain for grain, above in GRAINS if reach > above), "second")


def _date(x: float, axis: Axis) -> datetime:
    """A number on a time axis as a date; half a second is added so that rounding errors change no second."""
    if axis.kind == "days":
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=x, seconds=0.5)
    year = math.floor(x + 1e-9)
    start = datetime(year, 1, 1, tzinfo=UTC)
    return start + timedelta(days=(x - year) * (366 if calendar.isleap(year) else 365), seconds=0.5)
