"""The reader of the truth suite tells true, false and missing statements apart."""

import numpy as np
import pytest
from benchmarks.truth import KINDS, Claim, Made, holds, read

LINE = "1. A linear rise of 8.1 a year (7.9 to 8.3). It carries 90 % of the variance."


def line(slope: float) -> Made:
    size = Claim("size", r"linear rise of ([\d.]+) a year \(([\d.]+) to ([\d.]+)\)", holds(slope))
    return Made(None, [size], (r"\bpattern\b",))


@pytest.mark.parametrize(
    ("text", "slope", "false", "missing"),
    [
        (LINE, 8.0, 0, 0),
        (LINE, 9.0, 1, 0),
        ("Nothing was found.", 8.0, 0, 1),
        (f"{LINE} 2. A yearly pattern.", 8.0, 1, 0),
    ],
)
def test_statements_are_true_false_or_missing(text, slope, false, missing):
    found = read(text, line(slope))
    assert (len(found["false"]), len(found["missing"])) == (false, missing)


@pytest.mark.parametrize("kind", KINDS)
def test_data_are_the_same_for_the_same_seed(kind):
    first, again = (KINDS[kind](np.random.default_rng(1)).data for _ in range(2))
    first, again = (one[0] if isinstance(one, tuple) else one for one in (first, again))
    assert first.equals(again)


def test_a_date_is_read_with_its_interval():
    made = KINDS["step"](np.random.default_rng(1))
    change = np.abs(np.diff(made.data.rolling(9, center=True).mean().ffill().bfill())).argmax()
    (first,) = [day for day in made.data.index if made.claims[2].true((f"{day:%d %B %Y}", None, None))]
    assert abs((first - made.data.index[change]).days) <= 9
    early, late = first - np.timedelta64(2, "D"), first + np.timedelta64(2, "D")
    assert made.claims[2].true((f"{first:%d %B %Y}", f"{early:%d %B %Y}", f"{late:%d %B %Y}"))
