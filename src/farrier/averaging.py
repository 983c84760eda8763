"""Two pools that explain the rows about equally well, averaged by their evidence.

The survivors beside the ordinary candidates, and the ordinary candidates alone, are two local optima of one bound.
Where one is clearly better it is all there is; where neither is, a forecast should not hang on one of them.
Both stand in one pool, and every draw of the weights belongs to one of them: the weights of the other are zero in it.
"""

from dataclasses import dataclass, replace

import numpy as np

from farrier.chain import ExactModel
from farrier.kernels.algebra import Kernel
from farrier.priors import quasi_normal
from farrier.structure import LEVEL, Part, Structure, model_with
from farrier.weighing import prediction_weights


@dataclass(frozen=True)
class Average:
    """One model that stands for both, draws of its weights, (S, m), its kernels, and the bound of the better one."""

    model: ExactModel
    weights: np.ndarray
    kernels: tuple[Kernel, ...]
    bound: float
    part: float
    """How much of it is the first."""


def average(first: Structure, second: Structure | None, draws: int, rows: np.ndarray | None = None) -> Average:
    """The two by their evidence; the first alone where there is no second."""
    share = 1.0 if second is None else _share(first, second)
    members = [(first, share)] if second is None else [(first, share), (second, 1.0 - share)]
    parts: list[Part] = []
    blocks, noise = [], 0.0
    for member, part in members:
        assert member.model is not None
        model = member.model
        weights = prediction_weights(model.prior, quasi_normal(draws, model.prior.noise_size))
        count = round(part * draws)
        blocks.append(weights[np.linspace(0, draws - 1, count).round().astype(int)])
        medians = np.asarray(model.prior.quantile(0.5))
        # as one model, each of the two adds its part of the variance
        own = [*member.parts, replace(LEVEL, weight=float(medians[-1]))]
        parts += [replace(one, weight=np.sqrt(part) * one.weight) for one in own]
        noise += part * member.noise
    total = np.zeros((sum(len(block) for block in blocks), len(parts)))
    row = column = 0
    for block in blocks:
        total[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    inputs = first.model.pool.inputs if first.model is not None else 1
    model = first.model if second is None else model_with(parts, noise, inputs, rows)
    assert model is not None
    bound = max(member.terms.total for member, _ in members if member.terms)
    return Average(model, total, tuple(part.kernel for part in parts), bound, share)


def _share(first: Structure, second: Structure) -> float:
    assert first.terms is not None
    assert second.terms is not None
    return float(1.0 / (1.0 + np.exp(np.clip(second.terms.total - first.terms.total, -50.0, 50.0))))
