"""Pools that explain the rows about equally well, averaged by their evidence.

The survivors beside the ordinary candidates, the same for a structure that came second, and the ordinary candidates
alone are local optima of one bound. Where one is clearly better it is all there is; where none is, a forecast should
not hang on one of them. All stand in one pool, and every draw of the weights belongs to one of them: the weights of the
others are zero in it.

A bound is not the evidence: it lacks what q(w) and the one optimum at which it was taken leave out, some nats, and not
the same for all. So shares go with a part of the difference only (the temperature).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_priors import WeightPrior, prediction_weights, quasi_normal
from farrier.kernels.algebra import Kernel
from farrier.search.settings import SearchSettings
from farrier.search.structure import LEVEL, Part, Structure, model_with


class Member(NamedTuple):
    """One of the pools: its q(w), and how much of the average it is."""

    prior: WeightPrior
    share: float


@dataclass(frozen=True)
class Average:
    """One model that stands for all, draws of its weights, (S, m), its kernels, and the bound of the best one."""

    model: ExactModel
    weights: np.ndarray
    kernels: tuple[Kernel, ...]
    bound: float
    members: tuple[Member, ...]
    """The pools, whose kernels follow on each other."""


def average(members: Sequence[Structure], bounds: Sequence[float], settings: SearchSettings) -> Average:
    """Some pools by their evidence: bounds with many draws of the weights."""
    draws, totals = settings.posterior.draws, np.asarray(bounds)
    shares = np.exp((totals - totals.max()) / settings.averaging.temperature)
    shares /= shares.sum()
    parts: list[Part] = []
    blocks, found, noise = [], [], 0.0
    for member, share, count in zip(members, shares, _counts(shares, draws), strict=True):
        assert member.model is not None
        found.append(Member(member.model.prior, float(share)))
        weights = prediction_weights(member.model.prior, quasi_normal(draws, member.model.prior.noise_size))
        blocks.append(weights[np.linspace(0, draws - 1, count).round().astype(int)])
        medians = np.asarray(member.model.prior.quantile(0.5))
        # as one model, each of them adds its share of the variance
        own = [*member.parts, replace(LEVEL, weight=float(medians[-1]))]
        parts += [replace(one, weight=np.sqrt(share) * one.weight) for one in own]
        noise += share * member.noise
    total = np.zeros((draws, len(parts)))
    row = column = 0
    for block in blocks:
        total[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    first = members[0].model
    assert first is not None
    model = first if len(members) == 1 else model_with(parts, noise, first.pool.inputs)
    return Average(model, total, tuple(part.kernel for part in parts), float(totals.max()), tuple(found))


def _counts(shares: np.ndarray, draws: int) -> np.ndarray:
    """Whole numbers of draws, as close to the shares as can be."""
    counts = np.floor(shares * draws).astype(int)
    counts[np.argsort(counts - shares * draws)[: draws - counts.sum()]] += 1
    return counts
