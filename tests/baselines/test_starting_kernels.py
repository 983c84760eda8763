"""Laws of the starting values: in proportion to the data, and at the periods that they show."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.baselines.starting_kernels import Start
from farrier.kernels.registry import FAMILIES, Periodic

RNG = np.random.default_rng(0)
REGULAR = np.linspace(1949.0, 1961.0, 145)[:-1]


def wave(x, period):
    return np.sin(2.0 * np.pi * x / period + 0.4)


def test_strong_cycles_take_the_periods_in_turn():
    start = Start(REGULAR[:, None], wave(REGULAR, 0.5) + 3.0 * wave(REGULAR, 1.3), np.random.default_rng(1))
    found = [float(start.strong_cycle().period[0]) for _ in range(3)]
    assert_allclose(found[0], 1.3, rtol=0.02)
    assert found[1] != found[0]


@pytest.mark.parametrize("name", ["weak_smooth", "weak_cycle", "strong_smooth", "strong_cycle"])
def test_starts_are_in_proportion_to_the_range_of_each_input(name):
    X = np.array([[0.0, -50.0], [2.0, 150.0]])
    start = Start(X, np.zeros(2), np.random.default_rng(3))
    kernels = [getattr(start, name)() for _ in range(300)]
    lengths = np.log([k.period if isinstance(k, Periodic) else k.lengthscale for k in kernels])
    ratio = lengths[:, 1] - lengths[:, 0]
    assert abs(ratio.mean() - np.log(100.0)) < 4.0 * ratio.std() / np.sqrt(300)
    # and within it
    assert np.all(lengths.mean(axis=0) < np.log([2.0, 200.0]))


def test_strong_starts_are_shorter_than_weak_ones():
    start = Start(REGULAR[:, None], None, np.random.default_rng(5))
    weak, strong = (
        [float(draw().lengthscale[0]) for _ in range(200)] for draw in (start.weak_smooth, start.strong_smooth)
    )
    assert np.median(strong) < np.median(weak)


@pytest.mark.parametrize("name", ["weak_smooth", "weak_cycle", "strong_smooth", "strong_cycle"])
@pytest.mark.parametrize("inputs", [1, 8, 30])
def test_starts_relate_rows_however_many_inputs_there_are(name, inputs):
    X = np.random.default_rng(9).random((40, inputs))
    start = Start(X, None, np.random.default_rng(10))
    correlations = [getattr(start, name)().gram(X, X)[np.triu_indices(40, 1)] for _ in range(20)]
    assert 0.005 < np.mean(correlations) < 0.9


def test_a_column_of_one_value_starts_somewhere():
    start = Start(np.full((5, 1), 3.0), None, np.random.default_rng(6))
    assert np.isfinite(start.weak_smooth().lengthscale)


@pytest.mark.parametrize("symbol", [family.symbol for family in FAMILIES if "Step" not in family.symbol])
def test_a_formula_names_any_kernel_but_a_change(symbol):
    start = Start(REGULAR[:, None], wave(REGULAR, 1.0), np.random.default_rng(7))
    assert str(start.named(symbol)) == symbol
    assert str(start.named(f"Lin * {symbol}")) == f"Lin * {symbol}"


def test_an_unknown_formula_is_refused_with_what_there_is():
    start = Start(REGULAR[:, None], None, np.random.default_rng(8))
    with pytest.raises(ValueError, match=r"'Foo' in 'SE \* Foo' .* SE, "):
        start.named("SE * Foo")


def test_lines_start_within_the_data_or_before_it():
    start = Start(REGULAR[:, None], None, np.random.default_rng(4))
    weak = np.array([start.weak_line().location for _ in range(50)])
    strong = np.array([start.strong_line().location for _ in range(50)])
    assert REGULAR[0] <= weak.min() < weak.max() <= REGULAR[-1]
    assert strong.max() <= REGULAR[0]
