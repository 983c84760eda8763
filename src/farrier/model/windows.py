"""The rows of a long series that a search or a fit looks at, and fits to them in time linear in the rows.

So few rows are enough to see both the day and the year: `resolved_rows` are for the search, windows of equally many
rows whose steps are 1, 4, 16 ... rows, up to the whole series; `uncommon_rows` are those without which a rare event
would not be seen. `window_rows` are for hyperparameters: contiguous pieces for what is short, and rows spread over
the whole range for what is long. All return indices of rows, the same at every call. The posterior is then that of
all rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from farrier.inference.lbfgs import climb
from farrier.inference.linear import LinearObjective
from farrier.model.tiers import FEATURE_LIMITS
from farrier.search.scoring import Evaluator
from farrier.search.structure import LEVEL, Part, Structure

WINDOWS = (6, 800, 1200)
"""Contiguous pieces among the rows to which a long series is fitted, the last at the end, the rows of each, and rows
spread over the whole series. [pieces, rows, rows; by judgement]"""

SEARCH_ROWS = 300
"""Most rows of one input that the search uses; it uses all of fewer. A structural model is fitted to as many, the last
ones; where they hold too few of the longest season (`REPEATS`), to every second (third, ...) row of a longer
time. [rows; by judgement]"""


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


@final
@dataclass(frozen=True, eq=False)
class Windows:
    """The rows of a long series to which parameters are fitted."""

    X: np.ndarray
    z: np.ndarray
    factors: np.ndarray | None = None
    """The noise variance of each row over the common one; None if all are alike."""

    @classmethod
    def of(cls, X: np.ndarray, z: np.ndarray, factors: np.ndarray | None = None) -> "Windows":
        """Windows of all rows."""
        seen = window_rows(X[:, 0])
        return cls(X[seen], z[seen], None if factors is None else factors[seen])


def fitted_to(evaluator: Evaluator, parts: Sequence[Part], noise: float, rows: Windows) -> Structure:
    """A structure with all parameters fitted to some rows, from their current values; its score is the log posterior
    density."""
    # few rows can leave next to no noise
    model = evaluator.beliefs.model([*parts, LEVEL], max(noise, 0.005), rows.X.shape[1])
    model = replace(model, factors=rows.factors)
    objective = LinearObjective.of(model, rows.X, rows.z, 1, FEATURE_LIMITS)
    u, terms, _ = climb(objective, callback=lambda i, t: evaluator.tell("fitting", t.total))
    evaluator.steps += len(terms)
    fitted = objective.model(u)
    weights = fitted.prior.quantile(0.5)
    found = tuple(Part(fitted.pool[i], part.centre, float(weights[i]), part.scale) for i, part in enumerate(parts))
    return Structure(found, fitted.noise, terms[-1].total, fitted, terms[-1])
