"""The searches rewrite, evaluate and find kernels; the bounds of the scalable one enclose the exact value."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.baselines.expressions import Expression
from farrier.baselines.full import FullGP
from farrier.baselines.grammar import Starts, variations
from farrier.baselines.scalable import ScalableSearch, lower_bound, upper_bound
from farrier.baselines.search import KernelSearch
from farrier.baselines.terms import Level, Outside, Slopes, Switch, Window, levelled, written
from farrier.kernels.registry import Linear, Periodic, SquaredExponential, Step, White
from farrier.paper.kernels import gram as compiled_gram

fixed = np.random.default_rng(1)
x = np.linspace(0.0, 6.0, 60)
y = 20.0 + 4.0 * (x * np.sin(2.0 * np.pi * x / 0.8) + 0.1 * fixed.normal(size=60))
TRAIN, TEST = slice(0, 45), slice(45, 60)
SIGNAL = SquaredExponential(0.7) * Periodic(0.5, 1.2) + Linear(0.3) * Linear(-0.2)
CHANGING = Switch(Step(0.1, 0.2), SIGNAL, SquaredExponential(0.4)) * Switch(Window(-0.5, 0.6, 0.1), SIGNAL, Level(2.0))


@pytest.fixture
def generator():
    return np.random.default_rng(0)


def rmse(model):
    return np.sqrt(np.mean((model.predict(x[TEST])[0] - y[TEST]) ** 2))


@pytest.fixture(scope="module")
def search():
    return KernelSearch(depth=3, restarts=1, iterations=25, changes=False).fit(x[TRAIN], y[TRAIN])


def test_search_finds_the_product_and_extrapolates_it(search):
    assert "Lin * Per" in search.kernel_
    assert rmse(search) < 0.3 * rmse(FullGP(iterations=50).fit(x[TRAIN], y[TRAIN]))


def test_each_round_of_the_search_lowers_the_bic(search):
    heights = [bic for _, bic in search.path_]
    assert search.path_[0][0] == "WN"
    assert all(after < before for before, after in pairwise(heights))


def test_the_same_seed_finds_the_same_kernel(search):
    again = KernelSearch(depth=2, restarts=1, iterations=25, changes=False).fit(x[TRAIN], y[TRAIN])
    assert again.path_ == search.path_[: len(again.path_)]


def test_noise_is_of_each_observation_and_not_of_the_place():
    X = np.array([[0.0], [0.0], [1.0]])
    noise = Expression(levelled(White(), 0.3))
    assert_allclose(noise.gram(noise.numbers, X)[0], 0.3 * np.eye(3))
    assert_allclose(noise.gram(noise.numbers, X, X)[0], np.zeros((3, 3)))
    assert_allclose(noise.diag(noise.numbers, X)[0], np.full(3, 0.3))


def test_a_change_of_regime_is_found(generator):
    t = np.linspace(0.0, 1.0, 45)
    z = np.where(t < 0.5, 0.0, 3.0) + 0.05 * generator.normal(size=45)
    start = Starts(t[:, None], z)
    model = KernelSearch(depth=2, restarts=1, iterations=25).fit(t, z)
    assert "C" in model.kernel_
    kernel = levelled(SquaredExponential(0.3) + White())
    moved = variations(kernel, start, 0, generator, changes=True, noise=True)
    assert {"CP(SE, SE) + WN", "CW(SE, SE) + WN", "CW(SE, 1) + WN", "CW(1, SE) + WN"} <= set(moved)


def test_expressions_agree_with_their_kernels(generator):
    kernel = levelled(CHANGING + Linear(0.1))
    expression = Expression(kernel)
    X, Z = generator.normal(size=(5, 1)), generator.normal(size=(5, 1))
    K, _ = expression.gram(expression.numbers, X, Z)
    assert_allclose(K, kernel.gram(X, Z), rtol=1e-10)
    assert_allclose(K, (CHANGING + Linear(0.1)).gram(X, Z), rtol=1e-10)
    k, _ = expression.diag(expression.numbers, X)
    assert_allclose(k, kernel.diag(X), rtol=1e-10)
    again = Expression(expression.at(expression.numbers))
    assert_allclose(again.numbers, expression.numbers, rtol=1e-12)


def test_derivatives_of_expressions_agree_with_finite_differences(generator):
    expression = Expression(levelled(CHANGING + White()))
    X, slopes = generator.normal(size=(5, 1)), generator.normal(size=(5, 5))
    _, pull = expression.gram(expression.numbers, X)
    found, step = pull(slopes), 1e-6
    for i in range(len(found)):
        up, down = (expression.numbers + sign * step * np.eye(len(found))[i] for sign in (1.0, -1.0))
        difference = np.sum((expression.gram(up, X)[0] - expression.gram(down, X)[0]) * slopes) / (2.0 * step)
        assert_allclose(found[i], difference, rtol=1e-5, atol=1e-7)


TERMS = [Level(2.0), Window(-0.5, 0.6, 0.1), Outside(-0.5, 0.6, 0.1), Slopes(0.3, 1.7)]


@pytest.mark.parametrize("kernel", TERMS, ids=str)
def test_derivatives_of_the_added_families_agree_with_finite_differences(kernel, generator):
    X, Z = generator.normal(size=(2, 5, 1))
    values = {name: np.atleast_1d(value) for name, value in kernel.parameters().items()}
    for evaluate, points in ((kernel.between, (X, Z)), (kernel.at, (X,))):
        K, back = evaluate(values, *points)
        weight = generator.normal(size=K.shape)
        found = back(weight)
        for name, value in values.items():
            up, down = (evaluate(values | {name: value + step}, *points)[0] for step in (1e-6, -1e-6))
            assert_allclose(np.sum(found[name]), np.sum(weight * (up - down)) / 2e-6, rtol=1e-6, atol=1e-8)


def test_slopes_are_the_same_compiled(generator):
    kernel, X = Slopes(np.array([0.3, -0.2]), np.array([1.7, 0.4])), generator.normal(size=(5, 2))
    assert_allclose(compiled_gram(kernel, jnp.asarray(X), jnp.asarray(X)), kernel.gram(X, X), rtol=1e-12)


def test_levels_change_no_function_and_stand_once_in_each_term(generator):
    kernel = Level(2.0) * (Level(3.0) * SquaredExponential(1.0) + Linear(0.0)) * Periodic(1.0)
    X = generator.normal(size=(4, 1))
    assert_allclose(levelled(kernel).gram(X, X), kernel.gram(X, X), rtol=1e-12)
    levels = [sum(isinstance(f, Level) for f in factors) for factors in levelled(kernel).products()]
    assert levels == [1, 1]
    assert written(levelled(kernel)) == "(Lin + SE) * Per"


def test_a_move_never_repeats_the_same_function(generator):
    kernel = levelled(SquaredExponential(0.3) * Periodic(1.0) + White())
    moved = variations(kernel, Starts(x[:, None], y), 1, generator, changes=False, noise=True)
    assert "Per * SE + WN" not in moved
    assert not any("SE * SE" in formula for formula in moved)
    assert {"SE + WN", "Per + WN", "Lin * Per * SE + WN", "Lin + Per * SE + WN", "Lin * WN + Per * SE"} <= set(moved)


@pytest.mark.parametrize("noise", [0.01, 1.0])
@pytest.mark.parametrize("points", [3, 40])
def test_the_bounds_enclose_the_log_marginal_likelihood(noise, points, generator):
    X = generator.uniform(0.0, 4.0, (40, 1))
    Z, target = X[:points], generator.normal(size=40)
    C = SIGNAL.gram(X, X) + noise * np.eye(40)
    exact = -0.5 * (target @ np.linalg.solve(C, target) + np.linalg.slogdet(C)[1] + 40 * np.log(2.0 * np.pi))
    grams = SIGNAL.gram(Z, Z), SIGNAL.gram(Z, X)
    lower = float(jax.jit(lower_bound)(*grams, np.diag(C) - noise, noise, target))
    upper = float(upper_bound(*grams, C - noise * np.eye(40), noise, target))
    assert lower <= exact <= upper + 1e-6 * abs(exact)
    if points == 40:
        assert_allclose([lower, upper], exact, rtol=1e-3)


def test_scalable_search_finds_the_product_within_its_bounds():
    model = ScalableSearch(depth=2, restarts=1, iterations=20, points=15, buffer=1).fit(x[TRAIN], y[TRAIN])
    assert "Lin * Per" in model.kernel_
    assert model.best_.lowest_bic <= model.best_.bic
    exact = KernelSearch(changes=False)
    exact._prepare(np.asarray(model._X), model._y)
    reached = exact._fitted(model.best_.kernel, 0).bic
    assert model.best_.lowest_bic - 1e-3 <= reached <= model.best_.bic + 1e-3
    assert rmse(model) < 0.3 * y.std()
