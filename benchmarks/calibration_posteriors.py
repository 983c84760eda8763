"""Simulation-based calibration (Talts et al. 2018) of posteriors, with the model known.

Parameters are drawn from the prior, then functions and values from the model; the rows are fitted with the right
structure. Where the posterior is right, the probability that it gives to values below the true one is uniform: the
rank of the truth among draws, in the limit of many draws.

- `walk`, `ar`, `season`: the posterior of the search. One component, a level and noise under the priors of monthly
  series, fitted by Laplace's approximation; predictions mix the mode and 24 draws of the parameters, as forecasts do.
- `horseshoe`: the variational q(w) of a given pool of kernels. A smooth and a rough component under the paper's
  horseshoe, with its point estimate of the noise; predictions mix 64 draws of the weights.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import kstest

from farrier.baselines.weight_priors import draw
from farrier.evaluation.covariance import covariance_of
from farrier.evaluation.products import Products
from farrier.inference.exact import ExactObjective
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.lbfgs import climb
from farrier.inference.parameter_vector import NOISE_CENTRE, ParameterVector
from farrier.inference.posteriors import GaussianPosterior
from farrier.inference.weight_priors import quasi_normal
from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import Matern12, SquaredExponential
from farrier.model.members import SERIES_DRAWS
from farrier.search.beliefs import Beliefs
from farrier.search.learned_priors import Clock
from farrier.search.scoring import Evaluator
from farrier.search.structure import LEVEL, Part, horseshoe_model

ROWS, AHEAD = 72, 12
"""Months that are seen, and the steps that are forecast."""
YEAR = 12.0
"""Rows of a season."""
X = np.arange(ROWS + AHEAD, dtype=float)[:, None] / ROWS
"""Times in parts of the range that is seen, so that a month is 1 / ROWS."""
KINDS = ("walk", "ar", "season", "horseshoe")
NOISE_SPREAD = 1.0
"""Standard deviation of the log noise variance in the case `horseshoe`, whose own prior is nearly flat."""
POOL = (SquaredExponential(0.3), Matern12(0.1))
"""The kernels of the case `horseshoe`; their lengthscales are known."""


class Truth(NamedTuple):
    """What was drawn: the weights of the components, the noise variance, f and y of all rows."""

    weights: np.ndarray
    noise: float
    f: np.ndarray
    y: np.ndarray


def simulated(kind: str, seed: int) -> dict[str, float]:
    """The probability below the truth of the first weight, of the noise, of f at the last row, of y 1 and 12 ahead."""
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    return _horseshoe(generator) if kind == "horseshoe" else _laplace(kind, generator)


def _laplace(kind: str, generator: np.random.Generator) -> dict[str, float]:
    beliefs = Beliefs(Clock.of(X[:ROWS, 0], (YEAR / ROWS,), of_time=True))
    *_, walk, ar, season = beliefs.structural([YEAR / ROWS])
    kernel: Kernel = {"walk": walk, "ar": ar, "season": season}[kind]
    part = beliefs.part(kernel, beliefs.scale(kernel), 1)
    template = beliefs.model([part, LEVEL], beliefs.noise, 1)
    vector = ParameterVector(template, np.zeros((1, 0)))
    u = vector.start()
    count = len(template.prior.vector())
    u[:count] = np.log(_half_cauchy(generator, np.array([part.scale, LEVEL.scale])))
    assert template.noise_scale is not None
    assert template.spread is not None
    u[count] = 2.0 * np.log(_half_cauchy(generator, np.array([template.noise_scale]))[0])
    u[count + 1 :] = template.centre + template.spread * generator.standard_normal(len(template.centre))
    limits = vector.limits()
    u = np.clip(u, limits[:, 0], limits[:, 1])
    drawn = vector.model(u)
    truth = _rows(list(drawn.pool), drawn.prior.quantile(0.5), float(drawn.noise), generator)
    evaluator = Evaluator(X[:ROWS], truth.y[:ROWS], covariance_of(X[:ROWS]), (YEAR / ROWS,), beliefs=beliefs)
    structure = evaluator.fit([part], beliefs.noise)
    mode = structure.at_mode()
    places = {"weight": 0, "noise": count}
    found = {name: float(ndtr((u[i] - mode.u[i]) / mode.deviations[i])) for name, i in places.items()}
    models = evaluator.models(structure, SERIES_DRAWS)
    posteriors = [_posterior(list(one.pool), one.prior.quantile(0.5)[None], one.noise, truth.y) for one in models]
    return found | _predicted(posteriors, np.array([float(one.noise) for one in models]), truth)


def _horseshoe(generator: np.random.Generator) -> dict[str, float]:
    weights = _half_cauchy(generator, np.ones(1)) * _half_cauchy(generator, np.ones(len(POOL)))
    noise = float(np.exp(NOISE_CENTRE + NOISE_SPREAD * generator.standard_normal()))
    truth = _rows(POOL, weights, noise, generator)
    template = horseshoe_model([Part(kernel, kernel, 0.5) for kernel in POOL], 0.1, 1)
    # lengthscales are known: their priors have no width
    fixed = type(template)(template.prior, 0.1, template.pool, template.centre, spread=np.zeros(len(template.centre)))
    objective = ExactObjective.of(fixed, X[:ROWS], truth.y[:ROWS], 64)
    u = climb(objective, 200, 1e-3).numbers
    model = objective.model(u)
    q = model.prior
    assert isinstance(q, Horseshoe)
    sd = np.sqrt(q.v_tau + q.v[0])
    found = {"weight": float(ndtr((2.0 * np.log(weights[0]) - q.mu_tau - q.mu[0]) / sd))}
    posterior = _posterior(POOL, draw(q, quasi_normal(64, q.noise_size)), model.noise, truth.y)
    return found | _predicted([posterior], np.array([float(model.noise)]), truth)


def _half_cauchy(generator: np.random.Generator, scale: np.ndarray) -> np.ndarray:
    return scale * np.abs(generator.standard_cauchy(len(scale)))


def _rows(kernels: Sequence[Kernel], weights: np.ndarray, noise: float, generator: np.random.Generator) -> Truth:
    """Functions and values of all rows, those ahead included."""
    K = np.einsum("i,inm->nm", weights**2, Products.of(kernels, 1).gram(X, X))
    values, vectors = np.linalg.eigh(K)
    f = vectors @ (np.sqrt(np.maximum(values, 0.0)) * generator.standard_normal(len(X)))
    return Truth(weights, noise, f, f + np.sqrt(noise) * generator.standard_normal(len(X)))


def _posterior(kernels: Sequence[Kernel], weights: np.ndarray, noise: float, y: np.ndarray) -> GaussianPosterior:
    return GaussianPosterior(Products.of(kernels, 1), weights, np.full(ROWS, float(noise)), X[:ROWS], y[:ROWS])


def _predicted(posteriors: Sequence[GaussianPosterior], noise: np.ndarray, truth: Truth) -> dict[str, float]:
    """The probability below f at the last row that is seen, and below y one and AHEAD steps later."""
    at = np.array([ROWS - 1, ROWS, ROWS + AHEAD - 1])
    means, variances = zip(*(posterior.draws(X[at]) for posterior in posteriors), strict=True)
    mean, variance = np.concatenate(means), np.concatenate(variances)
    variance[:, 1:] += noise[:, None]
    values = np.array([truth.f[at[0]], truth.y[at[1]], truth.y[at[2]]])
    below = ndtr((values - mean) / np.sqrt(np.maximum(variance, 1e-300))).mean(axis=0)
    return dict(zip(("f", "y 1 ahead", f"y {AHEAD} ahead"), map(float, below), strict=True))


def uniformity(values: Sequence[float]) -> float:
    """The p-value of the Kolmogorov-Smirnov test that the values are uniform between 0 and 1."""
    return float(kstest(np.asarray(values), "uniform").pvalue)
