"""The made tables are what they say: shares add up, effects of few inputs, noise of the stated size; a fit is read."""

import numpy as np
import pytest
from benchmarks.known import measure
from benchmarks.known_tables import KINDS, LEVEL, NOISE, ROWS, made


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_its_effects_and_noise(kind):
    table = made(kind, 0)
    signal = np.sum([effect.values(table.X) for effect in table.effects], axis=0)
    noise = table.y - signal - LEVEL
    assert len(table.X) == len(table.y) == ROWS
    assert noise.std() == pytest.approx(NOISE * signal.std(), rel=0.15)
    assert sum(table.shares.values()) == pytest.approx(1.0, abs=0.05)
    assert {name for effect in table.effects for name in effect.inputs} <= set(table.X.columns)


def test_a_straight_table_is_read_right():
    figures = measure(made("straight", 500))
    assert figures["right"]
    assert figures["shares"] == 2


def test_a_line_whose_noise_looks_a_little_curved_is_called_straight():
    assert measure(made("straight", 202))["right"]


def test_a_product_of_inputs_whose_mean_is_not_zero_is_partly_an_effect_of_one():
    table = made("product", 400)
    a, b = table.X["a"], table.X["b"]
    own = a.var() * b.var()
    alone = a.var() * b.mean() ** 2 + b.var() * a.mean() ** 2
    assert table.shares["a", "b"] == pytest.approx(own / (own + alone), abs=0.003)
