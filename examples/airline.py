"""Twelve years of airline passengers: what they are made of, and the two years after.

    python examples/airline.py

What it prints is in airline.md, which `python -m examples airline` writes.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices are faster on one thread: before numpy is imported

import farrier

air = farrier.datasets.load("airline")
forecaster = farrier.Forecaster().fit(air.labels, air.y)

print(forecaster.explain())

table = forecaster.forecast(24, levels=(80, 95))
print("\nmonth      mean   80 % interval")
for month, mean, low, high in zip(table["time"], table["mean"], table["low_80"], table["high_80"], strict=True):
    print(f"{month}  {mean:6.0f}   {low:.0f} to {high:.0f}")
