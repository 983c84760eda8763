"""The choice of the scale of the target (identity, logarithm, square root) by evidence.

The same candidates are fitted on the identity and on the logarithm. A scale is searched further only while its score is
close to the best. The square root is tried last, with the structure that was found.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.algebra import Kernel
from farrier.model.finishing import search_rows
from farrier.model.target_scale import TargetScale, Transform, named, worth_trying
from farrier.model.tiers import Tell
from farrier.search.beliefs import Beliefs
from farrier.search.periods import find_periods
from farrier.search.search import Search
from farrier.search.settings import SearchSettings
from farrier.search.structure import Decision, Structure


def searched_scales(
    X: np.ndarray,
    y: np.ndarray,
    known: Sequence[float] | None,
    transform: str,
    timed: bool,
    tell: Tell,
    settings: SearchSettings,
    calendar: tuple[Kernel, ...] = (),
    coded: tuple[int, ...] = (),
    factors: np.ndarray | None = None,
) -> list["Scaled"]:
    """The scales of y that were searched to the end, with the structures found on them, best first."""
    scales = settings.scales
    tried = worth_trying(y, scales.smallest_ratio) if transform == "auto" else [named(transform)]
    searches = [
        Scaled.of(one, X, y, known, tell, settings, timed, calendar, coded, factors)
        for one in tried
        if one.name != "square root" or transform != "auto"
    ]
    # the same candidates on every scale, so that their bounds can be compared
    periods = searches[-1].search.seasons()
    near = None
    for scaled in searches:
        near = scaled.structure = scaled.whole = scaled.search.whole(periods, near)
    for scaled in (left := _close(searches, Scaled.total, scales.pool_margin)):
        scaled.structure = scaled.search.shrunk(scaled.structure)
    left = _close(left, Scaled.score, settings.growing.hopeless_margin)
    best = max(left, key=Scaled.score)
    tell("planning a search", best.score())
    best.structure = best.search.best(best.structure)
    for other in (one for one in left if one is not best):
        other.try_structure(best)
    found = sorted(left, key=Scaled.score, reverse=True)
    best = found[0]
    best.note_choice(searches)
    root = best.or_square_root(X, y, known, tell) if len(searches) > 1 else best
    return found if root is best else [root, *found]


def _close(searches: Sequence["Scaled"], height: Callable[["Scaled"], float], nats: float) -> list["Scaled"]:
    """The scales within `nats` of the best."""
    top = max(height(scaled) for scaled in searches)
    return [scaled for scaled in searches if height(scaled) > top - nats]


@final
@dataclass
class Scaled:
    """One scale of the target with its search."""

    scale: TargetScale
    jacobian: float
    """The log Jacobian of the rows that are searched."""
    search: Search
    structure: Structure
    whole: Structure | None = None
    """The shrunk pool of the ordinary candidates."""
    pool: tuple[Search, Structure] | None = None
    """The same for the rows of the members of a table (table_fits.py)."""
    orders: Structure | None = None
    """What else predicts a table: interactions of all orders, for the same rows as `pool`; None without numbers."""
    factors: np.ndarray | None = None
    """The noise variance of each row over the common one; None if all rows have the same."""

    @classmethod
    def of(
        cls,
        transform: Transform,
        X: np.ndarray,
        y: np.ndarray,
        known: Sequence[float] | None,
        tell: Tell,
        settings: SearchSettings,
        timed: bool = False,
        calendar: tuple[Kernel, ...] = (),
        coded: tuple[int, ...] = (),
        factors: np.ndarray | None = None,
    ) -> "Scaled":
        """The search on one scale, with nothing found yet."""
        scale = TargetScale.of(transform, y)
        rows, z = search_rows(X, settings, timed=timed), scale.forward(y)
        periods = None
        if (timed or X.shape[1] == 1) and len(rows) < len(y) and not coded:
            most = settings.candidates.most_periods
            periods = find_periods(X[:, 0], transform.forward(y), most, known or (), settings.periods)
        beliefs = Beliefs.of(X, known, settings.priors, timed=timed, coded=coded)
        search = Search(
            X[rows],
            z[rows],
            covariance_of(X[rows], timed=timed),
            known or (),
            tell,
            settings=settings,
            whole_series_periods=periods,
            beliefs=beliefs,
            calendar=calendar,
            coded=coded,
            factors=None if factors is None else factors[rows],
        )
        return cls(scale, scale.log_jacobian(y[rows]), search, search.empty(), factors=factors)

    def on_all_rows(self, X: np.ndarray, y: np.ndarray) -> "Scaled":
        """The same structure fitted to all rows; itself if the search has seen them all."""
        if len(self.search.y) == len(y):
            return self
        z, covariance = self.scale.forward(y), covariance_of(X, timed=self.search.of_series)
        search = replace(self.search, X=X, y=z, covariance=covariance, factors=self.factors)
        return replace(
            self, search=search, structure=search.fit(self.structure.parts, self.structure.noise), whole=None
        )

    def on_other_rows(self, X: np.ndarray, y: np.ndarray) -> "Scaled":
        """The search on this scale that goes on with other rows of the same data."""
        own = self.search
        clock = own.beliefs.clock
        known = own.known if clock is not None and clock.complete else None
        given = known, own.tell, own.settings, own.beliefs.of_time, own.calendar, own.coded
        other = Scaled.of(self.scale.transform, X, y, *given)
        start = other.search.fit(self.structure.parts, self.structure.noise) if self.structure.parts else None
        other.structure = other.search.continued(start)
        return other

    def try_structure(self, best: "Scaled") -> None:
        """The structure that was found on another scale, fitted on this one, and searched on if it is better here."""
        found = best.structure
        self.structure = self.search.fit(found.parts, found.noise) if found.parts else self.search.plain()
        if self.score() > best.score():
            self.structure = self.search.continued(self.structure)

    def score(self) -> float:
        """The score for y in its own units, plus the prior log odds of the scale."""
        preference = self.search.settings.scales.preference(self.scale.transform.name)
        return self.structure.score + self.jacobian + preference

    def total(self) -> float:
        """The log evidence for y in its own units, without the prior log odds of the scale."""
        return self.structure.score + self.jacobian

    def note_choice(self, others: Sequence["Scaled"]) -> None:
        """Add the scores of all scales, relative to the best other one, to the record."""
        for other in others if len(others) > 1 else ():
            gain = other.score() - max(o.score() for o in others if o is not other)
            action = "kept" if other is self else "dropped"
            name = f"scale: {other.scale.transform.name}"
            self.search.record.append(Decision(0, action, name, gain, "evidence of the scale"))

    def note_heights(self, names: Sequence[str], heights: Sequence[float]) -> None:
        """Add the scales of a table, best first, to the record, with the evidence of their pools."""
        for place, (name, height) in enumerate(zip(names, heights, strict=True) if len(names) > 1 else ()):
            gain = height - heights[1 if place == 0 else 0]
            action = "kept" if place == 0 else "averaged"
            self.search.record.append(Decision(0, action, f"scale: {name}", gain, "evidence of the scale"))

    def or_square_root(self, X: np.ndarray, y: np.ndarray, known: Sequence[float] | None, tell: Tell) -> "Scaled":
        """The square root scale if the same structure has a higher score on it, else this scale."""
        if not self.structure.parts:
            return self
        own = self.search
        given = known, tell, own.settings, own.beliefs.of_time, own.calendar, own.coded, self.factors
        root = Scaled.of(named("square root"), X, y, *given)
        root.structure = root.search.fit(self.structure.parts, self.structure.noise)
        gain = root.score() - self.score()
        better = gain > 0.0
        if better:
            root.structure = root.search.run(start=root.structure)
            root.whole = self.whole and root.search.fit(self.whole.parts, self.whole.noise)
        decision = Decision(0, "kept" if better else "dropped", "scale: square root", gain, "evidence of the scale")
        root.search.record[:0] = [*self.search.record, decision]
        self.search.record.append(decision)
        return root if better else self
