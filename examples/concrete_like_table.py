"""A made table in the manner of concrete: which inputs matter, and how.

    python examples/concrete_like_table.py

The strength of 100 samples rises with the cement, falls with the water, rises quickly and then slowly with the age, and
does not depend on the sand at all. What it prints is in concrete_like_table.md, which `python -m examples` writes.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices are faster on one thread: before numpy is imported

import numpy as np

import farrier

rng = np.random.default_rng(0)
cement = rng.uniform(150, 500, 100)
water = rng.uniform(140, 220, 100)
sand = rng.uniform(600, 950, 100)
age = rng.uniform(1, 120, 100)
strength = 0.08 * cement - 0.15 * water + 10 * np.log(age) + rng.normal(scale=2.0, size=100)

X = np.column_stack([cement, water, sand, age])  # x0 to x3; a pandas or polars frame brings its names along
train, test = np.arange(80), np.arange(80, 100)
model = farrier.Regressor().fit(X[train], strength[train])

print(model.explain())

mean, sd = model.predict(X[test], return_std=True)
inside = np.abs(strength[test] - mean) < 1.96 * sd
error = np.sqrt(np.mean((strength[test] - mean) ** 2))
print(f"\nOn 20 new samples the typical error is {error:.1f}, where the noise is 2.0;")
print(f"{inside.sum()} of them lie in the 95 % intervals.")
