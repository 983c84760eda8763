"""One prior of each kind, away from its start: the list that the laws of all priors go through."""

import numpy as np
import pytest
from scipy import stats

from farrier.baselines.weight_priors import NoPrior, Softmax, SpikeAndSlab, kl
from farrier.inference.horseshoe import Horseshoe


def small_horseshoe():
    """Three weights, with half-Cauchy scales that are not one."""
    scalars = {"mu_tau": -0.4, "v_tau": 0.3, "A": 0.7, "B": 1.8}
    arrays = {"mu": np.array([0.5, -2.0, 1.0]), "v": np.array([0.2, 0.6, 0.05])}
    return Horseshoe(**arrays, **{name: np.asarray(value) for name, value in scalars.items()})


def divergence(prior):
    """KL(q(w) || p(w)) as `weigh` has it: of half-Cauchy scales alone, by sums over a fine grid, without phi."""
    if not isinstance(prior, Horseshoe):
        return float(kl(prior))
    total, z = 0.0, np.linspace(-12.0, 12.0, 1201)
    local = [(mu, v, prior.B) for mu, v in zip(prior.mu, prior.v, strict=True)]
    scales = [(prior.mu_tau, prior.v_tau, prior.A), *local]
    for mu, v, c in scales:
        x = mu + np.sqrt(v) * z
        log_p = stats.halfcauchy.logpdf(np.exp(0.5 * x), scale=c) + 0.5 * x - np.log(2.0)  # of log s^2
        log_q = stats.norm.logpdf(z) - 0.5 * np.log(v)
        total += float(np.sum(stats.norm.pdf(z) * (log_q - log_p)) * (z[1] - z[0]))
    return total


def small_spike_and_slab(temperature=0.5):
    """Four weights: two that are mostly on, two that are mostly off."""
    mean, variance = np.array([0.3, -1.0, 0.02, 2.0]), np.array([0.04, 0.5, 1.0, 0.1])
    logits = np.array([0.5, 2.0, -1.0, -6.0])
    return SpikeAndSlab(mean, variance, logits, *(np.asarray(one) for one in (0.3, 1.7, temperature)))


MADE = {
    "horseshoe": small_horseshoe(),
    "no prior": NoPrior(np.array([0.1, 2.0, 0.7])),
    "softmax": Softmax(np.array([0.0, 1.0, -2.0]), np.asarray(1.5)),
    "spike and slab": small_spike_and_slab(),
}
each_prior = pytest.mark.parametrize("prior", MADE.values(), ids=MADE.keys())
