"""What a search works on: components, structures made of them, the model of a structure, and the record's lines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from farrier.evaluation.products import Products
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.parameter_vector import ExactModel, Terms
from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import Constant


@dataclass(frozen=True)
class Part:
    """One component: its kernel in standardised inputs, where it started, the median of its weight."""

    kernel: Kernel
    centre: Kernel
    weight: float


LEVEL = Part(Constant(), Constant(), 0.3)
"""Stands beside the parts of every structure, at the end of its pool: the mean of y is not that of the function."""


@dataclass(frozen=True)
class Move:
    """A component that a structure might have, beside the others or in the place of one of them."""

    kernel: Kernel
    place: int | None = None


@dataclass(frozen=True)
class Decision:
    """One line of the record."""

    round: int
    action: str
    formula: str
    gain: float
    reason: str


@dataclass(frozen=True)
class Structure:
    """Components with the model that was fitted to them; `score` is the bound less the price of all numbers."""

    parts: tuple[Part, ...]
    noise: float
    score: float
    model: ExactModel | None = None
    terms: Terms | None = None


def model_with(parts: Sequence[Part], noise: float, inputs: int, rows: np.ndarray | None = None) -> ExactModel:
    """The model of some parts."""
    pool = Products.of([part.kernel for part in parts], inputs)
    centre = Products.of([part.centre for part in parts], inputs).unbounded
    return ExactModel(_prior(np.array([part.weight for part in parts])), noise, pool, centre, rows)


def _prior(weights: np.ndarray) -> Horseshoe:
    """q(w) about the given medians; tau is drawn towards small values."""
    mu_tau = 2.0 * np.log(0.3)
    return Horseshoe(
        mu_tau=np.asarray(mu_tau),
        v_tau=np.asarray(0.1),
        mu=2.0 * np.log(np.maximum(weights, 1e-3)) - mu_tau,
        v=np.full(len(weights), 0.2),
    )
