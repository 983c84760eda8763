"""The paper's synthetic check: does the horseshoe put its weights where the structure is?

100 points, x in [-5, 5], y from Per1 + SE * Per2 plus noise, standardised. The paper's pool of 24 kernels, half of
which hold Per, MultiSVGP, and the same training twice: weights with the horseshoe prior, and weights without any. A
kernel counts by its median weight, and by its contribution: the standard deviation over the data of its posterior
mean.

    shrinks: at least half of the weights are below a tenth of the largest
    finds:   the largest weight is that of a structure that holds Per

The settings are the same for all seeds. x is standardised as well, as Farrier's estimators do: a line has unit slope,
not unit variance, so on raw inputs of length 10 the weights of products with Lin are not in the unit of the others.
`--inputs raw` shows that. Even so a line whose location moves away from the data grows without its weight: therefore
w_i times the root mean square of g_i under its prior is recorded as well ("prior_sd").
"""

import argparse
import math

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.figures import below, participation_ratio
from benchmarks.record import Clock, Recorder, tell
from benchmarks.weights_picture import draw
from farrier.baselines.weight_priors import NoPrior
from farrier.data.progress import Progress
from farrier.data.tables import Scale
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Gaussian
from farrier.kernels.normal import normal_form
from farrier.kernels.registry import Periodic, SquaredExponential
from farrier.paper.inducing import spread_points
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Model
from farrier.paper.pool import Pool
from farrier.paper.training import Settings, train

