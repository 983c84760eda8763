"""The state of a fitted model: plain values, arrays and kernels, from which everything else is built again.

    state = state_of(result)        # a dictionary
    result_from(state)              # the same predictions and explanations

A state has the fields of `Result` and of what it holds, as data/records.py writes them. Posteriors are not part of it:

    {"engine": "laplace", "products": [[Linear, Periodic], [SquaredExponential], []], "inputs": 1,
     "numbers": (S, P), "weights": (S, m), "noise": (S, 1), "X": (N, D), "y": (N,)}

has the hyperparameters, weights and noise variances of each draw, and the rows. Only the sums of the collapsed tier are
kept as they are: the rows may have been read in blocks, and are then not at hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Any

import numpy as np

from farrier.data.records import LEAF, Hook, Records
from farrier.evaluation.products import Products
from farrier.inference.collapsed import CollapsedPosterior
from farrier.inference.inducing_points import Groups
from farrier.inference.linear_posterior import LinearPosterior
from farrier.inference.posteriors import GaussianPosterior, LaplacePosterior, Posterior
from farrier.kernels.algebra import Base, Kernel
from farrier.model.explaining import Agreeing
from farrier.model.fitted import Alone, Rival
from farrier.model.result import Result
from farrier.model.target_scale import Transform, named
from farrier.search.appraisal import Appraisal
from farrier.search.learned_priors import LogNormal
from farrier.search.structure import Decision

STOCHASTIC = "stochastic"
"""The engine whose posteriors the paper's folder writes and builds."""
ENGINES = {GaussianPosterior: "exact", LinearPosterior: "linear", LaplacePosterior: "laplace"}
"""The engines that work with rows."""


@dataclass(frozen=True, eq=False)
class GivenRows:
    """A posterior given rows, for S draws of the weights, or of all parameters."""

    engine: str
    products: tuple[tuple[Base, ...], ...]
    inputs: int
    numbers: np.ndarray
    """The hyperparameters, (S, P), or (1, P) if draws do not differ in them."""
    weights: np.ndarray
    """(S, m)."""
    noise: np.ndarray
    """The noise variances, (1 or S, 1 or N)."""
    X: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, posterior: Any) -> "GivenRows":
        """The state of a posterior."""
        each = posterior.posteriors if isinstance(posterior, LaplacePosterior) else (posterior,)
        noise = np.stack([np.broadcast_to(one.noise, one.y.shape) for one in each])
        return cls(
            ENGINES[type(posterior)],
            each[0].pool.kernels,
            each[0].pool.inputs,
            np.stack([one.pool.numbers for one in each]),
            np.concatenate([one.weights for one in each]),
            noise[:, :1] if np.array_equal(noise, np.broadcast_to(noise[:, :1], noise.shape)) else noise,
            each[0].X,
            each[0].y,
        )

    def posterior(self) -> Any:
        """The posterior."""
        S, rows, m = len(self.numbers), len(self.y), len(self.products)
        noise = np.broadcast_to(self.noise, (S, rows)).copy()
        if self.X.shape != (rows, self.inputs) or self.weights.ndim != 2 or self.weights.shape[1] != m or S == 0:
            raise ValueError("the rows, the kernels and the weights of a posterior do not match")
        first = Products(self.products, self.inputs)
        pools = [first.with_numbers(numbers) for numbers in self.numbers]
        if self.engine == "laplace":
            each = zip(pools, self.weights, noise, strict=True)
            return LaplacePosterior(tuple(GaussianPosterior(pool, w[None], d, self.X, self.y) for pool, w, d in each))
        kinds = {name: kind for kind, name in ENGINES.items()}
        return kinds[self.engine](*pools, self.weights, *noise, self.X, self.y)


