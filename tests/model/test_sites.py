"""Laws of sites and of the search with them: exact for Gaussian noise, a fixed point that is the best q, and structure
that is found in classes and among outliers."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr

from farrier import Classifier, Regressor
from farrier.evaluation.products import Products
from farrier.inference.counts import Poisson
from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import Bernoulli, Gaussian
from farrier.inference.posteriors import GaussianPosterior
from farrier.inference.student_t import StudentT
from farrier.kernels.parameters import as_array
from farrier.kernels.registry import Matern12

RNG = np.random.default_rng(0)
X = np.linspace(-1.5, 1.5, 30)[:, None]
POOL = Products.of([Matern12(0.8)], 1)
Y = (RNG.uniform(size=30) < ndtr(2.0 * np.sin(3.0 * X[:, 0]))).astype(float)


def test_gaussian_noise_is_its_own_site_whatever_q():
    y, mean, variance = RNG.standard_normal((3, 7))
    sites = Sites.at(y, mean, variance**2, Gaussian(as_array(0.3)))
    assert_allclose(sites.target, y, atol=1e-10)
    assert_allclose(sites.variance, 0.3, rtol=1e-10)
    assert sites.correction(y, mean, variance**2, Gaussian(as_array(0.3))) == pytest.approx(0.0, abs=1e-9)


def posterior(sites):
    return GaussianPosterior(POOL, np.array([[1.3]]), sites.variance, X, sites.target)


def converged(likelihood, y):
    sites = Sites.first(y, likelihood)
    for _ in range(60):
        mean, variance = posterior(sites).draws(X)
        sites = sites.natural_gradient_step(y, mean[0], variance[0], likelihood, 0.5)
    return sites


def bound(mean, covariance, y, likelihood):
    """E_q log p(y | f) - KL(q || p) of any Gaussian q, by the textbook."""
    K = 1.3**2 * POOL.gram(X, X)[0] + 1e-8 * np.eye(30)
    expected = likelihood.expected_log(jnp.asarray(y), jnp.asarray(mean), jnp.asarray(np.diagonal(covariance)))
    solved = np.linalg.solve(K, covariance)
    kl = 0.5 * (np.trace(solved) + mean @ np.linalg.solve(K, mean) - 30 - np.linalg.slogdet(solved)[1])
    return float(np.sum(expected)) - kl


def test_the_fixed_point_is_the_best_gaussian():
    likelihood, y = Bernoulli(), Y
    sites = converged(likelihood, y)
    mean, covariance = posterior(sites).joint(X)
    covariance = covariance + 1e-9 * np.eye(30)
    top = bound(mean, covariance, y, likelihood)
    for _ in range(5):
        along = np.linalg.cholesky(covariance) @ RNG.standard_normal(30)
        assert bound(mean + 0.1 * along, covariance, y, likelihood) < top
        assert bound(mean - 0.1 * along, covariance, y, likelihood) < top
    for factor in (0.9, 1.1):
        assert bound(mean, factor * covariance, y, likelihood) < top


def test_an_outlier_has_less_precision_the_further_out_it_is():
    y = np.array([0.1, 0.5, 2.0, 8.0, -0.2, 0.0, 0.3])
    sites = Sites.at(y, np.zeros(7), np.full(7, 0.01), StudentT.with_degrees(0.3, 4.0))
    # (d scale^2 + (y - m)^2 + v) / (d + 1)
    assert_allclose(sites.variance, (4.0 * 0.09 + y**2 + 0.01) / 5.0, rtol=1e-12)
    assert_allclose(sites.target, np.where(y == 8.0, 0.0, y))


def test_the_bound_of_the_rows_is_the_evidence_of_the_sites_corrected():
    sites = converged(Bernoulli(), Y)
    mean, covariance = posterior(sites).joint(X)
    C = 1.3**2 * POOL.gram(X, X)[0] + np.diag(sites.variance)
    evidence = -0.5 * (sites.target @ np.linalg.solve(C, sites.target) + np.linalg.slogdet(2.0 * np.pi * C)[1])
    told = evidence + sites.correction(Y, mean, np.diagonal(covariance), Bernoulli())
    assert_allclose(told, bound(mean, covariance + 1e-9 * np.eye(30), Y, Bernoulli()), atol=0.05)


@pytest.fixture(scope="module")
def classes():
    generator = np.random.default_rng(5)
    rows = generator.standard_normal((250, 4))
    chance = ndtr(1.8 * np.sin(1.5 * rows[:, 1]) + 0.8 * rows[:, 3])
    labels = np.where(generator.uniform(size=250) < chance, "yes", "no")
    return Classifier().fit(rows[:200], labels[:200]), rows, labels, chance


@pytest.mark.parametrize(("y", "mean"), [(3.0, -2.5), (0.0, 40.0), (1e4, 0.0)])
def test_a_site_of_a_count_is_near_and_keeps_the_slope(y, mean):
    count, m, variance = np.array([y]), np.array([mean]), np.array([0.2])
    sites = Sites.at(count, m, variance, Poisson())
    (slope,), _ = Poisson().slopes(count, m, variance)
    assert abs(sites.target[0] - mean) < 10.1
    assert_allclose((sites.target[0] - mean) / sites.variance[0], slope, rtol=1e-9)


def test_what_drives_the_odds_is_found(classes):
    model = classes[0]
    assert model.tier_ == "exact"
    assert {kernel.formula().split("[")[1] for kernel in model.pool_} == {"1]", "3]"}


def test_chances_are_close_to_the_true_ones(classes):
    model, rows, labels, chance = classes
    found = model.predict_proba(rows[200:])[:, 1]
    assert np.sqrt(np.mean((found - chance[200:]) ** 2)) < 0.16
    assert np.mean(model.predict(rows[200:]) == labels[200:]) > 0.7


def test_effects_on_the_odds_are_explained_with_their_evidence(classes):
    said = str(classes[0].explain())
    assert "The effect of x1 alone" in said
    assert "chance of yes" in said
    assert "the evidence for it is" in said


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_structure_is_found_among_outliers(seed):
    generator = np.random.default_rng(seed)
    x = np.linspace(0.0, 10.0, 120)[:, None]
    clean = 0.5 * x[:, 0] + 2.0 * np.sin(2.0 * np.pi * x[:, 0] / 1.7)
    y = clean + 0.2 * generator.standard_normal(120)
    y[generator.choice(120, 8, replace=False)] += 15.0
    model = Regressor(likelihood="student-t").fit(x, y)
    assert sorted(kernel.formula() for kernel in model.pool_) == ["Lin", "Per0"]
    assert np.sqrt(np.mean((model.predict(x) - clean) ** 2)) < 0.3


def test_without_its_site_a_row_has_the_moments_that_the_site_was_added_to():
    mean, target = RNG.standard_normal((2, 9))
    variance, noise = RNG.uniform(0.2, 2.0, (2, 9))
    # q is the product of N(f; mean, variance) and N(target; f, noise)
    precision = 1.0 / variance + 1.0 / noise
    whole = (mean / variance + target / noise) / precision
    found = Sites(target, noise).left_out(whole, 1.0 / precision)
    assert_allclose(found, (mean, variance), rtol=1e-10)
