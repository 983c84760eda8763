"""The part of the search that is about tables: candidates of several inputs, and inputs that a kernel does not need."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

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
from farrier.search import candidates, codes, empty_cells, table_candidates
from farrier.search.changepoints import Changepoints
from farrier.search.lattices import Lattice
from farrier.search.signatures import distinct
from farrier.search.structure import Decision, Part, Structure
from farrier.search.thresholds import threshold_kernels
from farrier.search.warps import Warps


@dataclass
class TableMoves(Changepoints):
    """Moves of a search over the rows of a table."""

    record: list[Decision] = field(default_factory=list)
    """All decisions, in their order."""
    rejected: set[str] = field(default_factory=set)
    """Formulas of structures with fewer inputs that were not better."""
    coded: tuple[int, ...] = ()
    """The inputs that are codes of categories."""
    warps: Warps | None = None
    """The transforms of the inputs of a table that are numbers; None for the candidates of likelihoods that are not
    Gaussian."""
    lattices: tuple[Lattice, ...] = ()
    """Pairs of numbers over which y has a pattern that repeats."""

    @property
    def flags(self) -> dict[int, int]:
        """The codes that say where the cells of a number are empty (data/input_columns.py), each with its number."""
        return empty_cells.flags_of(self.X, self.coded)

    @property
    def _many(self) -> bool:
        """Whether the rows are as many as a search uses: with fewer, another kernel of all inputs raises the error."""
        return len(self.y) >= self.settings.rows.part

    def table(self, structure: Structure, found: Sequence[Kernel]) -> list[Kernel]:
        """Candidates for an additional component of a table."""
        inputs, own, warps = self.X.shape[1], self.settings.candidates, self.warps
        useful = self._inputs_by_correlation(structure) if warps is None or self.coded else []
        if warps is None:
            return codes.table(inputs, self.coded, found, useful, own, flags=self.flags)
        sets = self._interacting(structure)

        def numbers_of(others: Sequence[Kernel]) -> list[Kernel]:
            return table_candidates.table(warps, others, sets, own, many=self._many)

        made = codes.table(inputs, self.coded, found, useful, own, numbers_of, self.flags)
        made += distinct([*self._thresholds(structure), *self._patterns()], found, own, own.same_lengthscale)
        return made

    def _patterns(self) -> list[Kernel]:
        """What repeats over two numbers."""
        return [kernel for lattice in self.lattices for kernel in lattice.kernels(self.settings.candidates)]

    def _thresholds(self, structure: Structure) -> list[Kernel]:
        """Jumps and bends of the numbers."""
        numbers = codes.Codes(self.coded, self.X.shape[1]).numbers
        inverse = np.linalg.inv(self.noisy(self.covariance_at(structure), structure))
        return threshold_kernels(self.X, numbers, inverse, self.y, self.settings.candidates)

    def sharper(self, structure: Structure, place: int) -> list[Kernel]:
        """A jump and a bend in place of a component that is a curve of one number: both have fewer parameters."""
        first, *more = structure.parts[place].kernel.products()[0]
        if more or first.dims is None or len(first.dims) != 1 or first.kind not in table_candidates.CURVED:
            return []
        others = replace(structure, parts=(*structure.parts[:place], *structure.parts[place + 1 :]))
        own = structure.parts[place].weight ** 2 * first.gram(self.X, self.X)
        inverse = np.linalg.inv(self.noisy(self.covariance_at(structure) - own, others))
        columns = [int(column) for column in first.dims]
        return threshold_kernels(self.X, columns, inverse, self.y, self.settings.candidates)

    def ordinary_table(self, found: Sequence[Kernel]) -> list[Kernel]:
        """The ordinary candidates of a table, without those in `found`."""
        inputs, own, warps = self.X.shape[1], self.settings.candidates, self.warps
        if warps is None:
            return codes.ordinary_table(inputs, self.coded, found, own)
        made = codes.ordinary_table(
            inputs,
            self.coded,
            found,
            own,
            lambda others: table_candidates.ordinary_table(warps, others, own, many=self._many),
        )
        return [*made, *distinct(self._patterns(), found, own, own.same_ordinary_lengthscale)]

    def all_orders(self, whole: Structure) -> list[Part]:
        """Interactions of all orders, all numbers together as they are in the pool of the ordinary candidates, each
        category and what repeats; nothing for a table without numbers."""
        numbers, warps = codes.Codes(self.coded, self.X.shape[1]).numbers, self.warps
        if warps is None or not numbers:
            return []
        joint = (SquaredExponential, RationalQuadratic, Matern12, *WARPED_FAMILIES)
        kept = [part for part in whole.parts if _together(part.kernel, joint, len(numbers), self.X.shape[1])]
        kept += [part for part in whole.parts if _has(part.kernel, Category) or _has(part.kernel, CentredPeriodic)]
        orders = table_candidates.all_orders(warps, self.coded, self.settings.candidates)
        return [self.part(orders, self.settings.priors.scale), *kept]

    def _interacting(self, structure: Structure) -> list[tuple[int, ...]]:
        """The sets of numbers with the highest scores for an interaction, as places among the numbers."""
        numbers, own = codes.Codes(self.coded, self.X.shape[1]).numbers, self.settings.candidates
        sets = table_candidates.sets_of_inputs(len(numbers), own)
        scores = self.interaction_scores(structure, [tuple(numbers[k] for k in one) for one in sets])
        return [sets[i] for i in np.argsort(-scores)[: own.interactions] if scores[i] > 0.0]

    def _inputs_by_correlation(self, structure: Structure) -> list[int]:
        """The inputs by their absolute correlation with the residual, highest first."""
        left = self.residual(structure)
        score = [abs(float(np.corrcoef(self.X[:, d], left)[0, 1])) for d in range(self.X.shape[1])]
        return list(np.argsort(score)[::-1])

    def narrow(self, structure: Structure, round: int) -> Structure:
        """The structure without inputs along which a kernel hardly varies, if its score is not lower."""
        for flat in self.settings.growing.flat_lengthscales:
            narrower = self._narrower(structure, flat, round)
            if narrower is not None:
                return narrower
        return structure

    def _narrower(self, structure: Structure, flat: float, round: int) -> Structure | None:
        narrower = [candidates.narrowed(part.kernel, flat) for part in structure.parts]
        formulas = " + ".join(str(new or part.kernel) for new, part in zip(narrower, structure.parts, strict=True))
        if all(new is None for new in narrower) or formulas in self.rejected:
            return None
        parts = [
            part if new is None else self.part(new, part.weight)
            for part, new in zip(structure.parts, narrower, strict=True)
        ]
        fitted = self.fit(parts, structure.noise)
        if fitted.score < structure.score:
            self.rejected.add(formulas)
            return None
        first = next(part.kernel for part, new in zip(structure.parts, narrower, strict=True) if new is not None)
        self.note(round, "narrowed", first, fitted.score - structure.score, "some inputs do not matter")
        return fitted

    def without_flags(self, structure: Structure, round: int) -> Structure:
        """The structure without effects of empty cells that are no more than the average effect of the number.

        The pool that predicts keeps them.
        """
        grams = self.covariance.grams(structure.model.pool) if structure.model is not None and self.flags else []
        weighted = [part.weight**2 * K for part, K in zip(structure.parts, grams, strict=False)]
        C = self.noisy(self.covariance_at(structure), structure)
        for flag, number in self.flags.items() if weighted else ():
            acting = [empty_cells.acts_on(part.kernel, self.X.shape[1]) for part in structure.parts]
            own = [K for K, inputs in zip(weighted, acting, strict=True) if inputs == {flag}]
            effect = [K for K, inputs in zip(weighted, acting, strict=True) if inputs == {number}]
            if not own or not effect:
                continue
            covariances = np.sum(own, axis=0), np.sum(effect, axis=0), C
            evidence = empty_cells.beyond_average(*covariances, self.y, self.X[:, flag] > 0.0)
            if evidence < self.settings.growing.strong_evidence:
                gone = [part for part, inputs in zip(structure.parts, acting, strict=True) if inputs == {flag}]
                kept = [part for part in structure.parts if part not in gone]
                self.note(round, "dropped", gone[0].kernel, evidence, "empty cells have the average effect")
                return self.without_flags(self.fit(kept, structure.noise), round)
        return structure

    def note(self, round: int, action: str, kernel: Kernel, gain: float, reason: str) -> None:
        """Add a decision to the record."""
        self.record.append(Decision(round, action, kernel.formula(), gain, reason))


def _has(kernel: Kernel, family: type[Base]) -> bool:
    """Whether a factor of a product is of a family."""
    return any(isinstance(factor, family) for factor in kernel.products()[0])


def _together(kernel: Kernel, families: tuple[type[Base], ...], numbers: int, inputs: int) -> bool:
    """Whether a product is one kernel of these families, of as many inputs as there are numbers."""
    first, *more = kernel.products()[0]
    return not more and isinstance(first, families) and len(first.positions(inputs)) == numbers
