"""From the rows of a table to a fitted model.

1. The pool of ordinary candidates (search/table_moves.py) is fitted on every scale of the target that is possible, to
   all rows or to a large part of them, and chooses the scale by its evidence. Of many rows, so is a pool with
   interactions of all orders, which predicts too.
2. The pool on the best scale is projected onto few components (search/projection.py), on a part of the rows. Where two
   scales are close, it is projected on both, and the evidence of the structures chooses: a pool is so flexible that it
   suits many scales.
3. The structure explains. It predicts together with the pools of all scales, each with the share that gives the best
   leave-one-out predictions (members.py), by exact inference given all rows. For more rows many_rows.py goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.linalg import one_thread
from farrier.model.finishing import search_rows
from farrier.model.fitted import Fitted
from farrier.model.members import SMALLEST_SHARE, Contender, fitted_set, stacked_members
from farrier.model.problem import Problem
from farrier.model.target_scale import LOG_ODDS, TargetScale, Transform
from farrier.model.tiers import EXACT_ROWS, EXACT_TABLE_ROWS
from farrier.search.appraisal import appraise
from farrier.search.beliefs import Beliefs
from farrier.search.evidence import HOPELESS
from farrier.search.periods import find_lattices
from farrier.search.projection import Projection, explaining
from farrier.search.rows import Rows
from farrier.search.scoring import Evaluator
from farrier.search.structure import Decision, Structure
from farrier.search.table_candidates import Warps
from farrier.search.table_moves import TABLE_ROWS, Columns

FITTED_ROWS = 800
"""Most rows of a table to which the members of the average are fitted; all rows predict. [rows; by judgement]"""


@final
@dataclass(eq=False)
class Scaled:
    """One scale of the target of a table."""

    scale: TargetScale
    evaluator: Evaluator
    """On the rows that are explained."""
    kind: Rows
    whole: Structure
    """The shrunk pool of the ordinary candidates."""
    factors: np.ndarray | None = None
    """The noise variance of each row over the common one; None if all rows have the same."""
    pool: tuple[Evaluator, Structure] | None = None
    """The pool for the rows of the members."""
    orders: Structure | None = None
    """What else predicts: interactions of all orders, for the same rows as `pool`; None without numbers."""
    structure: Structure | None = None
    """What explains; None on a scale that is far from the best."""
    record: list[Decision] = field(default_factory=list)

    @classmethod
    def of(cls, transform: Transform, table: Problem) -> "Scaled":
        """The pool on one scale."""
        X, factors, coded = table.X, table.factors, table.coded
        scale, rows = TargetScale.of(transform, table.y), search_rows(X)
        z, warps = scale.forward(table.y), Warps.of(X, coded)
        evaluator = Evaluator(
            X[rows],
            z[rows],
            covariance_of(X[rows]),
            tell=table.tell,
            beliefs=Beliefs.of(X, None, coded=coded),
            factors=None if factors is None else factors[rows],
        )
        table.tell("shrinking a pool of candidates", np.nan)
        kind = Rows(Columns(warps, find_lattices(X, z, warps.columns)))
        return cls(scale, evaluator, kind, kind.pool(evaluator), factors)

    def explain(self) -> Structure:
        """Project the pool onto few components."""
        evaluator, projection = self.evaluator, Projection.of(self.evaluator, self.whole)
        found = explaining(evaluator, projection, self.whole, self.kind, self.record)
        self.structure = found if evaluator.of_series else self.kind.columns.without_flags(evaluator, found)
        return self.structure

    def height(self, X: np.ndarray, y: np.ndarray) -> float:
        """The log evidence of the pool for y in its own units, with the prior log odds of the scale."""
        assert self.pool is not None
        return self._in_units(self.pool[1].score, y[fitting_rows(X)])

    def score(self) -> float:
        """That of the structure that explains, on its rows."""
        assert self.structure is not None
        return self._in_units(self.structure.score, self.scale.inverse(self.evaluator.y))

    def _in_units(self, score: float, y: np.ndarray) -> float:
        preference = LOG_ODDS[self.scale.transform.name]
        return score + self.scale.log_jacobian(y) + preference


def projected_table(table: Problem) -> list[Scaled]:
    """The scales of y, best first, each with its pool; the first has a structure, on the rows that are explained."""
    X, y = table.X, table.y
    found = _useful([Scaled.of(one, table) for one in table.scales], y)
    for scaled in found:
        scaled.pool, scaled.orders = _on_rows(scaled, X, y)
    heights = [scaled.height(X, y) for scaled in found]
    close = [i for i in range(len(found)) if heights[i] > max(heights) - HOPELESS]
    for i in close:
        found[i].explain()
    if len(close) > 1:
        behind = max(heights) - max(found[i].score() for i in close)
        heights = [found[i].score() if i in close else heights[i] - behind for i in range(len(found))]
    order = [int(i) for i in np.argsort(heights)[::-1]]
    for place, i in enumerate(order if len(order) > 1 else ()):
        gain = heights[i] - heights[order[1 if place == 0 else 0]]
        action, name = "kept" if place == 0 else "averaged", f"scale: {found[i].scale.transform.name}"
        found[order[0]].record.append(Decision(0, action, name, gain, "evidence of the scale"))
    return [found[i] for i in order]


def fit_few_rows(found: Sequence[Scaled], X: np.ndarray, y: np.ndarray) -> Fitted:
    """The model of a table whose rows are few enough for exact inference."""
    best, contenders = found[0], table_contenders(found, X, y)
    structure = best.structure
    assert structure is not None
    with one_thread(small=len(X) <= EXACT_ROWS):
        return fitted_set(
            contenders,
            X,
            y,
            appraisal=appraise(best.evaluator, structure),
            record=best.record,
            steps=sum(one.evaluator.steps for one in contenders),
        )


def table_contenders(found: Sequence[Scaled], X: np.ndarray, y: np.ndarray, *, few: bool = False) -> list[Contender]:
    """What predicts a table, fitted to the rows of the members: the structure, and the pools of all scales.

    On each scale there are two pools, with curves of every input and with interactions of all orders. If there shall be
    `few`, only the latter predicts.
    """
    best, structure = found[0], found[0].structure
    assert structure is not None
    assert best.pool is not None
    best.evaluator.tell("fitting the predictive model", structure.score)
    rows, evaluator = fitting_rows(X), best.pool[0]
    if len(rows) > len(best.evaluator.y):
        structure = evaluator.fit(structure.parts, structure.noise)
    contenders = [Contender("the structure", structure, evaluator, best.scale, y[rows], factors=best.factors)]
    for scaled in found:
        assert scaled.pool is not None
        evaluator, pool = scaled.pool
        kinds = {"the ordinary candidates": pool, "interactions of all orders": scaled.orders}
        for name, one in kinds.items():
            if one is None or (few and one is pool and scaled.orders is not None):
                continue
            own = Contender(f"{name} on the {scaled.scale.transform.name} scale", one, evaluator, scaled.scale, y[rows])
            contenders.append(replace(own, mode_only=True, factors=best.factors))
    return contenders


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


def _useful(found: Sequence[Scaled], y: np.ndarray) -> list[Scaled]:
    """The scales whose pools have a share in leave-one-out predictions, if fits to more rows are ahead."""
    own = found[0].evaluator
    if len(found) == 1 or len(own.y) == len(y):
        return list(found)
    contenders = []
    for scaled in found:
        seen = scaled.scale.inverse(scaled.evaluator.y)
        one = Contender("", scaled.whole, scaled.evaluator, scaled.scale, seen, mode_only=True)
        contenders.append(replace(one, factors=scaled.evaluator.factors))
    shares, _, _ = stacked_members(contenders, own.X, found[0].scale.inverse(own.y), at_mode=True)
    return [scaled for scaled, share in zip(found, shares, strict=True) if share >= SMALLEST_SHARE]


def _on_rows(scaled: Scaled, X: np.ndarray, y: np.ndarray) -> tuple[tuple[Evaluator, Structure], Structure | None]:
    """The pools of a scale, fitted to the rows of the members, from their values on the rows that are explained."""
    evaluator, whole = scaled.evaluator, scaled.whole
    rows = fitting_rows(X)
    evaluator.tell("shrinking a pool of candidates", np.nan)
    # of few rows leave-one-out predictions say too little about more members; but interactions of categories are
    # nowhere else
    many = len(y) > TABLE_ROWS
    parts = scaled.kind.columns.all_orders(evaluator, whole) if many or scaled.kind.columns.coded else []
    # from the noise of a pool that explains nothing a fit ends there as well
    orders = evaluator.fit_pool(parts) if parts else None
    if len(rows) == len(evaluator.y):
        return (evaluator, whole), orders
    larger = replace(evaluator, X=X[rows], y=scaled.scale.forward(y[rows]), covariance=covariance_of(X[rows]))
    larger = larger if scaled.factors is None else replace(larger, factors=scaled.factors[rows])
    found = [one and larger.fit(one.parts, one.noise) for one in (whole, orders)]
    assert found[0] is not None
    return (larger, found[0]), found[1]
