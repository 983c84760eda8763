"""The fit of an estimator to a table that is read in blocks (farrier/out_of_core): the part that estimators know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from time import perf_counter
from typing import Any, Protocol, Self, final

import numpy as np

from farrier.estimators.arguments import bounds_of, check_scale
from farrier.estimators.estimator import Estimator
from farrier.estimators.watching import told, watched
from farrier.inference.collapsed_blocks import RowBlocks
from farrier.model.block_fits import learn_blocks
from farrier.model.result import Result
from farrier.model.table_inputs import TableInputs
from farrier.model.tables import Scale, check_varies
from farrier.model.target_scale import TargetScale, named
from farrier.search.settings import SearchSettings


@final
@dataclass(frozen=True, eq=False)
class Reading:
    """How the cells of a row become inputs of the model."""

    table: TableInputs | None
    """What each column is; None if all are numbers without empty cells."""
    scale: Scale


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


def is_large(X: Any) -> bool:
    """Whether a table is read in blocks: a Dask array or frame, or a memory map of many rows."""
    many = isinstance(X, np.memmap) and X.ndim == 2 and len(X) >= SearchSettings().blocks.smallest
    return many or type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


class LargeTableMixin(Estimator):
    """Fits the rows of a table that is read in blocks; for estimators of a number."""

    likelihood: str
    scale: str
    method: str
    search: str
    floor: float | str | None
    cap: float | None

    def fit_sample(
        self, sample: Sample, frame: Any, blocks: Callable[[Reading, TargetScale], RowBlocks], call: str = "fit(X, y)"
    ) -> Self:
        """Find the structure in a sample, and fit it to all rows.

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
        coded = () if table is None else table.coded
        check_scale(rows, target, list(columns))
        check_varies(rows, target, columns)
        scale = Scale.of(rows, transform.forward(target), coded)
        reading = Reading(table, scale)
        floor, cap = bounds_of(target, self.floor, self.cap)
        with watched(self.progress) as show:
            fitted = learn_blocks(
                scale.inputs(rows),
                target,
                lambda found: blocks(reading, found),
                transform=self.scale,
                coded=coded,
                tell=told(show, "long table"),
            )
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
                sampled_from=sample.count,
            )
        )

    def _fit_large(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit a Dask array or a memory map."""
        if sample_weight is not None:
            raise ValueError("sample_weight: a table that is read in blocks takes none: leave it out.")
        return import_module("farrier.out_of_core.fitting").fit_estimator(self, X, y=y)

    def _check_large(self) -> None:
        """Raise ValueError for settings that rows in blocks do not support."""
        for name, possible in (
            ("kernels", ("auto",)),
            ("prior", ("horseshoe",)),
            ("likelihood", ("auto", "gaussian")),
            ("method", ("auto", "collapsed")),
            ("search", ("full",)),
        ):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in possible:
                raise ValueError(
                    f"{name}={value!r}: a table that is read in blocks takes {name}={possible[0]!r}: leave it, or give "
                    "a sample of the rows that fits in memory."
                )
