"""The rows that a search, a fit and a prediction look at where there are many: indices, the same at every call.

    kind of rows        the search explains      parameters are fitted to     given
    series, curve       `search_rows`            `pool_rows`, `window_rows`   all rows
    table               `search_rows`            `fitting_rows`               all rows, pools `predicting_rows`

So few rows are enough to see both the day and the year: `resolved_rows` are for the search, windows of equally many
rows whose steps are 1, 4, 16 ... rows, up to the whole series; `uncommon_rows` are those without which a rare event
would not be seen. `window_rows` are for hyperparameters: contiguous pieces for what is short, and rows spread over
the whole range for what is long.
"""

import numpy as np

from farrier.model.tiers import EXACT_ROWS, EXACT_TABLE_ROWS
from farrier.search.beliefs import Beliefs
from farrier.search.periods import REPEATS
from farrier.search.table_moves import TABLE_ROWS

WINDOWS = (6, 800, 1200)
"""Contiguous pieces among the rows to which a long series is fitted, the last at the end, the rows of each, and rows
spread over the whole series. [pieces, rows, rows; by judgement]"""

SEARCH_ROWS = 300
"""Most rows of one input that the search uses; it uses all of fewer. A structural model is fitted to as many, the last
ones; where they hold too few of the longest season (`REPEATS`), to every second (third, ...) run of a longer
time. [rows; by judgement]"""

RUN = 5
"""Rows of a run where a fit leaves out runs of rows. [rows; on 28 hourly learn series the error is 2 % below that of
every second row; five shares no factor with the seasons of hours and days, so that all hours of a day are seen]"""

FITTED_ROWS = 800
"""Most rows of a table to which the members of the average are fitted; all rows predict. [rows; by judgement]"""

PREDICTING_ROWS = 10_000
"""Most rows given which the pools of a larger table predict: a Cholesky factor of 9 s and 800 MB each. [rows; measured
on one core]"""


