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
from farrier.model.members import SMALLEST_SHARE, Contender, stacked_members
from farrier.model.problem import Problem
from farrier.model.rows import fitting_rows, search_rows
from farrier.model.target_scale import TargetScale, Transform
from farrier.search.beliefs import Beliefs
from farrier.search.evidence import HOPELESS
from farrier.search.periods import find_lattices
from farrier.search.projection import Projection, explaining
from farrier.search.rows import Rows
from farrier.search.scoring import Evaluator
from farrier.search.structure import Decision, Structure
from farrier.search.table_candidates import Warps
from farrier.search.table_moves import TABLE_ROWS, Columns


@final
@dataclass(eq=False)
class Scaled:
    """One scale of the target of a table."""

    kind: Rows
    whole: Contender
    """The shrunk pool of the ordinary candidates, on the rows that are explained."""
    pools: list[Contender] = field(default_factory=list)
    """What predicts, for the rows of the members: that pool, and one with interactions of all orders if there are
    numbers."""
    structure: Structure | None = None
    """What explains; None on a scale that is far from the best."""
    record: list[Decision] = field(default_factory=list)

    @classmethod
    def of(cls, transform: Transform, table: Problem) -> "Scaled":
        """The pool on one scale."""
        X, y, coded, rows = table.X, table.y, table.coded, search_rows(table.X)
        scale, beliefs, noise = table.scale_by(transform), Beliefs.of(X, None, coded=coded), table.noise.at(rows)
        z, warps, covariance = scale.forward(y), Warps.of(X, coded), covariance_of(X[rows])
        evaluator = Evaluator(X[rows], z[rows], covariance, (), table.tell, noise, beliefs=beliefs)
        table.tell("shrinking a pool of candidates", np.nan)
        kind = Rows(Columns(warps, find_lattices(X, z, warps.columns)))
        name, pool = f"the ordinary candidates on the {transform.name} scale", kind.pool(evaluator)
        return cls(kind, Contender(name, pool, evaluator, scale, y[rows], noise, mode_only=True))

    @property
    def scale(self) -> TargetScale:
        """The scale."""
        return self.whole.scale

    @property
    def evaluator(self) -> Evaluator:
        """What fits structures on the rows that are explained."""
        return self.whole.evaluator

    def fit_pools(self, table: Problem) -> None:
        """Fit the pools to the rows of the members, from their values on the rows that are explained."""
        own, evaluator, rows = self.whole, self.evaluator, fitting_rows(table.X)
        evaluator.tell("shrinking a pool of candidates", np.nan)
        # of few rows leave-one-out predictions say too little about more members; but interactions of categories are
        # nowhere else
        many, columns = len(table.y) > TABLE_ROWS, self.kind.columns
        parts = columns.all_orders(evaluator, own.structure) if many or columns.coded else []
        # from the noise of a pool that explains nothing a fit ends there as well
        found = [own.structure, *([evaluator.fit_pool(parts)] if parts else [])]
        if len(rows) > len(evaluator.y):
            X, z = table.X[rows], self.scale.forward(table.y[rows])
            evaluator = replace(evaluator, X=X, y=z, covariance=covariance_of(X), noise=table.noise.at(rows))
            found = [evaluator.fit(one.parts, one.noise) for one in found]
        names = own.name, f"interactions of all orders on the {self.scale.transform.name} scale"
        same = replace(own, evaluator=evaluator, rows=table.y[rows], noise=table.noise)
        self.pools = [replace(same, name=name, structure=one) for name, one in zip(names, found, strict=False)]

    def explain(self) -> Contender:
        """Project the pool onto few components."""
        evaluator, pool = self.evaluator, self.whole.structure
        found = explaining(evaluator, Projection.of(evaluator, pool), pool, self.kind, self.record)
        self.structure = found if evaluator.of_series else self.kind.columns.without_flags(evaluator, found)
        return replace(self.whole, structure=self.structure)


def projected_table(table: Problem) -> list[Scaled]:
    """The scales of y, best first, each with its pool; the first has a structure, on the rows that are explained."""
    found = _useful([Scaled.of(one, table) for one in table.scales], table.y)
    for scaled in found:
        scaled.fit_pools(table)
    heights = [scaled.pools[0].evidence for scaled in found]
    explained = {i: one.explain() for i, one in enumerate(found) if heights[i] > max(heights) - HOPELESS}
    if len(explained) > 1:
        behind = max(heights) - max(one.evidence for one in explained.values())
        heights = [explained[i].evidence if i in explained else heights[i] - behind for i in range(len(found))]
    order = [int(i) for i in np.argsort(heights)[::-1]]
    for place, i in enumerate(order if len(order) > 1 else ()):
        gain = heights[i] - heights[order[1 if place == 0 else 0]]
        action, name = "kept" if place == 0 else "averaged", f"scale: {found[i].scale.transform.name}"
        found[order[0]].record.append(Decision(0, action, name, gain, "evidence of the scale"))
    return [found[i] for i in order]


def table_contenders(found: Sequence[Scaled], *, few: bool = False) -> list[Contender]:
    """What predicts a table, fitted to the rows of the members: the structure, and the pools of all scales.

    On each scale there are two pools, with curves of every input and with interactions of all orders. If there shall be
    `few`, only the latter predicts.
    """
    best, pool, structure = found[0], found[0].pools[0], found[0].structure
    assert structure is not None
    best.evaluator.tell("fitting the predictive model", structure.score)
    if len(pool.rows) > len(best.evaluator.y):
        structure = pool.evaluator.fit(structure.parts, structure.noise)
    first = replace(pool, name="the structure", structure=structure, mode_only=False)
    return [first, *(one for scaled in found for one in (scaled.pools[-1:] if few else scaled.pools))]


def _useful(found: Sequence[Scaled], y: np.ndarray) -> list[Scaled]:
    """The scales whose pools have a share in leave-one-out predictions, if fits to more rows are ahead."""
    own = found[0].whole
    if len(found) == 1 or len(own.rows) == len(y):
        return list(found)
    shares, _, _ = stacked_members([one.whole for one in found], own.evaluator.X, own.rows, at_mode=True)
    return [scaled for scaled, share in zip(found, shares, strict=True) if share >= SMALLEST_SHARE]
