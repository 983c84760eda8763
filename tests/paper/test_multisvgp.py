"""Laws of the sparse posteriors: the bound reaches the evidence and never passes it, groups tell more than shared
points, and both ways to write the paper's posterior give the same numbers."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.linalg import block_diag

from farrier.baselines.weight_priors import NoPrior
from farrier.inference.likelihoods import Gaussian
from farrier.kernels.registry import Linear, Matern32, SquaredExponential
from farrier.paper.inducing import GroupedPoints, SharedPoints
from farrier.paper.multisvgp import SVGP, MultiSVGP
from farrier.paper.objective import Batch, Model, evidence_bound
from farrier.paper.pool import stack

RNG = np.random.default_rng(0)
N, M = 10, 4
X = np.sort(RNG.uniform(-2.0, 2.0, N))
Y = np.sin(2.0 * X) + 0.3 * RNG.standard_normal(N)
NEW = np.linspace(-2.5, 2.5, 6)
NOISE = 0.2
W = np.array([0.9, 0.6])

SMOOTH, ROUGH = SquaredExponential(0.8), Matern32(0.5)
PAIR = stack([SMOOTH, ROUGH], 1)


def smooth(x, z):
    return np.exp(-0.5 * ((x[:, None] - z[None, :]) / 0.8) ** 2)


def rough(x, z):
    r = 3**0.5 * np.abs(x[:, None] - z[None, :]) / 0.5
    return (1.0 + r) * np.exp(-r)


def exact(y, w=W):
    C = w[0] ** 2 * smooth(X, X) + w[1] ** 2 * rough(X, X) + NOISE * np.eye(N)
    return stats.multivariate_normal(np.zeros(N), C).logpdf(y)


def whitened(Kuu, Kuf):
    """L^-1 Kuf with the library's jitter."""
    jitter = np.sqrt(np.finfo(float).eps) * np.trace(Kuu) / len(Kuu)
    return np.linalg.solve(np.linalg.cholesky(Kuu + jitter * np.eye(len(Kuu))), Kuf)


def best(A, y):
    """Mean and covariance of the best whitened q(u) for Gaussian noise, by completing the square."""
    S = np.linalg.inv(np.eye(len(A)) + A @ A.T / NOISE)
    return S @ A @ y / NOISE, S


def collapsed(A, variances, y):
    """The bound at the best joint q(u): log N(y; 0, A'A + noise) - sum of the variance that u leaves / (2 noise)."""
    Q = A.T @ A
    left = np.sum(variances) - np.trace(Q)
    return stats.multivariate_normal(np.zeros(N), Q + NOISE * np.eye(N)).logpdf(y) - 0.5 * left / NOISE


def grouped_features(Z, w=W):
    """Of u = (g_1(Z_1), g_2(Z_2)): whitened covariances with f."""
    parts = [wi * whitened(k(z, z), k(z, X)) for wi, k, z in zip(w, (smooth, rough), Z, strict=True)]
    return np.concatenate(parts)


def shared_features(z, w=W):
    """Of u = f(z)."""

    def total(one, other):
        return w[0] ** 2 * smooth(one, other) + w[1] ** 2 * rough(one, other)

    return whitened(total(z, z), total(z, X))


def random_root(rng, size):
    return np.tril(0.3 * rng.standard_normal((size, size)), -1) + np.diag(rng.uniform(0.2, 1.2, size))


jitted_bound = eqx.filter_jit(evidence_bound)


def bound_of(posterior, w, y=Y):
    model = Model(NoPrior(jnp.asarray(w)), Gaussian(jnp.asarray(NOISE)), posterior)
    batch = Batch(jnp.asarray(X)[:, None], jnp.asarray(y), jnp.ones(N))
    return float(jitted_bound(model, batch, jnp.zeros((1, 0))).total)


def multi(pool, Z, q_mean, q_root, weights=None):
    weights = np.ones((1, len(pool))) if weights is None else weights
    Z = np.asarray(Z)[:, :, None]
    return MultiSVGP(pool, *(jnp.asarray(leaf) for leaf in (weights, Z, q_mean, q_root)))


def svgp(pool, inducing, q_mean, q_root, weights=None):
    weights = np.ones((1, len(pool))) if weights is None else weights
    return SVGP(pool, jnp.asarray(weights), inducing, jnp.asarray(q_mean), jnp.asarray(q_root))


def test_one_kernel_at_all_rows_with_the_best_q_reaches_the_evidence():
    a, S = best(0.9 * whitened(rough(X, X), rough(X, X)), Y)
    found = bound_of(multi(stack([ROUGH], 1), [X], a[None], np.linalg.cholesky(S)[None]), [0.9])
    assert_allclose(found, exact(Y, np.array([0.0, 0.9])), atol=1e-4)