def search_rows(X: np.ndarray, *, timed: bool = False) -> np.ndarray:
    """The rows that the search uses: all, or a part that is the same at every call.

    `timed` says that the first input is time; one input is always treated like that.
    """
    series = timed or X.shape[1] == 1
    if series and len(X) > EXACT_ROWS:
        rows = resolved_rows(X[:, 0])
        return np.union1d(rows, uncommon_rows(X, rows, SEARCH_ROWS))
    if len(X) <= (SEARCH_ROWS if series else TABLE_ROWS):
        return np.arange(len(X))
    if not series:
        return np.sort(np.random.default_rng(0).choice(len(X), TABLE_ROWS, replace=False))
    # a series: half of the rows in contiguous pieces, for short lengthscales; half spread evenly, for long ones
    order = np.argsort(X[:, 0])
    spread = np.linspace(0, len(X) - 1, SEARCH_ROWS // 2).astype(int)
    length = SEARCH_ROWS // 2 // 4
    starts = np.linspace(0, len(X) - length, 4).astype(int)
    pieces = (starts[:, None] + np.arange(length)).ravel()
    rows = order[np.union1d(spread, pieces)]
    return np.union1d(rows, more) if len(more := uncommon_rows(X, rows, SEARCH_ROWS)) else rows


def pool_rows(X: np.ndarray, beliefs: Beliefs) -> np.ndarray:
    """The rows to which a pool is fitted: of a series in time the last ones, of a curve some from everywhere.

    If they hold too few of the longest season, every second (third, ...) run of `RUN` rows of a longer time is taken: a
    week of hours cannot be learned from 300 of them, and neighbours show what is rough. Of a series with regressors,
    rows in which these have rare values come too: the size of an effect cannot be learned from rows without it.
    """
    if not beliefs.of_time:
        return search_rows(X, timed=True)
    order, clock, every = np.argsort(X[:, 0], kind="stable"), beliefs.clock, 1
    if clock is not None and clock.seasons and len(order) > SEARCH_ROWS:
        needed = min(REPEATS * clock.seasons[-1] / clock.step, len(order))
        every = int(np.ceil(needed / SEARCH_ROWS))
    kept = np.arange(len(order)) // RUN % every == 0
    rows = order[::-1][kept][:SEARCH_ROWS][::-1]
    if X.shape[1] == 1 or len(rows) == len(order):
        return rows
    found = np.union1d(rows, uncommon_rows(X, rows, SEARCH_ROWS))
    return found[np.argsort(X[found, 0], kind="stable")]


def resolved_rows(x: np.ndarray) -> np.ndarray:
    """The rows of the search, in windows whose steps are powers of four.

    The window of single steps is the last one of the series. Longer steps vary within their length, so that no cycle
    is hidden because it is in step with them.
    """
    count, levels = len(x), 1
    while (SEARCH_ROWS // levels) * 4 ** (levels - 1) < count:
        levels += 1
    each, generator, found = SEARCH_ROWS // levels, np.random.default_rng(0), []
    for level in range(levels):
        step = min(4**level, count / each)
        start = (count - each * step) * (generator.random() if level else 1.0)
        places = start + step * (np.arange(each) + (generator.random(each) if level else 0.0))
        found.append(np.clip(places, 0, count - 1).astype(int))
    # trends start at the first row
    return np.sort(np.argsort(x, kind="stable")[np.unique([0, *np.concatenate(found)])])


def uncommon_rows(X: np.ndarray, chosen: np.ndarray, most: int) -> np.ndarray:
    """Rows in which a regressor has a value that it seldom has, each with the row before it, where few are chosen.

    Seldom is what fewer than half of the rows have beside one common value, such as the days of a promotion. A tenth of
    `most` rows, shared by all regressors, are enough for the size of an effect.
    """
    order, found = np.argsort(X[:, 0], kind="stable"), [np.zeros(0, int)]
    for values in X[order, 1:].T:
        places = np.flatnonzero(values != np.median(values))
        enough = min(most // 10 // (X.shape[1] - 1), len(places))
        if 2 * len(places) < len(X) and np.isin(order[places], chosen).sum() < enough:
            some = places[np.linspace(0, len(places) - 1, enough).astype(int)]
            found += [order[some], order[np.maximum(some - 1, 0)]]
    return np.unique(np.concatenate(found))


def window_rows(x: np.ndarray) -> np.ndarray:
    """The rows of a fit: contiguous pieces, the last at the end, and rows spread over the whole series."""
    count, pieces, length, spread = len(x), *WINDOWS
    if count <= pieces * length + spread:
        return np.arange(count)
    starts = np.linspace(0, count - length, pieces).astype(int)
    places = count / spread * (np.arange(spread) + np.random.default_rng(0).random(spread))
    chosen = np.union1d((starts[:, None] + np.arange(length)).ravel(), np.minimum(places, count - 1).astype(int))
    return np.sort(np.argsort(x, kind="stable")[chosen])


def fitting_rows(X: np.ndarray) -> np.ndarray:
    """The rows to which the members are fitted: all, or a part that is the same at every call.

    Of a large table half of them are a few rows with their neighbours: rows drawn at random are far apart, and what
    varies between neighbours would be taken for noise.
    """
    generator = np.random.default_rng(0)
    if len(X) <= FITTED_ROWS:
        return np.arange(len(X))
    if len(X) <= EXACT_TABLE_ROWS:
        return np.sort(generator.choice(len(X), FITTED_ROWS, replace=False))
    size = FITTED_ROWS // 2 // 4
    centres = X[generator.choice(len(X), 4, replace=False)]
    near = [np.argpartition(np.sum((X - centre) ** 2, axis=1), size)[:size] for centre in centres]
    others = np.setdiff1d(np.arange(len(X)), near)
    spread = generator.choice(others, FITTED_ROWS - len(np.unique(near)), replace=False)
    return np.union1d(near, spread)


def predicting_rows(rows: int) -> np.ndarray:
    """The rows given which pools predict: all, or a random part that is the same at every call."""
    if rows <= PREDICTING_ROWS:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, PREDICTING_ROWS, replace=False))


def judged_rows(rows: int) -> np.ndarray:
    """The rows whose leave-one-out predictions are compared, among those given which pools predict."""
    known = predicting_rows(rows)
    return np.sort(np.random.default_rng(1).choice(known, min(FITTED_ROWS, len(known)), replace=False))
