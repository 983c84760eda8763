"""The exact bound by L-BFGS: for Gaussian noise and few rows, in seconds and without noise of its own.

The expectation over q(w) is an average over a few fixed quasi-random draws, so the bound is a smooth deterministic
function of all trained numbers at once, and a few hundred evaluations climb it where Adam takes thousands of steps.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from scipy.optimize import OptimizeResult, minimize

from farrier.fit import History, Progress, TrainingError
from farrier.objective import Bound, ExactModel, exact_bound
from farrier.parameters import bound, free
from farrier.priors import quasi_normal

DRAWS = 4
"""Draws of the weights over which the bound is averaged."""
WINDOW = 25
"""Iterations over which a gain below the tolerance ends the climb."""
REACH = 10.0
"""How far a trained number may move from its start: e^10 in a scale, ten standard deviations in a place."""


def maximise(
    model: ExactModel,
    X: np.ndarray,
    y: np.ndarray,
    iterations: int,
    tolerance: float,
    callback: Callable[[Progress], None] | None = None,
) -> tuple[ExactModel, History]:
    """The model at a local maximum of the exact bound, and how it got there; `tolerance` is in nats a row."""
    tell = callback or (lambda progress: None)
    rows, target = jnp.asarray(X), jnp.asarray(y)
    noise = jnp.asarray(quasi_normal(DRAWS, model.prior.noise_size))
    start, unravel = ravel_pytree(free(model))
    terms: list[Bound] = []
    latest: list[Bound] = []

    def loss(numbers: np.ndarray) -> tuple[float, np.ndarray]:
        (value, at), gradient = _loss(jnp.asarray(numbers), model, rows, target, noise)
        if not np.isfinite(value) or not np.isfinite(gradient).all():
            raise TrainingError(
                f"The bound is not finite after {len(terms)} iterations. Look for extreme values in X or y, "
                "or try method='stochastic'."
            )
        latest[:] = [Bound(*(float(term) for term in at))]
        return float(value), np.asarray(gradient)

    def after_iteration(intermediate_result: OptimizeResult) -> None:
        terms.extend(latest)
        tell(Progress("training", len(terms), iterations, -float(intermediate_result.fun)))
        if len(terms) > WINDOW and terms[-1].total - terms[-1 - WINDOW].total < tolerance * len(y):
            raise StopIteration

    tell(Progress("compiling", 0, iterations, float("nan")))
    numbers = np.asarray(start)
    result = minimize(
        loss,
        numbers,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(numbers - REACH, numbers + REACH, strict=True)),
        callback=after_iteration,
        options={"maxiter": iterations, "maxfun": 3 * iterations, "maxcor": 20, "ftol": 1e-12},
    )
    tell(Progress("training", len(terms), max(1, len(terms)), -float(result.fun)))
    history = Bound(*(np.array(term) for term in zip(*(terms or latest), strict=True)))
    best = bound(unravel(jnp.asarray(result.x)), model)
    return best, History(*history, stopped_early=len(terms) < iterations)


@eqx.filter_jit
def _loss(numbers: Array, template: ExactModel, X: Array, y: Array, noise: Array) -> Any:
    """Minus the bound at a vector of unbounded numbers, with its terms and its derivative."""
    _, unravel = ravel_pytree(free(template))

    def loss(numbers: Array) -> tuple[Array, Bound]:
        terms = exact_bound(bound(unravel(numbers), template), X, y, noise)
        return -terms.total, terms

    return jax.value_and_grad(loss, has_aux=True)(numbers)
