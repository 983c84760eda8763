"""Laws of given kernels where some inputs are codes: they act on the columns of the numbers."""

import numpy as np

from farrier.estimators.on_numbers import moved, on_numbers
from farrier.kernels.registry import Linear, SquaredExponential

X = np.random.default_rng(0).standard_normal((6, 4))


def test_a_product_of_the_numbers_is_moved_to_their_columns():
    kernel = SquaredExponential(np.array([1.0, 2.0])) * Linear(0.0, dims=(1,))
    found = moved(kernel, [1, 3])
    np.testing.assert_allclose(found.gram(X, X), kernel.gram(X[:, [1, 3]], X[:, [1, 3]]))


def test_a_kernel_of_all_inputs_acts_on_the_numbers_alone():
    kernel = SquaredExponential(np.array([1.0, 2.0])) + Linear(0.0, dims=(0,))
    found = on_numbers(kernel, [1, 3])
    numbers = SquaredExponential(np.array([1.0, 2.0])).gram(X[:, [1, 3]], X[:, [1, 3]])
    np.testing.assert_allclose(found.gram(X, X), numbers + Linear(0.0).gram(X[:, :1], X[:, :1]))
