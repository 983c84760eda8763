"""The fit of an estimator to a table that is read in blocks (farrier/out_of_core): the part that estimators know.

The structure is searched on a sample and fitted to all rows by sums over the blocks (model/block_fits.py), or
candidates are fitted to minibatches by the paper's algorithm (paper/sparse.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any, Protocol, Self, final

import numpy as np

from farrier.data.column_order import reordered
from farrier.data.table_inputs import TableInputs
from farrier.data.tables import Scale, check_varies
from farrier.estimators.arguments import bounds_of, check_scale
from farrier.estimators.estimator import Estimator
from farrier.estimators.watching import Show, told, watched
from farrier.inference.collapsed import RowBlocks
from farrier.inference.likelihoods import Likelihood
from farrier.model.block_fits import scale_of_blocks
from farrier.model.fit import fit
from farrier.model.fitted import Fitted
from farrier.model.problem import Problem
from farrier.model.result import Result
from farrier.model.target_scale import TargetScale, named

FEWEST_BLOCK_ROWS = 200_000
"""Rows from which a table in a file or a memory map is read in blocks. [rows; by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class Reading:
    """How the cells of a row become inputs of the model."""

    table: TableInputs | None
    """What each column is; None if all are numbers without empty cells."""
    scale: Scale
    order: tuple[int, ...] | None = None
    """Which of these inputs each input of the model is; None if their order is the same."""

    def inputs(self, rows: np.ndarray) -> np.ndarray:
        """Rows on the scale of the model."""
        return self.scale.inputs(rows if self.order is None else rows[:, list(self.order)])

    @property
    def coded(self) -> tuple[int, ...]:
        """The inputs of the model that are codes of categories."""
        coded = () if self.table is None else self.table.coded
        return coded if self.order is None else reordered(coded, self.order)


class Sample(Protocol):
    """A random sample of the rows of a table, and the number of all rows."""

    @property
    def count(self) -> int:
        """The number of rows with a target."""
        ...

    @property
    def cells(self) -> Mapping[str, Any]:
        """The columns of the sample."""
        ...

    @property
    def y(self) -> np.ndarray:
        """Its targets."""
        ...


class TableRows(RowBlocks, Protocol):
    """All rows of a table on the scale of the model, in blocks and in minibatches."""

    def minibatches(self, seed: int) -> Any:
        """The rows in random order for the paper's algorithm, a paper.batches.RowSource."""
        ...


Columns = tuple[str, ...]
"""The names of the inputs."""
Blocks = Callable[[Reading, TargetScale], TableRows]
"""All rows, for a scale of the inputs and of the target."""
TAKEN_BY_MINIBATCHES = (("likelihood", ("auto", "gaussian", "student-t")),)
"""The values that settings can have for the paper's algorithm."""
TAKEN = (
    ("kernels", ("auto",)),
    ("prior", ("horseshoe",)),
    ("likelihood", ("auto", "gaussian")),
    ("method", ("auto", "collapsed")),
)
"""The same for sums over blocks."""


def is_large(X: Any) -> bool:
    """Whether a table is read in blocks: a Dask array or frame, or a memory map of many rows."""
    many = isinstance(X, np.memmap) and X.ndim == 2 and len(X) >= FEWEST_BLOCK_ROWS
    return many or type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


class LargeTableMixin(Estimator):
    """Fits the rows of a table that is read in blocks; for estimators of a number."""

    likelihood: str
    scale: str
    method: str
    floor: float | str | None
    cap: float | None
    starts: int

    def _noise(self) -> Likelihood:
        """The noise before the fit."""
        raise NotImplementedError

    def fit_sample(self, sample: Sample, frame: Any, blocks: Blocks, call: str = "fit(X, y)") -> Self:
        """Fit a model to all rows, from what a sample of them shows.

        `frame` are the inputs of the sample as predictions will get them: an array, or a frame whose columns have
        names. `blocks` gives all rows on the scale of the model.
        """
        begin = perf_counter()
        self._validate_params()
        self._check_large()
        transform = named("identity" if self.scale == "auto" else self.scale)
        if sample.y.min() <= transform.lowest:
            raise ValueError(f"scale={self.scale!r} needs a positive y, got {sample.y.min():g}: try 'identity'.")
        rows, target, table = self._read(frame, sample.y, y_numeric=True)
        target = np.array(target, np.float64)
        columns = tuple(sample.cells) if table is None else table.names
        check_scale(rows, target, list(columns))
        check_varies(rows, target, columns)
        order, plain = self._order(rows, target), Scale(np.zeros(rows.shape[1]), np.ones(rows.shape[1]), 0.0, 1.0)
        reading = Reading(table, plain, order)
        rows, columns = reading.inputs(rows), columns if order is None else tuple(columns[d] for d in order)
        floor, cap = bounds_of(target, self.floor, self.cap)
        with watched(self.progress) as show:
            if self.method == "stochastic":
                scale = scale_of_blocks(blocks(reading, TargetScale(transform)), reading.coded)
                fit = self._by_minibatches
            else:
                scale = Scale.of(rows, transform.forward(target), reading.coded)
                fit = self._by_sums
            fitted = fit(scale.inputs(rows), target, replace(reading, scale=scale), columns, blocks, show)
        self.frame_ = None
        return self.hold(
            Result(
                fitted=replace(fitted, floor=floor, cap=cap),
                inputs=scale.inputs(rows),
                target=target,
                scale=scale,
                columns=columns,
                seconds=perf_counter() - begin,
                recipe=self._recipe(call),
                table=table,
                order=order,
                sampled_from=sample.count,
            )
        )

    def _by_sums(
        self, X: np.ndarray, y: np.ndarray, reading: Reading, columns: Columns, blocks: Blocks, show: Show | None
    ) -> Fitted:
        """Find the structure in the sample, and fit it to all rows."""
        tell = told(show, "long table")
        all_rows = partial(blocks, reading)
        return fit(Problem(X, y, coded=reading.coded, scale=self.scale, blocks=all_rows, tell=tell))

    def _by_minibatches(
        self, X: np.ndarray, y: np.ndarray, reading: Reading, columns: Columns, blocks: Blocks, show: Show | None
    ) -> Fitted:
        """Fit candidates to minibatches of all rows; their starting values come from the sample."""
        transform = named("identity" if self.scale == "auto" else self.scale)
        target = TargetScale(transform, reading.scale.y_mean, reading.scale.y_scale)
        seeds = [self._seed() + i for i in range(int(self.starts))]
        starts = [
            self._chosen(X, target.forward(y), reading.scale, list(columns), seed, reading.coded) for seed in seeds
        ]
        rows = blocks(reading, target).minibatches(self._seed())
        return self._sparse(starts, X, y, target, self._noise(), show, rows)

    def _fit_large(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit a Dask array or a memory map."""
        if sample_weight is not None:
            raise ValueError("sample_weight: a table that is read in blocks takes none: leave it out.")
        return import_module("farrier.out_of_core.fitting").fit_estimator(self, X, y=y)

    def _check_large(self) -> None:
        """Raise ValueError for settings that rows in blocks do not support."""
        for name, possible in TAKEN_BY_MINIBATCHES if self.method == "stochastic" else TAKEN:
            value = getattr(self, name)
            if not isinstance(value, str) or value not in possible:
                raise ValueError(
                    f"{name}={value!r}: a table that is read in blocks takes {name}={possible[0]!r}: leave it, or give "
                    "a sample of the rows that fits in memory."
                )
