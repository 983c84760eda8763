"""The scale of rows in blocks is that of the same rows together, also where the mean is far from zero."""

import numpy as np
import pytest

from farrier.data.tables import Scale
from farrier.model.block_fits import scale_of_blocks

RNG = np.random.default_rng(3)
X = RNG.normal(size=(50, 3))
Z = RNG.normal(size=50)


class Cut:
    """Rows cut into blocks, one of which is empty."""

    def __init__(self, X, z, places):
        self.count, self._blocks = len(z), list(zip(np.split(X, places), np.split(z, places), strict=True))

    def map(self, function, *arguments):
        return (function(X, z, *arguments) for X, z in self._blocks)


@pytest.mark.parametrize("places", [[], [7], [0, 1, 20, 20, 49]])
@pytest.mark.parametrize("shift", [0.0, 1e9])
def test_blocks_have_the_scale_of_all_rows(places, shift):
    found, whole = scale_of_blocks(Cut(X + shift, Z - shift, places)), Scale.of(X + shift, Z - shift)
    for name in ("x_mean", "x_scale", "y_mean", "y_scale"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-7, atol=1e-12)


def test_codes_of_categories_stay_as_they_are():
    found = scale_of_blocks(Cut(X, Z, [20]), coded=(1,))
    assert (found.x_mean[1], found.x_scale[1]) == (0.0, 1.0)
    assert found.x_scale[0] == pytest.approx(X[:, 0].std())
