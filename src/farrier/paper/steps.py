"""One step of training: q(u) by a natural gradient, everything else by Adam (the paper's Algorithm 1 has Adam for all).

`step` works on one start; training.py runs it for several starts at once by `jax.vmap`. Three ways to treat q(u):

    "optimal"   all rows, Gaussian noise: q(u) jumps to its maximum, so Adam climbs the bound maximised over q(u)
    "natural"   minibatches, or another likelihood: one natural gradient step, then one step of Adam for the rest
    "adam"      as printed: Adam for q(u) as well

The auxiliary phi of the horseshoe need no step, because the KL of horseshoe.py has them at their optimum (the paper's
eq. update_tau_lambda).
"""

from typing import Any, Literal, NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import Array

from farrier.paper.natural_gradients import (
    Features,
    NaturalQ,
    Q,
    moments_of,
    natural,
    natural_step,
    optimal_q,
    ordinary,
)
from farrier.paper.objective import Batch, Bound, Model, evidence_bound, grouped_bound, likelihood_term
from farrier.paper.step_sizes import relative_steps
from farrier.paper.trees import bound, free

Treatment = Literal["optimal", "natural", "adam"]
"""How q(u) is updated."""
ADAM = optax.scale_by_adam()
FALL = 0.05
"""Nats a row below the best point at which a start goes back to it, by judgement. A step of 0.05 in the logarithm of a
period shifts the last of ten cycles by half a turn, and Adam alone needs hundreds of steps to come back from that."""
BACKING = 0.5
"""The factor of the step size after such a fall, by judgement."""
RECOVERY = 1.05
"""The factor by which the step size grows back a step, by judgement. With 1.01 the steps that were lost after falls at
the start cost 200 of 600 nats on yacht."""


class State(NamedTuple):
    """One start in training: unbounded parameters, q(u), Adam's moments, the best point so far and its bound."""

    unbounded: Model
    q: NaturalQ
    moments: optax.OptState
    best: tuple[Model, Q]
    height: Array
    damping: Array
    """The part of the step size of Adam that this start takes."""
    step: Array
    healthy: Array


class Rates(NamedTuple):
    """The step of Adam, and the length of the natural gradient step."""

    adam: Array
    natural: Array


def first_state(model: Model, treatment: Treatment) -> State:
    """The state before the first step; with natural gradients q(u) starts at its prior."""
    unbounded = free(model)
    start = model.posterior.q
    if treatment != "adam":
        unbounded = _without_q(unbounded)
        start = Q(jnp.zeros_like(start.mean), jnp.broadcast_to(jnp.eye(start.mean.shape[1]), start.root.shape))
    moments = ADAM.init(cast(optax.Params, unbounded))
    height = jnp.asarray(-jnp.inf, start.mean.dtype)
    count, healthy = jnp.zeros((), jnp.int32), jnp.asarray(True)
    return State(unbounded, natural(start), moments, (unbounded, start), height, jnp.ones_like(height), count, healthy)


def step(
    state: State, template: Model, rows: Batch, noise: Array, rates: Rates, treatment: Treatment
) -> tuple[State, Bound]:
    """The state after one step, and the bound before the step of Adam."""

    def loss(unbounded: Model) -> tuple[Array, tuple[Bound, NaturalQ, Q]]:
        model = bound(unbounded, template)
        if treatment == "adam":
            terms = evidence_bound(model, rows, noise)
            return -terms.total, (terms, state.q, model.posterior.q)
        features = model.features(rows.X)
        # where q(u) is at its maximum, its dependence on the other parameters adds nothing to their gradient
        here = jax.lax.stop_gradient((model, features))
        q, fixed = _updated(state, here, rows, noise, rates.natural, treatment)
        terms = grouped_bound(model, rows, features, fixed, noise)
        return -terms.total, (terms, q, fixed)

    (_, (terms, q, plain)), gradient = jax.value_and_grad(loss, has_aux=True)(state.unbounded)
    with jax.numpy_dtype_promotion("standard"):  # optax takes a float to an integer power
        updates, moments = ADAM.update(gradient, state.moments)
    healthy = state.healthy & jnp.isfinite(terms.total) & jnp.isfinite(optax.tree.norm(gradient))
    length = rates.adam * state.damping
    sizes = relative_steps(state.unbounded, rows.X)
    moved = jax.tree.map(lambda u, d, size: u - length * size * d, state.unbounded, updates, sizes)
    # with minibatches the bound is an estimate, and the last point is the best
    better = healthy & ((terms.total > state.height) | (treatment != "optimal"))
    following = State(
        moved,
        q,
        moments,
        _chosen(better, (state.unbounded, plain), state.best),
        _chosen(better, terms.total, state.height),
        jnp.minimum(state.damping * RECOVERY, 1.0),
        state.step + 1,
        healthy,
    )
    # after a step that is not finite the state stays as it was
    failed = eqx.tree_at(lambda state: state.healthy, state, healthy)
    if treatment == "optimal":
        # a fall, or a bound that is not finite, leads back to the best point and to shorter steps
        known = state.healthy & jnp.isfinite(state.height)
        fell = known & ~(healthy & (terms.total > state.height - FALL * jnp.sum(rows.counts)))
        moments = ADAM.init(cast(optax.Params, state.unbounded))
        damping = BACKING * state.damping
        back = State(state.best[0], q, moments, state.best, state.height, damping, state.step + 1, state.healthy)
        return _chosen(fell, back, _chosen(healthy, following, failed)), terms
    return _chosen(healthy, following, failed), terms


def finished(state: State, template: Model, treatment: Treatment) -> Model:
    """The model at the best point of a start."""
    if treatment == "adam":
        return bound(state.unbounded, template)
    unbounded, q = state.best if treatment == "optimal" else (state.unbounded, ordinary(state.q))
    model = bound(unbounded, template)
    return Model(model.prior, model.likelihood, model.posterior.with_q(q))


def _updated(
    state: State, here: tuple[Model, Features], rows: Batch, noise: Array, length: Array, treatment: Treatment
) -> tuple[NaturalQ, Q]:
    """q(u) after its update, in both forms."""
    model, features = here
    q = state.q
    if treatment == "optimal":
        variance = model.likelihood.variance  # pyright: ignore[reportAttributeAccessIssue]
        return q, optimal_q(features, model.group_moments(), variance, rows.y, rows.counts)
    h, s = moments_of(features, ordinary(q))
    slopes = jax.grad(lambda h, s: likelihood_term(model, rows, h, s, noise), argnums=(0, 1))(h, s)
    # precisions begin at those of the prior, with which a short step would move means the whole way: the first steps
    # take the average of what their rows ask for
    first = 1.0 / (state.step + 1).astype(length.dtype)
    q = natural_step(q, features, slopes, h, length, jnp.maximum(length, first))
    return q, ordinary(q)


def _without_q(unbounded: Model) -> Model:
    return eqx.tree_at(lambda model: (model.posterior.q_mean, model.posterior.q_root), unbounded, (None, None))


def _chosen(first: Array, one: Any, other: Any) -> Any:
    """`one` where `first` is true, else `other`."""
    return jax.tree.map(lambda a, b: jnp.where(first, a, b), one, other)
