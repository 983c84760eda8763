"""Grouped beside single inducing points, when kernels, weights and noise are known and only u is to be found.

y is drawn from SE1 + SE2 + Per1 plus noise. The exact posterior of f on a grid is the reference. Against it stand

    single         f(Z) at M points                                 one q(u)
    grouped        g_i(Z_i) at M points a group, 3 M in all         q(u) a product over groups (the paper's), or joint
    grouped total  g_i(Z_i) at M / 3 points a group, M in all       likewise

each with the best q(u) (optimal.py), at points spread over the data or trained. Figures: Wasserstein-2 distances to the
reference, and how far each bound stays below the log marginal likelihood. The paper's proposition speaks of the joint q
at M points a group; for a product q, and at equal totals, it proves nothing.
"""

import argparse

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import cho_factor, cho_solve

from benchmarks.bound_picture import draw
from benchmarks.figures import wasserstein2
from benchmarks.optimal import Problem, grouped, optimum, posterior, with_trained_points
from benchmarks.record import Clock, Recorder, tell
from farrier.baselines.weight_priors import NoPrior
from farrier.inference.likelihoods import Gaussian
from farrier.kernels.registry import Periodic, SquaredExponential
from farrier.paper.inducing import InducingVariables, SharedPoints, spread_points
from farrier.paper.multisvgp import SVGP
from farrier.paper.objective import Batch, Model, evidence_bound
from farrier.paper.pool import stack

DESCRIPTION = "distance to the exact posterior, and bounds, of grouped and of single inducing points"
TRUTH = {"SE1": {"lengthscale": 3.0}, "SE2": {"lengthscale": 0.8}, "Per1": {"period": 1.3, "lengthscale": 0.8}}
KERNELS = (SquaredExponential(3.0), SquaredExponential(0.8), Periodic(1.3, 0.8))
WEIGHTS = (1.0, 0.5, 1.0)
NOISE_SD = 0.2
ROWS = 200
GRID = np.linspace(-5.0, 5.0, 200)[:, None]
METHODS = ("single", "grouped", "grouped_joint", "grouped_total", "grouped_total_joint")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4], help="one data set each")
    parser.add_argument("--points", type=int, nargs="+", default=[6, 12, 18, 24, 36], help="M, multiples of 3")
    parser.add_argument("--iterations", type=int, default=150, help="of L-BFGS, where points are trained")
    parser.add_argument("--picture-points", type=int, default=12, help="the M whose posteriors are drawn")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Measure all seeds, numbers of points and both kinds of points; print, record and draw."""
    if any(M % 3 for M in arguments.points):
        raise SystemExit(f"--points {arguments.points}: three groups share M, so give multiples of 3.")
    rows, shown = [], None
    for seed in arguments.seeds:
        problem = data(seed)
        evidence, *reference = exact(problem)
        tell(f"seed {seed}: log marginal likelihood {evidence:.2f}")
        for M in arguments.points:
            for trained in (False, True):
                clock = Clock()
                found = {name: fit(name, M, problem, arguments.iterations * trained) for name in METHODS}
                figures = {
                    "w2": {name: wasserstein2(*reference, *on_grid(q))[0] for name, (q, _) in found.items()},
                    "below_evidence": {name: evidence - bound for name, (_, bound) in found.items()},
                }
                figures["log_marginal_likelihood"] = evidence
                settings = {"M": M, "points": "trained" if trained else "spread", "rows": ROWS, "noise_sd": NOISE_SD}
                settings |= {"kernels": TRUTH, "weights": list(WEIGHTS), "grid": len(GRID)}
                record.add(settings | {"iterations": arguments.iterations * trained}, seed, figures, clock)
                rows.append({"seed": seed, "M": M, "trained": trained, **figures})
                if seed == arguments.seeds[0] and arguments.picture_points == M and not trained:
                    shown = {name: on_grid(q) for name, (q, _) in found.items()} | {"exact": reference}
                    shown["data"] = problem.X, problem.y
            tell(f"seed {seed}: M = {M} done")
    report(rows)
    path = record.picture("bound")
    draw(rows, GRID[:, 0], shown, arguments.picture_points, path)
    tell(f"picture: {path.name}")


def data(seed: int) -> Problem:
    """200 rows with x uniform on [-5, 5] and y from the true model."""
    generator = np.random.default_rng(seed)
    X = np.sort(generator.uniform(-5.0, 5.0, ROWS))[:, None]
    pool, w = stack(KERNELS, inputs=1), np.asarray(WEIGHTS)
    K = np.einsum("i,inm->nm", w**2, np.asarray(pool.gram(jnp.asarray(X), jnp.asarray(X))))
    y = generator.multivariate_normal(np.zeros(ROWS), K + NOISE_SD**2 * np.eye(ROWS), method="eigh")
    return Problem(pool, jnp.asarray(w), jnp.asarray(NOISE_SD**2), jnp.asarray(X), jnp.asarray(y))


def exact(problem: Problem) -> tuple[float, np.ndarray, np.ndarray]:
    """The log marginal likelihood, and mean and covariance of f on the grid, without inducing points."""
    X, y = np.asarray(problem.X), np.asarray(problem.y)

    def k(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return sum(w**2 * kernel.gram(A, B) for w, kernel in zip(WEIGHTS, KERNELS, strict=True))

    C = cho_factor(k(X, X) + NOISE_SD**2 * np.eye(len(y)), lower=True)
    # -(y' C^-1 y + log|C| + N log 2 pi) / 2
    log_determinant = 2.0 * np.sum(np.log(np.diagonal(C[0])))
    evidence = -0.5 * (y @ cho_solve(C, y) + log_determinant + len(y) * np.log(2.0 * np.pi))
    cross = k(GRID, X)
    return float(evidence), cross @ cho_solve(C, y), k(GRID, GRID) - cross @ cho_solve(C, cross.T)


def fit(name: str, M: int, problem: Problem, iterations: int) -> tuple[SVGP, float]:
    """The posterior of this method at its optimum, and Farrier's evidence bound of it."""
    count = M // 3 if "total" in name else M
    factorised = "grouped" in name and "joint" not in name
    Z = spread_points(np.asarray(problem.X), count)
    inducing: InducingVariables = SharedPoints(Z) if name == "single" else grouped(Z, len(problem.pool))
    if iterations:
        inducing = with_trained_points(inducing, problem, factorised, iterations)
    best = optimum(inducing, problem, factorised)
    q = posterior(inducing, problem, best)
    return q, float(_bound_by_farrier(q, problem))


