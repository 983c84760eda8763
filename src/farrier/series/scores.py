"""Scores of predictions for held-out rows: RMSE, log score, coverage, CRPS; of forecasts also MASE, sMAPE and MSIS.

The command line and the benchmarks use these functions. MASE and MSIS divide by the error of the seasonal naive
forecast inside the training rows, as in the M competitions, so that they can be averaged over series. sMAPE is in per
cent.
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


def crps_levels(count: int) -> np.ndarray:
    """The levels of the quantiles that `crps` needs: (1/2, 3/2, ...) / count."""
    return (np.arange(count) + 0.5) / count


def crps(y: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """The continuous ranked probability score of each target, in the units of y: lower is better.

    It is twice the integral of the quantile loss over all levels, by the midpoint rule: `quantiles` are those of
    `crps_levels(K)`, along the last axis, (..., K). For a forecast of one value it is the absolute error.
    """
    levels = crps_levels(quantiles.shape[-1])
    apart = y[..., None] - quantiles
    return 2.0 * np.mean(np.maximum(levels * apart, (levels - 1.0) * apart), axis=-1)


def seasonal_scale(past: np.ndarray, season: int) -> float:
    """The mean of |y_t - y_(t-season)| over the training rows: what MASE and MSIS are divided by."""
    if len(past) <= season:
        raise ValueError(f"past: {len(past)} rows for season={season}: give more rows than one season has.")
    scale = float(np.mean(np.abs(past[season:] - past[:-season])))
    if scale == 0.0:
        raise ValueError(f"past: it repeats exactly with season={season}, so no error can be scaled: leave it out.")
    return scale


def mase(y: np.ndarray, forecast: np.ndarray, past: np.ndarray, season: int) -> float:
    """The mean absolute scaled error:  mean |y - f|  over the seasonal scale of the training rows."""
    return float(np.mean(np.abs(y - forecast))) / seasonal_scale(past, season)


def smape(y: np.ndarray, forecast: np.ndarray) -> float:
    """The symmetric mean absolute percentage error:  mean of  200 |y - f| / (|y| + |f|),  where both are 0 it is 0."""
    size = np.abs(y) + np.abs(forecast)
    return float(200.0 * np.mean(np.abs(y - forecast) / np.where(size > 0.0, size, 1.0)))


def msis(
    y: np.ndarray, low: np.ndarray, high: np.ndarray, past: np.ndarray, season: int, *, level: float = 95.0
) -> float:
    """The mean scaled interval score of intervals of `level` per cent, over the seasonal scale of the training rows.

    With a = 1 - level / 100 it is the mean of  (high - low) + (2 / a) (low - y)_+ + (2 / a) (y - high)_+.
    """
    outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    score = high - low + 2.0 / (1.0 - level / 100.0) * outside
    return float(np.mean(score)) / seasonal_scale(past, season)
