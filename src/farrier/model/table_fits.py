"""From the rows of a table to a fitted model, for Gaussian noise.

1. The pool of ordinary candidates (search/table_candidates.py) is fitted on every scale of the target that is possible,
   to all rows or to a large part of them, and chooses the scale by its evidence. Of more rows than the search sees, so
   is a pool with interactions of all orders, which predicts too.
2. The structure is found on that scale, on a part of the rows. Where two scales are close, it is found on both, and the
   evidence of the structures chooses: a pool is so flexible that it suits many scales.
3. The structure explains. It predicts together with the pools of all scales, each with the share that gives the best
   leave-one-out predictions (members.py), by exact inference given all rows. For more rows many_rows.py goes on.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.blas import one_thread
from farrier.model.fitted import Fitted
from farrier.model.members import Contender, fitted_set, stacked_members
from farrier.model.scales import Scaled
from farrier.model.target_scale import named, worth_trying
from farrier.model.tiers import Tell
from farrier.search.appraisal import appraise
from farrier.search.codes import Codes
from farrier.search.lattices import find_lattices
from farrier.search.search import Search
from farrier.search.settings import RowSettings, SearchSettings
from farrier.search.structure import Structure
from farrier.search.warps import Warps


def search_table(
    X: np.ndarray,
    y: np.ndarray,
    transform: str,
    tell: Tell,
    settings: SearchSettings,
    coded: tuple[int, ...] = (),
    factors: np.ndarray | None = None,
) -> list[Scaled]:
    """The scales of y, best first, each with its pool; the first has a structure, on the rows of its search."""
    tried = worth_trying(y, settings.scales.smallest_ratio) if transform == "auto" else (named(transform),)
    numbers = Codes(coded, X.shape[1]).numbers
    warps = Warps.of(X[:, numbers], settings.candidates)
    found = []
    for one in tried:
        if one.name == "square root" and transform == "auto":
            continue
        scaled = Scaled.of(one, X, y, (), tell, settings, coded=coded, factors=factors)
        scaled.search.warps = warps
        scaled.search.lattices = find_lattices(X, scaled.scale.forward(y), numbers, settings.periods)
        scaled.whole = scaled.search.whole(())
        found.append(scaled)
    found = _useful(found, y)
    for scaled in found:
        scaled.pool, scaled.orders = _on_rows(scaled, X, y)
    heights = [_height(scaled, X, y) for scaled in found]
    close = [i for i in range(len(found)) if heights[i] > max(heights) - settings.growing.hopeless_margin]
    for scaled in (found[i] for i in close):
        assert scaled.whole is not None
        scaled.structure = scaled.search.best(scaled.search.shrunk(scaled.whole))
    if len(close) > 1:
        behind = max(heights) - max(found[i].score() for i in close)
        heights = [found[i].score() if i in close else heights[i] - behind for i in range(len(found))]
    order = [int(i) for i in np.argsort(heights)[::-1]]
    best = found[order[0]]
    best.note_heights([found[i].scale.transform.name for i in order], [heights[i] for i in order])
    return [found[i] for i in order]


def fit_few_rows(found: Sequence[Scaled], X: np.ndarray, y: np.ndarray) -> Fitted:
    """The model of a table whose rows are few enough for exact inference."""
    best, contenders = found[0], table_contenders(found, X, y)
    settings = best.search.settings
    with one_thread(small=len(X) <= settings.rows.exact):
        return fitted_set(
            contenders,
            None,
            X,
            y,
            appraisal=appraise(best.search, best.structure),
            record=best.search.record,
            settings=settings,
            steps=sum(one.evaluator.steps for one in contenders),
        )


def table_contenders(found: Sequence[Scaled], X: np.ndarray, y: np.ndarray, *, few: bool = False) -> list[Contender]:
    """What predicts a table, fitted to the rows of the members: the structure, and the pools of all scales.

    On each scale there are two pools, with curves of every input and with interactions of all orders. If there shall be
    `few`, only the latter predicts.
    """
    best = found[0]
    best.search.tell("fitting the predictive model", best.structure.score)
    rows = fitting_rows(X, best.search.settings.rows)
    assert best.pool is not None
    search, structure = best.pool[0], best.structure
    if len(rows) > len(best.search.y):
        structure = search.fit(structure.parts, structure.noise)
    contenders = [Contender("the structure", structure, search, best.scale, y[rows], factors=best.factors)]
    for scaled in found:
        assert scaled.pool is not None
        search, pool = scaled.pool
        kinds = {"the ordinary candidates": pool, "interactions of all orders": scaled.orders}
        for name, structure in kinds.items():
            if structure is None or (few and structure is pool and scaled.orders is not None):
                continue
            own = Contender(
                f"{name} on the {scaled.scale.transform.name} scale", structure, search, scaled.scale, y[rows]
            )
            contenders.append(replace(own, mode_only=True, factors=best.factors))
    return contenders


def fitting_rows(X: np.ndarray, settings: RowSettings) -> np.ndarray:
    """The rows to which the members are fitted: all, or a part that is the same at every call.

    Of a large table half of them are a few rows with their neighbours: rows drawn at random are far apart, and what
    varies between neighbours would be taken for noise.
    """
    generator = np.random.default_rng(0)
    if len(X) <= settings.fit:
        return np.arange(len(X))
    if len(X) <= settings.exact_table:
        return np.sort(generator.choice(len(X), settings.fit, replace=False))
    size = settings.fit // 2 // settings.pieces
    centres = X[generator.choice(len(X), settings.pieces, replace=False)]
    near = [np.argpartition(np.sum((X - centre) ** 2, axis=1), size)[:size] for centre in centres]
    others = np.setdiff1d(np.arange(len(X)), near)
    spread = generator.choice(others, settings.fit - len(np.unique(near)), replace=False)
    return np.union1d(near, spread)


def _useful(found: Sequence[Scaled], y: np.ndarray) -> list[Scaled]:
    """The scales whose pools have a share in leave-one-out predictions, if fits to more rows are ahead."""
    settings = found[0].search.settings
    if len(found) == 1 or len(found[0].search.y) == len(y):
        return list(found)
    contenders = []
    for scaled in found:
        assert scaled.whole is not None
        seen = scaled.scale.inverse(scaled.search.y)
        own = Contender("", scaled.whole, scaled.search, scaled.scale, seen, mode_only=True)
        contenders.append(replace(own, factors=scaled.search.factors))
    own, quick = found[0].search, replace(settings, stacking=replace(settings.stacking, sampled_rows=0))
    shares, _, _ = stacked_members(contenders, own.X, found[0].scale.inverse(own.y), quick)
    return [scaled for scaled, share in zip(found, shares, strict=True) if share >= settings.averaging.smallest_share]


def _on_rows(scaled: Scaled, X: np.ndarray, y: np.ndarray) -> tuple[tuple[Search, Structure], Structure | None]:
    """The pools of a scale, fitted to the rows of the members, from their values on the rows of the search."""
    search, whole = scaled.search, scaled.whole
    assert whole is not None
    rows, fits = fitting_rows(X, search.settings.rows), search.settings.fits
    search.tell("shrinking a pool of candidates", np.nan)
    # of few rows leave-one-out predictions say too little about more members; but interactions of categories are
    # nowhere else
    many = len(y) > search.settings.rows.part
    parts = search.all_orders(whole) if many or search.coded else []
    orders = search.fit(parts, whole.noise, fits.final_iterations, fits.final_tolerance) if parts else None
    if len(rows) == len(search.y):
        return (search, whole), orders
    larger = replace(search, X=X[rows], y=scaled.scale.forward(y[rows]), covariance=covariance_of(X[rows]))
    larger = larger if scaled.factors is None else replace(larger, factors=scaled.factors[rows])
    found = [
        one and larger.fit(one.parts, one.noise, fits.final_iterations, fits.final_tolerance) for one in (whole, orders)
    ]
    assert found[0] is not None
    return (larger, found[0]), found[1]


def _height(scaled: Scaled, X: np.ndarray, y: np.ndarray) -> float:
    """The log evidence of the pool for y in its own units, with the prior log odds of the scale."""
    assert scaled.pool is not None
    search, pool = scaled.pool
    jacobian = scaled.scale.log_jacobian(y[fitting_rows(X, search.settings.rows)])
    return pool.score + jacobian + search.settings.scales.preference(scaled.scale.transform.name)
