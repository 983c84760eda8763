"""A small table whose function is known."""

import numpy as np

RNG = np.random.default_rng(5)
X = RNG.normal(size=(150, 2))
Y = 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=150)
