"""The table that all recipes forecast, and its forecast by the local function."""

import pandas as pd
import pytest

import farrier
from tests.fleet.series import months, values

NAMED = {"id": "shop", "time": "month", "target": "sales", "horizon": 2, "levels": (80,)}
NAMES = ("north", "south", "east", "west", "new")


@pytest.fixture(scope="session")
def shops():
    """Rows of four series and of one that is too short, shuffled."""
    rows = [(name, 16 if name != "new" else 2) for name in NAMES]
    parts = [pd.DataFrame({"shop": name, "month": months(n), "sales": values(name, n)}) for name, n in rows]
    return pd.concat(parts).sample(frac=1.0, random_state=0).reset_index(drop=True)


@pytest.fixture(scope="session")
def expected(shops):
    """The local result, sorted."""
    return ordered(farrier.fleet.forecast(shops, **NAMED))


def ordered(found):
    """Forecasts in the order of series and times."""
    return found.sort_values(["shop", "month"], ignore_index=True)


def assert_the_same(found, expected):
    """The same numbers, to the bit, and the same errors."""
    found = ordered(found)
    assert list(found.columns) == list(expected.columns)
    assert found["shop"].tolist() == expected["shop"].tolist()
    assert found["month"].astype("M8[us]").tolist() == expected["month"].astype("M8[us]").tolist()
    for name in ("mean", "median", "low_80", "high_80"):
        assert found[name].to_numpy(float).tobytes() == expected[name].to_numpy(float).tobytes()
    assert [error if isinstance(error, str) else None for error in found["error"]] == [
        error if isinstance(error, str) else None for error in expected["error"]
    ]
