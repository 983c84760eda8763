"""Made series for the tests of fleets: short, monthly, in the long format."""

import math

import numpy as np


def monthly(name, rows=16, start=2020):
    """Rows of one series: its name, months, and values that depend on the name."""
    shift = sum(map(ord, str(name))) % 17
    values = [50 + shift + 2 * i + 8 * math.sin((i + shift) * math.pi / 6) + (i * 7 % 5) / 2 for i in range(rows)]
    return [(name, f"{start + i // 12}-{i % 12 + 1:02d}", value) for i, value in enumerate(values)]


def months(rows=16):
    """Months as datetime64."""
    return (np.datetime64("2020-01", "M") + np.arange(rows)).astype("M8[us]")


def values(name, rows=16):
    """The values of `monthly`."""
    return np.array([value for *_, value in monthly(name, rows)])


def csv_of(names, rows=16):
    """The text of a file with these series."""
    lines = [",".join(map(str, row)) for name in names for row in monthly(name, rows)]
    return "\n".join(["shop,month,sales", *lines]) + "\n"
