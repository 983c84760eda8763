"""Somebody's own kernels, defined here and nowhere else: they are fitted exactly and through inducing points, predict,
are explained by their formula, and are saved."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose

import farrier
from farrier.evaluation.products import Products
from farrier.inference.collapsed import CollapsedObjective, CollapsedPosterior
from farrier.inference.exact import ExactObjective
from farrier.inference.parameter_vector import ExactModel
from farrier.kernels.algebra import Base, Dims, PerColumn
from farrier.kernels.forms import Stationary
from farrier.kernels.parameters import ParameterPrior, fixed, positive, real
from farrier.kernels.registry import SquaredExponential, register


@register
@dataclass(frozen=True, eq=False, repr=False)
class Wiener(Base):
    """k(x, z) = (min(x, z) - start) / unit after the start, 0 before it: a random walk, not stationary."""

    symbol: ClassVar[str] = "Walk"
    rank: ClassVar[int] = 30
    start: PerColumn = real(ParameterPrior(spread=0.5, reach=1.0, typical=0.5))
    unit: PerColumn = fixed(default=1.0)
    dims: Dims = None

    @classmethod
    def between(cls, values, X, Z):
        (start,), (unit,) = values["start"], values["unit"]
        since = np.minimum(X, Z.T) - start
        return np.maximum(since, 0.0) / unit, lambda dK: {"start": np.array([-np.sum(dK[since > 0.0]) / unit])}

    @classmethod
    def at(cls, values, X):
        (start,), (unit,) = values["start"], values["unit"]
        since = X[:, 0] - start
        return np.maximum(since, 0.0) / unit, lambda dk: {"start": np.array([-np.sum(dk[since > 0.0]) / unit])}

    def rescale_columns(self, scale, shift):
        return self.replace(start=self.start * scale + shift, unit=self.unit * scale)


@register
@dataclass(frozen=True, eq=False, repr=False)
class Cosine(Stationary):
    """k(x, z) = cos(2 pi (x - z) / period): a sine wave of any phase."""

    symbol: ClassVar[str] = "Cos"
    rank: ClassVar[int] = 31
    period: PerColumn = positive(ParameterPrior(spread=0.5, reach=0.2, typical=0.05))
    dims: Dims = None

    @classmethod
    def of_lags(cls, values, lags):
        period = values["period"]
        angle = 2.0 * np.pi * lags / period
        return np.cos(angle), lambda dR: {"period": np.sum(dR * np.sin(angle) * angle, axis=1) / period[:, 0]}

    def rescale_columns(self, scale, shift):
        return self.replace(period=self.period * scale)


RNG = np.random.default_rng(3)
X = np.arange(36.0)[:, None] + 100.0
Y = np.cumsum(RNG.standard_normal(36)) + 4.0 * np.sin(2.0 * np.pi * X[:, 0] / 7.0) + 0.3 * RNG.standard_normal(36)
NEW = np.linspace(98.0, 145.0, 21)[:, None]
KERNELS = [Wiener(80.0), Cosine(6.8), SquaredExponential(5.0)]


def fitted(method):
    return farrier.Regressor(kernels=KERNELS, method=method).fit(X, Y)


@pytest.fixture(scope="module")
def exact():
    return fitted("exact")


@pytest.mark.parametrize("kernel", [Wiener(-1.3), Cosine(0.7), Wiener(-1.3) * Cosine(0.7)], ids=str)
def test_its_way_back_is_that_of_finite_differences(kernel):
    products, x = Products.of([kernel], 1), RNG.uniform(-2.0, 2.0, (7, 1))
    G, (term,), slopes = RNG.standard_normal((7, 7)), products.terms, products.no_slopes()
    term.gram(products.numbers, x, x)[1](G, slopes)
    for i, slope in enumerate(slopes):
        step = 1e-6 * np.eye(len(slopes))[i]
        ends = [np.sum(G * term.gram(products.numbers + s, x, x)[0]) for s in (step, -step)]
        assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_it_is_the_same_in_other_units(kernel):
    assert_allclose(kernel.rescale(4.0, -3.0).gram(4.0 * X - 3.0, 4.0 * NEW - 3.0), kernel.gram(X, NEW), rtol=1e-12)


def test_it_is_fitted_and_predicts(exact):
    assert exact.tier_ == "exact"
    mean, std = exact.predict(X, return_std=True)
    assert np.all(np.isfinite(mean))
    assert np.all(std > 0.0)
    assert np.var(Y - mean) < 0.2 * np.var(Y)
    assert np.all(np.isfinite(exact.predict(NEW)))


def test_its_hyperparameters_are_trained_in_the_units_of_the_data(exact):
    walk, wave = (next(kernel for kernel in exact.pool_ if type(kernel) is family) for family in (Wiener, Cosine))
    assert_allclose(wave.period, 7.0, rtol=0.02)
    assert walk.start != 80.0
    assert walk.start < 100.0


def test_inducing_points_agree_with_the_exact_posterior(exact):
    fit = exact.result_.fitted
    found, pool = fit.posterior, fit.posterior.pool
    model = ExactModel(fit.prior, fit.noise_variance, pool, pool.unbounded)
    bound = ExactObjective.of(model, found.X, found.y, 8)
    sparse = CollapsedObjective.of(model, found.X, found.y, 8, tolerance=1e-8, most=len(X))
    (terms, slope), (other, other_slope) = (one.terms(bound.start()) for one in (bound, sparse))
    assert terms.total - 1e-3 < other.total < terms.total
    assert_allclose(other_slope, slope, atol=1e-3)
    new = np.linspace(found.X.min() - 0.2, found.X.max() + 0.9, 21)[:, None]
    (mean, variance), (other, other_variance) = (
        posterior.draws(new) for posterior in (found, CollapsedPosterior.of(sparse, model, found.weights))
    )
    assert_allclose(other, mean, atol=1e-3)
    assert_allclose(other_variance, variance, rtol=1e-3)


def test_fits_through_inducing_points_agree_with_exact_ones(exact):
    # both start from fitted kernels: the pool has a second maximum, 0.3 nats lower, where SE stands for the walk
    near, collapsed = (farrier.Regressor(kernels=list(exact.pool_), method=m).fit(X, Y) for m in ("exact", "collapsed"))
    assert collapsed.tier_ == "collapsed"
    assert abs(collapsed.elbo_ - near.elbo_) < 0.3
    (mean, std), (other, other_std) = (model.predict(NEW, return_std=True) for model in (near, collapsed))
    assert_allclose(other, mean, atol=0.05 * Y.std())
    assert_allclose(other_std, std, rtol=0.05)


def test_it_is_explained_by_its_formula_with_the_admission_that_there_are_no_words(exact):
    told = str(exact.explain())
    assert "The component Walk, for which there is no wording yet." in told
    assert "The component Cos, for which there is no wording yet." in told
    # what is known has its words beside them
    assert "Smooth variation over about" in told
    assert "Walk" in str(exact.components_)


def test_it_is_saved_and_loaded(exact, tmp_path):
    again = farrier.load(exact.save(tmp_path / "own.farrier"))
    assert [type(kernel) for kernel in again.pool_] == [type(kernel) for kernel in exact.pool_]
    assert_allclose(again.predict(NEW), exact.predict(NEW), rtol=1e-12)
    assert str(again.explain()) == str(exact.explain())
