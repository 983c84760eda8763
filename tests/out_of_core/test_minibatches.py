"""Laws of minibatches of a table in blocks: each epoch meets every row once, memory is bounded, sorted tables are
mixed, and who holds the rows or reads them changes nothing."""

import jax
import numpy as np
import pytest

from farrier.data.tables import Scale
from farrier.estimators.large_tables import Reading
from farrier.model.target_scale import TargetScale
from farrier.out_of_core import fit, memory, minibatches
from farrier.out_of_core.minibatches import Minibatches
from farrier.out_of_core.rows import EncodedRows
from farrier.out_of_core.runners import Here, Processes
from farrier.out_of_core.sources import open_rows
from tests.out_of_core.rows import X, Y

N = 1000
NUMBERS = np.arange(float(N))
PLAIN = Reading(None, Scale(np.zeros(1), np.ones(1), 0.0, 1.0))
SETTINGS = {"method": "stochastic", "kernels": ["SE"], "inducing": 12, "iterations": 50, "random_state": 0}
NEW = np.random.default_rng(1).normal(size=(40, 2))


def source_of(y=NUMBERS, rows=100, seed=0, runner=None, data=None):
    table = open_rows(NUMBERS[:, None] if data is None else data, y=y, rows=rows)
    count = int(np.isfinite(y).sum())
    return Minibatches(EncodedRows(table, runner or Here(), PLAIN, TargetScale(), count), seed)


def targets(source, steps, size):
    """The targets of the next steps, (steps, size)."""
    with jax.enable_x64(True):
        return np.asarray(source.rows(steps, size).batches.y)


@pytest.fixture
def few(monkeypatch):
    """At most 128 rows are held, in 16 parts of 8 rows."""
    monkeypatch.setattr(memory, "HELD", 128)
    monkeypatch.setattr(minibatches, "PARTS", 16)


@pytest.mark.usefixtures("few")
def test_every_epoch_meets_every_row_once():
    source = source_of()
    for _ in range(3):
        np.testing.assert_array_equal(np.sort(targets(source, 50, 20).ravel()), NUMBERS)


@pytest.mark.usefixtures("few")
def test_epochs_that_a_minibatch_does_not_divide_meet_every_row_equally_often():
    met = targets(source_of(), 7 * 25, 40).ravel()  # 7,000 rows in minibatches of 40, taken 175 at a time
    np.testing.assert_array_equal(np.unique(met, return_counts=True)[1], np.full(N, 7))


@pytest.mark.usefixtures("few")
def test_rows_without_a_target_are_never_met():
    y = np.where(NUMBERS % 3 == 0, np.nan, NUMBERS)
    met = targets(source_of(y), 37, 18).ravel()
    np.testing.assert_array_equal(np.sort(met), NUMBERS[NUMBERS % 3 != 0])


@pytest.mark.usefixtures("few")
def test_a_minibatch_of_a_sorted_table_has_rows_of_all_its_blocks():
    for batch in targets(source_of(), 10, 50):
        assert len(np.unique(batch // 100)) >= 8


@pytest.mark.usefixtures("few")
def test_inputs_stay_with_their_targets_and_count_for_all_rows():
    source = source_of()
    with jax.enable_x64(True):
        found = source.rows(4, 25).batches
    np.testing.assert_array_equal(found.X[..., 0], found.y)
    np.testing.assert_allclose(found.counts.sum(axis=1), N)


@pytest.mark.usefixtures("few")
def test_so_many_rows_are_held_at_the_most(monkeypatch):
    sizes, join = [], np.concatenate

    def watched(arrays, *more, **named):
        sizes.append(sum(len(one) for one in arrays))
        return join(arrays, *more, **named)

    source = source_of()
    monkeypatch.setattr(minibatches.np, "concatenate", watched)
    for _ in range(40):
        targets(source, 5, 8)
    assert 100 < max(sizes) <= 128 + 5 * 8


@pytest.mark.usefixtures("few")
def test_the_seed_gives_the_order_and_who_reads_does_not():
    first = targets(source_of(seed=4), 60, 20)
    np.testing.assert_array_equal(first, targets(source_of(seed=4, runner=Processes(2)), 60, 20))
    assert not np.array_equal(first, targets(source_of(seed=5), 60, 20))


@pytest.mark.usefixtures("few")
def test_all_rows_come_once_in_their_order_for_the_bound():
    with jax.enable_x64(True):
        pieces = list(source_of().batches())
    kept = np.concatenate([one.y[np.asarray(one.counts) > 0] for one in pieces])
    np.testing.assert_array_equal(kept, NUMBERS)


def test_a_memory_map_gives_the_bits_of_the_array(tmp_path):
    held = np.memmap(tmp_path / "X", "f8", "w+", 0, X.shape), np.memmap(tmp_path / "y", "f8", "w+", 0, Y.shape)
    held[0][:], held[1][:] = X, Y
    one = fit(open_rows(X, y=Y, rows=40), **SETTINGS)
    other = fit(open_rows(held[0], y=held[1], rows=40), **SETTINGS)
    np.testing.assert_array_equal(one.predict(NEW), other.predict(NEW))
    assert one.elbo_ == other.elbo_


def test_a_likelihood_that_minibatches_do_not_take_is_refused():
    with pytest.raises(ValueError, match=r"^likelihood=.*: a table that is read in blocks takes likelihood="):
        fit(X, y=Y, **SETTINGS | {"likelihood": "poisson"})
