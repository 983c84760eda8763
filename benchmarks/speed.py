"""Time of one gradient step beside a peer, in one process, as a ratio.

A step is the value and gradient of the evidence bound on 128 rows and Adam's update of all parameters, compiled, waited
for until its results are there. Three models take steps in turn, on the same rows, in 64 bits, with M points a kernel:

    farrier  24 kernels (the paper's pool), MultiSVGP, horseshoe, one draw of the weights
    farrier  one SE kernel, the same code
    gpjax    one RBF kernel, its whitened SVGP
"""

import argparse
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from benchmarks.figures import middle
from benchmarks.record import Clock, Recorder, tell
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Gaussian
from farrier.kernels.registry import SquaredExponential
from farrier.paper.inducing import spread_points
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Batch, Model, evidence_bound
from farrier.paper.pool import Pool, stack
from farrier.paper.trees import bound, free

DESCRIPTION = "milliseconds for one gradient step of 24 kernels, beside GPJax's of one"
ROWS = 2000
WARM_UP = 3
ADAM = optax.adam(0.01)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--suite", choices=["step"], default="step", help="what is timed")
    parser.add_argument("--repeats", type=int, default=30, help="timed steps of each model, 20 at least")
    parser.add_argument("--points", type=int, default=100, help="inducing points a kernel")
    parser.add_argument("--batch", type=int, default=128, help="rows of a step")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="data and rows of each step")


class Stepper(NamedTuple):
    """A model in training: its step, a pure function of the state and the rows, and its first state."""

    step: Callable[[Any, jax.Array, jax.Array], tuple[Any, jax.Array]]
    state: Any


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Compile the three steps, then time them in turn."""
    if arguments.repeats < 20:
        raise SystemExit(f"--repeats {arguments.repeats}: a median needs at least 20.")
    for seed in arguments.seeds:
        clock = Clock()
        generator = np.random.default_rng(seed)
        X = np.sort(generator.uniform(-5.0, 5.0, ROWS))[:, None]
        y = np.sin(2.0 * np.pi * X[:, 0]) + 0.3 * X[:, 0] + 0.1 * generator.standard_normal(ROWS)
        y = (y - y.mean()) / y.std()
        Z = spread_points(X, arguments.points)
        models = {
            "farrier_24_kernels": farrier_stepper(Pool.paper(X, y), Z),
            "farrier_1_kernel": farrier_stepper(stack([SquaredExponential(1.0)], inputs=1), Z),
            "gpjax_1_kernel": gpjax_stepper(Z),
        }
        choices = generator.integers(0, ROWS, (WARM_UP + arguments.repeats, arguments.batch))
        times, compiled = timed(models, [(jnp.asarray(X[rows]), jnp.asarray(y[rows])) for rows in choices])
        figures = {name: {f"ms_{key}": 1e3 * value for key, value in middle(t).items()} for name, t in times.items()}
        for name, seconds in compiled.items():
            figures[name]["compile_s"] = seconds
        peer = times["gpjax_1_kernel"]
        for name in ("farrier_24_kernels", "farrier_1_kernel"):
            # each step beside the peer's of the same turn, so that a busy machine hits both
            figures[f"{name}_over_gpjax"] = middle(times[name] / peer)
        settings = {"timed": arguments.suite, "points": arguments.points, "batch": arguments.batch, "rows": ROWS}
        settings |= {"repeats": arguments.repeats, "dtype": "float64", "cores": len(os.sched_getaffinity(0))}
        record.add(settings, seed, figures, clock, packages=("gpjax", "optax", "equinox"))
        report(figures, arguments)


def timed(models: dict[str, Stepper], batches: list[tuple[jax.Array, jax.Array]]) -> tuple[dict, dict]:
    """Seconds of every step after the warm-up, and seconds of compiling, for each model."""
    steps, states, compiled = {}, {}, {}
    for name, (step, state) in models.items():
        start = time.perf_counter()
        steps[name], states[name] = jax.jit(step).lower(state, *batches[0]).compile(), state
        compiled[name] = time.perf_counter() - start
        tell(f"{name}: compiled in {compiled[name]:.1f} s")
    times: dict[str, list[float]] = {name: [] for name in models}
    for turn, batch in enumerate(batches):
        for name, step in steps.items():
            start = time.perf_counter()
            states[name], loss = jax.block_until_ready(step(states[name], *batch))
            times[name].append(time.perf_counter() - start)
            if not np.isfinite(float(loss)):
                raise SystemExit(f"{name}: the bound is not finite at step {turn}.")
    tell(f"{len(batches) - WARM_UP} steps of each model timed")
    return {name: np.array(values[WARM_UP:]) for name, values in times.items()}, compiled


def farrier_stepper(pool: Pool, Z: np.ndarray) -> Stepper:
    """Farrier's model: the horseshoe, MultiSVGP, Gaussian noise."""
    template = Model(Horseshoe.initial(len(pool)), Gaussian(0.1), MultiSVGP.initial(pool, Z))
    unbounded = free(template)

    def step(state: Any, X: jax.Array, y: jax.Array) -> tuple[Any, jax.Array]:
        unbounded, moments, key = state
        key, noise_key = jax.random.split(key)
        noise = jax.random.normal(noise_key, (1, template.prior.noise_size))
        batch = Batch(X, y, jnp.full_like(y, ROWS / y.shape[0]))
        loss, slope = jax.value_and_grad(lambda u: -evidence_bound(bound(u, template), batch, noise).total)(unbounded)
        updates, moments = ADAM.update(slope, moments)
        return (optax.apply_updates(unbounded, updates), moments, key), loss

    return Stepper(step, (unbounded, ADAM.init(unbounded), jax.random.key(0)))


