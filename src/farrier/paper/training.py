"""The paper's Algorithm 1: stochastic maximisation of the evidence lower bound.

Each step draws rows and weights, estimates the bound, and updates every trained parameter by Adam. The auxiliary phi of
the horseshoe need no step, because the KL of horseshoe.py has them at their optimum. Steps run in compiled blocks.
Between two blocks Python reports the progress, checks whether the bound still rises, and raises an error if it is NaN.
When the bound is flat, or few steps remain, the step size falls to zero, so that the result does not depend on the last
rows drawn.

All randomness comes from one key and the number of the step: the same call gives the same bits on the same machine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jaxtyping import PRNGKeyArray

from farrier.kernels.parameters import POSITIVE
from farrier.model.progress import Progress
from farrier.paper.linalg import cholesky
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Batch, Bound, Model, evidence_bound
from farrier.paper.pool import Pool
from farrier.paper.trees import bound, constraint_of, free

BLOCK = 50
"""Steps in one compiled block, by judgement."""
WINDOW = 8
"""Blocks over which the bound is averaged to see whether it still rises, by judgement."""
COOLING = 0.25
"""The part of all steps over which the step size falls to zero, by judgement."""


@dataclass(frozen=True)
class Settings:
    """The settings of training. `tolerance` is the smallest gain over one window of steps, in nats per row."""

    iterations: int = 5000
    batch_size: int = 256
    learning_rate: float = 0.02
    draws: int = 1
    tolerance: float = 2e-3


@dataclass(frozen=True)
class History:
    """The estimated bound and its terms at every step; `stopped_early` says whether the bound became flat."""

    bound: np.ndarray
    likelihood: np.ndarray
    kl_inducing: np.ndarray
    kl_weights: np.ndarray
    stopped_early: bool


class TrainingError(ArithmeticError):
    """The bound became NaN or infinite."""


class _State(NamedTuple):
    unbounded: Model
    moments: optax.OptState
    step: Array
    healthy: Array


_ADAM = optax.scale_by_adam()


def train(
    model: Model,
    X: np.ndarray,
    y: np.ndarray,
    settings: Settings,
    key: PRNGKeyArray,
    callback: Callable[[Progress], None] | None = None,
) -> tuple[Model, History]:
    """The trained model, and the history of training."""
    tell = callback or (lambda progress: None)
    batch = padded(X, y)
    unbounded = free(model)
    state = _State(unbounded, _ADAM.init(cast(optax.Params, unbounded)), jnp.zeros((), jnp.int32), jnp.asarray(True))
    flatness = _Flatness(settings.tolerance * len(y))
    steps = settings.iterations
    cooling_from = steps - max(BLOCK, round(COOLING * steps))
    terms: list[Bound] = []
    rate = jnp.asarray(settings.learning_rate, batch.y.dtype)
    tell(Progress("compiling", 0, steps, float("nan")))
    while (step := int(state.step)) < steps:
        cooling = jnp.asarray([cooling_from, steps], jnp.int32)
        state, block = _run_block(state, model, batch, rate, cooling, key, settings.batch_size, settings.draws)
        terms.append(Bound(*(np.asarray(term) for term in block)))
        if not bool(state.healthy):
            raise TrainingError(_diagnosis(bound(state.unbounded, model), batch, int(state.step)))
        step, height = int(state.step), float(np.mean(terms[-1].total))
        if step <= cooling_from and flatness.reached(height):
            cooling_from = step
            steps = min(steps, step + max(BLOCK, round(COOLING * step)))
        tell(Progress("cooling" if step > cooling_from else "training", min(step, steps), steps, height))
    history = Bound(*(np.concatenate(term)[:steps] for term in zip(*terms, strict=True)))
    return bound(state.unbounded, model), History(*history, stopped_early=steps < settings.iterations)


@eqx.filter_jit
def _run_block(
    state: _State,
    template: Model,
    batch: Batch,
    learning_rate: Array,
    cooling: Array,
    key: PRNGKeyArray,
    batch_size: int,
    draws: int,
) -> tuple[_State, Bound]:
    """BLOCK steps of Adam. After a step that is not finite, the parameters stay as they are."""

    def loss(unbounded: Model, rows: Batch, noise: Array) -> tuple[Array, Bound]:
        terms = evidence_bound(bound(unbounded, template), rows, noise)
        return -terms.total, terms

    def step(state: _State, _: None) -> tuple[_State, Bound]:
        row_key, noise_key = jax.random.split(jax.random.fold_in(key, state.step))
        rows = _minibatch(batch, batch_size, row_key)
        noise = jax.random.normal(noise_key, (draws, template.prior.noise_size), batch.y.dtype)
        (_, terms), gradient = jax.value_and_grad(loss, has_aux=True)(state.unbounded, rows, noise)
        with jax.numpy_dtype_promotion("standard"):  # optax takes a float to an integer power
            updates, moments = _ADAM.update(gradient, state.moments)
        finite = jnp.isfinite(terms.total) & jnp.isfinite(optax.tree.norm(gradient))
        healthy = state.healthy & finite
        rate = learning_rate * _cooled(state.step, cooling, batch.y.dtype)
        rate = jnp.where(healthy, rate, 0.0)
        unbounded = jax.tree.map(lambda u, d: u - jnp.where(healthy, rate * d, 0.0), state.unbounded, updates)
        return _State(unbounded, moments, state.step + healthy.astype(jnp.int32), healthy), terms

    return jax.lax.scan(step, state, length=BLOCK)


def _cooled(step: Array, cooling: Array, dtype: jnp.dtype) -> Array:
    """1 until cooling starts, then falling to 0 at the last step."""
    left = (cooling[1] - step).astype(dtype) / (cooling[1] - cooling[0]).astype(dtype)
    return jnp.clip(left, 0.0, 1.0)


def padded(X: np.ndarray, y: np.ndarray) -> Batch:
    """All rows, padded to a round number, so that data of similar length share one compiled program."""
    rows = _round_up(len(y))
    fill = rows - len(y)
    X = np.concatenate([X, np.repeat(X[:1], fill, axis=0)])
    y = np.concatenate([y, np.repeat(y[:1], fill)])
    counts = np.concatenate([np.ones(rows - fill), np.zeros(fill)])
    return Batch(jnp.asarray(X), jnp.asarray(y), jnp.asarray(counts))


def _round_up(rows: int) -> int:
    """The next of 16, 20, 24, 28, 32, 40, 48, 56, 64, 80 ..., at most a quarter more than `rows`."""
    step = 4
    while 8 * step <= rows:
        step *= 2
    return max(16, -(-rows // step) * step)


def _minibatch(batch: Batch, size: int, key: PRNGKeyArray) -> Batch:
    """`size` rows drawn with replacement, each with its share of the whole count; all rows if they are not more."""
    if batch.y.shape[0] <= size:
        return batch
    total = jnp.sum(batch.counts)
    index = jax.random.randint(key, (size,), 0, total.astype(jnp.int32))
    return Batch(batch.X[index], batch.y[index], jnp.full((size,), 1.0 / size, batch.y.dtype) * total)


class _Flatness:
    """Whether the mean of the bound over the last window differs little from that over the window before.

    A bound that falls is not flat: Adam may be leaving a poor local maximum.
    """

    def __init__(self, gain: float) -> None:
        self._gain = gain
        self._heights: list[float] = []

    def reached(self, height: float) -> bool:
        self._heights.append(height)
        if len(self._heights) < 2 * WINDOW:
            return False
        recent, before = np.array(self._heights[-WINDOW:]), np.array(self._heights[-2 * WINDOW : -WINDOW])
        return bool(abs(recent.mean() - before.mean()) < self._gain)


def _diagnosis(model: Model, batch: Batch, step: int) -> str:
    """The error for a bound that is not finite: the kernel that causes it, and what to try."""
    advice = "Try a smaller learning_rate, fewer inducing points, or take the kernel out of the pool."
    pool, posterior = model.posterior.pool, model.posterior
    Z = posterior.Z if isinstance(posterior, MultiSVGP) else posterior.inducing.Z
    factors = cholesky(pool.gram(Z, Z))
    suspects = {
        "has parameters that are not finite": ~_sound_parameters(pool),
        "has values that are not finite at the data": ~np.isfinite(pool.gram(Z, batch.X)).all(axis=(1, 2)),
        "gives a covariance of inducing points that is not positive definite": ~np.isfinite(factors).all(axis=(1, 2)),
    }
    for reason, guilty in suspects.items():
        if guilty.any():
            i = int(np.flatnonzero(guilty)[0])
            return f"The bound is not finite after step {step}: kernel {i}, {_name(pool, i)}, {reason}. {advice}"
    largest = int(np.argmax(np.asarray(model.prior.quantile(0.5))))
    return (
        f"The bound is not finite after step {step}, though every kernel is; the largest weight is that of "
        f"kernel {largest}, {pool[largest]!r}. Check that y has no extreme values. {advice}"
    )


def _sound_parameters(pool: Pool) -> np.ndarray:
    """Whether the parameters of each kernel are finite, and positive where they must be."""
    sound = np.ones(len(pool), bool)
    for stack in pool.stacks:
        for name, value in stack.factors.parameters().items():
            within = np.isfinite(value) & (
                (np.asarray(value) > 0) | (constraint_of(stack.factors, name) is not POSITIVE)
            )
            sound[list(stack.owners)] &= within.all(axis=1)
    return sound


def _name(pool: Pool, i: int) -> str:
    """The kernel with its parameters, or its formula if the parameters are invalid."""
    try:
        return repr(pool[i])
    except ValueError:
        return " * ".join(stack.factors.symbol for stack in pool.stacks if i in stack.owners)
