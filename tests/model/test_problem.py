"""Laws of the rows that are fitted: what they are, the engine for so many of them, and the scales that are possible."""

import numpy as np
import pytest

from farrier.model.problem import Problem

FEW = np.linspace(1.0, 9.0, 12)


def rows(count=12, inputs=1, **fields):
    return Problem(np.zeros((count, inputs)), np.zeros(count), **fields)


@pytest.mark.parametrize(
    ("problem", "of_series"),
    [
        (rows(), True),
        (rows(timed=True), True),
        (rows(inputs=3, timed=True), True),
        (rows(inputs=3), False),
        (rows(coded=(0,)), False),
        (rows(inputs=3, timed=True, coded=(1,)), False),
    ],
    ids=["one input", "time", "time and regressors", "a table", "codes", "time and codes"],
)
def test_one_input_or_time_is_a_series_unless_an_input_is_codes(problem, of_series):
    assert problem.of_series == of_series


@pytest.mark.parametrize(
    ("fields", "largest", "beyond"),
    [({}, 1000, "linear"), ({"inputs": 2, "timed": True}, 1000, "linear"), ({"inputs": 2}, 2000, "collapsed")],
    ids=["a curve", "time and a regressor", "a table"],
)
def test_few_rows_are_exact_and_many_have_the_engine_of_their_kind(fields, largest, beyond):
    engines = [rows(count, **fields).tier for count in (1, largest, largest + 1, 50_000)]
    assert engines == ["exact", "exact", beyond, beyond]


@pytest.mark.parametrize("engine", ["exact", "linear", "collapsed"])
@pytest.mark.parametrize("inputs", [1, 2])
def test_an_engine_that_is_asked_for_is_taken_for_any_number_of_rows(engine, inputs):
    assert [rows(count, inputs, engine=engine).tier for count in (10, 50_000)] == [engine, engine]


@pytest.mark.parametrize(
    ("y", "scale", "names"),
    [
        (FEW, "auto", ["identity", "log"]),
        (FEW - 5.0, "auto", ["identity"]),
        (100.0 + FEW, "auto", ["identity"]),
        (FEW, "identity", ["identity"]),
        (FEW, "log", ["log"]),
        (FEW, "square root", ["square root"]),
    ],
    ids=["positive", "negative too", "hardly different", "identity", "log", "square root"],
)
def test_the_logarithm_is_tried_for_positive_values_that_differ_and_the_square_root_only_on_demand(y, scale, names):
    problem = Problem(np.zeros((12, 1)), y, scale=scale)
    assert {one.name for one in problem.scales} == set(names)
    assert len(problem.scales) == len(names)


@pytest.mark.parametrize(("scale", "name"), [("auto", "identity"), ("log", "log"), ("square root", "square root")])
def test_where_no_scale_is_chosen_it_is_the_one_that_was_asked_for_or_the_identity(scale, name):
    one = Problem(np.zeros((12, 1)), FEW, scale=scale).one_scale
    assert one.transform.name == name
    z = one.forward(FEW)
    np.testing.assert_allclose((z.mean(), z.std()), (0.0, 1.0), atol=1e-12)


def test_a_scale_that_does_not_exist_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="there are auto, identity, log, square root"):
        _ = rows(scale="cube root").one_scale


def test_only_a_series_has_a_clock_and_only_time_has_growth():
    x = np.linspace(-1.7, 1.7, 12)[:, None]
    series, curve = (Problem(x, FEW, timed=timed).beliefs for timed in (True, False))
    assert (series.of_time, curve.of_time) == (True, False)
    assert series.clock is not None
    assert curve.clock is not None
    assert Problem(np.hstack([x, x]), FEW).beliefs.clock is None
    assert Problem(x, FEW, coded=(0,)).beliefs.clock is None
