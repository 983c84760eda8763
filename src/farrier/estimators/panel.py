"""Many series in the long format: one row for each time of a series, and a column that identifies the series.

    unique_id  ds          y
    north      2024-01-01  112
    north      2024-02-01  118
    south      2024-01-01   31

Each series has its own model, fitted with one BLAS thread. `n_jobs` and the backend are those of joblib: what the user
has set by `joblib.parallel_config` (threads, processes, Dask, Ray), or else local processes. If a series cannot be
fitted, its error is kept and the others are fitted. If a process dies, the series that may have been its cause are
fitted one at a time, twice if need be, and the others as before.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from farrier.data.quoting import quoted
from farrier.estimators.fitted_series import FittedSeries
from farrier.inference.linalg import one_thread
from farrier.series.columns import list_names
from farrier.series.observed import Layout, Observed, append, read_frame, take

ID = "unique_id"
"""The column that identifies the series, if none is named."""
SHOWN = 3
"""Failing series that a warning names, by judgement."""
AHEAD = 2
"""Series a job that are handed to the backend at once, as joblib does by default."""
ALONE = 2
"""Times that a series is fitted alone after a process died, by judgement."""

Finish = Callable[[int, int], None]
"""Called with the number of finished series and the number of all."""


@dataclass(frozen=True, eq=False)
class Panel:
    """The fitted series by name, in the order of the table."""

    layout: Layout
    series: dict[Any, FittedSeries]
    errors: dict[Any, Exception] = field(default_factory=dict)

    def each(self, make: Callable[[Any, FittedSeries], tuple[Any, dict[str, Any]]]) -> Any:
        """One long table of the times and columns that `make` gives for each series."""
        made = [(name, *make(name, one)) for name, one in self.series.items()]
        ids = [name for name, stamps, _ in made for _ in range(len(stamps))]
        stamps = append(*(stamps for _, stamps, _ in made))
        columns = {key: np.concatenate([columns[key] for *_, columns in made]) for key in made[0][2]}
        return self.layout.write(stamps, columns, ids)

    def future_of(self, future: Any, name: Any) -> Any:
        """The future values of one series from a long frame."""
        if future is None:
            return None
        frame = nw.from_native(future, eager_only=True)
        if self.layout.id not in frame.columns:
            raise ValueError(f"future: there is no column {self.layout.id!r} that identifies the series: add it.")
        rows = [i for i, value in enumerate(frame[self.layout.id].to_list()) if value == name]
        return frame[rows].to_native()

    def updated(self, frame: Any, settings: dict[str, Any], n_jobs: int | None, finish: Finish) -> "Panel":
        """The panel with more rows. New series are fitted; the others keep their structure."""
        layout, more, errors = _split(frame, self.layout, None)
        old = {name: self.series[name] for name in more if name in self.series}
        work = [(name, old.get(name), observed) for name, observed in more.items()]
        done, failed = _work(work, settings, n_jobs, finish)
        _warn(errors | failed, len(more) + len(errors), "updated")
        return Panel(layout, self.series | done, {**self.errors, **errors, **failed})


def fit_panel(
    frame: Any, layout: Layout, names: dict[str, Any], settings: dict[str, Any], n_jobs: int | None, finish: Finish
) -> Panel:
    """Fit one model for each series; `names` are the columns that the user named."""
    layout, found, errors = _split(frame, layout, names)
    if not found and not errors:
        raise ValueError("series has no rows: give times with values.")
    done, failed = _work([(name, None, observed) for name, observed in found.items()], settings, n_jobs, finish)
    errors |= failed
    if not done:
        name, error = next(iter(errors.items()))
        raise ValueError(f"none of the {len(errors)} series could be fitted; {quoted(name)}: {error}") from error
    _warn(errors, len(done) + len(errors), "fitted")
    return Panel(layout, {name: done[name] for name in found if name in done}, errors)


def _split(
    frame: Any, layout: Layout, names: dict[str, Any] | None
) -> tuple[Layout, dict[Any, Observed], dict[Any, Exception]]:
    """The series of a long table by name, and the errors of those that cannot be read."""
    table = nw.from_native(frame, eager_only=True)
    known = {"time": layout.time, "target": layout.target, "regressors": layout.regressors} if names is None else names
    if layout.id not in table.columns:
        raise ValueError(f"id: there is no column {quoted(layout.id)}: choose one of {list_names(table.columns)}.")
    layout, (stamps, y, extra) = read_frame(table, id=layout.id, **known)
    rows: dict[Any, list[int]] = {}
    for i, name in enumerate(table[str(layout.id)].to_list()):
        rows.setdefault(name, []).append(i)
    found: dict[Any, Observed] = {}
    errors: dict[Any, Exception] = {}
    for name, places in rows.items():
        one = np.array(places)
        try:
            observed = Observed.of(layout, take(stamps, one), y[one], extra[one])
            found[name] = observed if names is None else observed.check()
        except ValueError as error:
            errors[name] = error
    return layout, found, errors


def _work(
    work: Sequence[tuple[Any, FittedSeries | None, Observed]],
    settings: dict[str, Any],
    n_jobs: int | None,
    finish: Finish,
) -> tuple[dict[Any, FittedSeries], dict[Any, Exception]]:
    """Fit or update each series, in this process or in several."""
    done: dict[Any, FittedSeries] = {}
    failed: dict[Any, Exception] = {}
    finish(0, len(work))
    for name, result in _results(work, settings, n_jobs):
        if isinstance(result, FittedSeries):
            done[name] = result
        else:
            failed[name] = result
        finish(len(done) + len(failed), len(work))
    return done, failed


def _results(
    work: Sequence[tuple[Any, FittedSeries | None, Observed]], settings: dict[str, Any], n_jobs: int | None
) -> Iterator[tuple[Any, FittedSeries | Exception]]:
    """The fitted series and the errors, in the order in which they finish."""
    jobs = effective_n_jobs(n_jobs)  # pyright: ignore[reportArgumentType] (None takes the number of parallel_config)
    if jobs == 1 or len(work) < 2:
        for each in work:
            yield _one(*each, settings)
        return
    waiting = {name: (name, *rest) for name, *rest in work}
    while waiting:
        try:
            for name, result in _parallel(list(waiting.values()), settings, n_jobs):
                del waiting[name]
                yield name, result
        except Exception:  # of the backend: a process died, and so did the others
            # each backend has its own exceptions; those of a fit are results
            for each in list(waiting.values())[: AHEAD * jobs]:
                del waiting[each[0]]
                yield _alone(each, settings, n_jobs)


def _parallel(work: Sequence[Any], settings: dict[str, Any], n_jobs: int | None) -> Any:
    options: Any = {"n_jobs": n_jobs, "batch_size": 1, "pre_dispatch": f"{AHEAD}*n_jobs"}
    try:
        run = Parallel(return_as="generator_unordered", **options)
    except ValueError:  # the backend gives all results at the end
        run = Parallel(**options)
    return run(delayed(_one)(*each, settings) for each in work)


def _alone(work: Any, settings: dict[str, Any], n_jobs: int | None) -> tuple[Any, FittedSeries | Exception]:
    """The result of a series that is fitted in a process of its own; an error if the process dies again."""
    why: Exception | None = None
    for _ in range(ALONE):
        try:
            return next(iter(_parallel([work], settings, n_jobs)))
        except Exception as error:
            why = error
    lost = RuntimeError(
        f"its process ended ({type(why).__name__}), perhaps because memory ran out: try a smaller n_jobs."
    )
    lost.__cause__ = why
    return work[0], lost


def _one(
    name: Any, before: FittedSeries | None, observed: Observed, settings: dict[str, Any]
) -> tuple[Any, FittedSeries | Exception]:
    try:
        with one_thread():
            return name, FittedSeries.fit(observed, settings) if before is None else before.updated(observed)
    except Exception as error:
        return name, error


def _warn(errors: dict[Any, Exception], count: int, what: str) -> None:
    if errors:
        shown = "; ".join(f"{quoted(name)}: {error}" for name, error in list(errors.items())[:SHOWN])
        more = f"; and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
        warnings.warn(f"{len(errors)} of {count} series could not be {what}: see errors_. {shown}{more}", stacklevel=4)
