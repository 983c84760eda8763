"""Laws of leave-one-out residuals and of the list of outliers: closed form against refits, units, every tier."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier import Classifier, Regressor
from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import Gaussian
from farrier.inference.mixtures import moments
from farrier.model.outliers import outliers_of, residuals_of, suspicious

RNG = np.random.default_rng(0)
X = np.linspace(0.0, 10.0, 60)[:, None]
Y = 2.0 * X[:, 0] + 0.5 * RNG.standard_normal(60)
Y[[12, 40]] += [8.0, -6.0]
GIVEN = {"kernels": ["Lin", "1"], "method": "exact"}


@pytest.fixture(scope="module")
def given():
    return Regressor(**GIVEN).fit(X, Y)


def test_the_rows_that_were_moved_are_listed_largest_first(given):
    found = given.outliers()
    assert found["row"].tolist() == [12, 40]
    assert_allclose(found["value"], Y[[12, 40]])
    assert_allclose(found["expected"], 2.0 * X[[12, 40], 0], atol=0.8)
    assert found["sds"][0] > 4.0
    assert found["sds"][1] < -4.0


def test_the_list_does_not_depend_on_units(given):
    scaled = Regressor(**GIVEN).fit(X, 1000.0 * Y - 7.0)
    assert_allclose(scaled.outliers()["expected"], 1000.0 * given.outliers()["expected"] - 7.0, rtol=1e-3)
    assert_allclose(scaled.outliers()["sds"], given.outliers()["sds"], rtol=1e-3)


def test_sites_without_their_row_agree_with_the_closed_form(given):
    fitted, result = given.result_.fitted, given.result_
    exact = replace(fitted.posterior, weights=fitted.posterior.weights[:1])
    mean, variance = moments(*exact.draws(result.inputs))
    sites = Sites.at(result.scaled_target, mean, variance, Gaussian(exact.noise[0]))
    for one, other in zip(sites.left_out(mean, variance), moments(*exact.left_out()), strict=True):
        assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_inducing_points_list_the_same_rows(given):
    collapsed = Regressor(kernels=["Lin", "1"], method="collapsed").fit(X, Y)
    assert collapsed.outliers()["row"].tolist() == given.outliers()["row"].tolist()
    assert_allclose(collapsed.outliers()["sds"], given.outliers()["sds"], rtol=0.1)


def test_residuals_are_those_of_predictions_without_the_row(given):
    mean, residuals = residuals_of(given.result_.fitted, given.result_.inputs, given.result_.scaled_target)
    others = np.arange(60) != 12
    without = Regressor(**GIVEN).fit(X[others], Y[others])
    expected = given.result_.fitted.scale.inverse(mean)[12]
    assert expected == pytest.approx(float(without.predict(X[12:13])[0]), abs=0.3)
    assert np.sqrt(np.mean(residuals**2)) == pytest.approx(1.0, abs=0.15)


def test_few_rows_are_suspicious_or_none():
    residuals = np.concatenate([np.full(60, 0.1), np.full(40, 9.0)])
    assert not suspicious(residuals, residuals).any()
    normal = np.random.default_rng(1).standard_normal(200)
    assert suspicious(normal, normal).sum() <= 1
    normal[:4] = 8.0
    assert suspicious(normal, normal).nonzero()[0][:4].tolist() == [0, 1, 2, 3]


def test_a_row_that_is_far_is_suspicious_though_its_prediction_was_uncertain():
    distances, sd = np.random.default_rng(2).standard_normal(100), np.ones(100)
    distances[5], sd[5] = 20.0, 20.0
    assert suspicious(distances, distances / sd).nonzero()[0].tolist() == [5]


def test_classes_have_no_outliers():
    labels = (X[:, 0] + RNG.standard_normal(60) > 5.0).astype(int)
    assert len(outliers_of(Classifier(kernels=["Lin"]).fit(X, labels).result_).rows) == 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_in_gives_a_frame_out(library):
    frames = pytest.importorskip(library)
    found = Regressor(**GIVEN).fit(frames.DataFrame({"x": X[:, 0]}), Y).outliers()
    assert isinstance(found, frames.DataFrame)
    assert list(found.columns) == ["row", "value", "expected", "sds"]
    assert list(found["row"]) == [12, 40]


def test_a_row_that_the_posterior_has_not_learned_from_is_left_out_already():
    sites = Sites(np.array([50.0]), np.array([0.2]))
    mean, variance = sites.left_out(np.array([1.0]), np.array([2.0]))
    assert (mean[0], variance[0]) == (1.0, 2.0)
