"""Laws of the one fit: each route has its engine and its noise, and a refit keeps kernels, noise and predictions."""

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from farrier.inference.counts import Poisson
from farrier.inference.likelihoods import Bernoulli, Gaussian, Likelihood
from farrier.inference.noise import Noise
from farrier.inference.student_t import StudentT
from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential
from farrier.model.fit import fit
from farrier.model.problem import Given, Problem

N, MORE = 48, 6
STEP = 3.4 / (N - 1)
X = -1.7 + STEP * np.arange(N + MORE)[:, None]
NOISE = np.random.default_rng(0).standard_normal(N + MORE)
SEASON = 12 * STEP
TRUTH = 2.0 * X[:, 0] + np.sin(2.0 * np.pi * X[:, 0] / SEASON)
Y = TRUTH + 0.2 * NOISE
SPOILT = Y + np.where(np.arange(N + MORE) % 17 == 5, 6.0, 0.0)
INPUTS = np.random.default_rng(1).uniform(-1.7, 1.7, (N + MORE, 2))
EFFECTS = 2.0 * INPUTS[:, 0] + INPUTS[:, 1] ** 2 + 0.2 * NOISE
COUNTS = np.random.default_rng(2).poisson(np.exp(1.0 + 0.5 * TRUTH)).astype(float)
ONES = (INPUTS[:, 0] + 0.3 * NOISE > 0.0).astype(float)
KERNELS = Given([Linear(0.0), CentredPeriodic(SEASON, 1.0), SquaredExponential(0.5)])


class Route(NamedTuple):
    """Rows, all that is asked of their fit, and what it must be."""

    problem: Problem
    tier: str
    noise: type[Likelihood]
    given: Given | None = None
    likelihood: str | Likelihood = "auto"


MONTHS = Problem(X, Y, seasons=[SEASON], timed=True, scale="identity")
TABLE = Problem(INPUTS, EFFECTS, scale="identity")
ROUTES = {
    "a series": Route(MONTHS, "exact", Gaussian),
    "a series among outliers": Route(replace(MONTHS, y=SPOILT), "exact", StudentT),
    "a series with weights": Route(replace(MONTHS, noise=Noise(1.0 + NOISE**2)), "exact", Gaussian, None, "gaussian"),
    "a long series": Route(replace(MONTHS, engine="linear"), "linear", Gaussian),
    "a long series among outliers": Route(
        replace(MONTHS, y=SPOILT, engine="linear"), "linear", StudentT, None, "student-t"
    ),
    "a series by inducing points": Route(replace(MONTHS, engine="collapsed"), "collapsed", Gaussian),
    "a curve": Route(Problem(X, Y, scale="identity"), "exact", Gaussian),
    "a table": Route(TABLE, "exact", Gaussian),
    "a table with Student-t noise": Route(TABLE, "exact", StudentT, None, "student-t"),
    "a large table": Route(replace(TABLE, engine="collapsed"), "collapsed", Gaussian),
    "a large table with Student-t noise": Route(
        replace(TABLE, engine="collapsed"), "collapsed", StudentT, None, "student-t"
    ),
    "counts": Route(replace(MONTHS, y=COUNTS), "exact", Poisson, None, Poisson()),
    "classes": Route(replace(TABLE, y=ONES), "exact", Bernoulli, None, Bernoulli()),
    "given": Route(MONTHS, "exact", Gaussian, KERNELS),
    "given, linear": Route(replace(MONTHS, engine="linear"), "linear", Gaussian, KERNELS),
    "given, collapsed": Route(replace(MONTHS, engine="collapsed"), "collapsed", Gaussian, KERNELS),
    "given, a spike and a slab": Route(MONTHS, "exact", Gaussian, replace(KERNELS, prior="spike-and-slab")),
    "given, among outliers": Route(
        replace(MONTHS, y=SPOILT), "exact", StudentT, KERNELS, StudentT.with_degrees(0.3, 4.0)
    ),
    "given, counts": Route(replace(MONTHS, y=COUNTS), "exact", Poisson, KERNELS, Poisson()),
}
"""Every way from rows to a model, but that of blocks (test_block_fits.py)."""


def without_last(problem):
    return replace(problem, X=problem.X[:N], y=problem.y[:N], noise=problem.noise.at(np.arange(N)))


@cache
def fitted(name, *, more=False):
    """The fit of a route to its first rows, or to all of them."""
    route = ROUTES[name]
    problem = route.problem if more else without_last(route.problem)
    return fit(problem, route.given, likelihood=route.likelihood)


def apart(one, other):
    return np.sqrt(np.mean((one - other) ** 2))


def formulas(found):
    return [str(kernel) for kernel in found.kernels]


@pytest.fixture(params=ROUTES)
def name(request):
    return request.param


def test_a_route_has_its_engine_and_its_noise(name):
    found, route = fitted(name), ROUTES[name]
    assert found.tier == route.tier
    assert isinstance(found.likelihood, route.noise)
    assert np.isfinite(found.bound)


def test_kernels_that_are_given_are_those_of_the_model(name):
    if ROUTES[name].given is not None:
        assert formulas(fitted(name)) == ["Lin", "Per0", "SE"]


def test_a_refit_to_the_same_rows_keeps_kernels_noise_and_predictions(name):
    found, problem = fitted(name), without_last(ROUTES[name].problem)
    again = fit(problem, found)
    assert again is not found
    assert (again.tier, type(again.likelihood)) == (found.tier, type(found.likelihood))
    assert formulas(again) == formulas(found)
    assert len(again.others) == len(found.others)
    assert again.scale.transform == found.scale.transform
    mean, sd = found.moments(problem.X)
    assert apart(again.moments(problem.X)[0], mean) < 0.3 * np.median(sd)


def test_a_refit_to_more_rows_predicts_as_a_new_fit_to_them(name):
    problem = ROUTES[name].problem
    again, new = fit(problem, fitted(name)), fitted(name, more=True)
    assert formulas(again) == formulas(fitted(name))
    means, sds = zip(*(one.moments(problem.X) for one in (again, new)), strict=True)
    assert apart(*means) < 0.5 * np.median(sds[1])
    assert np.median(sds[0]) == pytest.approx(np.median(sds[1]), rel=0.3)


def test_a_refit_takes_no_other_noise_than_it_had():
    gaussian, robust = fitted("a series"), fitted("a series among outliers")
    assert isinstance(fit(replace(MONTHS, y=SPOILT), gaussian).likelihood, Gaussian)
    assert isinstance(fit(MONTHS, robust).likelihood, StudentT)


def test_a_refit_to_values_that_its_scale_does_not_have_is_refused():
    grown = np.exp(0.5 * Y[:N])
    found = fit(replace(without_last(MONTHS), y=grown, scale="log"), KERNELS)
    with pytest.raises(ValueError, match="y: -1 is not possible on the log scale of the fitted model: fit all rows"):
        fit(replace(without_last(MONTHS), y=np.where(grown == grown.max(), -1.0, grown)), found)
