"""Small changes of a structure, judged by its evidence: what the projection hands over is polished here.

A component goes, loses a factor, gets one, gets another one, is there only before or after a change, or has another
period; a change of level comes in. Each is first tried with all else fixed, and the best are fitted. The structure with
the highest evidence is the next one, until none is better.

Of two that do nearly as well the simpler one is told: a level that wanders instead of one that returns to its mean, and
a line instead of the curve of a regressor, unless the evidence against it is strong.
"""

from collections.abc import Sequence

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import Linear, Matern12, RandomWalk, Step, StepUntil
from farrier.search import candidates, regressors
from farrier.search.changepoints import Changepoints
from farrier.search.structure import Move, Part, Structure

STRONG = 5.0
"""Evidence that speaks very strongly: odds of 150 to 1 (Kass and Raftery, 1995). [nats]"""
HOPELESS = 6.0
"""Loss of evidence with all else fixed from which a change is not fitted. [nats; by judgement]"""
FITS = 5
"""Changes that are fitted in a round, the most promising first. [fits; by judgement]"""
ROUNDS = 8
"""Most rounds. [rounds; by judgement]"""
LEAST_GAIN = 0.3
"""Gain of evidence that a change needs. [nats; by judgement]"""


def polished(evaluator: Changepoints, structure: Structure) -> Structure:
    """The structure after changes in place, as long as one has more evidence."""
    tried: set[tuple[str, ...]] = {_names(structure)}
    for _ in range(ROUNDS):
        best, found = structure, _promising(evaluator, structure)
        for parts in found:
            names = tuple(sorted(repr(part.kernel) for part in parts))
            if names in tried:
                continue
            tried.add(names)
            fitted = evaluator.fit_briefly(parts, structure, -np.inf) if parts else evaluator.empty()
            fitted = shifted(evaluator, fitted)
            if _worth(fitted) > _worth(best) + LEAST_GAIN and _sensible(evaluator, fitted):
                best = fitted
        if best is structure:
            return structure
        structure = best
    return structure


def plainest(evaluator: Changepoints, structure: Structure) -> Structure:
    """The structure, or noise alone or a random walk unless the evidence against these is strong.

    Beside these there may be effects of regressors: the user has named them, so that none was chosen among many.
    """
    walk, noise = evaluator.beliefs.walk, evaluator.settings.fits.start_noise
    effects = [part for part in structure.parts if regressors.acts_on(part.kernel)]
    plain = evaluator.fit(effects, noise) if effects else evaluator.empty()
    if walk is not None:
        wandering = evaluator.fit([evaluator.part(walk, evaluator.beliefs.scale(walk)), *effects], noise)
        plain = max(plain, wandering, key=lambda one: one.score)
    return structure if structure.score > plain.score + STRONG else plain


