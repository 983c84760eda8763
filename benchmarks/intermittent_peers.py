"""Peers of the suite `intermittent`, by statsforecast: run by the Python of an environment that has it.

    python intermittent_peers.py < series.json > forecasts.json

Each of the input's series has its values `y`, a `horizon` and a `season`. Out come, for each method, the point forecast
and the quantiles at 0.1, 0.2 ... 0.9. Croston's methods give points alone; their quantiles are those of conformal
intervals, AutoETS has its own.
"""

import json
import sys
from typing import Any

import numpy as np
from statsforecast.models import TSB, AutoETS, CrostonClassic, CrostonSBA
from statsforecast.utils import ConformalIntervals

LEVELS = (20, 40, 60, 80)
"""Intervals whose ends are the quantiles at 0.4, 0.6, 0.3, 0.7 ... [%]"""
WINDOWS = 5
"""Most windows from whose errors conformal intervals are made. [windows; by judgement]"""


def main() -> None:
    """Forecast all series of standard input."""
    json.dump([forecasts(**one) for one in json.load(sys.stdin)], sys.stdout)


def forecasts(y: list[float], horizon: int, season: int) -> dict[str, dict[str, Any]]:
    """Point forecasts and quantiles, by method."""
    windows = min(WINDOWS, (len(y) - 10) // horizon)
    conformal = ConformalIntervals(h=horizon, n_windows=max(windows, 2))
    season = season if len(y) > 2 * season else 1
    methods = {
        "Croston": CrostonClassic(prediction_intervals=conformal),
        "SBA": CrostonSBA(prediction_intervals=conformal),
        "TSB": TSB(alpha_d=0.1, alpha_p=0.1, prediction_intervals=conformal),
        "AutoETS": AutoETS(season_length=season),
    }
    return {name: _forecast(method, np.asarray(y, float), horizon) for name, method in methods.items()}


def _forecast(method: Any, y: np.ndarray, horizon: int) -> dict[str, Any]:
    found = method.forecast(y=y, h=horizon, level=list(LEVELS))
    point = np.broadcast_to(np.asarray(found["mean"], float), (horizon,))
    low = [np.asarray(found[f"lo-{level}"], float) for level in reversed(LEVELS)]
    high = [np.asarray(found[f"hi-{level}"], float) for level in LEVELS]
    quantiles = np.nan_to_num(np.maximum(np.stack([*low, point, *high]), 0.0))
    return {"point": np.nan_to_num(point).tolist(), "quantiles": quantiles.tolist()}


if __name__ == "__main__":
    main()
