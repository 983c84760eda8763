"""Sizes are reported in the units of their readers: on no scale of the model, and temperatures never in per cent."""

import re

import numpy as np
import pytest

from farrier import Regressor
from farrier.explain.facts import Target
from farrier.explain.findings import findings
from farrier.explain.parts import in_degrees, scale_of
from farrier.explain.story import story
from farrier.kernels.registry import CentredPeriodic, Linear

MONTHS = 2000.0 + (np.arange(96)[:, None] + 0.5) / 12.0
NOISE = np.random.default_rng(0).standard_normal(96)


def fitted(kernel, y, scale, **names):
    return Regressor(kernels=[kernel], scale=scale).fit(MONTHS, y).describe(**names)


def test_a_rise_on_the_root_scale_is_told_in_units_of_y():
    """y = (10 + x)^2 rises by 2 (10 + x) a year: by 28 where y is 14^2."""
    model = fitted(Linear(2000.0), (10.0 + MONTHS[:, 0] - 2000.0 + 0.05 * NOISE) ** 2, "square root", target_unit="EUR")
    (line,), target = findings(model.result_, model.context_).facts, model.explain().findings.setting.target
    assert target.typical == pytest.approx(196.0, rel=0.01)
    assert line.slope.value == pytest.approx(28.0, rel=0.01)
    assert line.swing == pytest.approx(8.0 * 28.0, rel=0.02)
    told = story(model.result_, model.context_)
    said = " ".join([str(model.explain()), str(told["subtitle"]), *told["summary"]])
    assert "a steady rise of 2" in said.replace("\n   ", " ").lower()
    assert " EUR a year (" in said
    assert "where y is near 200 EUR" in said.replace("\n   ", " ")
    assert "square-root" not in said
    curve = np.array(told["components"][0]["mean"])[: len(MONTHS)]
    assert np.ptp(curve) == pytest.approx(np.ptp(model.result_.target), rel=0.05)


@pytest.mark.parametrize(("name", "unit"), [("temperature", ""), ("y", "°C"), ("t_max", "Celsius"), ("Temp_Out", "")])
def test_degrees_are_never_told_in_per_cent(name, unit):
    """A year of 15 e^(0.3 sin): 5.2 above 15 in spring, 3.9 below it in autumn."""
    y = 15.0 * np.exp(0.3 * np.sin(2.0 * np.pi * MONTHS[:, 0]) + 0.02 * NOISE)
    model = fitted(CentredPeriodic(1.0, 1.0), y, "log", target_name=name, target_unit=unit)
    (year,) = findings(model.result_, model.context_).facts
    levels = {level.name: level.value.value for level in year.profile}
    assert max(levels.values()) == pytest.approx(5.0, abs=0.4)
    assert min(levels.values()) == pytest.approx(-3.9, abs=0.4)
    told = story(model.result_, model.context_, horizon=12)
    assert "%" not in re.sub(r"% of\s+the\s+variance", "", str(model.explain()))
    assert not any("% more" in one or "% less" in one for one in told["expect"])
    assert told["target"]["scale"] == "transformed"
    sales = fitted(CentredPeriodic(1.0, 1.0), y, "log", target_name="sales")
    assert "%)" in str(sales.explain()).split("It is highest in")[1]


def test_what_is_in_degrees_and_what_is_not():
    assert all(in_degrees(*one) for one in (("Temperature (max)", ""), ("tmin", ""), ("x", "degrees"), ("x", "F")))
    assert not any(in_degrees(*one) for one in (("template", ""), ("attempts", ""), ("kelvinator", ""), ("y", "MPa")))


def test_only_a_transformed_scale_says_where_its_sizes_hold():
    assert scale_of(Target("sales", "EUR", "transformed", 214.0)) == " where sales is near 210 EUR"
    assert [scale_of(Target("sales", "EUR", scale)) for scale in ("additive", "multiplicative", "odds")] == [""] * 3
