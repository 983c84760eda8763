"""A record holds what differs from defaults, comes back the same, and is built only from values that fit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from farrier.data.input_columns import CategoryInput, NumberInput
from farrier.data.records import Hook, Records
from farrier.data.table_inputs import TableInputs
from farrier.series.recurrences import HalfMonths, WorkingDays
from farrier.series.steps import Steps

RECORDS = Records()
COLUMNS = TableInputs((NumberInput("a", 0, 1.5, False), CategoryInput("b", 2, ("x", "y"))))
VALUES = [
    (Steps, Steps("monthly", 1.0, 0), {"frequency": "monthly", "size": 1.0, "gaps": 0}),
    (Steps, Steps("monthly", 3, 1, "end"), {"frequency": "monthly", "size": 3, "gaps": 1, "day": "end"}),
    (
        Steps,
        Steps("daily", 1, 0, (3, 4), HalfMonths((1, 15))),
        {
            "frequency": "daily",
            "size": 1,
            "gaps": 0,
            "day": [3, 4],
            "recurrence": {"type": "HalfMonths", "days": [1, 15]},
        },
    ),
    (Steps | None, None, None),
    (
        TableInputs,
        COLUMNS,
        {
            "columns": [
                {"type": "NumberInput", "name": "a", "empty": 0, "neutral": 1.5, "flagged": False},
                {"type": "CategoryInput", "name": "b", "empty": 2, "names": ["x", "y"]},
            ]
        },
    ),
    (dict[str, WorkingDays], {"x": WorkingDays(3)}, {"x": {"every": 3}}),
]


@pytest.mark.parametrize(("hint", "value", "plain"), VALUES, ids=lambda one: type(one).__name__)
def test_a_record_is_readable_and_comes_back(hint, value, plain):
    assert RECORDS.plain(hint, value) == plain
    found = RECORDS.built(hint, plain)
    assert found == value
    assert type(found) is type(value)


WRONG = [
    {"frequency": "daily", "size": 1},
    {"frequency": "daily", "size": 1, "gaps": 0, "more": 1},
    {"frequency": 3, "size": 1, "gaps": 0},
    {"frequency": "daily", "size": "1", "gaps": 0},
    {"frequency": "daily", "size": True, "gaps": 0},
    {"frequency": "daily", "size": 1, "gaps": 0.5},
    {"frequency": "daily", "size": 1, "gaps": 0, "day": [1, 2, 3]},
    {"frequency": "daily", "size": 1, "gaps": 0, "recurrence": {"every": 1}},
    {"frequency": "daily", "size": 1, "gaps": 0, "recurrence": {"type": "Steps", "every": 1}},
    ["daily", 1, 0],
    None,
]


@pytest.mark.parametrize("plain", WRONG, ids=repr)
def test_values_that_do_not_fit_are_refused(plain):
    with pytest.raises((TypeError, KeyError)):
        RECORDS.built(Steps, plain)


@pytest.mark.parametrize(
    ("hint", "value", "fits"),
    [
        (float, 1, True),
        (float, np.float64(1.0), True),
        (float, "1", False),
        (float, True, False),
        (int | None, 1.5, False),
        (bool, 1, False),
        (np.ndarray, np.zeros(2), True),
        (np.ndarray, [0.0], False),
        (tuple[int, ...], [1, 2], True),
        (tuple[int, ...], [1, "2"], False),
        (tuple[int, str], [1, "2"], True),
        (tuple[int, str], [1], False),
        (Mapping[str, int], {"a": 1}, True),
        (Mapping[str, int], {"a": "1"}, False),
        (list[float], "nan", False),
        (Any, object(), True),
    ],
)
def test_a_value_fits_its_annotation_or_not(hint, value, fits):
    if fits:
        RECORDS.built(hint, value)
    else:
        with pytest.raises(TypeError):
            RECORDS.built(hint, value)


@dataclass(frozen=True)
class Own:
    number: complex = 1j
    steps: tuple[WorkingDays, ...] = field(default_factory=tuple)


def test_a_class_outside_of_farrier_is_not_built():
    with pytest.raises(TypeError):
        RECORDS.built(Own, {})


def test_hooks_write_and_build_what_is_no_record():
    records = Records({complex: Hook(lambda z: [z.real, z.imag], lambda pair: complex(*pair))})
    assert records.plain(tuple[complex, ...], (1j, 2 + 0j)) == [[0.0, 1.0], [2.0, 0.0]]
    assert records.built(tuple[complex, ...], [[0.0, 1.0]]) == (1j,)
    with pytest.raises(TypeError):
        records.built(complex | None, [1.0, 2.0, 3.0])
