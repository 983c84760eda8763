"""Values that are encoded come back the same; anything but plain values, arrays, times and kernels is refused."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from farrier.estimators.array_members import array_of, description, member
from farrier.estimators.encoding import Decoder, Encoder
from farrier.kernels.algebra import Dims, PerColumn
from farrier.kernels.parameters import positive
from farrier.kernels.registry import Category, Constant, Holiday, Linear, MonthEnd, SquaredExponential, Step


def there_and_back(value: Any) -> Any:
    encoder = Encoder()
    tree = json.loads(json.dumps(encoder.node(value), allow_nan=False))
    data = [member(array) for array in encoder.arrays]
    described = json.loads(json.dumps([description(*one) for one in zip(encoder.arrays, data, strict=True)]))
    return Decoder([array_of(*one) for one in zip(data, described, strict=True)]).value(tree)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        2**80,
        -0.0,
        5e-324,
        math.inf,
        -math.inf,
        "Grüße\n\ud800",
        [],
        [1, [2.5, "x"]],
        (1, (2, None)),
        {"a": 1, 2: "b", None: (3,), (1, "x"): []},
        ["text"] * 50,
        np.float64(0.1),
        np.int32(7),
        np.bool_(True),
        np.datetime64("2020-02-29T12", "h"),
        np.dtype("<M8[ns]"),
        pd.Timestamp("2020-03-29 03:00", tz="Europe/Berlin"),
        pd.Timestamp("0900-01-01"),
        pd.Period("2020Q3", "Q"),
        pd.Timedelta("1D").to_pytimedelta(),
    ],
    ids=repr,
)
def test_plain_values_come_back(value):
    found = there_and_back(value)
    assert type(found) is type(value)
    assert found == value
    assert str(found) == str(value)


@pytest.mark.parametrize(
    "array",
    [
        np.array(1.5),
        np.array([np.nan, np.inf, -0.0]),
        np.linspace(0.0, 1.0, 60).reshape(3, 4, 5),
        np.asfortranarray(np.arange(42.0).reshape(6, 7)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(100.0)[::3],
        np.zeros((40, 0)),
        np.arange(30, dtype=np.uint8),
        np.arange(30, dtype=">i4"),
        np.arange(30) > 5,
        np.arange(30).astype("M8[D]"),
        np.array(["NaT", "2020-01-01"], "M8[us]"),
        np.array(["a", "longer"] * 20),
        np.array(["a", None, 3.5], object),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_come_back_bit_by_bit(array):
    found = there_and_back(array)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert_array_equal(found, array)
    assert found.flags.writeable
    if array.dtype != object:
        assert found.tobytes() == array.tobytes()
        assert found.flags.f_contiguous or not array.flags.f_contiguous


def test_equal_arrays_lie_in_the_file_once():
    encoder = Encoder()
    encoder.node([np.arange(100.0), np.arange(100.0), np.arange(100)])
    assert len(encoder.arrays) == 2


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("x"), ZeroDivisionError("0"), Exception("odd", 3)])
def test_errors_come_back_as_the_nearest_built_in_one(error):
    found = there_and_back(error)
    assert isinstance(error, type(found))
    assert str(error.args[0]) in str(found)


def test_a_random_state_goes_on_where_it_was():
    state = np.random.RandomState(5)
    state.normal(size=3)
    found = there_and_back(state)
    assert_array_equal(found.normal(size=4), state.normal(size=4))


KERNELS = [
    SquaredExponential(2.0, dims=(1,)),
    SquaredExponential(np.array([2.0, 1e-30]), dims=("a", "b")),
    Linear(1949.1) * (Step(0.1, 0.2) + SquaredExponential(1 / 3)),
    Category(),
    MonthEnd() * Constant(),
    Holiday(holidays=np.array([18000.0, 18365.0]), called=np.ones(2), titles=("Easter",)),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_come_back(kernel):
    assert repr(there_and_back([kernel, (kernel,)])) == repr([kernel, (kernel,)])


@dataclass(frozen=True, eq=False, repr=False)
class Mine(SquaredExponential):  # pyright: ignore[reportGeneralTypeIssues]
    size: PerColumn = positive(default=1.0)
    dims: Dims = None


def test_a_kernel_that_nobody_registered_is_neither_written_nor_built():
    with pytest.raises(TypeError, match="is not a kernel that files can hold: call"):
        there_and_back(Mine(1.0))
    node = Encoder().node(SquaredExponential(1.0))
    for name in ("Mine", "Kernel", "Product", "dict"):
        with pytest.raises(TypeError, match="not a known family"):
            Decoder([]).value(node | {"family": name})


def test_a_kernel_is_built_by_its_constructor_which_refuses_bad_values():
    node = Encoder().node(SquaredExponential(2.0))
    for wrong in ({"lengthscale": -2.0}, {"lengthscale": "2"}, {"lengthscale": None}, {}, {"more": 1.0}):
        with pytest.raises((TypeError, ValueError)):
            Decoder([]).value(node | {"parameters": wrong})


@pytest.mark.parametrize("value", [lambda: 0, object(), 1j, np.array([1j]), {1, 2}, print])
def test_what_cannot_be_saved_is_named(value):
    with pytest.raises(TypeError, match="cannot be written to a file"):
        there_and_back(value)


@pytest.mark.parametrize("count", [2**62, -(2**62), 10**18])
def test_polars_times_outside_the_calendar_are_refused(count):
    import polars as pl

    times = pl.Series("day", [0, 1]).cast(pl.Datetime("ms"))
    tree = Encoder().node(times)
    tree["values"]["values"][0] = count
    with pytest.raises(ValueError, match="outside the calendar"):
        Decoder([]).value(tree)
