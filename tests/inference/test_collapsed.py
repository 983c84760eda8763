"""Laws of the collapsed bound: the formula in plain numpy, a rise to the exact bound as the tolerance falls, the
derivative by finite differences, and a posterior that is the exact one once the points are enough."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from farrier.baselines.weight_priors import draw
from farrier.evaluation.products import Products
from farrier.inference import collapsed
from farrier.inference.collapsed import CollapsedObjective, CollapsedPosterior
from farrier.inference.exact import ExactObjective
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.inducing_points import Features, Groups, choose
from farrier.inference.noise import ALIKE, Noise
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.posteriors import GaussianPosterior
from farrier.kernels.registry import CentredPeriodic, Linear, Matern32, SquaredExponential, Step
from tests.inference.directions import along_field, fields
from tests.kernels.plain_kernels import plain_gram

RNG = np.random.default_rng(0)
KERNELS = [
    SquaredExponential(0.5),
    Linear(0.3) * CentredPeriodic(0.7, 0.9),
    Step(0.1, 0.2) * SquaredExponential(0.9),
    (1 - Step(-0.3, 0.4)) * Linear(-0.8),
]
X = np.linspace(-1.6, 1.6, 26)[:, None]
Y = np.sin(3.0 * X[:, 0]) + 0.3 * RNG.standard_normal(26)
NEW = np.linspace(-2.0, 2.0, 17)[:, None]
TOLERANCES = (3e-1, 1e-1, 1e-2, 1e-3, 1e-5, 1e-9)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks that do not divide the rows."""
    monkeypatch.setattr(collapsed, "BLOCK", 12)


def model(noise=0.2, rows=None):
    prior = Horseshoe(
        mu_tau=np.asarray(-0.4), v_tau=np.asarray(0.3), mu=np.linspace(-0.5, 0.7, 4), v=np.linspace(0.2, 0.5, 4)
    )
    row_noise = ALIKE if rows is None else Noise(rows, known=True)
    centre = [kernel.rescale(1.2, 0.1) for kernel in KERNELS]
    return ExactModel(prior, noise, Products.of(KERNELS, 1), Products.of(centre, 1).unbounded, row_noise)


FINEST = choose(model().pool, X, TOLERANCES[-1], 26)


def objective(tolerance=1e-9, template=None):
    """The bound with the points of some tolerance, in arrays that have room for the finest."""
    template = model() if template is None else template
    bound = CollapsedObjective.of(template, X, Y, 2, tolerance, 26)
    for i, size in enumerate(bound.groups.sizes):
        # the greedy choice goes on where it stopped
        assert_allclose(bound.groups.Z[i, :size], FINEST.Z[i, :size], rtol=0.0)
    return replace(bound, groups=Groups(FINEST.Z, bound.groups.sizes))


def exact(template=None):
    return ExactObjective.of(model() if template is None else template, X, Y, 2)


def textbook(bound, template):
    """L(w) of the top of collapsed.py, averaged over the draws, by the inverse of K and scipy's density."""
    w2 = draw(template.prior, bound.draws) ** 2
    near, left = [], []
    for kernel, Z, size in zip(template.pool, bound.groups.Z, bound.groups.sizes, strict=True):
        k, K = plain_gram(kernel, X, Z[:size]), plain_gram(kernel, Z[:size], Z[:size])
        near.append(k @ np.linalg.solve(K + 1e-9 * np.eye(size), k.T))
        left.append(np.trace(plain_gram(kernel, X, X) - near[-1]))
    noise = float(template.noise)
    C = np.einsum("si,inm->snm", w2, np.stack(near)) + noise * np.eye(len(Y))
    densities = [multivariate_normal(np.zeros(len(Y)), C_s).logpdf(Y) for C_s in C]
    return np.mean(densities - 0.5 * w2 @ np.array(left) / noise)


def features(bound):
    pool = bound.template.pool
    return Features(pool, pool.numbers, bound.groups)


def test_bound_is_the_textbook_s():
    bound = objective(1e-1)
    terms, _ = bound.terms(bound.start())
    assert_allclose(terms.evidence, textbook(bound, model()), rtol=1e-5)
    reference = exact()
    assert_allclose(terms[2:], reference.terms(reference.start())[0][2:], rtol=1e-12)
    assert_allclose(terms.total, terms.evidence - terms.kl + terms.log_prior, rtol=1e-12)


def test_bound_rises_to_the_exact_one_as_the_tolerance_falls():
    reference = exact()
    top = reference.terms(reference.start())[0].total
    bounds = [objective(tolerance) for tolerance in TOLERANCES]
    totals = np.array([bound.terms(bound.start())[0].total for bound in bounds])
    sizes = [sum(bound.groups.sizes) for bound in bounds]
    assert np.all(np.diff(sizes) > 0)
    assert np.all(np.diff(totals) > -1e-6)
    assert np.all(totals <= top + 1e-6)
    assert totals[0] < top - 1.0
    assert_allclose(totals[-1], top, atol=1e-3)


def test_bound_never_exceeds_the_exact_one_at_other_numbers():
    bound, reference = objective(1e-2), exact()
    for seed in range(4):
        numbers = bound.start() + 0.3 * np.random.default_rng(seed).standard_normal(len(bound.start()))
        assert bound.terms(numbers)[0].total <= reference.terms(numbers)[0].total + 1e-6


