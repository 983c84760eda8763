"""The outliers in words: how many rows are far from what the others make expected, and which are the largest."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from farrier.explain.context import Setting
from farrier.explain.facts import Target
from farrier.explain.numbers import capital, count, is_time, listing, significant
from farrier.inference.student_t import StudentT
from farrier.model.outliers import LISTED, outliers_of
from farrier.model.result import Result
from farrier.model.student_t_noise import STUDENTS_T

MOST_ROWS = 20_000
"""Most rows of a fit whose outliers are told; of more, `outliers()` gives the table. By judgement: it takes time."""
TOLD = 3
"""Outliers that a sentence names, by judgement."""


@final
@dataclass(frozen=True)
class Outlier:
    """One row that is far from its expected value, in units of y."""

    label: str
    """Its time, or its place in the table."""
    value: float
    expected: float
    sds: float
    """Its distance in standard deviations, with a sign."""


@final
@dataclass(frozen=True)
class Outlying:
    """The outliers of a fit, the furthest first."""

    outliers: tuple[Outlier, ...] = ()
    robust: bool = False
    """Whether the noise is Student-t, which gives them little influence."""
    limit: float = 0.0
    """Distance beyond which a row is an outlier, in standard deviations."""
    compared: bool = False
    """Whether Student-t noise was fitted too, and dropped."""

    @classmethod
    def of(cls, result: Result, setting: Setting) -> "Outlying":
        """From a result; none for classes, and none are told of very many rows."""
        if len(result.inputs) > MOST_ROWS:
            return cls()
        found = outliers_of(result)
        before = "" if is_time(setting.axis) else f"{setting.axis.name} = "
        labels = [f"{before}{setting.labels[i]}" if setting.labels else f"row {i}" for i in found.rows]
        each = zip(labels, *(np.asarray(x).tolist() for x in (found.value, found.expected, found.sds)), strict=True)
        fitted = result.explained
        robust = isinstance(fitted.likelihood, StudentT)
        compared = any(one.formula == STUDENTS_T for one in fitted.record)
        return cls(tuple(Outlier(*one) for one in each), robust, LISTED, compared)

    def sentences(self, target: Target, rows: int) -> list[str]:
        """How many, which, and what follows from them; empty if there are none."""
        n = len(self.outliers)
        if not n and self.robust:
            return ["The noise has heavier tails than a normal, so a Student-t is taken for it."]
        if not n:
            return []
        name = target.name or "y"
        far = f"more than {significant(self.limit, 1)} standard deviations from what the other rows make expected"
        first = f"{capital(count(n))} of {count(rows)} rows {'is an outlier' if n == 1 else 'are outliers'}, {far}"
        some = [_told(one) for one in self.outliers[:TOLD]]
        lead = "It is" if n == 1 else "They are" if n <= TOLD else "The largest are"
        what = "it hardly moves" if n == 1 else "they hardly move"
        if self.robust:
            influence = f"The noise is a Student-t, so {what} the components."
        elif self.compared:
            influence = f"The noise is taken as normal: a Student-t does not explain {name} clearly better."
        else:
            influence = "The noise is taken as normal; with likelihood='student-t' outliers have little influence."
        return [f"{first}.", f"{lead} {listing(some)}.", influence]

    def to_dict(self) -> list[dict[str, Any]]:
        """One entry for each, for a story."""
        return [vars(one) for one in self.outliers]


def _told(one: Outlier) -> str:
    return f"{one.label} ({significant(one.value)} where {significant(one.expected)} was expected)"
