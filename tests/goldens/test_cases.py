"""The kept fits come out as they were: the same structures, the same predictions, the same words.

On the machine that made them nine digits agree, whatever ran before in the process. Another one rounds differently, and
fits multiply what rounding does: there predictions may move by a hundredth of their standard deviation.
"""

import json
import re

import numpy as np
import pytest

from tests.goldens.cases import CASES, FOLDER, differences, golden, machine

PART_OF_SD = 0.01
"""How far a prediction may move on another machine. [parts of its standard deviation; with the
kernels of OpenBLAS for another core and with fewer instructions for numpy none moved by more than half of this]"""
HERE = json.loads((FOLDER / "machine.json").read_text()) == machine()
"""Whether this machine made the goldens."""


def words(text: str) -> str:
    """A text without its numbers and line breaks."""
    return re.sub(r"\s+", " ", re.sub(r"\d[\d,.]*", "#", text))


def moved(found: dict, expected: dict) -> float:
    """The largest move of a prediction, in standard deviations, of a logarithm of one, and of a probability."""
    if "probability" in expected:
        return float(np.max(np.abs(np.array(found["probability"]) - expected["probability"])))
    mean, sd = (np.array(found[name]) for name in ("mean", "sd"))
    return float(max(np.max(np.abs(mean - expected["mean"]) / sd), np.max(np.abs(np.log(sd / expected["sd"])))))


@pytest.mark.parametrize("name", CASES)
def test_a_kept_fit_comes_out_as_it_was(name):
    found, expected = json.loads(json.dumps(CASES[name]())), golden(name)
    assert [row["formula"] for row in found["components"]] == [row["formula"] for row in expected["components"]]
    assert (found["scale"], found["tier"]) == (expected["scale"], expected["tier"])
    assert words(found.get("sentences", "")) == words(expected.get("sentences", ""))
    assert moved(found, expected) < PART_OF_SD
    assert abs(found["elbo"] - expected["elbo"]) < 0.1
    if HERE:
        assert differences(found, expected, 1e-9) == []