@pytest.mark.parametrize("field", fields(model()))
def test_derivative_is_that_of_finite_differences_in_every_field(field):
    bound = objective(1e-2)
    _, gradient = bound.terms(bound.start())
    along = along_field(model(), field, RNG)
    plus, minus = (bound.terms(bound.start() + step * along)[0].total for step in (1e-5, -1e-5))
    assert abs(gradient @ along) > 1e-4
    assert_allclose(gradient @ along, (plus - minus) / 2e-5, rtol=1e-3)


def test_with_enough_points_the_derivative_is_the_exact_one_s():
    bound, reference = objective(1e-9), exact()
    _, gradient = bound.terms(bound.start())
    _, expected = reference.terms(reference.start())
    assert_allclose(gradient, expected, rtol=1e-2, atol=2e-2)


def test_blocks_of_rows_do_not_matter(monkeypatch):
    # 26 rows in blocks of 12, the last one not full, and all in one: the sums are the same
    bound = objective(1e-2, model(rows=np.linspace(0.05, 0.5, 26)))
    in_blocks = bound.statistics(features(bound))
    monkeypatch.setattr(collapsed, "BLOCK", 26)
    at_once = bound.statistics(features(bound))
    for one, other in zip(in_blocks, at_once, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_the_noise_of_each_row_is_that_of_the_exact_tier():
    template = model(rows=RNG.uniform(0.05, 0.6, 26))
    bound, reference = objective(1e-9, template), exact(template)
    terms, gradient = bound.terms(bound.start())
    expected, slope = reference.terms(reference.start())
    assert_allclose(terms, expected, atol=2e-3)
    assert_allclose(gradient, slope, rtol=1e-2, atol=2e-2)


def test_equal_noise_of_each_row_is_a_common_noise():
    common, each = objective(1e-2), objective(1e-2, model(rows=np.full(26, 0.2)))
    assert_allclose(each.terms(each.start())[0], common.terms(common.start())[0], rtol=1e-8)


def test_numbers_that_are_not_finite_give_minus_infinity_and_no_exception():
    bound = objective(1e-2)
    numbers = bound.start()
    # the first number is mu_tau
    numbers[0] = 2000.0
    terms, gradient = bound.terms(numbers)
    assert terms.total == -np.inf
    assert not gradient.any()


def test_the_value_alone_is_that_of_the_terms():
    for bound in (objective(1e-2), objective(1e-2, model(rows=np.full(26, 0.2)))):
        assert_allclose(bound.value(bound.start()), bound.terms(bound.start())[0], rtol=1e-12)


# the posterior


@pytest.fixture(scope="module")
def weights():
    return np.abs(RNG.standard_normal((3, 4)))


def posteriors(weights, rows=None):
    template = model(rows=rows)
    noise = np.full(26, 0.2) if rows is None else rows
    near = CollapsedPosterior.of(objective(1e-9, template), template, weights)
    return near, GaussianPosterior(template.pool, weights, noise, X, Y)


@pytest.mark.parametrize("each_row", [False, True], ids=["common noise", "noise of each row"])
def test_with_enough_points_the_posterior_is_the_exact_one(weights, each_row):
    rows = np.linspace(0.05, 0.5, 26) if each_row else None
    near, full = posteriors(weights, rows)
    for found, expected in (
        (near.draws(NEW), full.draws(NEW)),
        (near.components(NEW), full.components(NEW)),
        (near.joint(NEW), full.joint(NEW)),
        (near.joint(NEW, np.array([0, 3])), full.joint(NEW, np.array([0, 3]))),
    ):
        assert_allclose(found[0], expected[0], atol=2e-3)
        assert_allclose(found[1], expected[1], atol=2e-3)


def test_components_add_up_to_the_whole(weights):
    near, _ = posteriors(weights)
    assert_allclose(near.components(NEW)[0].sum(axis=0), near.draws(NEW)[0].mean(axis=0), rtol=1e-9, atol=1e-12)
    assert_allclose(near.joint(NEW)[0], near.draws(NEW)[0].mean(axis=0), rtol=1e-9, atol=1e-12)


def test_few_points_leave_the_variance_that_they_do_not_explain(weights):
    template = model()
    coarse = CollapsedPosterior.of(objective(3e-1, template), template, weights)
    _, full = posteriors(weights)
    far = np.array([[40.0]])
    # far away the prior is all there is, whatever the points
    assert_allclose(coarse.components(far)[1][0], full.components(far)[1][0], rtol=1e-6)
    assert np.mean(coarse.draws(X)[1]) > np.mean(full.draws(X)[1])


# several inputs


def test_features_are_the_kernels_in_several_inputs():
    pool = Products.of(
        [
            Linear(np.array([0.4, -0.2, 0.9])) * Linear(0.1, dims=1),
            Linear(0.3) * Matern32(0.9, dims=(1, 2)),
            Step(0.2, 0.5, dims=1) * SquaredExponential(np.array([0.8, 2.5, 1.3])),
        ],
        3,
    )
    rows = RNG.standard_normal((20, 3))
    groups = choose(pool, rows, 1e-9, 20)
    phi, left = Features(pool, pool.numbers, groups).at(rows)
    for i, kernel in enumerate(pool):
        own = np.arange(sum(groups.sizes[:i]), sum(groups.sizes[: i + 1]))
        K = plain_gram(kernel, rows, rows)
        assert_allclose(phi[own].T @ phi[own], K, atol=1e-5 * np.trace(K))
        assert np.all(left[i] < 1e-4 * np.trace(K))
