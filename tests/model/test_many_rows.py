"""Laws of tables with many rows: the structure by inducing points, pools exactly given a part, shares by both."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.covariance import covariance_of
from farrier.inference.collapsed import CollapsedObjective, CollapsedPosterior
from farrier.inference.noise import ALIKE, Noise
from farrier.inference.posteriors import GaussianPosterior, LaplacePosterior
from farrier.kernels.registry import Linear, RationalQuadratic, SquaredExponential
from farrier.model import rows as rows_module
from farrier.model.fit import fit
from farrier.model.outliers import left_out_score
from farrier.model.problem import Problem
from farrier.model.rows import judged_rows, predicting_rows
from farrier.model.tables import fit_table
from farrier.search.structure import Part, horseshoe_model

N, D = 160, 2
KERNELS = (Linear(0.0, dims=(0,)), SquaredExponential(1.3, dims=(1,)), RationalQuadratic((2.0, 1.5), 1.0))


@cache
def rows():
    generator = np.random.default_rng(5)
    X = generator.uniform(-1.7, 1.7, (N, D))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * generator.standard_normal(N)


@cache
def model():
    parts = [Part(kernel, kernel, weight) for kernel, weight in zip(KERNELS, (0.5, 0.7, 0.4), strict=True)]
    return horseshoe_model(parts, 0.1, D)


@cache
def fitted():
    return fit_table(Problem(*rows(), engine="collapsed"), likelihood="gaussian")


def exact():
    X, y = rows()
    return GaussianPosterior(model().pool, np.array([[0.5, 0.7, 0.4], [0.2, 0.9, 0.6]]), np.full(N, 0.1), X, y)


# what the tier is made of


def test_the_triangle_of_a_covariance_is_that_of_all_its_kernels():
    X, _ = rows()
    w2, pool = np.array([0.25, 0.0, 0.16]), model().pool
    C = covariance_of(X).upper(pool, w2)
    assert_allclose(np.triu(C), np.triu(np.einsum("i,inm->nm", w2, pool.gram(X, X))), atol=1e-12)


def test_rows_that_are_left_out_are_those_of_the_inverse():
    some = np.array([0, 7, 31, N - 1])
    for few, all_rows in zip(exact().left_out(some), exact().left_out(), strict=True):
        assert_allclose(few, all_rows[:, some], rtol=1e-8)


def test_means_alone_are_those_of_predictions():
    X, _ = rows()
    assert_allclose(exact().means(X[:9] + 0.1), exact().draws(X[:9] + 0.1)[0], rtol=1e-9)


@pytest.mark.parametrize("relative", [np.ones(N), np.linspace(0.3, 4.0, N)], ids=["equal noise", "factors"])
def test_collapsed_leave_one_out_is_the_posterior_without_the_rows(relative):
    X, y = rows()
    weighted = replace(model(), row_noise=Noise(relative))
    objective = CollapsedObjective.of(weighted, X, y, 1, 1e-3, 20)
    weights, block = np.array([[0.5, 0.7, 0.4]]), np.array([3, 4, 90])
    posterior = CollapsedPosterior.of(objective, weighted, weights)
    mean, variance = posterior.left_out(X, y, [block], relative)
    for gone, places in ((np.array([0]), [0]), (np.array([50]), [50]), (block, [N, N + 1, N + 2])):
        others = np.setdiff1d(np.arange(N), gone)
        template = replace(weighted, row_noise=Noise(relative[others]))
        without = replace(objective, template=template, X=X[others], y=y[others])
        m, v = CollapsedPosterior.of(without, template, weights).draws(X[gone])
        assert_allclose((mean[0, places], variance[0, places]), (m[0], v[0]), rtol=1e-6)


# the fitted model


def test_the_structure_has_inducing_points_and_pools_are_exact_given_the_rows():
    found = fitted()
    assert found.tier == "collapsed"
    assert isinstance(found.posterior, CollapsedPosterior)
    assert_allclose(found.share + sum(one.share for one in found.others), 1.0)
    for one in found.others:
        assert isinstance(one.posterior, LaplacePosterior)
        assert len(one.posterior.posteriors[0].y) == N


def test_rows_are_drawn_once_and_judged_ones_are_known_to_pools(monkeypatch):
    monkeypatch.setattr(rows_module, "PREDICTING_ROWS", 130)
    monkeypatch.setattr(rows_module, "FITTED_ROWS", 70)
    known, judged = predicting_rows(N), judged_rows(N)
    assert len(known) == 130
    assert len(np.unique(judged)) == 70
    assert np.isin(judged, known).all()
    assert_array_equal(known, predicting_rows(N))
    assert_array_equal(predicting_rows(50), np.arange(50))


def test_predictions_are_as_good_as_noise_allows():
    new = np.random.default_rng(6).uniform(-1.6, 1.6, (300, D))
    mean, sd = fitted().moments(new)
    assert np.sqrt(np.mean((mean - np.sin(2.0 * new[:, 0]) - new[:, 1]) ** 2)) < 0.1
    assert 0.15 < np.median(sd) < 0.3


def test_parts_and_the_rest_add_up_to_the_prediction():
    X, _ = rows()
    found = fitted()
    mean, _ = found.parts(X[:5], range(found.survivors))
    own = found.posterior.draws(X[:5])[0].mean(axis=0)
    shares = found.stacking.shares(own)
    others = [one.posterior.means(X[:5])[0] for one in found.others]
    assert_allclose(mean.sum(axis=0), np.average([own, *others], axis=0, weights=shares), rtol=1e-8)


def test_the_score_of_all_rows_is_near_that_of_new_rows():
    X, y = rows()
    generator = np.random.default_rng(8)
    new = generator.uniform(-1.7, 1.7, (400, D))
    y_new = np.sin(2.0 * new[:, 0]) + new[:, 1] + 0.2 * generator.standard_normal(400)
    assert abs(left_out_score(fitted(), X, y) / N - fitted().log_density(new, y_new).mean()) < 0.15


def test_rows_with_small_weights_count_little(monkeypatch):
    # weights of more rows than structures are fitted to
    monkeypatch.setattr(rows_module, "FITTED_ROWS", 100)
    monkeypatch.setattr(rows_module, "TABLE_ROWS", 80)
    X, _ = rows()
    truth, factors = np.sin(2.0 * X[:, 0]) + X[:, 1], np.where(np.arange(N) % 3 == 0, 0.1, 50.0)
    y = truth + 0.2 * np.sqrt(factors) * np.random.default_rng(9).standard_normal(N)
    errors = []
    for noise in (Noise(factors), ALIKE):
        found = fit_table(Problem(X, y, engine="collapsed", noise=noise, scale="identity"), likelihood="gaussian")
        errors.append(np.sqrt(np.mean((found.moments(X)[0] - truth) ** 2)))
    assert errors[0] < 0.5 * errors[1]


def test_refits_keep_the_kind():
    X, y = rows()
    again = fit(Problem(X[:140], y[:140]), fitted())
    assert again.tier == "collapsed"
    assert len(again.others) == len(fitted().others)
    assert_allclose(again.moments(X[:5])[0], fitted().moments(X[:5])[0], atol=0.1)


@pytest.mark.parametrize("likelihood", ["auto", "student-t"])
def test_gross_outliers_are_borne(likelihood):
    X, y = rows()
    wild = y.copy()
    wild[::15] += 30.0
    found = fit_table(Problem(X, wild, engine="collapsed"), likelihood=likelihood)
    kept = np.arange(N) % 15 != 0
    assert np.median(np.abs(found.moments(X[kept])[0] - y[kept])) < 0.4
