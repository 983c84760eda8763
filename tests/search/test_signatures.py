"""Laws of signatures: candidates with one formula and nearly equal parameters are one candidate."""

from dataclasses import replace

import numpy as np

from farrier.kernels.registry import CentredPeriodic, Linear, Matern12, SquaredExponential, Step
from farrier.search.candidates import Signature, distinct
from farrier.search.starting_values import SAME_CHANGE, SAME_LENGTHSCALE, SAME_PERIOD


def test_a_signature_has_log_lengthscales_log_periods_and_changepoints_alone():
    found = Signature.of(Step(0.3, 0.1) * Linear(0.7) * SquaredExponential(np.array([2.0, 3.0])))
    assert (found.changes, found.periods) == ((0.3,), ())
    assert found.lengths == (float(np.log(2.0)), float(np.log(3.0)))
    assert Signature.of(1 - Step(0.4, 0.1)).changes == (0.4,)
    assert Signature.of(CentredPeriodic(2.0, 3.0)).periods == (float(np.log(2.0)),)


def test_parameters_that_differ_by_the_tolerance_are_the_same_and_by_more_are_not():
    one = Signature("SE * Per * Step", (0.0, 0.0), (0.0,), (0.0,))
    cases = {"lengths": (0.0, SAME_LENGTHSCALE), "periods": (SAME_PERIOD,), "changes": (SAME_CHANGE,)}
    for name, at_limit in cases.items():
        beyond = (*at_limit[:-1], at_limit[-1] + 1e-9)
        assert one.alike(replace(one, **{name: at_limit}))
        assert not one.alike(replace(one, **{name: beyond}))
    assert not one.alike(replace(one, formula="SE"))


def test_of_kernels_alike_the_first_is_kept_and_none_that_was_found():
    kernels = [SquaredExponential(length) for length in (1.0, 1.01, 5.0, 0.2)]
    fresh = distinct([*kernels, Linear(0.0)], [SquaredExponential(5.1), CentredPeriodic(1.0)])
    assert [repr(kernel) for kernel in fresh] == [repr(kernel) for kernel in (kernels[0], kernels[3], Linear(0.0))]


def test_signatures_compare_formula_lengthscales_periods_and_changepoints():
    def alike(one, other):
        return Signature.of(one).alike(Signature.of(other))

    assert alike(SquaredExponential(1.0), SquaredExponential(1.8))
    assert not alike(SquaredExponential(1.0), SquaredExponential(1.9))
    assert not alike(SquaredExponential(1.0), Matern12(1.0))
    assert alike(CentredPeriodic(1.0, 1.0), CentredPeriodic(1.02, 1.2))
    assert not alike(CentredPeriodic(1.0, 1.0), CentredPeriodic(1.05, 1.0))
    assert alike(Step(0.3, 0.1), Step(0.38, 0.1))
    assert not alike(Step(0.3, 0.1), Step(0.42, 0.1))
    assert not alike(Step(0.3, 0.1), 1 - Step(0.3, 0.1))
