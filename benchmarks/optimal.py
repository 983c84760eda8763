"""The best q(u) of a sparse posterior under Gaussian noise, in closed form.

With A = L^-1 Cov(u, f(X)), L L' = Cov(u, u), noise variance s and whitened v = L^-1 u, the best joint q is

    q(v) = N(a, B^-1),  B = I + A A' / s,  a = B^-1 A y / s,
    bound = log N(y; 0, A'A + s I) - tr(Cov(f, f) - A'A) / 2s

If q(v) must be a product over groups i, coordinate ascent (each group in turn at its optimum given the others) ends at

    q(v_i) = N(a_i, B_ii^-1),  bound lower by  (sum_i log|B_ii| - log|B|) / 2:

the same mean, and the variances of one group as if all other groups were known.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import Float
from scipy.optimize import minimize

from farrier.paper.inducing import GroupedPoints, InducingVariables
from farrier.paper.linalg import cholesky, log_determinant, solve_lower
from farrier.paper.multisvgp import SVGP
from farrier.paper.pool import Pool


class Problem(NamedTuple):
    """Data and the model that is known: kernels, weights, noise variance."""

    pool: Pool
    w: Float[Array, "m"]
    noise: Float[Array, ""]
    X: Float[Array, "N D"]
    y: Float[Array, "N"]


class Optimum(NamedTuple):
    """The best q(v) and its bound; factorised over the groups or not."""

    bound: Float[Array, ""]
    mean: Float[Array, "R"]
    root: Float[Array, "R R"]


@eqx.filter_jit
def optimum(inducing: InducingVariables, problem: Problem, factorised: bool) -> Optimum:
    """The best q(v), a product over groups or not."""
    return _optimum(inducing, problem, factorised)


def _optimum(inducing: InducingVariables, problem: Problem, factorised: bool) -> Optimum:
    pool, w, noise, X, y = problem
    A = solve_lower(cholesky(inducing.covariance(pool, w)), jnp.sum(inducing.with_components(pool, w, X), axis=0))
    # B = I + A A' / s has no eigenvalue below one: its factor needs no jitter
    B = jnp.eye(A.shape[0], dtype=A.dtype) + A @ A.T / noise
    L = jnp.linalg.cholesky(B)
    c = solve_lower(L, (A @ y / noise)[:, None])[:, 0]
    a = jax.scipy.linalg.solve_triangular(L, c, lower=True, trans=1)
    # log N(y; 0, A'A + s I) = -(N log 2 pi s + log|B| + y'y / s - c'c) / 2
    log_density = -0.5 * (len(y) * jnp.log(2.0 * jnp.pi * noise) + log_determinant(L) + y @ y / noise - c @ c)
    bound = log_density - 0.5 * (jnp.sum((w**2) @ pool.diag(X)) - jnp.sum(A**2)) / noise
    if not factorised:
        return Optimum(bound, a, _inverse_root(B))
    m, M, _ = inducing.Z.shape
    blocks = jnp.einsum("irjs,ij->irs", B.reshape(m, M, m, M), jnp.eye(m, dtype=B.dtype))
    gap = 0.5 * (jnp.sum(log_determinant(jnp.linalg.cholesky(blocks))) - log_determinant(L))
    root = jnp.einsum("irs,ij->irjs", _inverse_root(blocks), jnp.eye(m, dtype=B.dtype)).reshape(m * M, m * M)
    return Optimum(bound - gap, a, root)


def _inverse_root(B: Float[Array, "*s R R"]) -> Float[Array, "*s R R"]:
    """A lower triangular root of B^-1."""
    return jnp.linalg.cholesky(jnp.linalg.inv(B))


def posterior(inducing: InducingVariables, problem: Problem, best: Optimum) -> SVGP:
    """Farrier's own posterior with this q."""
    return SVGP(problem.pool, problem.w[None, :], inducing, best.mean, best.root)


@eqx.filter_jit
def _slope(Z: Array, problem: Problem, kind: type[InducingVariables], factorised: bool) -> tuple[Array, Array]:
    return jax.value_and_grad(lambda Z: -_optimum(kind(Z), problem, factorised).bound)(Z)


def with_trained_points(
    inducing: InducingVariables, problem: Problem, factorised: bool, iterations: int
) -> InducingVariables:
    """The inducing points moved to where the bound, with q at its best, is high (L-BFGS)."""
    start, restore = ravel_pytree(inducing.Z)

    def objective(z: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = _slope(restore(jnp.asarray(z)), problem, type(inducing), factorised)
        return float(value), np.asarray(gradient).ravel()

    found = minimize(objective, np.asarray(start), jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    return type(inducing)(restore(jnp.asarray(found.x)))


def grouped(Z: np.ndarray, groups: int) -> GroupedPoints:
    """Every group at the same points."""
    return GroupedPoints(np.tile(Z, (groups, 1, 1)))
