"""What the explanation and the pool of a table can be made of: candidates of several inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from farrier.kernels.algebra import Base, Kernel
from farrier.kernels.registry import (
    WARPED_FAMILIES,
    Category,
    CentredPeriodic,
    Matern12,
    RationalQuadratic,
    SquaredExponential,
)
from farrier.search import candidates, table_candidates
from farrier.search.beliefs import PRIOR_SCALE
from farrier.search.candidates import distinct
from farrier.search.empty_cells import acts_on, beyond_average, flags_of
from farrier.search.evidence import VERY_STRONG
from farrier.search.periods import Lattice
from farrier.search.scoring import Evaluator
from farrier.search.structure import Move, Part, Structure
from farrier.search.table_candidates import Warps
from farrier.search.thresholds import threshold_kernels

TABLE_ROWS = 400
"""Most rows of a table that the search uses; more rows are predicted by interactions of all orders too, which on yacht
and servo raised the error. [rows; commit 27ef618: time of concrete, 193 s before, 56 s after]"""

INTERACTIONS = 4
"""Pairs and triples of inputs that are tried in a round: those with the highest score. [sets; by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """What is known of the columns of a table before y is looked at."""

    warps: Warps
    """The inputs that are numbers, and their transforms."""
    lattices: tuple[Lattice, ...] = ()
    """Pairs of numbers over which y has a pattern that repeats."""

    def moves(self, evaluator: Evaluator, structure: Structure) -> list[Move]:
        """Additional components, and what may take the place of one."""
        kernels = [part.kernel for part in structure.parts]
        found = [Move(kernel) for kernel in self._additional(evaluator, structure, kernels)]
        for i, kernel in enumerate(kernels):
            # without the inputs in which it is flat: lengthscales above five standard deviations
            narrow = candidates.narrowed(kernel, 5.0)
            others = ([] if narrow is None else [narrow]) + candidates.simpler(kernel)
            others += table_candidates.simpler(kernel) + _sharper(evaluator, structure, i)
            found += [Move(one, i) for one in others]
        return found

    def ordinary(self, evaluator: Evaluator, found: Sequence[Kernel]) -> list[Kernel]:
        """The ordinary candidates, without those in `found`."""
        made = table_candidates.ordinary(self.warps, found, many=_many(evaluator))
        return [*made, *distinct(self._patterns(), found)]

    def all_orders(self, evaluator: Evaluator, whole: Structure) -> list[Part]:
        """Interactions of all orders, all numbers together as they are in the pool of the ordinary candidates, each
        category and what repeats; nothing for a table without numbers."""
        numbers, inputs = self.warps.columns, self.warps.inputs
        if not numbers:
            return []
        joint = (SquaredExponential, RationalQuadratic, Matern12, *WARPED_FAMILIES)
        kept = [part for part in whole.parts if _together(part.kernel, joint, len(numbers), inputs)]
        kept += [part for part in whole.parts if _has(part.kernel, Category) or _has(part.kernel, CentredPeriodic)]
        orders = table_candidates.all_orders(self.warps)
        return [evaluator.part(orders, PRIOR_SCALE), *kept]

    def without_flags(self, evaluator: Evaluator, structure: Structure) -> Structure:
        """The structure without effects of empty cells that are no more than the average effect of the number.

        The pool that predicts keeps them.
        """
        flags = flags_of(evaluator.X, self.coded)
        if not flags or structure.model is None:
            return structure
        grams, inputs = evaluator.covariance.grams(structure.model.pool), evaluator.X.shape[1]
        weighted = [part.weight**2 * K for part, K in zip(structure.parts, grams, strict=False)]
        acting = [acts_on(part.kernel, inputs) for part in structure.parts]
        C = evaluator.noisy(evaluator.covariance_at(structure), structure)
        for flag, number in flags.items():
            own = [K for K, there in zip(weighted, acting, strict=True) if there == {flag}]
            effect = [K for K, there in zip(weighted, acting, strict=True) if there == {number}]
            if not own or not effect:
                continue
            covariances = np.sum(own, axis=0), np.sum(effect, axis=0), C
            evidence = beyond_average(*covariances, evaluator.y, evaluator.X[:, flag] > 0.0)
            if evidence < VERY_STRONG:
                kept = [part for part, there in zip(structure.parts, acting, strict=True) if there != {flag}]
                return self.without_flags(evaluator, evaluator.fit(kept, structure.noise))
        return structure

    def _additional(self, evaluator: Evaluator, structure: Structure, found: Sequence[Kernel]) -> list[Kernel]:
        """Candidates for an additional component."""
        warps, coded = self.warps, self.coded
        flags = flags_of(evaluator.X, coded)
        useful = _by_correlation(evaluator, structure) if coded else []
        sets = table_candidates.sets_of_inputs(warps.columns)
        scores = evaluator.interaction_scores(structure, sets)
        best = [sets[i] for i in np.argsort(-scores)[:INTERACTIONS] if scores[i] > 0.0]
        # where cells are empty y varies more, which a product of the flag would take for an interaction
        levels, many = [c for c in coded if c not in flags], _many(evaluator)
        made = table_candidates.additional(warps, levels, found, best, useful, many=many)
        thresholds = _thresholds(evaluator, structure, evaluator.covariance_at(structure), warps.columns)
        return distinct([*table_candidates.categories(warps), *made, *thresholds, *self._patterns()], found)

    @property
    def coded(self) -> tuple[int, ...]:
        """The inputs that are codes of categories."""
        return tuple(d for d in range(self.warps.inputs) if d not in self.warps.columns)

    def _patterns(self) -> list[Kernel]:
        """What repeats over two numbers."""
        return [kernel for lattice in self.lattices for kernel in lattice.kernels()]


def _many(evaluator: Evaluator) -> bool:
    """Whether the rows are as many as are searched: with fewer, another kernel of all inputs raises the error."""
    return len(evaluator.y) >= TABLE_ROWS


def _sharper(evaluator: Evaluator, structure: Structure, place: int) -> list[Kernel]:
    """A jump and a bend in place of a component that is a curve of one number: both have fewer parameters."""
    first, *more = structure.parts[place].kernel.products()[0]
    if more or first.dims is None or len(first.dims) != 1 or first.kind not in table_candidates.CURVED:
        return []
    own = structure.parts[place].weight ** 2 * first.gram(evaluator.X, evaluator.X)
    return _thresholds(evaluator, structure, evaluator.covariance_at(structure) - own, [int(d) for d in first.dims])


def _thresholds(evaluator: Evaluator, structure: Structure, C: np.ndarray, columns: Sequence[int]) -> list[Kernel]:
    """Jumps and bends of some numbers beside components with the covariance C; none for classes and counts, whose rows
    say too little of the shape of an effect."""
    if evaluator.noise.known:
        return []
    return threshold_kernels(evaluator.X, columns, np.linalg.inv(evaluator.noisy(C, structure)), evaluator.y)


def _by_correlation(evaluator: Evaluator, structure: Structure) -> list[int]:
    """The inputs by their absolute correlation with the residual, highest first."""
    left = evaluator.residual(structure)
    score = [abs(float(np.corrcoef(x, left)[0, 1])) for x in evaluator.X.T]
    return [int(d) for d in np.argsort(score)[::-1]]


def _has(kernel: Kernel, family: type[Base]) -> bool:
    """Whether a factor of a product is of a family."""
    return any(isinstance(factor, family) for factor in kernel.products()[0])


def _together(kernel: Kernel, families: tuple[type[Base], ...], numbers: int, inputs: int) -> bool:
    """Whether a product is one kernel of these families, of as many inputs as there are numbers."""
    first, *more = kernel.products()[0]
    return not more and isinstance(first, families) and len(first.positions(inputs)) == numbers
