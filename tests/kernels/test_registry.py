"""Laws of the list of families: each is known by the name of its class, and no name stands for two of them."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from farrier.kernels.algebra import Base, Dims
from farrier.kernels.forms import Stationary
from farrier.kernels.registry import FAMILIES, White, known_families, register


def another(name, module="somewhere"):
    """A family of noise under another name."""

    @dataclass(frozen=True, eq=False, repr=False)
    class Family(Stationary):
        symbol: ClassVar[str] = "X"
        rank: ClassVar[int] = 20
        dims: Dims = None
        of_lags = White.of_lags

        def rescale_columns(self, scale, shift):
            return self

    Family.__name__, Family.__module__ = name, module
    return Family


def test_own_families_are_known_by_name():
    known = known_families()
    assert all(known[family.__name__] is family for family in FAMILIES)


def test_symbols_and_kinds_of_own_families_are_given():
    assert len({family.symbol for family in FAMILIES}) == len(FAMILIES)
    assert all(family.kind != Base.kind for family in FAMILIES)


def test_a_registered_family_is_known():
    family = another("Mine")
    assert register(family) is family
    assert known_families()["Mine"] is family


def test_a_family_may_be_registered_again():
    # a notebook cell that defines it runs twice
    register(another("Mine"))
    again = register(another("Mine"))
    assert known_families()["Mine"] is again


def test_a_name_that_is_taken_is_refused():
    taken = r"a kernel named White exists already, in farrier\.kernels\.white: choose another name"
    with pytest.raises(ValueError, match=taken):
        register(another("White"))
    assert known_families()["White"] is White


def test_changing_the_returned_dictionary_changes_nothing():
    known_families().clear()
    assert known_families()["White"] is White