@dataclass(frozen=True, eq=False)
class GivenSums:
    """A collapsed posterior: its inducing points, and the sums over rows."""

    products: tuple[tuple[Base, ...], ...]
    inputs: int
    weights: np.ndarray
    noise: float
    points: np.ndarray
    sizes: tuple[int, ...]
    A: np.ndarray
    b: np.ndarray

    @classmethod
    def of(cls, one: CollapsedPosterior) -> "GivenSums":
        """The state of a posterior."""
        pool, groups = one.pool, one.groups
        return cls(pool.kernels, pool.inputs, one.weights, one.noise, groups.Z, groups.sizes, one.A, one.b)

    def posterior(self) -> CollapsedPosterior:
        """The posterior."""
        m, R = len(self.products), sum(self.sizes)
        shapes = self.weights.shape[1:], self.A.shape, self.b.shape, (len(self.points), len(self.sizes))
        if shapes != ((m,), (R, R), (R,), (m, m)) or self.points.shape[1:] != (max(self.sizes), self.inputs):
            raise ValueError("the inducing points, the kernels and the weights of a posterior do not match")
        pool = Products(self.products, self.inputs)
        return CollapsedPosterior(pool, self.weights, self.noise, Groups(self.points, self.sizes), self.A, self.b)


@dataclass(frozen=True, eq=False)
class Explanation:
    """What explains, if it was made after the fit (explaining.py)."""

    survivors: int
    record: tuple[Decision, ...]
    appraisal: Appraisal
    alone: Alone
    remainder: float | None = None
    rivals: tuple[Rival, ...] = ()


def state_of(result: Result) -> dict[str, Any]:
    """The state of a result; what explains it is kept if it was made."""
    state = RECORDS.plain(Result, result)
    for made in result.fitted.explanations[:1]:
        explanation = Explanation(**{one.name: getattr(made, one.name) for one in fields(Explanation)})
        state["explanation"] = RECORDS.plain(Explanation, explanation)
    return state


def result_from(state: Mapping[str, Any]) -> Result:
    """The result; TypeError or ValueError if something does not fit."""
    result: Result = RECORDS.built(Result, {name: value for name, value in state.items() if name != "explanation"})
    fitted = result.fitted
    if "explanation" in state:
        made: Explanation = RECORDS.built(Explanation, state["explanation"])
        fitted.explanations.append(replace(fitted, projects=False, **vars(made)))
    if result.inputs.shape != (len(result.target), len(result.columns)):
        raise ValueError("the rows do not match the target and the columns")
    for one in (fitted, *fitted.explanations):
        weights = np.size(one.prior.quantile(0.5)), np.size(one.explaining.prior.quantile(0.5))
        if weights[0] != len(one.kernels) or not one.survivors <= min(len(one.explaining.kernels), weights[1]):
            raise ValueError("the kernels, the weights and the components of a model do not match")
    return result


def _posterior_state(posterior: Any) -> dict[str, Any]:
    match posterior:
        case CollapsedPosterior():
            return {"engine": "collapsed", **RECORDS.plain(GivenSums, GivenSums.of(posterior))}
        case Agreeing():
            return {"engine": "agreeing", **RECORDS.plain(Agreeing, posterior)}
        case GaussianPosterior() | LinearPosterior() | LaplacePosterior():
            return RECORDS.plain(GivenRows, GivenRows.of(posterior))
    paper = import_module("farrier.paper.state")
    return {"engine": STOCHASTIC, **RECORDS.plain(paper.Stochastic, paper.Stochastic.of(posterior))}


def _posterior_from(state: dict[str, Any]) -> Any:
    others = {name: value for name, value in state.items() if name != "engine"}
    match state["engine"]:
        case "collapsed":
            return RECORDS.built(GivenSums, others).posterior()
        case "agreeing":
            return RECORDS.built(Agreeing, others)
        case "stochastic":
            return RECORDS.built(import_module("farrier.paper.state").Stochastic, others).posterior()
    return RECORDS.built(GivenRows, state).posterior()


POSTERIOR = Hook(_posterior_state, _posterior_from)
HOOKS: dict[Any, Hook] = {
    Kernel: LEAF,
    Posterior: POSTERIOR,
    LaplacePosterior: POSTERIOR,
    Transform: Hook(lambda transform: transform.name, named),
    LogNormal: Hook(list, lambda plain: LogNormal(*map(float, plain))),
}
"""What is not written field by field."""
RECORDS = Records(HOOKS)
