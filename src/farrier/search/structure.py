"""The data types of the search: components, structures, moves, the model of a structure, lines of the record."""

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
    """One component of a structure."""

    kernel: Kernel
    """The kernel, for standardised inputs."""
    centre: Kernel
    """The kernel at its starting values, where the priors of its hyperparameters are centred."""
    weight: float
    """The median of its weight under q(w)."""


LEVEL = Part(Constant(), Constant(), 0.3)
"""A constant, the last component of every structure's model: the mean of y over the rows is not that of the function.
The weight, in standard deviations of y, is by judgement."""


@dataclass(frozen=True)
class Move:
    """A candidate for a structure."""

    kernel: Kernel
    place: int | None = None
    """The index of the component that it would replace; None for an additional component."""


@dataclass(frozen=True)
class Decision:
    """One line of the record of a search."""

    round: int
    action: str
    """Such as "kept", "tried", "dropped"."""
    formula: str
    gain: float
    """Gain of the score (log evidence minus price), in nats."""
    reason: str


@dataclass(frozen=True)
class Structure:
    """Components with their fitted model."""

    parts: tuple[Part, ...]
    noise: float
    """The noise variance."""
    score: float
    """The bound minus the price of all components, in nats."""
    model: ExactModel | None = None
    terms: Terms | None = None


def model_with(parts: Sequence[Part], noise: float, inputs: int, rows: np.ndarray | None = None) -> ExactModel:
    """The model of some components; `rows` is the known noise variance of each row, if there is one."""
    pool = Products.of([part.kernel for part in parts], inputs)
    centre = Products.of([part.centre for part in parts], inputs).unbounded
    return ExactModel(_prior(np.array([part.weight for part in parts])), noise, pool, centre, rows)


def _prior(weights: np.ndarray) -> Horseshoe:
    """q(w) with given medians of the weights; tau has the median 0.3."""
    mu_tau = 2.0 * np.log(0.3)
    return Horseshoe(
        mu_tau=np.asarray(mu_tau),
        v_tau=np.asarray(0.1),
        mu=2.0 * np.log(np.maximum(weights, 1e-3)) - mu_tau,
        v=np.full(len(weights), 0.2),
    )
