"""Laws of the benchmarks' figures, and of the lines they are kept in."""

import jax.numpy as jnp
import numpy as np
import pytest
from benchmarks.figures import below, participation_ratio, wasserstein2
from benchmarks.optimal import Problem, grouped, optimum, posterior
from benchmarks.record import Clock, Recorder, read
from benchmarks.table import markdown
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from benchmarks import bound
from farrier.kernels.registry import Periodic, SquaredExponential
from farrier.paper.inducing import SharedPoints, spread_points
from farrier.paper.pool import stack
from tests.kernels.plain_kernels import plain_gram


def gaussian(seed: int, size: int = 4) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    F = generator.standard_normal((size, size))
    return generator.standard_normal(size), F @ F.T


def test_wasserstein_of_one_dimension_is_the_distance_of_means_and_deviations():
    # W2^2 = (a - b)^2 + (s - t)^2
    found = wasserstein2(np.array([1.0]), np.array([[4.0]]), np.array([-2.0]), np.array([[0.25]]))
    assert_allclose(found, [np.hypot(3.0, 1.5), 3.0, 1.5], rtol=1e-12)


def test_wasserstein_of_commuting_covariances_compares_their_roots():
    d, e = np.array([4.0, 1.0, 0.0]), np.array([1.0, 9.0, 0.0])
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))
    expected = np.sqrt(np.sum((np.sqrt(d) - np.sqrt(e)) ** 2))
    assert_allclose(wasserstein2(np.zeros(3), Q * d @ Q.T, np.zeros(3), Q * e @ Q.T)[2], expected, rtol=1e-7)


def test_wasserstein_is_a_metric_that_motions_do_not_change():
    p, q, r = gaussian(0), gaussian(1), gaussian(2)
    assert_allclose(wasserstein2(*p, *p)[0], 0.0, atol=1e-6)
    assert_allclose(wasserstein2(*p, *q)[0], wasserstein2(*q, *p)[0], rtol=1e-12)
    assert wasserstein2(*p, *r)[0] <= wasserstein2(*p, *q)[0] + wasserstein2(*q, *r)[0]
    Q, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4)))
    moved = [(Q @ mean + 5.0, Q @ covariance @ Q.T) for mean, covariance in (p, q)]
    assert_allclose(wasserstein2(*moved[0], *moved[1]), wasserstein2(*p, *q), rtol=1e-10)


def test_participation_ratio_counts_equal_weights_and_ignores_their_unit():
    w = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    assert_allclose(participation_ratio(w), 3.0)
    assert_allclose(participation_ratio(7.0 * w), 3.0)
    assert_allclose(participation_ratio(np.array([1.0, 0.01])), 1.0, atol=1e-3)
    assert below(np.array([1.0, 0.2, 0.05, 0.0])) == 2


@pytest.fixture(scope="module")
def problem() -> Problem:
    X = jnp.linspace(-1.0, 1.0, 12)[:, None]
    pool = stack([SquaredExponential(1.0), Periodic(0.7)], inputs=1)
    return Problem(pool, jnp.array([1.0, 0.5]), jnp.asarray(0.1), X, jnp.sin(4.0 * X[:, 0]))


def test_optimal_bounds_lie_in_order_below_the_evidence(problem):
    kernels = SquaredExponential(1.0), Periodic(0.7)
    C = sum(float(w) ** 2 * plain_gram(k, problem.X, problem.X) for w, k in zip(problem.w, kernels, strict=True))
    evidence = multivariate_normal(np.zeros(12), C + 0.1 * np.eye(12)).logpdf(np.asarray(problem.y))
    Z = np.linspace(-1.0, 1.0, 5)[:, None]
    joint = optimum(grouped(Z, 2), problem, factorised=False).bound
    assert optimum(SharedPoints(Z), problem, factorised=False).bound <= joint <= evidence
    assert optimum(grouped(Z, 2), problem, factorised=True).bound <= joint


def test_the_exact_reference_is_where_points_at_all_rows_arrive():
    problem = bound.data(0)
    evidence, mean, covariance = bound.exact(problem)
    X, y = np.asarray(problem.X), np.asarray(problem.y)
    C = sum(w**2 * plain_gram(k, X, X) for w, k in zip(bound.WEIGHTS, bound.KERNELS, strict=True))
    assert_allclose(evidence, multivariate_normal(np.zeros(len(y)), C + bound.NOISE_SD**2 * np.eye(len(y))).logpdf(y))
    Z = spread_points(X, len(X))
    best = optimum(SharedPoints(Z), problem, factorised=False)
    assert_allclose(best.bound, evidence, atol=1e-3)
    found = bound.on_grid(posterior(SharedPoints(Z), problem, best))
    assert_allclose(found[0], mean, atol=1e-3)
    assert_allclose(found[1], covariance, atol=1e-3)


def test_product_q_is_where_coordinate_ascent_ends(problem):
    # each block given the others: a_i = B_ii^-1 (b_i - sum_j B_ij a_j), S_i = B_ii^-1
    Z = np.linspace(-1.0, 1.0, 4)[:, None]
    best, joint = (optimum(grouped(Z, 2), problem, factorised=factorised) for factorised in (True, False))
    B = np.linalg.inv(np.asarray(joint.root @ joint.root.T))
    b = B @ np.asarray(joint.mean)
    blocks, a = (slice(0, 4), slice(4, 8)), np.zeros(8)
    for _ in range(3000):
        for i, j in (blocks, blocks[::-1]):
            a[i] = np.linalg.solve(B[i, i], b[i] - B[i, j] @ a[j])
    assert_allclose(best.mean, a, rtol=1e-5, atol=1e-5)
    for i, j in (blocks, blocks[::-1]):
        S = np.asarray(best.root @ best.root.T)
        assert_allclose(S[i, i], np.linalg.inv(B[i, i]), rtol=1e-6, atol=1e-9)
        assert_allclose(S[i, j], 0.0, atol=1e-12)


def test_lines_come_back_as_they_were_and_the_last_of_equals_counts(tmp_path):
    record, figures = Recorder("speed", tmp_path), {"ms": {"median": 1.25}, "holds": True, "weights": [0.5, 0.25]}
    record.add({"M": 3}, 0, {"ms": {"median": 9.0}}, Clock())
    record.add({"M": 3}, 0, figures, Clock())
    record.add({"M": 6}, 1, figures, Clock())
    first, second = read(tmp_path / "speed.jsonl")
    assert first["figures"] == second["figures"] == figures
    assert (second["suite"], second["settings"], second["seed"]) == ("speed", {"M": 6}, 1)
    assert {"versions", "commit", "cpus", "wall_seconds", "cpu_seconds", "date"} <= first.keys()
    assert "| 3 | 1 | 1.25 | 1 of 1 |" in markdown(tmp_path / "speed.jsonl")
