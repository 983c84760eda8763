"""Ways to infer the weights w_i = tau s_i lambda_i of one pool; all else, and the start, is the same.

- `laplace`: the default. tau is integrated out, draws are from Laplace's approximation at the mode of all parameters.
- `mode`: the same without draws.
- `variational`: the paper's q(w), log-normal in tau and in each lambda_i, on fixed draws with the KL divergence of the
  half-Cauchy scales. Hyperparameters and noise are at the maximum of the bound.
- `half-cauchy`: tau is one, so that weights are independent; Laplace's approximation. Versions up to 0.2.0 had this.
- `sampler`: the judge. Hamiltonian Monte Carlo over all parameters, under the same density as `laplace`.

Each gives a list of models with point weights; a prediction is the equal mixture of theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
from scipy.special import ndtri

from farrier.inference.exact import ExactObjective, log_normal
from farrier.inference.horseshoe import PointHorseshoe, marginal_kl
from farrier.inference.laplace import Laplace, Trajectories, curvature, sampled
from farrier.inference.lbfgs import ITERATIONS, Climb, climb, moving_of
from farrier.inference.linalg import NUMPY, World
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_priors import Weighed, WeightPrior, check_probability, quasi_normal
from farrier.kernels.parameters import fixed, positive, real
from farrier.model.members import SERIES_DRAWS
from farrier.search.evidence import VERY_STRONG
from farrier.search.scoring import CURVATURE_STEP, HIGHER_NOISES, LEAST_CURVATURE, Evaluator
from farrier.search.structure import LEVEL, Mode, Part

FIT_DRAWS, MIXED_DRAWS = 16, 32
"""Draws of the weights in the variational bound, and in its predictions."""
CLOSE = 1e-3
"""Tolerance of the fits that no Newton steps follow. [nats]"""
TAU_LEVELS = (0.05, 0.5, 0.95)
JUDGE = Trajectories(draws=200, apart=1, warm=200, steps=10, step=0.3)
"""The sampler."""


class Inferred(NamedTuple):
    """What a method has found."""

    models: list[ExactModel]
    """With point weights; the first is at the mode, if there is one."""
    tau: list[float]
    """Quantiles of tau at TAU_LEVELS; empty without a tau."""

    @property
    def noise(self) -> float:
        """The median noise variance, on the scale of the model."""
        return float(np.median([model.noise for model in self.models]))


def laplace(evaluator: Evaluator, parts: Sequence[Part]) -> Inferred:
    """Draws from Laplace's approximation, tau integrated out."""
    return _with_tau(evaluator.models(evaluator.fit_pool(parts), SERIES_DRAWS))


def mode(evaluator: Evaluator, parts: Sequence[Part]) -> Inferred:
    """The mode alone."""
    return _with_tau([evaluator.fit_pool(parts).at_mode().model])


def sampler(evaluator: Evaluator, parts: Sequence[Part]) -> Inferred:
    """Draws by Hamiltonian Monte Carlo from the mode."""
    top = evaluator.fit_pool(parts).at_mode()
    objective = evaluator.objective_at(top)
    draws = sampled(objective, top.u, top.moving, top.laplace, objective.limits(), JUDGE)
    return _with_tau([objective.model(u) for u in draws])


def half_cauchy(evaluator: Evaluator, parts: Sequence[Part]) -> Inferred:
    """Independent half-Cauchy weights: none is under tau."""

    def independent(prior: PointHorseshoe) -> WeightPrior:
        return replace(prior, shrunk=np.zeros(len(prior.w)))

    objective, found = _climbed(evaluator, parts, independent, 1)
    moving = moving_of(objective.limits())
    H = curvature(objective, found.numbers, moving, CURVATURE_STEP * objective.typical(), found.slope)
    top = Laplace.of(found.numbers[moving], H, LEAST_CURVATURE)
    model = objective.model(found.numbers)
    models = Mode(model, found.numbers, moving, top).models(SERIES_DRAWS, lambda u: objective.value(u).total)
    return Inferred(models, [])


def variational(evaluator: Evaluator, parts: Sequence[Part]) -> Inferred:
    """The paper's q(w)."""
    objective, found = _climbed(evaluator, parts, ScaledHorseshoe.around, FIT_DRAWS)
    model = objective.model(found.numbers)
    q = model.prior
    assert isinstance(q, ScaledHorseshoe)
    weights = q.draw(quasi_normal(MIXED_DRAWS, q.noise_size))
    models = [replace(model, prior=PointHorseshoe(w, q.scale, q.shrunk)) for w in weights]
    tau = np.exp(0.5 * (q.mu_tau + np.sqrt(q.v_tau) * ndtri(TAU_LEVELS)))
    return Inferred(models, [float(one) for one in tau])


METHODS: dict[str, Callable[[Evaluator, Sequence[Part]], Inferred]] = {
    "laplace": laplace,
    "mode": mode,
    "variational": variational,
    "half-cauchy": half_cauchy,
    "sampler": sampler,
}


