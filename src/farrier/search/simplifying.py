"""Simpler structures: components and factors that the evidence does not need are dropped."""

from dataclasses import dataclass

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import Linear, Matern12, RandomWalk
from farrier.search import candidates, regressors, table_candidates
from farrier.search.structure import Structure
from farrier.search.table_moves import TableMoves


@dataclass
class Simplifying(TableMoves):
    """Makes structures simpler."""

    @property
    def of_table(self) -> bool:
        """Whether the rows are a table: a category, or several inputs of which none is time."""
        return bool(self.coded) or not self.of_series

    def prune(self, structure: Structure, round: int, *, thoroughly: bool = False) -> Structure:
        """The structure without components whose removal improves the score.

        `thoroughly` fits every removal; otherwise only those of doubtful components.
        """
        settings = self.settings.growing
        doubtful, tries = (np.inf, None) if thoroughly else (settings.doubtful_margin, settings.doubtful_tries)
        if self.of_table:
            structure = self.narrow(structure, round)
        while len(structure.parts) > 1:
            worth = self.losses(structure) - self.prices(structure)
            order = [i for i in np.argsort(worth) if worth[i] < doubtful]
            for i in order[:tries]:
                fewer = [part for j, part in enumerate(structure.parts) if j != i]
                without = self.fit_briefly(fewer, structure, self._least(structure, i))
                if without.score > structure.score:
                    self.note(
                        round,
                        "dropped",
                        structure.parts[i].kernel,
                        without.score - structure.score,
                        "no less evidence without it",
                    )
                    structure = without
                    break
            else:
                return structure
        return structure

    def _least(self, structure: Structure, place: int) -> float:
        """The log likelihood below which a structure without one of its components, or with a simpler one in its place,
        is hopeless: what it saves is at most the price of that component."""
        assert structure.terms is not None
        price = float(self.prices(structure)[place])
        return structure.terms.evidence - max(price, 0.0) - self.settings.growing.hopeless_margin

    def simplify(self, structure: Structure, round: int) -> Structure:
        """The structure with simpler kernels where the score rises: fewer factors, smooth in place of rough ones, a
        jump or a bend in place of a curve, a season of the calendar in place of a period that it divides or is a
        multiple of, and, where no calendar tells the period, a longer one in place of that of its harmonic; and with a
        component that is there only before or after a change that another one has. That a level returns to its mean
        needs strong evidence: otherwise it wanders. So does a curve in a table, or of a regressor: otherwise the effect
        is a line.

        Each component is made as simple as it can be, and all again until none changes; a search that has done its work
        ends with the first round.
        """
        tried: set[str] = set()
        improved = True
        while improved:
            improved = False
            for i in range(len(structure.parts)):
                while (found := self._simpler(structure, i, round, tried)) is not None:
                    structure, improved = found, not self.exhausted
        return structure

    def _simpler(self, structure: Structure, place: int, round: int, tried: set[str]) -> Structure | None:
        """The structure with the first simpler kernel for one component that does as well; None if there is none.

        `tried` are the moves so far, and gets those that are tried now.
        """
        part = structure.parts[place]
        simpler = candidates.simpler(part.kernel, self.settings.candidates, self.beliefs.walk)
        simpler += [] if self.of_table else regressors.simpler(part.kernel)
        if self.warps is not None:
            simpler += table_candidates.simpler(part.kernel, self.settings.candidates)
            simpler += self.sharper(structure, place)
        for kernel in [*simpler, *self._other_periods(part.kernel), *self._sides(structure, place)]:
            move = f"{place}: {part.kernel.formula()} -> {kernel!r}"
            if move in tried:
                continue
            tried.add(move)
            found = self._in_place(structure, place, kernel)
            gain = found.score - structure.score
            walks = isinstance(kernel, RandomWalk) and isinstance(part.kernel, Matern12)
            straight = isinstance(kernel, Linear) and (self.of_table or bool(regressors.acts_on(kernel)))
            if gain > -(self.settings.growing.strong_evidence if walks or straight else 0.0):
                self.note(round, "simplified", part.kernel, gain, f"{kernel.formula()} does as well")
                return found
        return None

    def _other_periods(self, kernel: Kernel) -> list[Kernel]:
        """A product with other periods."""
        clock, found = self.beliefs.clock, candidates.in_season(kernel, self.known)
        if self.of_table or clock is None or clock.complete:
            return found
        return [*found, *candidates.longer(kernel, candidates.Extent.of(self.X[:, 0]), self.settings)]

    def _sides(self, structure: Structure, place: int) -> list[Kernel]:
        """A component of a series that is there only before or after a change of another one; none if the search has
        done its work."""
        if self.of_table or self.exhausted:
            return []
        own, kernels = self.settings.candidates, [part.kernel for part in structure.parts]
        changes = candidates.changes_of([kernel for i, kernel in enumerate(kernels) if i != place], own)
        extent = candidates.Extent.of(self.X[:, 0])
        return [
            side
            for one in candidates.over_time([kernels[place]])
            for side in candidates.sides(one, changes, extent, own)
        ]

    def _in_place(self, structure: Structure, place: int, kernel: Kernel) -> Structure:
        """The structure with another kernel for one of its components; fitted further only if that is promising."""
        parts = [self.part(kernel, p.weight) if j == place else p for j, p in enumerate(structure.parts)]
        return self.fit_briefly(parts, structure, self._least(structure, place))
