"""One series and what is known about it: the type that `load` and `read_csv` return."""

import re
from dataclasses import dataclass

import numpy as np

_MONTH = re.compile(r"\d{4}-\d{2}")


@dataclass(frozen=True, eq=False)
class Dataset:
    """One series, in order of time.

    `labels` are the stamps as they were written, one for each row; `time` holds the same as numbers. `unit`
    is what `values` are counted in, and empty when nobody said.
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

    def labels_after(self, times: np.ndarray) -> tuple[str, ...]:
        """How times after the end are written: months as YYYY-MM if those of the series are, else numbers."""
        if _MONTH.fullmatch(self.labels[-1]):
            months = np.floor(times * 12.0 + 1e-6).astype(int)
            return tuple(f"{month // 12:04d}-{month % 12 + 1:02d}" for month in months)
        return tuple(f"{time:.6g}" for time in times)
