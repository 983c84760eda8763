"""Numbers, texts and times that are odd but possible, for files and for arrays."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

Random = np.random.Generator

CELLS = (
    *("", " ", "NA", "nan", "NaN", "inf", "-inf", "1e309", "-1e308", "1e308", "1e154", "1e-320", "0", "-0", "0x1F"),
    *("1_000", "1,5", "1.2.3", "12 %", "$5", "'", '"', '""', "\x00", "\ufeff", "\u202e", "é", "日本", "🐎", "<b>"),
    *("=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "-", "+", "TRUE", "None", "9" * 400, "x" * 20_000, "a\tb", "a;b"),
    *("0000-01-01", "9999-12-31", "10000-01-01", "2024-02-30", "2024-13", "2024Q5", "2024-01-01T25:00", "1e5-01"),
    *("2024-03-31 02:30", "2024-03-31T02:30+01:00", "2024-03-31T02:30Z", "1600000000000", "0001-01-01", "24:00"),
)
"""Cells of a file."""
NAMES = ("", " ", "y", "Y", "time", "ds", "unique_id", "month", "x" * 20_000, "=1+1", "<img src=x onerror=alert(1)>")
"""Names of columns."""
SIZES = (1e-320, 1e-200, 1e-150, 1e-30, 1.0, 1.0, 1.0, 1e6, 1e17, 1e100, 1e149, 1e154, 1e155, 1e308)
"""Units in which numbers are given."""


def pick(random: Random, values: Any) -> Any:
    """One of the values."""
    return values[int(random.integers(len(values)))]


def numbers(random: Random, count: int) -> np.ndarray:
    """Floats: noise, a wave, a line, few values, counts; sometimes spoilt, in any unit."""
    steps = np.arange(count, dtype=np.float64)
    noise = random.standard_normal(count)
    y = pick(
        random,
        (noise, steps, np.sin(steps) + 0.1 * noise, np.exp(0.1 * steps + 0.1 * noise), np.round(noise), noise * steps,
         0 * steps, np.floor(3 + noise), np.cumsum(noise), 1e9 + noise, np.where(noise > 2, 1e12, noise)),
    )  # fmt: skip
    with np.errstate(all="ignore"):
        y = y * (pick(random, SIZES) if random.random() < 0.15 else 1.0)
        y = y + (pick(random, SIZES) if random.random() < 0.1 else 0.0)
    if count and random.random() < 0.08:
        y[random.integers(count, size=1 + int(random.integers(3)))] = pick(
            random, (np.nan, np.inf, -np.inf, 0.0, 1e300)
        )
    return y


def values(random: Random, count: int) -> Any:
    """A column of numbers in some container and type, sometimes not numbers at all."""
    y = numbers(random, count)
    whole = np.clip(np.nan_to_num(np.round(y)), -100, 100)
    kinds: tuple[Callable[[], Any], ...] = (
        *(lambda: y,) * 24,
        lambda: y.tolist(),
        lambda: y.astype(np.float32),
        lambda: whole.astype(np.int8),
        lambda: whole.astype(np.int64),
        lambda: y > 0,
        lambda: y.astype(object),
        lambda: [None if random.random() < 0.1 else one for one in y.tolist()],
        lambda: np.ma.array(y, mask=random.random(count) < 0.1),
        lambda: pd.Series(y),
        lambda: pd.Series(y).astype("Float64"),
        lambda: pl.Series("y", y),
        lambda: y + 1j,
        lambda: y.astype(str),
        lambda: [str(one) for one in whole],
        lambda: [10**400] * count,
        lambda: y[:, None],
        lambda: pl.DataFrame({"y": y}).lazy(),
        lambda: iter(y.tolist()),
        lambda: {"y": y},
        lambda: None,
        lambda: 3.0,
    )
    with np.errstate(all="ignore"):
        return pick(random, kinds)()


def times(random: Random, count: int) -> Any:
    """A column of times in some container and type."""
    start = pick(random, (*("2020-01-01",) * 5, "1700-02-28", "2261-01-01", "9995-01-01", "0001-01-02", "2024-03-20"))
    freq = pick(random, ("D", "MS", "ME", "QS", "YS", "B", "h", "7min", "W-SUN", "13D", "s"))
    days = np.datetime64(start, "D") + np.arange(count) * int(pick(random, (1, 7, 365, 30)))
    plain = np.arange(count) * float(pick(random, (*(1.0, 0.5, 1 / 12, 1e-3, 1e6) * 3, 1e-160, 1e150)))
    zone = pick(random, (None, None, "UTC", "Europe/Berlin", "Asia/Kolkata"))

    def ranged() -> Any:
        return pd.date_range("2020-03-01", periods=count, freq=freq, tz=zone)

    moments = [datetime(2020, 1, 1) + timedelta(days=i) for i in range(count)]
    mixed = (UTC, None, timezone(timedelta(hours=5, minutes=30)))
    kinds: tuple[Callable[[], Any], ...] = (
        *(lambda: plain, lambda: days, ranged) * 8,
        lambda: plain + pick(random, (0.0, 1950.0, 1.6e12, 1.6e9, -1e5)),
        lambda: plain.tolist(),
        lambda: np.arange(count).astype(pick(random, (np.int8, np.uint8, np.int16, np.uint64, np.float32))),
        lambda: 1_600_000_000_000 + 1000 * np.arange(count),
        lambda: days,
        lambda: days.astype(pick(random, ("M8[s]", "M8[us]", "M8[ms]", "M8[Y]"))),
        lambda: days.astype(str).tolist(),
        ranged,
        lambda: list(ranged()),
        lambda: ranged().as_unit("ns"),
        lambda: pd.Series(ranged()),
        lambda: pd.period_range("2020-01", periods=count, freq=pick(random, ("M", "Q", "Y", "D", "W"))),
        lambda: pl.Series("t", moments),
        lambda: pl.Series("t", moments, dtype=pl.Datetime("us")).dt.replace_time_zone(zone or "UTC"),
        lambda: pl.Series("t", [one.date() for one in moments]),
        lambda: moments,
        lambda: [one.replace(tzinfo=pick(random, mixed)) for one in moments],
        lambda: [pd.Timestamp(one, tz=pick(random, ("UTC", None, "Europe/Berlin"))) for one in moments],
        lambda: [date(2020, 1, 1) if i % 2 else moments[i] for i in range(count)],
        lambda: [pick(random, CELLS) for _ in range(count)],
        lambda: random.permutation(plain),
        lambda: np.sort(random.standard_normal(count)),
        lambda: values(random, count),
        lambda: np.ma.array(plain, mask=random.random(count) < 0.05),
        lambda: pd.MultiIndex.from_arrays([range(count), range(count)]) if count else [],
    )
    return pick(random, kinds)()
