"""Every method is found by its name, takes its settings by keyword, and has one interface."""

import subprocess
import sys

import numpy as np
import pytest

from farrier.baselines import BASELINES
from farrier.baselines.common import Baseline


@pytest.mark.parametrize("name", BASELINES)
def test_a_factory_makes_the_method_of_its_name(name):
    method = BASELINES[name](seed=3)
    assert isinstance(method, Baseline)
    assert (method.name, method.seed) == (name, 3)
    assert type(method).__doc__
    assert len(BASELINES[name].description) < 80


def test_the_list_of_methods_costs_no_jax():
    code = "import sys; from farrier.baselines import BASELINES; assert 'jax' not in sys.modules, 'jax was imported'"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_targets_must_match_the_rows():
    with pytest.raises(ValueError, match="one number for each row"):
        BASELINES["full-gp"]().fit(np.zeros((3, 1)), np.zeros(2))


def test_inputs_and_targets_that_are_constant_are_endured():
    X = np.stack([np.linspace(0.0, 1.0, 12), np.ones(12)], axis=1)
    mean, sd = BASELINES["full-gp"](iterations=5).fit(X, X[:, 0] * 2.0).predict(X)
    assert np.isfinite(mean).all()
    assert np.isfinite(sd).all()
