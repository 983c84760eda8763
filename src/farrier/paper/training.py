"""Training: the paper's Algorithm 1 with natural gradients for q(u), for several starts at once.

Each step draws rows and weights and updates q(u) and the other parameters (steps.py). Steps run in compiled blocks, all
starts together in one program. Between two blocks Python reports the progress, checks whether the bound still rises,
and raises an error if it is NaN for every start. The step size falls to zero over the last part of the run, so that the
result does not depend on the last rows drawn. The result is the start with the highest bound.

All randomness comes from one key and the number of the step: the same call gives the same bits on the same machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PRNGKeyArray

from farrier.data.progress import Progress
from farrier.paper.batches import Held, RowSource, StepRows
from farrier.paper.diagnosis import TrainingError, diagnosis
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Batch, Bound, Model
from farrier.paper.steps import Rates, State, Treatment, finished, first_state, step
from farrier.paper.trees import bound

BLOCK = 50
"""Steps in one compiled block, by judgement."""
WINDOW = 8
"""Blocks over which the bound is averaged to see whether it still rises, by judgement."""
COOLING = 0.5
"""The part of all steps over which the step size falls to zero, by judgement."""
LEAST_LENGTH = 0.1
"""The part of its length that the natural gradient step keeps at the end, by judgement: q(u) must follow the rest."""


@dataclass(frozen=True)
class Settings:
    """The settings of training."""

    iterations: int = 5000
    batch_size: int = 256
    """Rows in one step."""
    full_rows: int = 500
    """With at most so many rows every step uses all of them. By judgement: a step costs more, but far fewer do."""
    learning_rate: float = 0.02
    """The step size of Adam."""
    draws: int = 1
    """Draws of the weights in one step, where their expectation has no closed form."""
    tolerance: float = 2e-3
    """Training ends if the bound gains less than this over one window of steps, in nats per row; 0 never does."""
    natural_step: float = 0.05
    """The length of the natural gradient step on minibatches, by judgement: m overlapping groups allow about 2 / m."""
    race: float = 0.2
    """The part of all steps after which only the best of several starts goes on, by judgement; 1 keeps them all."""
    natural: bool = True
    """Natural gradients for q(u); False is the paper's algorithm as printed, Adam for everything."""


@dataclass(frozen=True)
class History:
    """The estimated bound and its terms at every step; `stopped_early` says whether the bound became flat.

    `starts` holds the bounds of all starts, (starts, steps), NaN after a start was given up, and `chosen` says which of
    them is the result.
    """

    bound: np.ndarray
    likelihood: np.ndarray
    kl_inducing: np.ndarray
    kl_weights: np.ndarray
    stopped_early: bool
    starts: np.ndarray
    chosen: int


def train(
    model: Model,
    X: np.ndarray,
    y: np.ndarray,
    settings: Settings,
    key: PRNGKeyArray,
    callback: Callable[[Progress], None] | None = None,
) -> tuple[Model, History]:
    """The trained model, and the history of training."""
    return train_starts([model], X, y, settings, key, callback)


def train_starts(
    models: Sequence[Model],
    X: np.ndarray,
    y: np.ndarray,
    settings: Settings,
    key: PRNGKeyArray,
    callback: Callable[[Progress], None] | None = None,
) -> tuple[Model, History]:
    """Train models of the same structure from different starting values; the best by the bound, and its history."""
    return train_source(models, Held(X, y), settings, key, callback)


