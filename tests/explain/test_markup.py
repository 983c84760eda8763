"""Pieces of the report's HTML."""

from farrier.explain.markup import estimate


def test_a_number_without_an_interval_stands_alone():
    assert estimate({"value": 1.5, "low": 1.0, "high": 2.0}).endswith("</small>")
    assert estimate({"value": 1.5, "low": 1.5, "high": 1.5}) == "1.50"
