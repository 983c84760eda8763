"""Checks of tables and numbers at the entry of every estimator, before any work.

`check_table` refuses what would be read wrongly or fail inside another library: lazy frames, masks, columns of several
levels, names that come twice. `check_scale` refuses numbers whose squares overflow or underflow, and `check_reach` rows
so far from the fitted ones that kernels overflow. Each error is one line: the argument, its value, what to do.
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.data.quoting import quoted

LARGEST = 1e150
"""Largest absolute value of a cell; by judgement: the squares of many rows add up to a finite number."""
SMALLEST = 1e-150
"""Smallest standard deviation of a column; by judgement: its square, 1e-300, is a normal number."""
FARTHEST = 1e30
"""Largest distance of a new row from the mean of the fitted ones, in their standard deviations; by judgement: the
variance of a product of five linear kernels, about the tenth power of the distance, stays finite."""


def check_table(values: Any, argument: str) -> None:
    """Raise ValueError for tables of a kind that Farrier does not read."""
    if nw.dependencies.is_pandas_dataframe(values):
        _check_labels(values.columns, argument)
        return
    refuse_masks(values, argument)
    if isinstance(values, Real | str | bytes | Mapping | Iterator) or (values is None and argument == "X"):
        raise ValueError(f"{argument}: {quoted(values)} is not a table: give an array, a list or a frame.")
    shape: Any = None
    if isinstance(values, np.ndarray | list | tuple):
        shape = _check_numbers(values, argument).shape
    elif isinstance(column := _refuse_lazy(values, argument), nw.Series):
        shape = (len(column),)
    if argument == "X" and shape is not None and len(shape) != 2:
        raise ValueError(
            f"X has shape {shape}. Reshape your data: give a row for each sample, X.reshape(-1, 1) for one input."
        )


def refuse_masks(values: Any, argument: str) -> None:
    """Raise ValueError for an array with masked cells, or a list of such rows. An empty mask passes."""
    rows = values if isinstance(values, list | tuple) else [values]
    for i, one in enumerate(rows):
        if isinstance(one, np.ma.MaskedArray) and np.ma.is_masked(one):
            row = i if rows is values else int(np.argwhere(np.ma.getmaskarray(one))[0][0])
            raise ValueError(f"{argument} is masked at row {row}: leave out rows with masked cells.")


def check_frame(values: Any, argument: str) -> None:
    """The same for the arguments of a `Forecaster`: masked values are missing values, and columns are found by name."""
    if nw.dependencies.is_pandas_dataframe(values):
        _check_labels(values.columns, argument)
        odd = next((name for name in values.columns if not isinstance(name, str)), None)
        if odd is not None:
            raise ValueError(f"{argument}: the column {quoted(odd)} is not named by text: rename it.")
        return
    _refuse_lazy(values, argument)
    if values is not None and (isinstance(values, str | bytes) or not isinstance(values, Iterable)):
        raise ValueError(f"{argument}: {quoted(values)} is not a column: give an array, a list or a frame.")


def check_scale(X: np.ndarray, y: np.ndarray | None, names: Sequence[str]) -> None:
    """Raise ValueError for columns whose squares overflow or underflow. Constant columns pass."""
    for name, column in zip(names, X.T, strict=True):
        _check_column(column, f"X: column {quoted(name)}")
    if y is not None:
        _check_column(y, "y")


def check_periods(periods: Sequence[Any] | None) -> None:
    """Raise ValueError for a period that is not a positive, finite number."""
    for period in periods or ():
        if not isinstance(period, Real) or not 0.0 < float(period) < LARGEST:
            raise ValueError(f"periods: {quoted(period)} is not the length of a period: give numbers such as 7.0.")


def bounds_of(y: np.ndarray, floor: float | str | None, cap: float | None) -> tuple[float | None, float | None]:
    """The lowest and the highest possible y as numbers; ValueError if y has a value beyond them."""
    low, high = float(y.min()), float(y.max())
    if isinstance(floor, str):
        floor = 0.0 if low >= 0.0 else None
    elif floor is not None and not floor <= low:
        raise ValueError(f"floor={floor:g}: y has the value {low:g} below it: give at most that, or None.")
    if cap is not None and not cap >= high:
        raise ValueError(f"cap={cap:g}: y has the value {high:g} above it: give at least that, or None.")
    return None if floor is None else float(floor), None if cap is None else float(cap)


def outside(levels: Any, highest: float) -> list[Any]:
    """The levels that are no numbers between 0 and `highest`; ValueError for what is no list."""
    if isinstance(levels, str | bytes | Mapping) or not isinstance(levels, Sequence | np.ndarray):
        raise ValueError(f"levels: {quoted(levels)} is not a list of levels: give one such as [{0.8 * highest:g}].")
    return [one for one in levels if not isinstance(one, Real) or isinstance(one, bool) or not 0 < float(one) < highest]


def check_percent(levels: Sequence[float]) -> None:
    """Raise ValueError for a level that is not a percentage."""
    bad = outside(levels, 100.0)
    if bad:
        raise ValueError(
            f"levels: {quoted(bad[0])} is not a percentage between 0 and 100: 80 means that four values in five lie "
            "inside."
        )
    if len(levels) and max(levels) < 1.0:
        raise ValueError(f"levels: {levels[0]:g} is less than one per cent: write {100 * levels[0]:g}.")


def check_reach(standardised: np.ndarray, argument: str) -> None:
    """Raise ValueError for rows too far from the fitted ones, in standard deviations of these."""
    far = np.argwhere(~(np.abs(standardised) <= FARTHEST))
    if len(far):
        raise ValueError(
            f"{argument}: row {far[0][0]} is more than {FARTHEST:g} standard deviations away from the fitted rows: "
            "correct it, or fit again with rows like it."
        )


def check_prediction(values: np.ndarray, transform: str) -> None:
    """Raise ValueError for a prediction, rows first, that is too large for a float."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"X: the prediction at row {bad[0][0]} is not finite: the row is too far from the fitted rows for the "
            f"{transform} scale: try nearer rows, or fit with scale='identity'."
        )


