"""Small changes of a structure, judged by its evidence: what the projection hands over is polished here.

A component comes or goes, loses a factor, gets one, or another one takes its place (rows.py, table_moves.py).
Each change is first tried with all else fixed, and the best are fitted. The structure with the highest evidence is the
next one, until none is better.

Of two that do nearly as well the simpler one is told: a level that wanders instead of one that returns to its mean, and
a line instead of a curve of a regressor or of a column of a table, unless the evidence against it is strong.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from farrier.kernels.registry import Matern12
from farrier.search import candidates
from farrier.search.beliefs import PRIOR_SCALE
from farrier.search.changepoints import shifted
from farrier.search.evidence import HOPELESS, PRICE, VERY_STRONG
from farrier.search.scoring import START_NOISE, Evaluator
from farrier.search.structure import Decision, Move, Part, Structure
from farrier.search.table_candidates import CURVED

TRIES = 4
"""Changes that are fitted in a step, the most promising first. [fits; by judgement]"""

LEAST_GAIN = 0.3
"""Gain of evidence that a change needs. [nats; by judgement]"""

Moves = Callable[[Evaluator, Structure], list[Move]]
"""The kernels that may come into a structure, additional or in place of a component."""


class Option(NamedTuple):
    """A change of a structure."""

    promise: float
    """About what it gains, with all else fixed. [nats]"""
    parts: list[Part]
    added: bool
    """Whether a component comes."""
    what: str


def polished(
    evaluator: Evaluator, structure: Structure, moves: Moves, record: list[Decision] | None = None
) -> Structure:
    """The structure after changes, as long as one has more evidence; each is added to the record."""
    tried: set[tuple[str, ...]] = {_names(structure.parts)}
    for turn in count(1):
        best, how = structure, ""
        for option in _options(evaluator, structure, moves(evaluator, structure)):
            if (names := _names(option.parts)) in tried:
                continue
            tried.add(names)
            fitted = _fitted(evaluator, structure, option)
            if worth(evaluator, fitted) > worth(evaluator, best) + LEAST_GAIN and _sensible(evaluator, fitted):
                best, how = fitted, option.what
        if best is structure:
            return structure
        evaluator.tell("polishing the explanation", best.score)
        if record is not None:
            record.append(Decision(turn, "changed", how, best.score - structure.score, "more evidence"))
        structure = best
    return structure


def plainest(evaluator: Evaluator, structure: Structure) -> Structure:
    """The structure, or noise alone or a random walk unless the evidence against these is strong.

    Beside these there may be effects of regressors: the user has named them, so that none was chosen among many.
    """
    walk, noise = evaluator.beliefs.walk, START_NOISE
    effects = [part for part in structure.parts if evaluator.of_series and candidates.acts_on(part.kernel)]
    plain = evaluator.fit(effects, noise) if effects else evaluator.empty()
    if walk is not None:
        wandering = evaluator.fit([evaluator.part(walk, evaluator.beliefs.scale(walk)), *effects], noise)
        plain = max(plain, wandering, key=lambda one: one.score)
    # a table may hold what is weak; and the evidence of sites is that of rows only where they were made
    needed = VERY_STRONG if evaluator.of_series and not evaluator.noise.known else 0.0
    return structure if structure.score > plain.score + needed else plain


def _fitted(evaluator: Evaluator, structure: Structure, option: Option) -> Structure:
    """The structure after a change, with its changepoints where they are best."""
    if not option.parts:
        return evaluator.empty()
    least = -np.inf if structure.terms is None else structure.terms.evidence
    if option.added:
        # what comes in takes some of the noise
        grown = evaluator.fit(option.parts, 0.7 * structure.noise, least=least)
    else:
        most = float(np.max(evaluator.prices(structure), initial=0.0))
        grown = evaluator.fit_briefly(option.parts, structure, least - most - HOPELESS)
    return shifted(evaluator, grown) if evaluator.of_series else grown


def _options(evaluator: Evaluator, structure: Structure, moves: Sequence[Move]) -> list[Option]:
    """The changes worth a fit, the most promising first."""
    parts, found = structure.parts, list[Option]()
    gains = evaluator.screen(structure, moves) if moves else ()
    for gain, move in zip(gains, moves, strict=True):
        place = move.place
        new = evaluator.part(move.kernel, PRIOR_SCALE if place is None else parts[place].weight)
        after = [*parts, new] if place is None else [new if i == place else part for i, part in enumerate(parts)]
        before = 0 if place is None else len(parts[place].kernel.products()[0])
        cost = PRICE * (len(move.kernel.products()[0]) - before)
        what = move.kernel.formula() + ("" if place is None else f" for {parts[place].kernel.formula()}")
        found.append(Option(gain - cost, after, place is None, what))
    if parts:
        for i, (loss, price) in enumerate(zip(evaluator.losses(structure), evaluator.prices(structure), strict=True)):
            left = [part for part in parts if part is not parts[i]]
            found.append(Option(price - loss, left, False, f"nothing for {parts[i].kernel.formula()}"))
    found = [one for one in found if one.promise > -HOPELESS]
    return sorted(found, key=lambda one: -one.promise)[:TRIES]


def worth(evaluator: Evaluator, structure: Structure) -> float:
    """The evidence, less what speaks against components that only strong evidence lets be told."""
    return structure.score - VERY_STRONG * sum(_doubted(evaluator, part) for part in structure.parts)


def _doubted(evaluator: Evaluator, part: Part) -> bool:
    first, *more = part.kernel.products()[0]
    if more:
        return False
    if evaluator.of_series and not candidates.acts_on(part.kernel):
        return isinstance(first, Matern12)
    return first.kind in CURVED and first.dims is not None and len(first.dims) == 1


def _sensible(evaluator: Evaluator, structure: Structure) -> bool:
    """Whether every cycle of a series repeats inside its window, and no component is noise by itself."""
    if not evaluator.of_series:
        return True
    extent = candidates.Extent.of(evaluator.X[:, 0])
    over = candidates.over_time([part.kernel for part in structure.parts])
    if any(candidates.is_noise(one, extent) for one in over):
        return False
    return all(candidates.repeats_inside_window(one, extent) for one in over)


def _names(parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(sorted(repr(part.kernel) for part in parts))
