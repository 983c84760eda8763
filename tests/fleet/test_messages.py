"""What is sent is what arrives, to the bit, and a stream that ends early ends the reading."""

import io
from datetime import date, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from farrier.fleet.framing import receive
from farrier.fleet.messages import pack, unpack

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    "value",
    [
        {"stamps": [f"2020-{i:02d}" for i in range(1, 13)] * 2, "values": [1.5, None, "x"]},
        [datetime(2024, 3, 31, 2, 30, tzinfo=BERLIN), date(2024, 1, 1)],
        {"a": {"b": (1, 2.5, None)}, "nan": float("nan")},
    ],
    ids=["texts", "times", "nested"],
)
def test_a_message_holds_plain_values(value):
    assert repr(unpack(pack(value))) == repr(value)


@pytest.mark.parametrize("dtype", ["f8", "i8", "M8[us]", "M8[D]"])
def test_arrays_arrive_to_the_bit(dtype):
    array = np.random.default_rng(0).integers(0, 2**40, 50).astype(dtype)
    found = unpack(pack({"first": array, "again": array, "short": array[:3]}))
    assert all(part.dtype == array.dtype for part in found.values())
    assert found["first"].tobytes() == found["again"].tobytes() == array.tobytes()
    assert found["short"].tobytes() == array[:3].tobytes()


def test_a_stream_is_read_message_by_message_and_ends_in_the_middle_of_one():
    first, second = pack("ready"), pack({"y": np.arange(30.0)})
    stream = io.BytesIO(first + second + first[:-1])
    assert receive(stream) == first
    assert receive(stream) == second
    assert receive(stream) is None
    assert receive(io.BytesIO(b"123")) is None