def _bound_by_farrier(q: SVGP, problem: Problem) -> jax.Array:
    model = Model(NoPrior(np.asarray(problem.w)), Gaussian(np.asarray(problem.noise)), q)
    batch = Batch(problem.X, problem.y, jnp.ones_like(problem.y))
    return _evidence_bound(model, batch, jnp.zeros((1, 0))).total


_evidence_bound = eqx.filter_jit(evidence_bound)


def on_grid(q: SVGP) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of f on the grid."""
    mean, covariance = _joint(q, jnp.asarray(GRID))
    return np.asarray(mean[0]), np.asarray(covariance[0])


@eqx.filter_jit
def _joint(q: SVGP, X: jax.Array) -> tuple[jax.Array, jax.Array]:
    return q.joint_draws(X)


def report(rows: list[dict]) -> None:
    """Medians over the seeds, and for how many of them the groups are closer."""
    tables = {"w2": "Wasserstein-2 distance to the exact posterior", "below_evidence": "nats below the evidence"}
    for key, title in tables.items():
        print(f"\n{title}, median over seeds")
        print(f"{'points':8s} {'M':>3s} " + " ".join(f"{name:>20s}" for name in METHODS))
        for trained in (False, True):
            for M in dict.fromkeys(row["M"] for row in rows):
                here = [row[key] for row in rows if row["M"] == M and row["trained"] == trained]
                cells = " ".join(f"{np.median([row[name] for row in here]):20.3f}" for name in METHODS)
                print(f"{'trained' if trained else 'spread':8s} {M:3d} {cells}")
    print("\nFor how many seeds is the product-q grouped posterior closer (W2) than the single one?")
    for trained in (False, True):
        for M in dict.fromkeys(row["M"] for row in rows):
            here = [row["w2"] for row in rows if row["M"] == M and row["trained"] == trained]
            each, total = (sum(w2[name] < w2["single"] for w2 in here) for name in ("grouped", "grouped_total"))
            kind = "trained" if trained else "spread"
            print(f"{kind:8s} M = {M:2d}: {each} of {len(here)} at M a group; {total} of {len(here)} at M in all")
    print()
