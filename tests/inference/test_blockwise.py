"""Laws of the posterior of long series: exact where there is one block or where the points carry everything."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.evaluation.products import Products
from farrier.inference import blockwise as local
from farrier.inference.blockwise import LocalPosterior
from farrier.inference.exact_posterior import GaussianPosterior
from farrier.inference.inducing_points import choose
from farrier.kernels.registry import CentredPeriodic, Linear, Matern12, SquaredExponential
from tests.kernels.plain_kernels import plain_gram

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-1.7, 1.7, 60))[:, None]
Y = np.sin(3.0 * X[:, 0]) + 0.3 * RNG.standard_normal(60)
NEW = np.linspace(-2.0, 2.2, 23)[:, None]
WEIGHTS = np.array([[0.8, 0.5, 0.3], [0.6, 0.7, 0.2]])
NOISE = 0.05
SMOOTH = Products.of([SquaredExponential(0.8), CentredPeriodic(0.9, 1.0), Linear(0.2)], 1)
ROUGH = Products.of([SquaredExponential(0.8), Matern12(0.05), Linear(0.2)], 1)


def exact(pool):
    return GaussianPosterior(pool, WEIGHTS, np.full(60, NOISE), X, Y)


def posterior(pool, tolerance):
    order = RNG.permutation(60)
    return LocalPosterior.of(pool, WEIGHTS, NOISE, choose(pool, X, tolerance, 60), X[order], Y[order])


def moments(found):
    return np.vstack([*found.draws(NEW), *found.components(NEW)])


@pytest.fixture
def short_blocks(monkeypatch):
    monkeypatch.setattr(local, "BLOCK_ROWS", 13)


def test_one_block_is_exact_however_few_the_points():
    assert_allclose(moments(posterior(ROUGH, 0.5)), moments(exact(ROUGH)), rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("short_blocks")
def test_points_that_carry_everything_make_it_exact():
    assert_allclose(moments(posterior(SMOOTH, 1e-12)), moments(exact(SMOOTH)), rtol=1e-3, atol=1e-4)


@pytest.mark.usefixtures("short_blocks")
def test_short_lengthscales_are_predicted_from_neighbouring_rows():
    found, all_rows = posterior(ROUGH, 0.3), exact(ROUGH)
    (near, spread), (mean, variance) = found.draws(X), all_rows.draws(X)
    assert np.sqrt(np.mean((near - mean) ** 2)) < 0.1 * np.std(mean)
    assert np.all(spread > 0.8 * variance)


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("parts", [None, np.array([0, 2])])
def test_moments_agree_with_the_joint_distribution(parts):
    found = posterior(ROUGH, 0.3)
    mean, covariance = found.joint(NEW, parts)
    if parts is None:
        means, variances = found.draws(NEW)
        assert_allclose(mean, means.mean(axis=0), atol=1e-10)
        assert_allclose(np.diagonal(covariance), variances.mean(axis=0) + means.var(axis=0), atol=1e-8)
    else:
        assert_allclose(mean, found.components(NEW)[0][parts].sum(axis=0), atol=1e-10)
    assert np.linalg.eigvalsh(covariance).min() > -1e-8


@pytest.mark.usefixtures("short_blocks")
def test_components_add_up():
    found = posterior(ROUGH, 0.3)
    assert_allclose(found.components(NEW)[0].sum(axis=0), found.draws(NEW)[0].mean(axis=0), atol=1e-10)


def test_the_evidence_of_one_block_is_that_of_the_rows():
    expected = []
    for w in WEIGHTS:
        C = sum(v**2 * plain_gram(kernel, X, X) for v, kernel in zip(w, ROUGH, strict=True)) + NOISE * np.eye(60)
        expected.append(-0.5 * (Y @ np.linalg.solve(C, Y) + np.linalg.slogdet(C)[1] + 60 * np.log(2.0 * np.pi)))
    assert posterior(ROUGH, 0.5).evidence == pytest.approx(np.mean(expected), rel=1e-5)


def test_it_can_be_kept():
    found = posterior(ROUGH, 0.5)
    again = pickle.loads(pickle.dumps(found))
    assert_allclose(again.draws(NEW)[0], found.draws(NEW)[0])
