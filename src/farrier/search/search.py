"""From data to structure: screen, shrink, prune, grow, until nothing new is worth its price.

The structure starts empty. In each round all candidates (candidates.py) are screened against what the components found
so far leave unexplained, and every component times a line or a drift in its own place (evaluate.py). The best is taken
and everything is fitted together under the horseshoe; then every component must show that it is worth its price
(beliefs.price), or goes. Nothing of this sees more than the rows it is given. Each decision is kept in a record.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from farrier.evaluation.products import HostPool
from farrier.evaluation.slots import SlotPool
from farrier.inference.beliefs import price
from farrier.kernels.algebra import Kernel
from farrier.search import candidates
from farrier.search.periods import find_periods, multiples_of
from farrier.search.scoring import LOSS_ITERATIONS, Evaluator
from farrier.search.structure import LEVEL, Decision, Move, Part, Structure, log_density

ROUNDS = 9
TRIES, INSTEAD = 2, 1
"""Candidates that are fitted in a round before it is given up: beside the components, and in the place of one."""
WORTH = 1.0
"""Nats beyond its price that a component must gain to be added."""
FIRST_WEIGHT = 0.5
CLOSE = 3.0
"""Nats below the structure before, within which dropping other components may bring a candidate back."""
HOPELESS = 6.0
"""Nats below the structure before, from which no further fit brings a candidate back."""
START_NOISE = 0.1
POOL_ITERATIONS = 100
POLISHED = 0.05
"""Nats that five steps must gain to go on, where the ends of several starts are compared."""
SMALL = 0.03
"""The part of y's standard deviation below which a component of the shrunk pool is small."""
MOST_LARGE = 8
SPLITS = tuple(k / 10 for k in range(2, 9))
"""Where a change of regime is tried, as parts of the rows."""
SPLIT_NOISE = (0.05, 0.3)
SPLIT_TRIES = 2
SPLIT_GAIN = 5.0
"""Nats by which two simple things must be better than one."""
MOST_PLACES = 60
"""Times at which a change is tried again."""
HOPEFUL = 15.0
"""Nats that a second start may lie behind and still be grown."""
FLAT = (5.0, 10.0, 20.0)
"""Lengthscales of standardised inputs above which a kernel may hardly vary along an input."""
DOUBTFUL = 4.0
"""A component whose removal costs less than this beyond its price, the others as they are, is put to the test."""