def shifted(evaluator: Changepoints, structure: Structure) -> Structure:
    """The structure with its changepoints at the locations of highest evidence.

    Locations are tried one by one, because a gradient step does not move a sharp changepoint across rows.
    """
    own, most = evaluator.settings.candidates, evaluator.settings.changepoints.places
    for change in candidates.changes_of([part.kernel for part in structure.parts], own):
        between = candidates.places_between(np.sort(evaluator.X[:, 0]), 3)
        places = between[:: max(1, len(between) // most)]
        if not len(places):
            continue
        values = evaluator.log_densities_at_places(structure, change, places)
        best = int(np.argmax(values[1:]))
        if values[1 + best] <= values[0]:
            continue
        kernels = [candidates.moved(part.kernel, change, places[best], own) for part in structure.parts]
        parts = [evaluator.part(k, part.weight) for k, part in zip(kernels, structure.parts, strict=True)]
        moved = evaluator.fit(parts, structure.noise)
        if moved.score > structure.score:
            structure = moved
    return structure


def _worth(structure: Structure) -> float:
    """The evidence, less what speaks against components that only strong evidence lets be told."""
    curved = sum(
        regressors.acts_on(part.kernel) != () and not isinstance(part.kernel.products()[0][0], Linear)
        for part in structure.parts
    )
    returning = sum(
        len(factors) == 1 and isinstance(factors[0], Matern12)
        for factors in (part.kernel.products()[0] for part in structure.parts)
    )
    return structure.score - STRONG * (curved + returning)


def _sensible(evaluator: Changepoints, structure: Structure) -> bool:
    """Whether every cycle repeats inside its window, and no component is noise by itself."""
    extent, own = candidates.Extent.of(evaluator.X[:, 0]), evaluator.settings.candidates
    over = candidates.over_time([part.kernel for part in structure.parts])
    if any(candidates.is_noise(one, extent, own) for one in over):
        return False
    return all(candidates.repeats_inside_window(one, extent, own) for one in over)


def _promising(evaluator: Changepoints, structure: Structure) -> list[list[Part]]:
    """The components after each change worth a fit, the most promising first."""
    parts, moves = structure.parts, _moves(evaluator, structure)
    gains = list(evaluator.screen(structure, moves)) if moves else []
    options = [(gain, move) for gain, move in zip(gains, moves, strict=True)]
    found: list[tuple[float, list[Part]]] = []
    for gain, move in options:
        weight = evaluator.settings.priors.scale if move.place is None else parts[move.place].weight
        new = evaluator.part(move.kernel, weight)
        after = [*parts, new] if move.place is None else [new if i == move.place else p for i, p in enumerate(parts)]
        # what is saved or paid by fewer or more factors
        before = 0 if move.place is None else len(parts[move.place].kernel.products()[0])
        found.append((gain - 2.0 * (len(move.kernel.products()[0]) - before), after))
    losses = evaluator.losses(structure) if parts else []
    prices = evaluator.prices(structure) if parts else []
    for i, (loss, price) in enumerate(zip(losses, prices, strict=True)):
        found.append((price - loss, [part for j, part in enumerate(parts) if j != i]))
    found = [one for one in found if one[0] > -HOPELESS]
    return [after for _, after in sorted(found, key=lambda one: -one[0])[:FITS]]


def _moves(evaluator: Changepoints, structure: Structure) -> list[Move]:
    """Other kernels in place of one component, and a change of level where the rows show one."""
    own, kernels = evaluator.settings.candidates, [part.kernel for part in structure.parts]
    extent, beliefs = candidates.Extent.of(evaluator.X[:, 0]), evaluator.beliefs
    place, gain = evaluator.change(structure)
    fresh = [place] if gain > np.log(len(evaluator.y)) else []
    changes = candidates.changes_of(kernels, own) + fresh
    complete = beliefs.clock is not None and beliefs.clock.complete
    moves = [Move(evaluator.on_time(candidates.step_at(one, extent, own))) for one in fresh]
    for i, kernel in enumerate(kernels):
        if regressors.acts_on(kernel):
            others: Sequence[Kernel] = [
                *regressors.curves_for(kernel, evaluator.X, own),
                *regressors.simpler(kernel),
            ]
            moves += [Move(one, i) for one in others]
            continue
        (over,) = candidates.over_time([kernel])
        others = [
            *candidates.simpler(over, own, beliefs.walk),
            *candidates.grown(over, extent, own),
            *candidates.sides(over, changes, extent, own),
            *candidates.in_season(over, evaluator.known),
            *([] if complete else candidates.longer(over, extent, evaluator.settings)),
            *_unsided(over),
        ]
        moves += [Move(evaluator.on_time(one), i) for one in others]
    return moves


def _unsided(kernel: Kernel) -> list[Kernel]:
    """A walk for growth, and growth for a walk or a step."""
    factors = kernel.products()[0]
    if len(factors) != 1 or not isinstance(factors[0], RandomWalk | Step | StepUntil):
        return []
    return [Linear(0.0)]


def _names(structure: Structure) -> tuple[str, ...]:
    return tuple(sorted(repr(part.kernel) for part in structure.parts))