def gpjax_stepper(Z: np.ndarray) -> Stepper:
    """GPJax's model: one RBF kernel, whitened q(u), Gaussian noise."""
    try:
        import gpjax
    except ImportError:
        raise SystemExit("The peer is missing: pip install -c benchmarks/constraints.txt gpjax") from None
    import equinox as eqx

    prior = gpjax.gps.Prior(mean_function=gpjax.mean_functions.Zero(), kernel=gpjax.kernels.RBF())
    joint = prior * gpjax.likelihoods.Gaussian(obs_stddev=jnp.asarray(0.1**0.5))
    q = gpjax.variational_families.WhitenedVariationalGaussian(joint, jnp.asarray(Z))
    parameters, fixed = eqx.partition(q, eqx.is_inexact_array)

    def step(state: Any, X: jax.Array, y: jax.Array) -> tuple[Any, jax.Array]:
        parameters, moments = state
        batch = gpjax.Dataset(X, y[:, None], n_total=ROWS)
        loss, slope = jax.value_and_grad(lambda p: -gpjax.objectives.elbo(eqx.combine(p, fixed), batch))(parameters)
        updates, moments = ADAM.update(slope, moments)
        return (optax.apply_updates(parameters, updates), moments), loss

    return Stepper(step, (parameters, ADAM.init(parameters)))


def report(figures: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Print the times and the ratios."""
    print(f"\none step, M = {arguments.points} a kernel, batch {arguments.batch}, median of {arguments.repeats}")
    for name in ("farrier_24_kernels", "farrier_1_kernel", "gpjax_1_kernel"):
        f = figures[name]
        spread = f"(10-90 %: {f['ms_p10']:6.2f} to {f['ms_p90']:6.2f})"
        print(f"  {name:20s} {f['ms_median']:7.2f} ms {spread}, compiled in {f['compile_s']:.1f} s")
    for name in ("farrier_24_kernels", "farrier_1_kernel"):
        r = figures[f"{name}_over_gpjax"]
        print(f"  {name} over gpjax_1_kernel: {r['median']:.2f} (10-90 %: {r['p10']:.2f} to {r['p90']:.2f})")