def _with_tau(models: list[ExactModel]) -> Inferred:
    """Draws under tau, with its posterior averaged over them."""
    priors = [model.prior for model in models]
    mixed = [one.mixed(np.log(one.w)) for one in priors if isinstance(one, PointHorseshoe)]
    shares = np.mean([one.shares for one in mixed], axis=0)
    # half of the probability of a point lies below it
    below = np.cumsum(shares) - 0.5 * shares
    return Inferred(models, [float(np.exp(np.interp(level, below, mixed[0].grid))) for level in TAU_LEVELS])


def _climbed(
    evaluator: Evaluator, parts: Sequence[Part], prior: Callable[[PointHorseshoe], WeightPrior], draws: int
) -> tuple[ExactObjective, Climb]:
    """A fit with another prior of the weights, from a larger noise where rows end less likely than as white noise."""
    usual = evaluator.beliefs.noise if evaluator.beliefs.of_time else 0.1
    lowest = log_normal(float(evaluator.y @ evaluator.y), 0.0, len(evaluator.y)) - VERY_STRONG
    y, ends = evaluator.covariance.scatter(evaluator.y), []
    for noise in (factor * usual for factor in HIGHER_NOISES if factor * usual <= 1.0):
        model = evaluator.beliefs.model([*parts, LEVEL], noise, evaluator.X.shape[1])
        assert isinstance(model.prior, PointHorseshoe)
        model = replace(model, prior=prior(model.prior))
        size = model.prior.noise_size
        noise_draws = quasi_normal(draws, size) if size else np.zeros((1, 0))
        objective = ExactObjective(model, evaluator.covariance, y, noise_draws)
        ends.append((objective, climb(objective, 3 * ITERATIONS, CLOSE)))
        if ends[-1][1].terms[-1].evidence > lowest:
            return ends[-1]
    return max(ends, key=lambda one: one[1].terms[-1].total)


@final
@dataclass(frozen=True, eq=False)
class ScaledHorseshoe(WeightPrior):
    """q of the paper for w_i = tau s_i lambda_i: log-normal tau^2 and lambda_i^2; the v are variances.

    A weight that is not `shrunk` has no tau.
    """

    mu_tau: np.ndarray = real()
    v_tau: np.ndarray = positive()
    mu: np.ndarray = real()
    v: np.ndarray = positive()
    scale: np.ndarray = fixed()
    shrunk: np.ndarray = fixed()

    @classmethod
    def around(cls, prior: PointHorseshoe) -> "ScaledHorseshoe":
        """tau at one, and each weight at its start, as in the other methods."""
        mu = 2.0 * (np.log(prior.w) - np.log(prior.scale))
        start = np.asarray(0.0), np.asarray(0.05), mu, np.full(len(mu), 0.05)
        return cls(*start, scale=prior.scale, shrunk=prior.shrunk)  # pyright: ignore[reportArgumentType]

    @property
    def noise_size(self) -> int:
        """One normal for tau and one for each lambda."""
        return 1 + len(self.scale)

    def draw(self, noise: Any, world: World = NUMPY) -> Any:
        """Draws of w; the first column of the noise is for tau."""
        log_tau2 = self.mu_tau + np.sqrt(self.v_tau) * noise[:, :1]
        log_lambda2 = self.mu + np.sqrt(self.v) * noise[:, 1:]
        return self.scale * np.exp(0.5 * (log_tau2 * self.shrunk + log_lambda2))

    def kl(self, world: World = NUMPY) -> Any:
        """The sum over tau and all lambdas."""
        return float(marginal_kl(*self._moments(self.vector()), np.ones(self.noise_size))[0].sum())

    def quantile(self, probability: float) -> np.ndarray:
        """The marginal quantile of each weight."""
        check_probability(probability)
        sd = np.sqrt(self.v_tau * self.shrunk + self.v)
        return self.scale * np.exp(0.5 * (self.mu_tau * self.shrunk + self.mu + sd * ndtri(probability)))

    def weigh(self, u: np.ndarray, noise: np.ndarray) -> Weighed:
        mu, v = self._moments(u)
        moved = mu + np.sqrt(v) * noise
        with np.errstate(over="ignore"):
            w2 = self.scale**2 * np.exp(moved[:, :1] * self.shrunk + moved[:, 1:])
        kl, kl_by_mu, kl_by_log_v = marginal_kl(mu, v, np.ones(len(mu)))

        def pull(dw2: np.ndarray) -> np.ndarray:
            by_log = dw2 * w2
            both = np.concatenate([(by_log * self.shrunk).sum(axis=1, keepdims=True), by_log], axis=1)
            by_mu = both.sum(axis=0) - kl_by_mu
            by_log_v = 0.5 * np.sqrt(v) * np.sum(both * noise, axis=0) - kl_by_log_v
            return np.concatenate([by_mu[:1], by_log_v[:1], by_mu[1:], by_log_v[1:]])

        return Weighed(w2, float(kl.sum()), pull)

    def _moments(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of log tau^2 and of each log lambda_i^2."""
        m = len(self.scale)
        return np.append(u[0], u[2 : 2 + m]), np.exp(np.append(u[1], u[2 + m :]))