def train_source(
    models: Sequence[Model],
    source: RowSource,
    settings: Settings,
    key: PRNGKeyArray,
    callback: Callable[[Progress], None] | None = None,
) -> tuple[Model, History]:
    """The same for rows from any source.

    All starts run together for the first part of the steps (`race`); then the best of them goes on alone.
    """
    tell = callback or (lambda progress: None)
    treatment = _treatment(models[0], source, settings)
    size = settings.batch_size if treatment != "optimal" else source.count
    templates = _stacked(models)
    state = _stacked([first_state(model, treatment) for model in models])
    flatness = _Flatness(settings.tolerance * source.count)
    steps, done, running = settings.iterations, 0, np.arange(len(models))
    cooling_from = steps - max(BLOCK, round(COOLING * steps))
    terms: list[Bound] = []
    lengths = jnp.asarray([settings.learning_rate, settings.natural_step])
    tell(Progress("compiling", 0, steps, float("nan")))
    while done < steps:
        cooling = jnp.asarray([cooling_from, steps], jnp.int32)
        rows = source.rows(BLOCK, size)
        state, block = _run_block(state, templates, rows, lengths, cooling, key, settings.draws, treatment)
        healthy = np.asarray(state.healthy)
        if not healthy.any():
            raise TrainingError(_first_diagnosis(state, models, rows.at(cooling[0], key)))
        # a start that failed counts as the lowest
        sound = healthy & np.isfinite(np.asarray(block.total))
        block = Bound(*(np.where(sound, np.asarray(term), -np.inf) for term in block))
        terms.append(Bound(*(_spread(term, running, len(models)) for term in block)))
        done, height = done + BLOCK, float(np.max(np.mean(block.total, axis=0)))
        if len(running) > 1 and done >= settings.race * steps:
            best = _best(state, block, treatment)
            running = running[[best]]
            state, templates = jax.tree.map(lambda leaf, i=best: leaf[i : i + 1], (state, templates))
        if done <= cooling_from and flatness.reached(height):
            cooling_from = done
            steps = min(steps, done + max(BLOCK, round(COOLING * done)))
        tell(Progress("cooling" if done > cooling_from else "training", min(done, steps), steps, height))
    whole = Bound(*(np.concatenate(term)[:steps] for term in zip(*terms, strict=True)))
    best = _best(state, Bound(*(term[-BLOCK:, running] for term in whole)), treatment)
    chosen = int(running[best])
    model = finished(_one(state, best), _one(templates, best), treatment)
    terms_of_chosen = Bound(*(term[:, chosen] for term in whole))
    early = steps < settings.iterations
    return model, History(*terms_of_chosen, stopped_early=early, starts=whole.total.T, chosen=chosen)


def _best(state: State, block: Bound, treatment: Treatment) -> int:
    """The place of the best start among those that run: by its best point, or by the mean of the last block."""
    heights = np.asarray(state.height) if treatment == "optimal" else np.mean(block.total, axis=0)
    return int(np.argmax(np.where(np.asarray(state.healthy), heights, -np.inf)))


def _spread(term: np.ndarray, running: np.ndarray, starts: int) -> np.ndarray:
    """The values of the starts that run at their places among all starts, NaN elsewhere."""
    values = np.full((len(term), starts), np.nan)
    values[:, running] = term
    return values


def _treatment(model: Model, source: RowSource, settings: Settings) -> Treatment:
    """How q(u) is updated."""
    shared_and_random = not isinstance(model.posterior, MultiSVGP) and model.prior.noise_size > 0
    if not settings.natural or shared_and_random:
        return "adam"
    few = source.whole and source.count <= max(settings.full_rows, settings.batch_size)
    return "optimal" if model.closed_form and few else "natural"


@eqx.filter_jit
def _run_block(
    states: State,
    templates: Model,
    rows: StepRows,
    lengths: Array,
    cooling: Array,
    key: PRNGKeyArray,
    draws: int,
    treatment: Treatment,
) -> tuple[State, Bound]:
    """BLOCK steps of all starts, which see the same rows and the same noise."""

    def one(states: State, number: Array) -> tuple[State, Bound]:
        row_key, noise_key = jax.random.split(jax.random.fold_in(key, number))
        batch = rows.at(number, row_key)
        noise = jax.random.normal(noise_key, (draws, _noise_size(templates)), batch.y.dtype)
        cooled = _cooled(number, cooling, batch.y.dtype)
        rates = Rates(lengths[0] * cooled, lengths[1] * jnp.maximum(cooled, LEAST_LENGTH))
        each = jax.vmap(lambda state, template: step(state, template, batch, noise, rates, treatment))
        return each(states, templates)

    numbers = jnp.max(states.step) + jnp.arange(BLOCK, dtype=jnp.int32)
    return jax.lax.scan(one, states, numbers)


def _noise_size(templates: Model) -> int:
    """Normal variables of one draw of the weights."""
    return jax.tree.map(lambda leaf: leaf[0], templates.prior).noise_size


def _cooled(number: Array, cooling: Array, dtype: Any) -> Array:
    """One until the first number of `cooling`, then falling along a cosine to zero at the second."""
    span = (cooling[1] - cooling[0]).astype(dtype)
    passed = (number - cooling[0]).astype(dtype)
    return 0.5 * (1.0 + jnp.cos(jnp.pi * jnp.clip(passed / span, 0.0, 1.0)))


def _stacked(trees: Sequence[Any]) -> Any:
    """Equal trees as one, whose leaves have a leading axis."""
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *trees)


def _one(tree: Any, i: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[i], tree)


def _first_diagnosis(state: State, models: Sequence[Model], batch: Batch) -> str:
    """What is wrong with the first start."""
    first = _one(state, 0)
    return diagnosis(bound(first.unbounded, models[0]), batch, int(first.step))


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
