"""Laws of the marks on fields: what they say, in which order, on which scale a number is trained, what is refused."""

from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.kernels.parameters import (
    FIXED,
    POSITIVE,
    REAL,
    ParameterPrior,
    as_array,
    bounded,
    check_fields,
    fixed,
    marks,
    positive,
    real,
    trained,
    unbounded,
)
from farrier.kernels.registry import FAMILIES

NARROW = ParameterPrior(spread=0.1, reach=0.2)


@dataclass(frozen=True)
class Module:
    height: np.ndarray = real(NARROW, shared=True)
    length: np.ndarray = positive()
    constant: np.ndarray = fixed(default=5)
    label: str = "module"
    mixture: np.ndarray = positive(default=1.0)

    def __post_init__(self):
        check_fields(self)


def module(**changes):
    return Module(**{"height": [-1.0, 0.0, 7.0], "length": [1e-3, 1.0, 40.0], **changes})


def test_marks_are_those_of_the_marked_fields_in_their_order():
    assert list(marks(Module)) == ["height", "length", "constant", "mixture"]
    assert [mark.constraint for mark in marks(Module).values()] == [REAL, POSITIVE, FIXED, POSITIVE]


def test_what_is_fixed_or_without_a_mark_is_not_trained():
    assert list(trained(Module)) == ["height", "length", "mixture"]


def test_a_mark_holds_what_its_field_said():
    mark = marks(Module)["height"]
    assert mark.prior is NARROW
    assert mark.shared
    assert marks(Module)["length"].prior == ParameterPrior()
    assert not marks(Module)["length"].shared


def test_missing_values_take_their_defaults():
    assert_array_equal([module().constant, module().mixture], [5.0, 1.0])
    with pytest.raises(TypeError, match="length"):
        Module(height=1.0)


def test_numbers_become_arrays_and_keep_all_their_digits():
    one = module(height=1, length=0.1 + 0.2, constant=2)
    for name in marks(Module):
        assert getattr(one, name).dtype == np.float64
    assert one.length == 0.1 + 0.2
    assert one.label == "module"
    assert as_array(None) is None


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), [1.0, -2.0]], ids=str)
def test_what_is_not_positive_is_refused(wrong):
    with pytest.raises(ValueError, match="Module: length must be positive, got"):
        module(length=wrong)


def test_only_what_is_fixed_may_be_missing():
    assert module(constant=None).constant is None
    for name in trained(Module):
        with pytest.raises(ValueError, match=f"Module: {name} is missing: give a number"):
            module(**{name: None})


def test_marks_and_modules_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        marks(Module)["height"].shared = False
    with pytest.raises(FrozenInstanceError):
        module().length = 2.0


@pytest.mark.parametrize(("constraint", "formula"), [(REAL, lambda u: u), (POSITIVE, np.exp), (FIXED, lambda u: u)])
def test_any_real_numbers_are_bounded_by_the_formula_of_the_mark(constraint, formula):
    u = 3.0 * np.random.default_rng(0).standard_normal(7)
    values = bounded(u, constraint)
    assert_allclose(values, formula(u), rtol=1e-14)
    assert_allclose(unbounded(values, constraint), u, rtol=1e-13)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_beliefs_of_every_family_are_proper(family):
    for mark in trained(family).values():
        prior = mark.prior
        assert min(prior.spread, prior.reach, prior.typical) > 0.0
        # where the prior is uniform, candidates with other starting values cover what cannot be reached
        assert np.isfinite(prior.reach)
        # the optimiser's unit is not wider than where it may go
        assert prior.typical <= prior.reach


def test_a_number_is_of_one_column_and_no_table_unless_that_is_said():
    @dataclass(frozen=True)
    class Plain:
        a: float = real()
        b: float = positive()
        c: float = fixed()
        d: float = positive(shared=True)
        e: float = fixed(whole=True)

    assert [(mark.shared, mark.whole) for mark in marks(Plain).values()] == [
        (False, False),
        (False, False),
        (False, False),
        (True, False),
        (False, True),
    ]
