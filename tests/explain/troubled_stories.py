"""Stories that are hard to show: hostile words, missing parts, numbers that are not numbers, flat curves."""

import math
from typing import Any

from tests.explain import stories

HOSTILE = "</script><img src=x onerror=\"document.title='hacked'\"> & 'quoted' \"twice\" <!-- ${title} $title"


def hostile() -> dict[str, Any]:
    """A story whose every word, and every key of the settings, is hostile."""

    def spoil(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: spoil(v, k) for k, v in value.items()} | ({HOSTILE: HOSTILE} if key == "settings" else {})
        if isinstance(value, list):
            return [spoil(v, key) for v in value]
        return HOSTILE if isinstance(value, str) and key not in ("kind", "scale", "verdict") else value

    return spoil(stories.series())


def bare() -> dict[str, Any]:
    """A story without anything that may be missing."""
    story = stories.series()
    for part in story["components"]:
        part |= {"evidence": None, "error_before": None, "error_after": None, "weight": None, "period": None}
        part |= {"low": [], "high": [], "running": [], "residual": [], "future_sentence": "", "label": []}
    story["series"] |= {"label": [], "low": [], "high": [], "future": {"x": [], "label": [], "mean": []}}
    return story | {
        "subtitle": "",
        "summary": [],
        "expect": [],
        "shared": [],
        "structures": [],
        "rounds": [],
        "notes": [],
        "backtest": None,
        "checks": [],
        "weights": [],
        "record": [],
        "repeat": {},
    }


def broken() -> dict[str, Any]:
    """Numbers that are not numbers, in all the places a fit may put them."""
    story = stories.series()
    for values in (story["series"]["y"], story["series"]["low"], story["components"][0]["mean"]):
        values[5:8] = [math.nan, math.inf, None]
    story["components"][1] |= {
        "share": math.nan,
        "evidence": math.inf,
        "weight": dict.fromkeys(("value", "low", "high")),
    }
    story["components"][1]["period"] = {"value": 1.0, "low": 0.9, "high": math.inf}
    story["checks"][0] |= {"p": math.nan, "plot": None}
    story["weights"][0] |= {"high": math.inf, "before": math.nan}
    return story


def flat() -> dict[str, Any]:
    """The same number everywhere, one component, at a thousand times that are plain numbers."""
    story, same = stories.series(), [3.0] * 1000
    x = list(map(float, range(1000)))
    part = story["components"][0] | {
        "x": x,
        "label": [],
        "mean": [0.0] * 1000,
        "low": [0.0] * 1000,
        "high": [0.0] * 1000,
    }
    part |= {"running": same, "residual": [0.0] * 1000}
    axis = {"name": "depth", "kind": "number", "unit": "m", "low": 0.0, "high": 999.0, "spacing": 1.0}
    series = {"x": x, "label": [], "y": same, "mean": same, "low": same, "high": same, "future": {}}
    return story | {"axes": [axis], "series": series, "components": [part]}


STORIES = {
    "series": stories.series,
    "table": stories.table,
    "classes": stories.classes,
    "hostile": hostile,
    "bare": bare,
    "broken": broken,
    "flat": flat,
    "empty": dict,
}
