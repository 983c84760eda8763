"""The choice between a fit with Gaussian noise and one with Student-t noise, by evidence."""

from dataclasses import replace

from farrier.model.fitted import Fitted
from farrier.search.evidence import VERY_STRONG
from farrier.search.structure import Decision

STUDENTS_T = "noise: Student-t"
"""The name of Student-t noise in the record of the decisions."""


def better_noise(gaussian: Fitted, robust: Fitted, *, chosen: bool, gain: float | None = None) -> Fitted:
    """Student-t noise if its evidence is clearly higher, or if it was chosen; with the decision in the record.

    `gain` replaces the difference of evidence.
    """
    gain = float(robust.bound - gaussian.bound) if gain is None else gain
    needed = VERY_STRONG
    if chosen:
        decision, best = Decision(0, "kept", STUDENTS_T, gain, "asked for"), robust
    else:
        action, best = ("kept", robust) if gain > needed else ("dropped", gaussian)
        decision = Decision(0, action, STUDENTS_T, gain, "evidence of the noise")
    return replace(best, record=(*best.record, decision))
