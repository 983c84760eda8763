"""Averaging of pools that explain the rows about equally well.

A pool is a set of kernels with shrunk weights. Three kinds compete: the survivors with the ordinary candidates, the
same for a structure that came second, and the ordinary candidates alone. They are local optima of one bound. If none is
clearly best, predictions average over them. The average is one large pool: every draw of the weights belongs to one
member, and the weights of all other members are zero in it.

A bound is lower than the log evidence by some nats that differ between pools. So the share of a pool is proportional to
exp(bound / temperature), with a temperature above one.
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
    """One of the pools: its q(w), and its share of the average."""

    prior: WeightPrior
    share: float


@dataclass(frozen=True)
class Average:
    """The averaged model, draws of its weights, (S, m), its kernels, and the bound of the best pool."""

    model: ExactModel
    weights: np.ndarray
    kernels: tuple[Kernel, ...]
    bound: float
    members: tuple[Member, ...]
    """The pools, in the order of their kernels."""


def average(members: Sequence[Structure], bounds: Sequence[float], settings: SearchSettings) -> Average:
    """The average of some pools, given their bounds with many draws of the weights."""
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
        # in the averaged model each pool contributes its share of the variance
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
    """The number of draws for each share, rounded so that they add up to `draws`."""
    counts = np.floor(shares * draws).astype(int)
    counts[np.argsort(counts - shares * draws)[: draws - counts.sum()]] += 1
    return counts
