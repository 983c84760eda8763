"""Laws of the transforms of inputs: skewed inputs become symmetric, others stay as they are."""

import numpy as np
from scipy.stats import skew

from farrier.kernels.registry import Matern12, SquaredExponential
from farrier.kernels.warped import warped
from farrier.search.table_candidates import Warps

RNG = np.random.default_rng(0)
RAW = np.column_stack([np.exp(RNG.standard_normal(300)), RNG.standard_normal(300), RNG.integers(0, 3, 300)])
X = (RAW - RAW.mean(axis=0)) / RAW.std(axis=0)
WARPS = Warps.of(X)


def test_a_skewed_input_becomes_nearly_symmetric_and_others_stay():
    assert WARPS.powers[0] < 0.5
    assert abs(skew(warped(X[:, 0], WARPS.powers[0]))) < 0.3 * abs(skew(X[:, 0]))
    assert list(WARPS.powers[1:]) == [1.0, 1.0]


def test_a_kernel_is_warped_only_if_one_of_its_inputs_is():
    assert WARPS.kernel(SquaredExponential, 2.0, (1,)).formula() == "SE[1]"
    assert WARPS.kernel(SquaredExponential, 2.0, (0,)).formula() == "WarpSE[0]"
    assert WARPS.kernel(Matern12, 2.0).formula() == "WarpMat12"
    assert Warps.none(3).kernel(SquaredExponential, 2.0).formula() == "SE"


def test_lengthscales_are_for_inputs_of_standard_deviation_one():
    kernel = WARPS.kernel(SquaredExponential, 2.0, (0,))
    spread = warped(X[:, 0], WARPS.powers[0]).std()
    assert np.isclose(kernel.parameters()["lengthscale"], 2.0 * spread)
