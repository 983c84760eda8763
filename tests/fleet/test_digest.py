"""A digest counts every series once, the most frequent and the slowest first."""

from farrier.fleet.digest import Digest
from farrier.fleet.parts import Record

RECORDS = [Record(f"s{i}", "Lin" if i % 3 else "RW", 20, float(i)) for i in range(9)]
ERRORS = {"x": "column 'y', line 7: bad", "z": "too short", "w": "column 'y', line 99: bad"}


def test_structures_errors_and_slow_series_are_counted():
    digest = Digest.of(RECORDS, ERRORS)
    assert (digest.series, digest.forecast, digest.seconds) == (12, 9, 36.0)
    assert digest.structures == [("Lin", 6), ("RW", 3)]
    assert digest.errors == [("column 'y', line 7: bad", 2, "x"), ("too short", 1, "z")]
    assert [record.id for record in digest.slowest] == ["s8", "s7", "s6", "s5", "s4"]


def test_the_digest_in_words():
    lines = Digest.of(RECORDS, ERRORS).lines()
    assert lines[0] == "9 of 12 series have a forecast, 4 s of work each"
    assert lines[1] == "structures: 6 x Lin; 3 x RW"
    assert lines[2].startswith("slowest: 's8' 8.0 s (20 rows), ")
    assert Digest.of([], ERRORS).lines() == ["0 of 3 series have a forecast"]
    assert Digest.of(RECORDS, ERRORS).error_lines() == [
        "no forecast of 'x' and 1 other: column 'y', line 7: bad",
        "no forecast of 'z': too short",
    ]


def test_plain_values_hold_the_same():
    found = Digest.of(RECORDS, ERRORS).to_dict()
    assert sum(each["series"] for each in found["structures"]) == found["forecast"] == 9
    assert sum(each["series"] for each in found["errors"]) == 3
