"""Scores of predictions for held-out rows: RMSE, log score, coverage.

The command line and the benchmarks use these functions.
"""

import numpy as np


def rmse(y: np.ndarray, mean: np.ndarray) -> float:
    """The root mean square error, in the units of y."""
    return float(np.sqrt(np.mean((y - mean) ** 2)))


def log_score(log_densities: np.ndarray) -> float:
    """The mean log predictive density of the targets, in nats per row: higher is better."""
    return float(np.mean(log_densities))


def gaussian_log_score(y: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> float:
    """The log score of Gaussian predictions:  mean of  -((y - m) / s)^2 / 2 - log s - log(2 pi) / 2."""
    z = (y - mean) / sd
    return log_score(-0.5 * z**2 - np.log(sd) - 0.5 * np.log(2.0 * np.pi))


def coverage(y: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """The share of targets inside their intervals, ends included."""
    return float(np.mean((low <= y) & (y <= high)))
