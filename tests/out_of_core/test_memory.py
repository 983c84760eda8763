"""What a process needs does not grow with the rows; what does not fit is refused with what to do."""

import numpy as np
import pytest

from farrier.out_of_core.memory import check_processes, held_rows, minibatch_bytes, process_bytes
from farrier.out_of_core.sources import BLOCK_BYTES, Source, open_rows


def table(rows, columns):
    """A table of zeros that takes no memory."""
    return open_rows(np.broadcast_to(np.zeros(1), (rows, columns)))


def test_memory_does_not_grow_with_the_rows():
    assert process_bytes(table(10**6, 8)) == pytest.approx(process_bytes(table(10**8, 8)), rel=0.01)


def test_blocks_of_wide_tables_have_fewer_rows():
    narrow, wide = table(10**6, 8), table(10**6, 2000)
    assert max(block.count for block in narrow.blocks) > 60_000
    assert max(block.count for block in wide.blocks) <= 4_200
    assert wide.count == 10**6


@pytest.mark.parametrize(("available", "said"), [(2**30, "give jobs=2"), (2**20, "give blocks of fewer rows")])
def test_what_does_not_fit_is_refused(available, said):
    source: Source = table(10**6, 8)
    check_processes(source, 1, 2**30)
    with pytest.raises(ValueError, match=f"^memory: 4 processes for blocks of X need .*: {said}"):
        check_processes(source, 4, available)


def test_minibatches_of_wide_tables_hold_fewer_rows():
    assert held_rows(8) > 200_000
    assert held_rows(10_000) * 10_001 * 8 <= BLOCK_BYTES
    assert minibatch_bytes(table(10**6, 8)) == minibatch_bytes(table(10**8, 8))


def test_the_main_process_is_counted_once():
    source = table(10**6, 8)
    own, more = process_bytes(source), minibatch_bytes(source)
    check_processes(source, 2, 2 * own + more, main=more)
    with pytest.raises(ValueError, match=r": give jobs=1\.$"):
        check_processes(source, 2, 2 * own + more - 1, main=more)
