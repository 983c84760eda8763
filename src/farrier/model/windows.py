"""Fits of a long series to some of its rows, in time linear in these (inference/linear.py).

So many rows determine the parameters that contiguous pieces for what is short, and rows spread over the whole series
for what is long, are enough (long_rows.py). The posterior is then that of all rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from farrier.inference.lbfgs import climb
from farrier.inference.linear import LinearObjective
from farrier.model.long_rows import window_rows
from farrier.model.tiers import FEATURE_LIMITS
from farrier.search.scoring import Evaluator
from farrier.search.structure import LEVEL, Part, Structure


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
        """Windows of all rows (long_rows.py)."""
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