DESCRIPTION = "weights on 24 kernels, with the horseshoe prior and without, for data from Per1 + SE * Per2"
TRUTH = "Per(period 1.0, lengthscale 1.0) + SE(lengthscale 2.0) * Per(period 2.6, lengthscale 1.0)"
KERNEL = Periodic(1.0, 1.0) + SquaredExponential(2.0) * Periodic(2.6, 1.0)
NOISE_SD = 0.1
ROWS = 100
PRIORS = {"horseshoe": Horseshoe, "none": NoPrior}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="data, pool and training")
    parser.add_argument("--iterations", type=int, default=2000, help="steps of Adam")
    parser.add_argument("--points", type=int, default=50, help="inducing points a kernel")
    parser.add_argument("--inputs", choices=["standardised", "raw"], default="standardised", help="the scale of x")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Train both models for every seed; print, record and draw."""
    held: list[str] = []
    for seed in arguments.seeds:
        X, y = data(seed, arguments.inputs)
        found = {}
        for prior in PRIORS:
            clock = Clock()
            figures = measure(prior, X, y, seed, arguments)
            settings = {"prior": prior, "iterations": arguments.iterations, "points": arguments.points, "rows": ROWS}
            settings["inputs"] = arguments.inputs
            settings |= {"truth": TRUTH, "noise_sd": NOISE_SD, "draws": 8, "learning_rate": 0.01}
            record.add(settings, seed, figures, clock)
            found[prior] = figures
        held.append(report(seed, found))
        path = record.picture(f"weights-{'raw-' * (arguments.inputs == 'raw')}seed{seed}")
        draw(found, seed, path)
        tell(f"picture: {path.name}")
    print("\nDoes the claim hold?", *held, sep="\n  ")


def data(seed: int, inputs: str) -> tuple[np.ndarray, np.ndarray]:
    """Evenly spaced x, and y from the true kernel; y standardised, x perhaps."""
    generator = np.random.default_rng(seed)
    X = np.linspace(-5.0, 5.0, ROWS)[:, None]
    K = KERNEL.gram(X, X) + NOISE_SD**2 * np.eye(ROWS)
    y = generator.multivariate_normal(np.zeros(ROWS), K, method="eigh")
    scale = Scale.of(X, y)
    return X if inputs == "raw" else scale.inputs(X), scale.target(y)


def measure(prior: str, X: np.ndarray, y: np.ndarray, seed: int, arguments: argparse.Namespace) -> dict:
    """Train one model and take its figures."""
    pool = Pool.paper(X, y, seed=seed)
    start = MultiSVGP.initial(pool, spread_points(X, arguments.points), spread=0.1)
    model = Model(PRIORS[prior].initial(len(pool)), Gaussian(0.1), start)
    # both models take all the steps, whether or not their bound is flat before
    settings = Settings(iterations=arguments.iterations, learning_rate=0.01, draws=8, tolerance=-math.inf)

    def progress(now: Progress) -> None:
        if now.phase == "compiling" or now.step % 500 == 0:
            reached = f", bound {now.bound:.1f}" if now.step else ""
            tell(f"seed {seed}, prior {prior}: {now.phase}, step {now.step} of {now.steps}{reached}")

    model, history = train(model, X, y, settings, jax.random.key(seed), progress)
    w = np.asarray(model.prior.quantile(0.5))
    mean, _ = model.posterior.functions(jnp.asarray(X))
    contribution = w * np.asarray(mean).std(axis=1)
    # what the weight stands for: the standard deviation of w_i g_i before the data, over the rows
    prior_sd = w * np.sqrt(np.asarray(model.posterior.pool.diag(jnp.asarray(X))).mean(axis=1))
    formulas = [str(normal_form(kernel)) for kernel in model.posterior.pool]
    periodic = np.array(["Per" in formula for formula in formulas])
    order = np.argsort(-w)
    return {
        "largest": formulas[order[0]],
        "second": formulas[order[1]],
        "largest_contribution": formulas[int(np.argmax(contribution))],
        "largest_prior_sd": formulas[int(np.argmax(prior_sd))],
        "finds": bool(periodic[order[0]]),
        "shrinks": below(w) >= len(w) / 2,
        "periodic_share_of_w2": float(np.sum(w[periodic] ** 2) / np.sum(w**2)),
        "periodic_share_of_contribution": float(np.sum(contribution[periodic] ** 2) / np.sum(contribution**2)),
        "kernels_by_participation": participation_ratio(w),
        "contributions_by_participation": participation_ratio(contribution),
        "below_tenth_of_largest": below(w),
        "prior_sds_below_tenth_of_largest": below(prior_sd),
        "bound": float(np.mean(history.bound[-50:])),
        "noise_sd": float(np.sqrt(model.likelihood.variance)),
        "formulas": formulas,
        "weights": [round(float(value), 6) for value in w],
        "prior_sds": [round(float(value), 6) for value in prior_sd],
        "contributions": [round(float(value), 6) for value in contribution],
    }


def report(seed: int, found: dict[str, dict]) -> str:
    """Print the short table of one seed, and say whether the claim holds for it."""
    print(f"\nseed {seed}: data from Per + SE * Per; kernels by median weight")
    for prior, figures in found.items():
        w, contribution = np.array(figures["weights"]), np.array(figures["contributions"])
        order = np.argsort(-w)
        top = ", ".join(f"{figures['formulas'][i]} {w[i]:.2f} ({contribution[i]:.2f})" for i in order[:5])
        print(f"  {prior:9s} largest weights (contributions): {top}")
        print(
            f"  {'':9s} share of w^2 on Per {figures['periodic_share_of_w2']:.2f}, effective kernels "
            f"{figures['kernels_by_participation']:.1f}, below a tenth of the largest "
            f"{figures['below_tenth_of_largest']} of {len(w)}, bound {figures['bound']:.1f}"
        )
    horseshoe, none = found["horseshoe"], found["none"]
    finds = "finds" if horseshoe["finds"] else "does NOT find"
    shrinks = "does NOT shrink" if not none["shrinks"] else "SHRINKS TOO"
    also = "shrinks" if horseshoe["shrinks"] else "does NOT shrink"
    verdict = "holds" if horseshoe["finds"] and horseshoe["shrinks"] and not none["shrinks"] else "does NOT hold"
    return f"seed {seed}: {verdict}: the horseshoe {finds} the periodic structure and {also}; no prior {shrinks}"
