"""Laws of lattices: periods are found whatever the units and gaps, and nothing where nothing repeats."""

import numpy as np
import pytest

from farrier.search.periods import find_lattices

RNG = np.random.default_rng(3)
ROW, COLUMN = (one.ravel() for one in np.meshgrid(np.arange(60), np.arange(50), indexing="ij"))


def found(y, X=None, kept=None):
    X = np.stack([ROW, COLUMN], axis=1).astype(float) if X is None else X
    kept = np.ones(len(y), bool) if kept is None else kept
    return find_lattices(X[kept], y[kept], range(X.shape[1]))


def staggered(p, q):
    """Dots at the corners and at the centre of cells of p by q."""
    return np.cos(2 * np.pi * ROW / p) * np.cos(2 * np.pi * COLUMN / q + 0.4) + 0.5 * np.cos(4 * np.pi * COLUMN / q)


def test_the_periods_of_staggered_dots_are_those_of_their_cells():
    (lattice,) = found(staggered(9.3, 12.7) + 0.3 * RNG.standard_normal(len(ROW)))
    assert lattice.inputs == (0, 1)
    assert lattice.periods == pytest.approx((9.3, 12.7), rel=0.02)


def test_waves_across_the_grid_have_a_period_along_each_input():
    (lattice,) = found(np.cos(2 * np.pi * (ROW / 11.0 - COLUMN / 7.0)))
    assert lattice.periods == pytest.approx((11.0, 7.0), rel=0.02)


def test_a_missing_rectangle_and_a_slope_do_not_move_the_periods():
    inside = (ROW > 20) & (ROW < 40) & (COLUMN > 15) & (COLUMN < 35)
    (lattice,) = found(staggered(9.3, 12.7) + 0.2 * ROW - 0.003 * COLUMN**2, kept=~inside)
    assert lattice.periods == pytest.approx((9.3, 12.7), rel=0.02)


def test_periods_follow_the_units_of_the_inputs():
    X = np.stack([3.0 * ROW - 5.0, RNG.uniform(size=len(ROW)), 0.1 * COLUMN], axis=1)
    (lattice,) = found(staggered(10.0, 12.5), X)
    assert lattice.inputs == (0, 2)
    assert lattice.periods == pytest.approx((30.0, 1.25), rel=0.02)
    assert lattice.ranges == pytest.approx((177.0, 4.9))


@pytest.mark.parametrize("seed", range(5))
def test_noise_and_smooth_surfaces_do_not_repeat(seed):
    own = np.random.default_rng(seed)
    waves, phases = own.normal(size=(2, 200)) / 15.0, own.uniform(0.0, 2 * np.pi, 200)
    smooth = np.cos(np.stack([ROW, COLUMN], axis=1) @ waves + phases).sum(axis=1)
    assert not found(own.standard_normal(len(ROW)))
    assert not found(smooth)


def test_irregular_inputs_and_those_of_few_values_have_no_lattice():
    irregular = np.stack([ROW + 0.3 * RNG.uniform(size=len(ROW)), COLUMN], axis=1)
    few = np.stack([ROW % 6, COLUMN], axis=1).astype(float)
    for X in (irregular, few):
        assert not found(staggered(9.3, 12.7), X)


def test_rounding_errors_of_an_exact_surface_are_no_pattern():
    assert not found(1e3 + 0.2 * ROW - 0.01 * COLUMN**2)


def test_rows_that_are_too_few_for_the_frequencies_of_their_grids_have_no_lattice():
    some = RNG.permutation(len(ROW))
    y = staggered(9.3, 12.7)
    assert found(y, kept=np.isin(np.arange(len(ROW)), some[:1500]))
    assert not found(y, kept=np.isin(np.arange(len(ROW)), some[:290]))


def test_kernels_repeat_and_one_of_them_drifts():
    (lattice,) = found(staggered(9.3, 12.7))
    *strict, drifting = lattice.kernels()
    here, there = np.zeros((1, 2)), np.array([[2 * lattice.periods[0], 3 * lattice.periods[1]]])
    assert [float(kernel.gram(here, there)[0, 0]) for kernel in strict] == pytest.approx([1.0] * len(strict))
    assert 0.1 < float(drifting.gram(here, there)[0, 0]) < 0.95
