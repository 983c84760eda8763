"""AutoETS is optional: without the package there is nothing, with it its mean, and NaN where it fails."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from farrier.series import auto_ets


@pytest.fixture
def package(monkeypatch):
    """A package of the same shape whose model repeats the last value."""

    class AutoETS:
        def __init__(self, season_length):
            self.season_length = season_length

        def forecast(self, y, h):
            if len(y) < self.season_length:
                raise IndexError("too short")
            return {"mean": np.full(h, y[-1])}

    found, models = ModuleType(auto_ets.PACKAGE), ModuleType(f"{auto_ets.PACKAGE}.models")
    found.__spec__ = ModuleSpec(auto_ets.PACKAGE, None)
    models.AutoETS = AutoETS
    monkeypatch.setitem(sys.modules, auto_ets.PACKAGE, found)
    monkeypatch.setitem(sys.modules, f"{auto_ets.PACKAGE}.models", models)


def test_without_the_package_there_is_no_peer(monkeypatch):
    monkeypatch.setattr(auto_ets, "PACKAGE", "no_such_package")
    assert auto_ets.auto_ets() is None


def test_the_mean_is_forecast(package):
    peer = auto_ets.auto_ets()
    assert peer is not None
    assert_array_equal(peer(np.arange(9.0), 4, 3), [8.0, 8.0, 8.0])


def test_where_it_fails_nothing_is_known(package):
    assert np.isnan(auto_ets.forecast(np.arange(3.0), 4, 2)).all()