def _refuse_lazy(values: Any, argument: str) -> Any:
    """The values in narwhals, if it knows them."""
    found = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        raise ValueError(f"{argument} is a lazy frame ({type(values).__name__}): call its collect() first.")
    return found


def _check_labels(columns: Any, argument: str) -> None:
    pandas = importlib.import_module("pandas")
    if isinstance(columns, pandas.MultiIndex):
        such = f", such as {quoted(columns[0])}" if len(columns) else ""
        raise ValueError(f"{argument} has columns of {columns.nlevels} levels{such}: give each column one name.")
    if not columns.is_unique:
        twice = columns[columns.duplicated()][0]
        raise ValueError(f"{argument} has more than one column {quoted(twice)}: rename them.")


def _check_numbers(values: Any, argument: str) -> np.ndarray:
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: {argument} holds complex numbers: give their real part.")
        if array.dtype == object:
            _ = [float(one) for one in array.flat if isinstance(one, int)]
            bad = [i for i, one in enumerate(array.flat) if one is None or (isinstance(one, float) and one != one)]
            if bad:
                row = int(np.unravel_index(bad[0], array.shape)[0])
                raise ValueError(
                    f"{argument} contains NaN at row {row}: leave out rows with missing or infinite cells."
                )
        return array
    except OverflowError:
        raise ValueError(f"{argument} holds an integer that no 64-bit float can hold: use a larger unit.") from None
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise ValueError(f"{argument} has rows of different lengths: give one number a column.") from None
        raise


def _check_column(values: np.ndarray, place: str) -> None:
    largest = float(np.abs(values).max())
    if largest > LARGEST:
        raise ValueError(f"{place} holds {largest:.3g}, and at most {LARGEST:g} can be squared: use a larger unit.")
    spread = float(values.std())
    if spread < SMALLEST and np.ptp(values) > 0:
        raise ValueError(
            f"{place} has a standard deviation of {spread:.3g}, and {SMALLEST:g} or more is needed: use a smaller unit."
        )