@dataclass
class Search(Evaluator):
    """The moves from structure to structure."""

    shown: Sequence[float] | None = None
    """The periods that all rows show, where the rows here are a part of them."""
    record: list[Decision] = field(default_factory=list)
    runners: list[Structure] = field(default_factory=list)
    """Where other starts ended, if that is not far behind the best."""
    refused: set[str] = field(default_factory=set)
    """Structures with fewer inputs that were no better."""
    timed: bool = False
    """Whether the first of several inputs is time: then it has the candidates of a series."""

    def change(self, structure: Structure) -> tuple[float, float]:
        """The place after which a change of level would help most, and its gain: exact, for all places at once."""
        order = np.argsort(self.X[:, 0])
        C = self.noisy(self.covariance_at(structure), structure)
        C, y, x = C[np.ix_(order, order)], self.y[order], self.X[order, 0]
        inverse = np.linalg.inv(C)
        # with s the step: q = s' C^-1 y, h = s' C^-1 s, and the best weight gains (z - 1 - log z) / 2, z = q^2 / h
        q = np.cumsum((inverse @ y)[::-1])[::-1]
        h = np.diagonal(np.cumsum(np.cumsum(inverse[::-1, ::-1], axis=0), axis=1))[::-1]
        z = np.maximum(q**2 / np.maximum(h, 1e-12), 1.0)
        gain = 0.5 * (z - 1.0 - np.log(z))
        gain[:4] = gain[-3:] = 0.0
        gain[1:][x[1:] == x[:-1]] = 0.0  # no change between rows of one x
        t = int(np.argmax(gain))
        return 0.5 * (x[t] + x[t - 1]), float(gain[t])

    def moves(self, structure: Structure) -> list[Move]:
        """What may be done in the next round: candidates beside the components, or one that grows where it stands."""
        beside = [Move(kernel) for kernel in self.propose(structure)]
        if self.X.shape[1] > 1:
            return beside
        extent = candidates.Extent.of(self.X[:, 0])
        grown = [(i, candidates.grown(part.kernel, extent)) for i, part in enumerate(structure.parts)]
        return [*beside, *(Move(kernel, i) for i, kernels in grown for kernel in kernels)]

    def propose(self, structure: Structure) -> list[Kernel]:
        """The candidates of the next round."""
        found = [part.kernel for part in structure.parts]
        table = candidates.table(self.X.shape[1], found, self._useful(structure)) if self.X.shape[1] > 1 else []
        if table and not self.timed:
            return table
        place, gain = self.change(structure)
        changed = place if gain > np.log(len(self.y)) else None
        over = candidates.over_time(found) if self.timed else found
        known = [*self.known, *(self.shown or ())]
        series = candidates.series(self.X[:, 0], self.residual(structure), known, over, changed)
        return candidates.beside(series, table) if self.timed else series

    def ordinary(self, periods: Sequence[float], found: Sequence[Kernel]) -> list[Kernel]:
        """The trends and cycles, or the curves of each input, that one would try without looking."""
        table = candidates.ordinary_table(self.X.shape[1], found) if self.X.shape[1] > 1 else []
        if table and not self.timed:
            return table
        over = candidates.over_time(found) if self.timed else found
        series = candidates.ordinary_series(self.X[:, 0], periods, over)
        return candidates.beside(series, table) if self.timed else series

    def _useful(self, structure: Structure) -> list[int]:
        left = self.residual(structure)
        score = [abs(float(np.corrcoef(self.X[:, d], left)[0, 1])) for d in range(self.X.shape[1])]
        return list(np.argsort(score)[::-1])

    def promising(self, structure: Structure) -> list[Move]:
        """The moves that gain most with all numbers as they stand, no two of one formula in one place; best first."""
        moves = self.moves(structure)
        gains = self.screen(structure, moves)
        chosen: dict[tuple[str, int | None], Move] = {}
        for i in np.argsort(gains)[::-1]:
            move, beside = moves[i], moves[i].place is None
            alike = [one for one in chosen.values() if (one.place is None) == beside]
            if gains[i] >= -HOPELESS and len(alike) < (TRIES if beside else INSTEAD):
                chosen.setdefault((move.kernel.formula(), move.place), move)
        return list(chosen.values())

    def grow(self, structure: Structure, round: int) -> Structure | None:
        """The structure with the best candidate that is worth its price, or None."""
        for move in self.promising(structure):
            grown = self.fit(after(structure, move), structure.noise * 0.7)
            if grown.score > structure.score - CLOSE:
                grown = self.prune(grown, round)
            gain = grown.score - structure.score
            if gain > WORTH and self.come_round(grown):
                instead = "" if move.place is None else f", in place of {structure.parts[move.place].kernel.formula()}"
                self._note(round, "kept", move.kernel, gain, f"worth its price{instead}")
                return grown
            reason = "not worth its price" if gain <= WORTH else "a cycle that does not come round"
            self._note(round, "tried", move.kernel, gain, reason)
        return None

    def narrow(self, structure: Structure, round: int) -> Structure:
        """The structure whose kernels act on those inputs only along which they vary."""
        for flat in FLAT:
            narrower = self._narrower(structure, flat, round)
            if narrower is not None:
                return narrower
        return structure

    def _narrower(self, structure: Structure, flat: float, round: int) -> Structure | None:
        narrower = [candidates.narrowed(part.kernel, flat) for part in structure.parts]
        formulas = " + ".join(str(new or part.kernel) for new, part in zip(narrower, structure.parts, strict=True))
        if all(new is None for new in narrower) or formulas in self.refused:
            return None
        parts = [
            part if new is None else Part(new, new, part.weight)
            for part, new in zip(structure.parts, narrower, strict=True)
        ]
        fitted = self.fit(parts, structure.noise)
        if fitted.score < structure.score:
            self.refused.add(formulas)
            return None
        first = next(part.kernel for part, new in zip(structure.parts, narrower, strict=True) if new is not None)
        self._note(round, "narrowed", first, fitted.score - structure.score, "some inputs do not matter")
        return fitted

    def simplify(self, structure: Structure, round: int) -> Structure:
        """The structure with simpler kernels where they are worth more: factors left out, smooth in place of rough."""
        tried: set[str] = set()
        improved = True
        while improved:
            improved = False
            for i, part in enumerate(structure.parts):
                for kernel in candidates.simpler(part.kernel):
                    move = f"{i}: {part.kernel.formula()} -> {kernel!r}"
                    if move in tried or improved:
                        continue
                    tried.add(move)
                    parts = [Part(kernel, kernel, p.weight) if j == i else p for j, p in enumerate(structure.parts)]
                    simpler = self.fit(parts, structure.noise, LOSS_ITERATIONS)
                    if structure.score > simpler.score > structure.score - HOPELESS:
                        simpler = self.fit(simpler.parts, simpler.noise)
                    gain = simpler.score - structure.score
                    if gain > 0:
                        self._note(round, "simplified", part.kernel, gain, f"{kernel.formula()} does as well")
                        structure, improved = simpler, True
        return structure

    def prune(self, structure: Structure, round: int, doubtful: float | None = None) -> Structure:
        """The structure without the components that are not worth their price."""
        doubtful = DOUBTFUL if doubtful is None else doubtful
        if self.X.shape[1] > 1:
            structure = self.narrow(structure, round)
        while len(structure.parts) > 1:
            worth = self.losses(structure) - [price(part.kernel, len(self.y)) for part in structure.parts]
            order = [i for i in np.argsort(worth) if worth[i] < doubtful]
            for i in order[: 2 if doubtful == DOUBTFUL else None]:
                fewer = [part for j, part in enumerate(structure.parts) if j != i]
                without = self.fit(fewer, structure.noise, LOSS_ITERATIONS)
                if structure.score - WORTH > without.score > structure.score - HOPELESS:
                    without = self.fit(without.parts, without.noise)
                if without.score > structure.score - WORTH:
                    self._note(
                        round,
                        "dropped",
                        structure.parts[i].kernel,
                        without.score - structure.score,
                        "no longer worth its price",
                    )
                    structure = without
                    break
            else:
                return structure
        return structure

    def periods(self) -> list[float]:
        """The periods that y shows; none with several inputs, unless the first is time."""
        if self.X.shape[1] > 1 and not self.timed:
            return []
        if self.shown is not None:
            return list(self.shown)
        return find_periods(self.X[:, 0], self.y, candidates.MOST_PERIODS, self.known)

    def whole(self, periods: Sequence[float]) -> Structure:
        """The ordinary trends and cycles of some periods all at once, shrunk.

        Growing from nothing ends in dead ends: a wiggly curve explains everything, and no season is missed.
        """
        kernels = self.ordinary(periods, [])
        start = [Part(kernel, kernel, 1.0 / np.sqrt(len(kernels))) for kernel in kernels]
        self.tell("shrinking a pool of candidates", np.nan)
        return self.fit(start, START_NOISE, POOL_ITERATIONS)

    def shrunk(self, whole: Structure) -> Structure:
        """The components of a shrunk pool that are large, without those that are not worth their price."""
        sizes = self.sizes(whole)
        large = [i for i in np.argsort(sizes)[::-1] if sizes[i] > SMALL][:MOST_LARGE]
        for i, part in enumerate(whole.parts):
            if i not in large:
                self._note(0, "shrunk", part.kernel, 0.0, "adds next to nothing")
        if not large:
            return self.empty()
        return self.prune(self.fit([whole.parts[i] for i in large], whole.noise), 0)

    def split(self) -> Structure | None:
        """A third place to start from: one simple thing until some time, another one after it.

        With nothing in common but the noise the two sides are independent, so that each is looked at alone. None where
        no split is better than one simple thing throughout.
        """
        order = np.argsort(self.X[:, 0])
        x, y = self.X[order, 0], self.y[order]
        found: list[tuple[float, float, Kernel, Kernel]] = []
        for count in candidates.starts_of_sides(x, SPLITS):
            sides = [self._simplest(x[rows], y[rows]) for rows in (slice(None, count), slice(count, None))]
            time = 0.5 * (x[count - 1] + x[count])
            found += [(left[0] + right[0], time, left[1], right[1]) for left, right in zip(*sides, strict=True)]
        if not found or max(one[0] for one in found) < max(one[0] for one in self._simplest(x, y)) + SPLIT_GAIN:
            return None
        starts: list[Structure] = []
        for _, time, left, right in sorted(found, key=lambda one: -one[0])[:SPLIT_TRIES]:
            step = candidates.step_at(x, time)
            parts = [Part(kernel, kernel, 0.7) for kernel in ((1 - step) * left, step * right)]
            starts.append(self.shift(self.fit(parts, START_NOISE), 0))
        return self.prune(max(starts, key=lambda one: one.score), 0)

    def shift(self, structure: Structure, round: int) -> Structure:
        """The structure with its changes at the place that suits the rows best: a sharp one does not slide there."""
        for change in candidates.changes_of([part.kernel for part in structure.parts]):
            between = candidates.places_between(np.sort(self.X[:, 0]), 3)
            places = between[:: max(1, len(between) // MOST_PLACES)]
            if not len(places):
                continue
            values = self._densities_of_places(structure, change, places)
            best = int(np.argmax(values[1:]))
            if values[1 + best] <= values[0]:
                continue
            kernels = [candidates.moved(part.kernel, change, places[best]) for part in structure.parts]
            parts = [Part(k, k, part.weight) for k, part in zip(kernels, structure.parts, strict=True)]
            shifted = self.fit(parts, structure.noise)
            if shifted.score > structure.score and self.come_round(shifted):
                self._note(round, "moved", parts[0].kernel, shifted.score - structure.score, "another time of change")
                structure = shifted
        return structure

    def _densities_of_places(self, structure: Structure, change: float, places: np.ndarray) -> list[float]:
        """The evidence with the changes where they are, and with one of them at each place, all else as it is."""
        pool = HostPool.of(SlotPool.of([part.kernel for part in structure.parts], 1))
        R = [kernel.correlation(pool.numbers, self.X, self.X)[0] for kernel in pool.kernels]
        near = {name: np.abs(pool.numbers[name] - change) < candidates.SAME_CHANGE for name in ("start", "end")}
        values = []
        for place in (None, *places):
            moved = {
                name: np.where(mask, place, pool.numbers[name]) for name, mask in near.items() if place is not None
            }
            C = np.diag(self.spread(structure)) + LEVEL.weight**2
            for part, kernel, R_i in zip(structure.parts, pool.kernels, R, strict=True):
                v, _ = kernel.profile({**pool.numbers, **moved}, self.X)
                C += (part.weight * v)[:, None] * R_i * (part.weight * v)[None, :]
            values.append(log_density(C, self.y))
        return values

    def _simplest(self, x: np.ndarray, y: np.ndarray) -> list[tuple[float, Kernel]]:
        """For each level of noise the evidence of the best simple kernel of some rows, and that kernel."""
        periods = find_periods(x, y, 1, self.known, candidates.SIDE_REPEATS)
        periods += multiples_of(x, y, periods, candidates.SIDE_REPEATS)
        kernels = candidates.simple(self.X[:, 0], periods)
        y = y - y.mean()
        grams = HostPool.of(SlotPool.of(kernels, 1)).gram(x[:, None], x[:, None])
        best = []
        for noise in SPLIT_NOISE:
            values = [log_density(float(np.var(y)) * K + noise * np.eye(len(x)), y) for K in grams]
            best.append((max(values), kernels[int(np.argmax(values))]))
        return best

    def best(self, start: Structure) -> Structure:
        """The best structure reached from a start and, for one input, from nothing and from two regimes."""
        ends = [self.run(start=start)]
        if self.X.shape[1] == 1:
            ends.append(self.run())
            other = self.split() if self.rows is None else None
            if other is not None and other.score > max(end.score for end in ends) - HOPEFUL:
                ends.append(self.run(start=other))
        ends = [self.fit(end.parts, end.noise, POOL_ITERATIONS, POLISHED) if end.parts else end for end in ends]
        grown = max(ends, key=lambda end: end.score)
        self.runners = [end for end in ends if end is not grown and end.score > grown.score - HOPEFUL]
        found = self.prune(grown, ROUNDS + 1, doubtful=np.inf) if len(grown.parts) > 2 else grown
        found = self.simplify(found, ROUNDS + 1)
        # the starts held components before any had to be worth its price
        empty = self.empty()
        if found.score > empty.score + WORTH:
            return found
        self.runners = []
        return empty

    def run(self, rounds: int | None = None, start: Structure | None = None) -> Structure:
        """Rounds of growing until nothing new survives."""
        structure = start or self.empty()
        first = max((decision.round for decision in self.record), default=0) + 1
        for round in range(first, first + (rounds or ROUNDS)):
            self.tell("looking for components", structure.score)
            grown = self.grow(structure, round)
            if grown is None:
                break
            structure = self.shift(grown, round)
        return structure

    def come_round(self, structure: Structure) -> bool:
        """Whether all cycles come round where they are on."""
        extent = candidates.Extent.of(self.X[:, 0])
        return all(candidates.comes_round(part.kernel, extent) for part in structure.parts)

    def _note(self, round: int, action: str, kernel: Kernel, gain: float, reason: str) -> None:
        self.record.append(Decision(round, action, kernel.formula(), gain, reason))


def after(structure: Structure, move: Move) -> list[Part]:
    """The components after a move, from which they are to be fitted."""
    if move.place is None:
        return [*structure.parts, Part(move.kernel, move.kernel, FIRST_WEIGHT)]
    weight = structure.parts[move.place].weight
    return [Part(move.kernel, move.kernel, weight) if i == move.place else p for i, p in enumerate(structure.parts)]
