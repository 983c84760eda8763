"""Which tables are read in blocks, and which settings they take."""

import numpy as np
import pytest

from farrier import Regressor
from farrier.estimators import large_tables
from farrier.estimators.large_tables import FEWEST_BLOCK_ROWS, is_large
from tests.out_of_core.rows import X, Y


def test_a_memory_map_of_many_rows_is_large(tmp_path):
    rows = FEWEST_BLOCK_ROWS
    assert is_large(np.memmap(tmp_path / "a", "f4", "w+", 0, (rows, 1)))
    assert not is_large(np.memmap(tmp_path / "b", "f4", "w+", 0, (rows - 1, 1)))
    assert not is_large(np.zeros((rows, 1)))


@pytest.mark.parametrize(
    "setting", [{"kernels": ["SE"]}, {"prior": "none"}, {"likelihood": "poisson"}, {"method": "exact"}]
)
def test_settings_that_blocks_do_not_take_are_refused_before_the_work(setting, monkeypatch):
    monkeypatch.setattr(large_tables, "is_large", lambda X: True)
    monkeypatch.setattr("farrier.estimators.regressor.is_large", lambda X: True)
    (name,) = setting
    with pytest.raises(ValueError, match=f"^{name}=.*: a table that is read in blocks takes {name}="):
        Regressor(**setting).fit(X, Y)
