"""The search for a structure: components are added, replaced and dropped until no change improves the score.

The score of a structure is its log evidence (scoring.py). In each round

1. candidates come from the residual (candidates.py), as additional components or in place of a component;
2. they are screened with all other parameters fixed;
3. the best are fitted together with the whole structure;
4. components without which the evidence is not lower are dropped.

The search starts from a shrunk pool of ordinary candidates, from nothing, and from two regimes. It compares the ends
with single ordinary components, and keeps the best. For a series it ends when its work is done (scoring.py). It uses
only the rows it is given. Each decision is kept in a record.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.search import candidates, regressors
from farrier.search.cycles import fit_ordinary
from farrier.search.periods import find_periods
from farrier.search.simplifying import Simplifying
from farrier.search.structure import Move, Part, Structure


@dataclass
class Search(Simplifying):
    """A search for the structure of some rows."""

    whole_series_periods: Sequence[float] | None = None
    """The periods of the whole series, if the rows of the search are only a part of it."""
    calendar: tuple[Kernel, ...] = ()
    """Patterns of the calendar over the first input, and daily cycles that differ between kinds of days."""

    def moves(self, structure: Structure) -> list[Move]:
        """The moves of the next round: additional components, and components times a line or a smooth kernel, or only
        before or after a changepoint that another component has; and a curve in place of the line of a regressor.
        """
        beside = [Move(kernel) for kernel in self.propose(structure)]
        if self.of_table:
            return beside
        extent = candidates.Extent.of(self.X[:, 0])
        kernels, own = [part.kernel for part in structure.parts], self.settings.candidates
        changes = candidates.changes_of(kernels, own)
        grown = [
            Move(self.on_time(more), i)
            for i, kernel in enumerate(kernels)
            for one in candidates.over_time([kernel])
            for more in [*candidates.grown(one, extent, own), *candidates.sides(one, changes, extent, own)]
        ]
        bent = [Move(curve, i) for i, line in enumerate(kernels) for curve in regressors.curves_for(line, self.X, own)]
        return [*beside, *grown, *bent]

    def propose(self, structure: Structure) -> list[Kernel]:
        """Candidates for an additional component in the next round."""
        found = [part.kernel for part in structure.parts]
        own = self.settings.candidates
        if self.of_table:
            return self.table(structure, found)
        place, gain = self.change(structure)
        changed = place if gain > np.log(len(self.y)) else None
        over = candidates.over_time(found)
        known = [*self.known, *(self.whole_series_periods or ())]
        series = candidates.series(
            self.X[:, 0], self.residual(structure), known, over, changed, self.beliefs, self.settings
        )
        series += candidates.of_calendar(self.calendar, over, own)
        return [*map(self.on_time, series), *regressors.effects(self.X, found, own)]

    def ordinary(self, periods: Sequence[float], found: Sequence[Kernel]) -> list[Kernel]:
        """The ordinary candidates: common trends and cycles of a series and lines of its regressors, or curves of each
        input of a table."""
        if self.of_table:
            return self.ordinary_table(found)
        own, over = self.settings.candidates, candidates.over_time(found)
        if self.beliefs.of_time:
            series = candidates.ordinary_series(self.beliefs, periods, over, own)
        else:
            series = candidates.ordinary_curve(self.X[:, 0], periods, over, own)
        return [*map(self.on_time, series), *regressors.lines(self.X.shape[1], found)]

    def promising(self, structure: Structure) -> list[Move]:
        """The moves with the highest gain at fixed parameters, best first; one for each formula and place."""
        moves, settings = self.moves(structure), self.settings.growing
        gains = self.screen(structure, moves)
        chosen: dict[tuple[str, int | None], Move] = {}
        for i in candidates.steps_last([move.kernel for move in moves], gains):
            move, beside = moves[i], moves[i].place is None
            dated = beside and candidates.is_calendar(move.kernel)
            alike = [
                one
                for one in chosen.values()
                if (one.place is None) == beside and (beside and candidates.is_calendar(one.kernel)) == dated
            ]
            tries = settings.tries_beside if beside else settings.tries_in_place
            if gains[i] >= -settings.hopeless_margin and len(alike) < tries:
                chosen.setdefault((move.kernel.formula(), move.place), move)
        return list(chosen.values())

    def grow(self, structure: Structure, round: int) -> Structure | None:
        """The structure after the first promising move that improves the score, or None."""
        settings = self.settings.growing
        for move in self.promising(structure):
            parts = self.after(structure, move)
            least = -np.inf if structure.terms is None else structure.terms.evidence
            grown = self.fit(parts, structure.noise * settings.noise_factor, least=least)
            if grown.score > structure.score - settings.prune_margin:
                grown = self.prune(grown, round)
            gain = grown.score - structure.score
            if gain < settings.refit_gain and _formulas(grown) == _formulas(structure):
                self.note(round, "tried", move.kernel, gain, "no more evidence")
                continue
            if gain > 0.0 and self.cycles_repeat(grown):
                instead = "" if move.place is None else f", in place of {structure.parts[move.place].kernel.formula()}"
                self.note(round, "kept", move.kernel, gain, f"more evidence{instead}")
                return grown
            reason = "no more evidence" if gain <= 0.0 else "noise, or a cycle that does not come round"
            self.note(round, "tried", move.kernel, gain, reason)
        return None

    def after(self, structure: Structure, move: Move) -> list[Part]:
        """The components after a move, not yet fitted."""
        if move.place is None:
            return [*structure.parts, self.part(move.kernel, self.settings.priors.scale)]
        new = self.part(move.kernel, structure.parts[move.place].weight)
        return [new if i == move.place else part for i, part in enumerate(structure.parts)]

    def periods(self) -> list[float]:
        """The periods of y; empty for a table."""
        if self.of_table:
            return []
        if self.whole_series_periods is not None:
            return list(self.whole_series_periods)
        settings = self.settings
        return find_periods(self.X[:, 0], self.y, settings.candidates.most_periods, self.known, settings.periods)

    def seasons(self) -> list[float]:
        """The periods of the ordinary candidates: those of the calendar, or those of y if the rows have no dates."""
        clock = self.beliefs.clock
        if clock is not None and (clock.seasons or clock.complete):
            return list(clock.seasons)
        return self.periods()[: 1 if self.beliefs.of_time else None]

    def whole(self, periods: Sequence[float], near: Structure | None = None) -> Structure:
        """All ordinary candidates, fitted together under the horseshoe prior, from the values of a similar structure.

        It is a second starting point: growing from nothing can end with one short-lengthscale curve that explains
        everything, so that no cycle improves the score any more.
        """

        def parts(periods: Sequence[float]) -> list[Part]:
            return [self.part(kernel, self.beliefs.scale(kernel)) for kernel in self.ordinary(periods, [])]

        self.tell("shrinking a pool of candidates", np.nan)
        return fit_ordinary(self, parts, periods, near)

    def shrunk(self, whole: Structure) -> Structure:
        """The large components of a shrunk pool, pruned."""
        self.tell("pruning the pool", whole.score)
        sizes, settings = self.sizes(whole), self.settings.growing
        large = [i for i in np.argsort(sizes)[::-1] if sizes[i] > settings.smallest_size][: settings.most_kept]
        for i, part in enumerate(whole.parts):
            if i not in large:
                self.note(0, "shrunk", part.kernel, 0.0, "adds next to nothing")
        if not large:
            return self.empty()
        return self.prune(self.fit([whole.parts[i] for i in large], whole.noise), 0)

    def split(self) -> Structure | None:
        """A third starting point: one simple kernel before a changepoint, another one after it.

        The two sides share only the noise variance, so they are evaluated separately. None if no split is better than
        one simple kernel for all rows.
        """
        self.tell("looking for a changepoint", np.nan)
        settings, own = self.settings.changepoints, self.settings.candidates
        order = np.argsort(self.X[:, 0])
        x, y = self.X[order, 0], self.y[order]
        found: list[tuple[float, float, Kernel, Kernel]] = []
        for count in candidates.split_rows(x, settings.splits):
            sides = [self.best_simple_kernels(x[rows], y[rows]) for rows in (slice(None, count), slice(count, None))]
            time = 0.5 * (x[count - 1] + x[count])
            found += [(left[0] + right[0], time, left[1], right[1]) for left, right in zip(*sides, strict=True)]
        best_of_one = max(one[0] for one in self.best_simple_kernels(x, y))
        if not found or max(one[0] for one in found) < best_of_one + self.settings.growing.strong_evidence:
            return None
        starts: list[Structure] = []
        for _, time, left, right in sorted(found, key=lambda one: -one[0])[: settings.split_fits]:
            step = candidates.step_at(time, candidates.Extent.of(x), own)
            parts = [self.part(kernel, settings.split_weight) for kernel in ((1 - step) * left, step * right)]
            starts.append(self.shift(self.fit(parts, self.settings.fits.start_noise), 0))
        return self.prune(max(starts, key=lambda one: one.score), 0)

    def shift(self, structure: Structure, round: int) -> Structure:
        """The structure with its changepoints at the locations of highest score.

        Locations are tried one by one, because a gradient step does not move a sharp changepoint across rows.
        """
        own, most = self.settings.candidates, self.settings.changepoints.places
        if self.of_table:
            return structure
        for change in candidates.changes_of([part.kernel for part in structure.parts], own):
            between = candidates.places_between(np.sort(self.X[:, 0]), 3)
            places = between[:: max(1, len(between) // most)]
            if not len(places):
                continue
            values = self.log_densities_at_places(structure, change, places)
            best = int(np.argmax(values[1:]))
            if values[1 + best] <= values[0]:
                continue
            kernels = [candidates.moved(part.kernel, change, places[best], own) for part in structure.parts]
            parts = [self.part(k, part.weight) for k, part in zip(kernels, structure.parts, strict=True)]
            shifted = self.fit(parts, structure.noise)
            if shifted.score > structure.score and self.cycles_repeat(shifted):
                self.note(round, "moved", parts[0].kernel, shifted.score - structure.score, "another time of change")
                structure = shifted
        return structure

    def best(self, start: Structure) -> Structure:
        """The best structure from a given start and, for a series, from nothing, two regimes and one component."""
        settings = self.settings.growing
        ends = [self.run(start=start)]
        if not self.of_table and not self.exhausted:
            ends.append(self.run())
            other = self.split() if self.rows is None and not self.exhausted else None
            if other is not None and other.score > max(end.score for end in ends) - settings.start_margin:
                ends.append(self.run(start=other))
            ends.append(self.single())
        ends += [other for end in ends if (other := self.dated(end)) is not None]
        top = max(end.score for end in ends)
        # a shrunk pool has rough and damped components until it is simplified, so each end is before they are compared
        ends = [self._simplest(end) for end in _distinct(ends) if end.score > top - settings.hopeless_margin]
        found = max(ends, key=lambda end: end.score)
        # a start may hold components that were never compared with noise alone
        plain = self.plain([] if self.of_table else [p for p in found.parts if regressors.acts_on(p.kernel)])
        # the evidence of sites is that of rows only where they were made
        needed = 0.0 if self.of_table or self.rows is not None else settings.strong_evidence
        return found if found.score > plain.score + needed else plain

    def plain(self, effects: Sequence[Part] = ()) -> Structure:
        """What is believed of a series unless the evidence against it is strong: noise alone, or a random walk.

        Beside these there may be effects of regressors: the user has named them, so that none was chosen among many.
        """
        walk, noise = None if self.of_table else self.beliefs.walk, self.settings.fits.start_noise
        plain = self.fit(effects, noise) if effects else self.empty()
        if walk is None:
            return plain
        wandering = self.fit([self.part(walk, self.beliefs.scale(walk)), *effects], noise)
        return max(plain, wandering, key=lambda one: one.score)

    def single(self) -> Structure:
        """The best structure of one ordinary component, of one change of level, or of none."""
        self.tell("trying single components", np.nan)
        place, _ = self.change(self.empty())
        step = candidates.step_at(place, candidates.Extent.of(self.X[:, 0]), self.settings.candidates)
        kernels, noise = [*self.ordinary(self.seasons(), []), step], self.settings.fits.start_noise
        best = self.empty()
        for kernel in kernels:
            # the score is the log likelihood minus what the parameters cost, so that it cannot be above it
            alone = self.fit([self.part(kernel, self.beliefs.scale(kernel))], noise, least=best.score)
            best = max(best, alone, key=lambda one: one.score)
        return best

    def dated(self, structure: Structure) -> Structure | None:
        """The structure with all patterns of the calendar in place of its steps, pruned and grown; None without steps.

        A set of steps may hold what repeats, though each step had evidence when it was added.
        """
        kept = [part for part in structure.parts if not candidates.has_step(part.kernel)]
        over = candidates.over_time([part.kernel for part in kept])
        patterns = candidates.of_calendar(self.calendar, over, self.settings.candidates)
        if not patterns or len(kept) == len(structure.parts):
            return None
        weight = self.settings.priors.scale
        start = self.fit([*kept, *(self.part(kernel, weight) for kernel in patterns)], structure.noise)
        return self.run(start=self.prune(start, 0, thoroughly=True))

    def continued(self, start: Structure | None) -> Structure:
        """The structure after a search from one start, where None stands for nothing, or from the shrunk pool.

        A start that was found on other rows may hold a short curve that explains everything.
        """
        ends = [self.run(start=start), self.run(start=self.shrunk(self.whole(self.seasons())))]
        return self._simplest(max(ends, key=lambda end: end.score))

    def _simplest(self, structure: Structure) -> Structure:
        """The structure without components and factors that it does not need, and without those that are noise."""
        self.tell("simplifying the structure", structure.score)
        last = self.settings.growing.rounds + 1
        kept = [part for part in structure.parts if not self._is_noise(part.kernel)]
        if len(kept) < len(structure.parts):
            structure = self.fit(kept, structure.noise)
        pruned = self.prune(structure, last, thoroughly=True)
        simpler = self.simplify(pruned, last)
        if simpler is not pruned and not self.of_table:
            # a period in place of that of its harmonic makes another harmonic superfluous
            simpler = self.prune(simpler, last, thoroughly=True)
        return self.without_flags(simpler, last)

    def run(self, rounds: int | None = None, start: Structure | None = None) -> Structure:
        """Rounds of growing until no move improves the score."""
        structure = start or self.empty()
        first = max((decision.round for decision in self.record), default=0) + 1
        for round in range(first, first + (rounds or self.settings.growing.rounds)):
            self.tell("growing from nothing" if start is None else "growing the structure", structure.score)
            grown = None if self.exhausted else self.grow(structure, round)
            if grown is None:
                break
            structure = self.shift(grown, round)
        return structure

    def _is_noise(self, kernel: Kernel) -> bool:
        """Whether a component of a series is noise by itself."""
        if self.of_table:
            return False
        extent, own = candidates.Extent.of(self.X[:, 0]), self.settings.candidates
        return any(candidates.is_noise(one, extent, own) for one in candidates.over_time([kernel]))

    def cycles_repeat(self, structure: Structure) -> bool:
        """Whether every cycle repeats often enough inside its active window, and no component is noise by itself."""
        extent, own = candidates.Extent.of(self.X[:, 0]), self.settings.candidates
        kernels = [part.kernel for part in structure.parts]
        if any(self._is_noise(kernel) for kernel in kernels):
            return False
        return all(candidates.repeats_inside_window(kernel, extent, own) for kernel in kernels)


def _distinct(structures: Sequence[Structure]) -> list[Structure]:
    """The structures by their score, highest first, without those of the same components as one before."""
    best: dict[tuple[str, ...], Structure] = {}
    for one in sorted(structures, key=lambda one: one.score, reverse=True):
        best.setdefault(tuple(_formulas(one)), one)
    return list(best.values())


def _formulas(structure: Structure) -> list[str]:
    return sorted(part.kernel.formula() for part in structure.parts)
