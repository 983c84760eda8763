"""From the user's table to arrays and back: names, checks, and standardisation.

Invalid input is reported here before any work starts: one line with the argument, the cell and what to do. Data frames
are read and written by narwhals; all other code uses numpy arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.data.quoting import quoted


@dataclass(frozen=True)
class Scale:
    """x_model = (x - x_mean) / x_scale for each input, and the same for y."""

    x_mean: np.ndarray
    x_scale: np.ndarray
    y_mean: float
    y_scale: float

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray | None = None, coded: Sequence[int] = ()) -> "Scale":
        """The scale on which the given rows have mean zero and standard deviation one; without y, y is not scaled.

        Columns that are codes of categories stay as they are.
        """
        # sums depend on the order in memory: frames are stored by columns, arrays by rows
        X = np.ascontiguousarray(X)
        y_mean, y_scale = (0.0, 1.0) if y is None else (float(y.mean()), float(y.std()))
        x_mean, x_scale = X.mean(axis=0), X.std(axis=0)
        x_mean[list(coded)], x_scale[list(coded)] = 0.0, 1.0
        return cls(x_mean, x_scale, y_mean, y_scale)

    def inputs(self, X: np.ndarray) -> np.ndarray:
        """Rows of inputs on the scale of the model."""
        return (np.ascontiguousarray(X) - self.x_mean) / self.x_scale

    def target(self, y: np.ndarray) -> np.ndarray:
        """The target on the scale of the model."""
        return (y - self.y_mean) / self.y_scale


def column_names(X: Any, columns: int) -> list[str]:
    """The column names of a data frame, else x0, x1, ..."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [str(name) for name in frame.columns]
    return [f"x{i}" for i in range(columns)]


def frame_library(X: Any) -> str | None:
    """The library of a data frame ("pandas", "polars" ...); None for an array."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame.implementation.name.lower() if isinstance(frame, nw.DataFrame) else None


def frame_of(columns: dict[str, np.ndarray], library: str | None) -> Any:
    """A data frame of a library, or the dictionary itself if there is none."""
    backend: Any = library
    return columns if library is None else nw.from_dict(columns, backend=backend).to_native()


def frame_like(columns: dict[str, np.ndarray], like: Any) -> Any:
    """A data frame of the same kind as `like` (pandas, polars ...), or the dictionary itself if `like` is an array."""
    frame = nw.from_native(like, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.Series):
        return columns
    return nw.from_dict(columns, backend=frame.implementation).to_native()


NO_NUMBERS = (date, timedelta, np.datetime64, np.timedelta64, complex, np.complexfloating)
"""Types of cells that a library may convert to numbers, though they are none."""


def check_cells(X: Any, argument: str) -> None:
    """Raise ValueError for text, missing or infinite cells, naming the first one."""
    frame = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        for series in frame.iter_columns():
            _check_series(series, f"{argument}: column {quoted(series.name)}")
    elif isinstance(frame, nw.Series):
        _check_series(frame, argument)
    elif isinstance(X, np.ndarray | list | tuple) or callable(getattr(X, "__array__", None)):
        _check_array(np.asarray(X), argument)


def _check_series(series: Any, place: str) -> None:
    if series.dtype == nw.String or series.dtype == nw.Categorical:
        value = next((value for value in series.to_list() if value is not None), None)
        raise ValueError(
            f"{place} holds text (such as {quoted(value)}) where numbers belong: encode it or leave it out."
        )
    if not series.dtype.is_numeric():
        _check_array(np.asarray(series.to_numpy()), place)
    if series.null_count() or series.dtype.is_numeric():
        values = [np.nan if value is None else value for value in series.to_list()]
        _check_array(np.asarray(values), place)


def _check_array(array: np.ndarray, place: str) -> None:
    # Python's dates in X are refused where they are converted
    cells = array.flat if array.dtype.kind in ("Mmc" if place[0] == "X" else "OMmc") else ()
    odd = next((cell for cell in cells if isinstance(cell, NO_NUMBERS)), None)
    if odd is not None:
        raise ValueError(f"{place} holds {quoted(str(odd))} where numbers belong: give dates and such as numbers.")
    if array.dtype.kind == "O" and place[0] != "X":
        array = _as_numbers(array, place)
    if array.dtype.kind in "US" and array.size:
        such = quoted(str(array.flat[0]))
        raise ValueError(f"{place} holds text (such as {such}) where numbers belong: encode it or leave it out.")
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return
    where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    column = f", column {where[1]}" if len(where) == 2 else ""
    value = "NaN" if np.isnan(array[where]) else "inf"
    raise ValueError(
        f"{place} contains {value} at row {where[0]}{column}: leave out rows with missing or infinite cells."
    )


def _as_numbers(array: np.ndarray, place: str) -> np.ndarray:
    """Python objects as numbers, empty cells as NaN; text stays as it is."""
    if all(isinstance(cell, str) for cell in array.flat):
        return array.astype(str)
    found = np.full(array.shape, np.nan)
    for i, cell in enumerate(array.flat):
        if cell is None or str(cell) == "<NA>":
            continue
        try:
            found.flat[i] = float(cell)
        except (TypeError, ValueError):
            raise ValueError(
                f"{place} holds {quoted(str(cell))} at row {i} where numbers belong: correct it."
            ) from None
    return found


def check_varies(X: np.ndarray, y: np.ndarray | None, names: Sequence[str]) -> None:
    """Raise ValueError for inputs and targets that are the same in every row."""
    constant = np.flatnonzero(np.ptp(X, axis=0) == 0)
    if len(constant):
        name, value = names[constant[0]], X[0, constant[0]]
        raise ValueError(
            f"X: column {quoted(name)} is constant ({value:g} in every row): it can explain nothing, leave it out."
        )
    if y is not None and np.ptp(y) == 0:
        raise ValueError(f"y is constant ({y[0]:g} in every row): there is nothing to explain.")
