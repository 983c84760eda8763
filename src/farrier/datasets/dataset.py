"""`Dataset`: one series with its names, the type that `load` and `read_csv` return."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Dataset:
    """One series, sorted by time.

    `labels` are the stamps as they were written, one for each row; `time` holds the same as numbers. `unit` is the
    unit of `values`, empty if unknown.
    """

    name: str
    title: str
    time: np.ndarray
    values: np.ndarray
    time_name: str
    target_name: str
    unit: str
    labels: tuple[str, ...]
    origin: str

    @property
    def X(self) -> np.ndarray:
        """The times as a matrix of one column, (N, 1)."""
        return self.time[:, None]

    @property
    def y(self) -> np.ndarray:
        """The values, (N,)."""
        return self.values