def test_one_kernel_with_another_q_stays_below_the_evidence():
    a, S = best(0.9 * whitened(rough(X, X), rough(X, X)), Y)
    evidence = exact(Y, np.array([0.0, 0.9]))
    for seed in range(8):
        rng = np.random.default_rng(seed)
        size = 10.0 ** -rng.integers(0, 3)
        mean = a + size * rng.standard_normal(N)
        root = np.linalg.cholesky(S) * np.exp(size * rng.standard_normal((N, 1)))
        found = bound_of(multi(stack([ROUGH], 1), [X], mean[None], root[None]), [0.9])
        assert found < evidence - 1e-5


def by_turns(Z, rounds):
    """The paper's factorised q at its best: each q(u_i) in turn given the others' means."""
    A = [w * whitened(k(z, z), k(z, X)) for w, k, z in zip(W, (smooth, rough), Z, strict=True)]
    means, covariances = [np.zeros(len(a)) for a in A], [np.eye(len(a)) for a in A]
    for _ in range(rounds):
        for i in (0, 1):
            means[i], covariances[i] = best(A[i], Y - A[1 - i].T @ means[1 - i])
    return np.stack(means), np.linalg.cholesky(np.stack(covariances))


def test_several_kernels_with_a_factorised_q_stay_below_the_evidence():
    evidence = exact(Y)
    start, better, at_best = (bound_of(multi(PAIR, [X, X], *by_turns([X, X], rounds)), W) for rounds in (0, 1, 200))
    assert start < better < at_best < evidence
    for seed in range(8):
        rng = np.random.default_rng(seed)
        Z = rng.uniform(-2.0, 2.0, (2, M))
        roots = np.stack([random_root(rng, M) for _ in range(2)])
        assert bound_of(multi(PAIR, Z, rng.standard_normal((2, M)), roots), W) < evidence
        assert bound_of(multi(PAIR, Z, *by_turns(Z, 50)), W) < evidence


CASES = [
    (np.random.default_rng(seed).uniform(-2.0, 2.0, M), 0.8 * np.random.default_rng(seed + 99).random(2) + 0.3)
    for seed in range(6)
]


@pytest.mark.parametrize(("z", "w"), CASES)
def test_groups_tell_more_than_shared_points(z, w):
    """The paper's proposition, with q(u) joint across the groups."""
    y = np.random.default_rng(int(1e3 * w[0])).multivariate_normal(
        np.zeros(N), w[0] ** 2 * smooth(X, X) + w[1] ** 2 * rough(X, X) + NOISE * np.eye(N)
    )
    variances = np.full(N, np.sum(w**2))
    A, B = grouped_features([z, z], w), shared_features(z, w)
    grouped, single = collapsed(A, variances, y), collapsed(B, variances, y)
    assert single <= grouped + 1e-6
    assert grouped <= exact(y, w) + 1e-6
    # and these are the bounds that the library computes
    Z = jnp.asarray(np.stack([z, z]))[:, :, None]
    for features, inducing, bound in ((A, GroupedPoints(Z), grouped), (B, SharedPoints(Z[0]), single)):
        a, S = best(features, y)
        assert_allclose(bound_of(svgp(PAIR, inducing, a, np.linalg.cholesky(S)), w, y), bound, atol=1e-6)


def test_the_best_joint_q_is_no_worse_than_the_best_factorised_one():
    z = CASES[0][0]
    joint = collapsed(grouped_features([z, z]), np.full(N, np.sum(W**2)), Y)
    assert bound_of(multi(PAIR, [z, z], *by_turns([z, z], 200)), W) <= joint + 1e-6


@eqx.filter_jit
def everything(posterior, x):
    return {
        "draws": posterior.draws(x),
        "joint": posterior.joint_draws(x),
        "components": posterior.components(x),
        "predict": posterior.predict(x),
        "covariance": posterior.covariance(x),
        "kl": posterior.prior_kl(),
    }


WEIGHTS = np.array([[0.9, 0.6, 0.3], [0.2, 1.5, 0.7]])


@pytest.fixture(scope="module")
def both():
    """The paper's posterior and its inter-domain form, for three kernels of different variance."""
    pool = stack([SMOOTH, ROUGH, Linear(0.3) * Matern32(0.2)], 1)
    Z = RNG.uniform(-2.0, 2.0, (3, M))
    mean, roots = RNG.standard_normal((3, M)), np.stack([random_root(RNG, M) for _ in range(3)])
    grouped = GroupedPoints(jnp.asarray(Z)[:, :, None])
    return (
        multi(pool, Z, mean, roots, WEIGHTS),
        svgp(pool, grouped, mean.ravel(), block_diag(*roots), WEIGHTS),
    )


@pytest.fixture(scope="module")
def numbers(both):
    return [everything(posterior, jnp.asarray(NEW)[:, None]) for posterior in both]


