"""`farrier explain` of a table that is read in blocks: a large Parquet or Arrow file, or a folder of them.

A table of at least `blocks.smallest` rows that is not a series never is in memory as a whole. The roles of its columns
are found in a sample of its rows, and farrier/out_of_core fits it.
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

import numpy as np

from farrier.estimators.large_tables import FEWEST_BLOCK_ROWS
from farrier.estimators.regressor import Regressor
from farrier.out_of_core.fitting import BLOCK_ROWS, fit_estimator
from farrier.out_of_core.sources import ARROW, PARQUET, Source, open_rows
from farrier.series.columns import Table

LOOKED_AT = 12
"""Blocks, spread over the table, whose first rows tell what the columns are. [blocks; by judgement]"""
ROWS = 500
"""Rows of each of these blocks. [rows; by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class LargeTable:
    """A table in blocks, and who works on them."""

    rows: Source
    cluster: str | None = None
    """The address of a Dask scheduler."""
    jobs: int = 1

    def fit(self, target: str, settings: dict[str, Any]) -> Regressor:
        """Fit a model to all rows."""
        model = Regressor(**settings)
        source = self.rows.with_target(target)
        if self.cluster is None:
            return fit_estimator(model, source, jobs=self.jobs)
        if find_spec("distributed") is None:
            raise ValueError("--cluster: Dask is not installed: pip install 'farrier[dask]'")
        try:
            client = import_module("distributed").Client(self.cluster)
        except (OSError, ValueError) as error:
            raise ValueError(f"--cluster: no Dask scheduler answers at {self.cluster}: give its address") from error
        with client:
            return fit_estimator(model, source, client=client)


def open_large(data: str, cluster: str | None, jobs: int) -> tuple[LargeTable, Table] | None:
    """A large table, and a sample of its rows; None for what is read as a whole."""
    path = Path(data)
    whole = path.suffix.lower() in PARQUET and path.is_file()
    if not path.exists() or not (whole or path.is_dir() or path.suffix.lower() in ARROW):
        return None
    if whole and find_spec("pyarrow") is None:
        return None
    rows = open_rows(path, rows=BLOCK_ROWS)
    if whole and rows.count < FEWEST_BLOCK_ROWS:
        return None
    chosen = np.unique(np.linspace(0, len(rows.blocks) - 1, LOOKED_AT).astype(int))
    found = [rows.blocks[int(i)].cells() for i in chosen]
    columns = {name: _joined([one[name][:ROWS] for one in found]) for name in rows.columns}
    notes = (f"{rows.count:,} rows in {len(rows.blocks)} blocks",)
    return LargeTable(rows, cluster, jobs), Table(path.name, columns, notes=notes)


def _joined(pieces: list[Any]) -> Any:
    if all(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate(pieces)
    return [cell for piece in pieces for cell in piece]