@pytest.mark.parametrize("name", ["draws", "joint", "components", "predict", "covariance", "kl"])
def test_grouped_posterior_is_its_inter_domain_form(numbers, name):
    grouped, inter_domain = (jax.tree.leaves(found[name]) for found in numbers)
    for one, other in zip(grouped, inter_domain, strict=True):
        # the jitter is a part of the mean diagonal, of one group here and of all groups there
        assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_grouped_posterior_has_the_moments_of_its_formulas(both, numbers):
    posterior, found = both[0], numbers[0]
    x = NEW
    kernels = [smooth, rough, lambda a, b: (a[:, None] - 0.3) * (b[None, :] - 0.3) * rough(a / 0.4, b / 0.4)]
    means, covariances = [], []
    for i, k in enumerate(kernels):
        z = np.asarray(posterior.Z)[i, :, 0]
        A, S = whitened(k(z, z), k(z, x)), np.asarray(posterior.q_root[i]) @ np.asarray(posterior.q_root[i]).T
        means.append(A.T @ np.asarray(posterior.q_mean[i]))
        covariances.append(k(x, x) - A.T @ A + A.T @ S @ A)
    # E w g, and E (w g)^2 - (E w g)^2
    parts = WEIGHTS.mean(axis=0)[:, None] * np.stack(means)
    squares = np.stack([np.diagonal(C) + m**2 for m, C in zip(means, covariances, strict=True)])
    assert_allclose(found["components"][0], parts, rtol=1e-6, atol=1e-9)
    assert_allclose(found["components"][1], (WEIGHTS**2).mean(axis=0)[:, None] * squares - parts**2, rtol=1e-6)
    joint = [np.einsum("i,ixy->xy", w**2, np.stack(covariances)) for w in WEIGHTS]
    assert_allclose(found["joint"][1], joint, rtol=1e-5, atol=1e-8)
    assert_allclose(found["draws"][0], WEIGHTS @ np.stack(means), rtol=1e-6)
    assert_allclose(found["draws"][1], [np.diagonal(C) for C in joint], rtol=1e-6)


@pytest.mark.parametrize("which", [0, 1])
def test_components_add_up_to_the_prediction(numbers, which):
    assert_allclose(np.sum(numbers[which]["components"][0], axis=0), numbers[which]["predict"][0], rtol=1e-10)


def test_components_of_shared_points_add_up_too():
    q = random_root(RNG, M)
    posterior = svgp(PAIR, SharedPoints(jnp.asarray(NEW[:M])[:, None]), RNG.standard_normal(M), q, WEIGHTS[:, :2])
    (parts, _), (mean, _) = eqx.filter_jit(lambda q, x: (q.components(x), q.predict(x)))(
        posterior, jnp.asarray(NEW)[:, None]
    )
    assert_allclose(np.sum(parts, axis=0), mean, rtol=1e-10)


@pytest.mark.parametrize(
    "start",
    [MultiSVGP.initial(PAIR, NEW[:M, None]), SVGP.initial(PAIR, SharedPoints(NEW[:M, None]))],
    ids=["grouped", "shared"],
)
def test_the_start_is_the_prior(start):
    mean, variance, kl = eqx.filter_jit(lambda q, x: (*q.predict(x), q.prior_kl()))(start, jnp.asarray(NEW)[:, None])
    assert_allclose(kl, 0.0, atol=1e-14)
    assert_array_equal(mean, np.zeros(6))
    assert_allclose(variance, np.full(6, 2.0), rtol=1e-7)


def test_the_start_may_be_narrower_than_the_prior():
    start = MultiSVGP.initial(PAIR, NEW[:M, None], spread=0.1)
    # at the inducing points the standard deviation is a tenth of the prior's
    variance = eqx.filter_jit(lambda q, x: q.functions(x)[1])(start, jnp.asarray(NEW[:M])[:, None])
    assert_allclose(variance, np.full((2, M), 0.01), rtol=1e-3)


@pytest.mark.parametrize("which", [0, 1])
def test_prediction_is_the_mixture_over_the_weights(numbers, which):
    means, covariances = (np.asarray(one) for one in numbers[which]["joint"])
    mean = means.mean(axis=0)
    second = np.mean([C + np.outer(m, m) for m, C in zip(means, covariances, strict=True)], axis=0)
    found = numbers[which]
    assert_allclose(found["predict"][0], mean, rtol=1e-10)
    assert_allclose(found["predict"][1], np.diagonal(second) - mean**2, rtol=1e-9)
    assert_allclose(found["covariance"], second - np.outer(mean, mean), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("which", [0, 1])
def test_at_takes_other_weights(both, numbers, which):
    other = everything(both[which].at(jnp.asarray(WEIGHTS[::-1])), jnp.asarray(NEW)[:, None])
    assert_allclose(other["draws"][0], np.asarray(numbers[which]["draws"][0])[::-1], rtol=1e-10)


def test_two_calls_give_the_same_numbers(both, numbers):
    again = everything(both[0], jnp.asarray(NEW)[:, None])
    for one, other in zip(jax.tree.leaves(again), jax.tree.leaves(numbers[0]), strict=True):
        assert_array_equal(one, other)
