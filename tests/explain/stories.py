"""Stories to print: airline passengers split by moving averages in plain numpy, and a small made-up table.

Only the shape of the story is of interest here. The splits are what a textbook does by hand, not what Farrier finds.
"""

from typing import Any

import numpy as np

from farrier import datasets


def _estimate(value: float, spread: float) -> dict[str, float]:
    return {"value": value, "low": value - spread, "high": value + spread}


def _backtest(labels: Any, x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Two past forecasts of a year, each by the values of the year before and a little more."""
    errors = {"the forecast": np.linspace(9.0, 30.0, 12), "last year's value": np.full(12, 40.0)}
    forecasts = []
    for first in (120, 132):
        rows, median = slice(first, first + 12), 1.1 * y[first - 12 : first]
        ends = {"low_80": 0.95, "high_80": 1.05, "low_95": 0.9, "high_95": 1.1}
        one = {"origin": str(labels[first - 1]), "x": x[rows].tolist(), "label": list(labels[rows])}
        bands = {name: (part * median).tolist() for name, part in ends.items()}
        forecasts.append(one | {"median": median.tolist()} | bands)
    figures = {"crps": 14.2, "msis_95": 3.1, "inside_80": 0.75, "inside_95": 0.917}
    return {
        "sentences": ["In 2 past forecasts of 12 months the error was 19.5 on average.", "95 % intervals held 92 %."],
        "searched_again": False,
        "errors": {name: values.tolist() for name, values in errors.items()},
        "steps": {name: [value] * 12 for name, value in figures.items()},
        "summary": {"error": 19.5, **figures},
        "step_name": "month",
        "x": x[96:].tolist(),
        "label": list(labels[96:]),
        "y": y[96:].tolist(),
        "forecasts": forecasts,
    }


def _part(title: str, sentence: str, future: str, **more: Any) -> dict[str, Any]:
    blank: dict[str, Any] = {
        "flag": "",
        "formula": "SE",
        "kernel": "SquaredExponential(1.5)",
        "rest": False,
        "evidence": 12.0,
        "error_before": None,
        "error_after": None,
        "weight": _estimate(1.0, 0.4),
        "period": None,
        "effect": None,
    }
    return {"title": title, "sentence": sentence, "future_sentence": future} | blank | more


def series() -> dict[str, Any]:
    """Airline: a straight line, a growing yearly pattern, a moving average of what is left, and the rest."""
    air = datasets.load("airline")
    x, y, n, horizon = air.time, air.values, len(air.values), 24
    later = x[-1] + np.arange(1, horizon + 1) / 12.0
    everywhere = np.concatenate([x, later])
    labels = [*air.labels, *(f"{year}-{month:02d}" for year in (1961, 1962) for month in range(1, 13))]
    month = np.floor(everywhere * 12.0 + 1e-6).astype(int) % 12

    line = np.polyval(np.polyfit(x, y, 1), everywhere) - y.mean()
    growth = (everywhere - 1945.0) / 10.0
    left = y - y.mean() - line[:n]
    pattern = np.array([np.mean((left / growth[:n])[month[:n] == m]) for m in range(12)])
    season = (pattern - pattern.mean())[month] * growth
    left = left - season[:n]
    smooth = np.convolve(np.pad(left, 6, mode="edge"), np.ones(13) / 13.0, mode="valid")
    smooth = np.concatenate([smooth, smooth[-1] * np.exp(-np.arange(1, horizon + 1) / 9.0)])
    left = left - smooth[:n]
    wiggle = np.convolve(np.pad(left, 1, mode="edge"), np.ones(3) / 3.0, mode="valid")
    wiggle = np.concatenate([wiggle, np.zeros(horizon)])
    ahead = np.concatenate([np.zeros(n), np.arange(1, horizon + 1)])

    means = [line, season, smooth, wiggle]
    spreads = [4.0 + 0.4 * ahead, 6.0 + 0.3 * ahead, 7.0 + 6.0 * np.sqrt(ahead), 5.0 + np.minimum(ahead, 4.0)]
    errors = [119.0, 45.9, 21.7, 13.8, 13.81]
    words = [
        _part(
            "A linear rise of about 32 thousand passengers a year",
            "Passengers rise in a straight line by 31.9 thousand a year (29.8 to 34.0).",
            "The line goes on at the same slope. Nothing in the data says for how long that holds.",
            formula="Lin",
            kernel="Linear(location=1951.2)",
            evidence=88.2,
            weight=_estimate(2.61, 0.9),
        ),
        _part(
            "A yearly pattern whose size grows",
            "A pattern that repeats exactly every 12.0 months (11.9 to 12.1), highest in July and August. "
            "Its size grows in proportion to the time since about 1945.",
            "The pattern repeats every year, and keeps growing at the same pace.",
            formula="Lin * Per0",
            kernel="Linear(location=1945.0) * ZeroMeanPeriodic(period=1.0, lengthscale=0.87)",
            evidence=143.9,
            weight=_estimate(0.94, 0.31),
            period=_estimate(1.0, 0.004),
        ),
        _part(
            "A smooth variation over about 1.5 years",
            "Slow ups and downs around the line, each lasting about 1.5 years (1.1 to 2.0).",
            "It is forgotten within about 1.5 years: after that the forecast rests on the line and the yearly pattern.",
            evidence=25.1,
            weight=_estimate(0.33, 0.12),
        ),
        _part(
            "Everything too small to name",
            "Fourteen further candidates together, none of them above a thousandth of the variation.",
            "These die out almost at once.",
            flag="Probably an artefact: leaving it out costs nothing that could be measured.",
            rest=True,
            formula="14 kernels",
            kernel="",
            evidence=-0.6,
            weight=_estimate(0.04, 0.03),
        ),
    ]
    components, running = [], np.full(n, y.mean())
    for i, (part, mean, spread) in enumerate(zip(words, means, spreads, strict=True)):
        running = running + mean[:n]
        numbers = {
            "share": float(np.var(mean[:n]) / np.var(y)),
            "cumulative": float(1.0 - np.var(y - running) / np.var(y)),
            "sd": float(np.std(mean[:n])),
            "error_before": errors[i],
            "error_after": errors[i + 1],
            "x": everywhere.tolist(),
            "label": labels,
            "mean": mean.tolist(),
            "low": (mean - 1.96 * spread).tolist(),
            "high": (mean + 1.96 * spread).tolist(),
            "running": running.tolist(),
            "residual": (y - running).tolist(),
        }
        components.append(part | numbers)

    total = y.mean() + np.sum(means, axis=0)
    sd = np.std(y - running) + np.sqrt(np.sum(np.square(spreads), axis=0)) * np.where(ahead > 0, 1.0, 0.3)
    bands = {
        f"{side}{level}": (total + sign * z * sd)
        for level, z in ((80, 1.2816), (95, 1.96))
        for side, sign in (("low", -1), ("high", 1))
    }
    return {
        "title": "International airline passengers",
        "subtitle": "Monthly totals in thousands, 1949 to 1960",
        "kind": "series",
        "target": {"name": "passengers", "unit": air.unit, "scale": "additive"},
        "axes": [{"name": "month", "kind": "years", "unit": "", "low": x[0], "high": x[-1], "spacing": 1.0 / 12.0}],
        "data": {"rows": n, "sentence": "144 rows from January 1949 to December 1960, one a month, no gaps."},
        "summary": [
            "Three components explain 98.9 % of the variation in passengers, and two of them carry over 95 % of it.",
            "The error on months left out stops falling after the third.",
            "The forecast for the two years after December 1960 continues the rise and the yearly pattern.",
        ],
        "expect": ["Expect 500 on average over the next 24 months.", "Highest at 1962-07 (620)."],
        "shared": ["The structure explained here has 60 % of this forecast, one other 40 %."],
        "structures": [
            {"share": 0.6, "formula": "Lin + Per", "scale": "identity", "end": 480.0, "explains": True},
            {"share": 0.4, "formula": "Walk + Per", "scale": "log", "end": 510.0, "explains": False},
        ],
        "rounds": [
            {
                "name": "year",
                "sentence": "The yearly pattern is highest in July (+60).",
                "profile": [
                    {"name": name} | _estimate(value, 5.0) for name, value in (("July", 60.0), ("November", -40.0))
                ],
            }
        ],
        "series": {
            "x": x.tolist(),
            "label": list(air.labels),
            "y": y.tolist(),
            "mean": total[:n].tolist(),
            "low": bands["low95"][:n].tolist(),
            "high": bands["high95"][:n].tolist(),
            "future": {
                "x": later.tolist(),
                "label": labels[n:],
                "mean": total[n:].tolist(),
                "median": total[n:].tolist(),
            }
            | {key: band[n:].tolist() for key, band in bands.items()},
        },
        "components": components,
        "checks": _checks(y - running),
        "notes": ["Forecasts do not go below 0."],
        "backtest": _backtest(air.labels, x, y),
        "weights": _weights(),
        "record": _record(),
        "repeat": {
            "settings": {"transform": "identity", "order": 3, "periods": [1.0, 0.5], "horizon": 24},
            "versions": {"farrier": "0.1.0", "jax": "0.9.1", "numpy": "2.3.4", "python": "3.12.4"},
            "seconds": 3.1,
            "seed": 0,
            "command": "farrier explain airline --horizon 24 --out report.html",
            "code": 'farrier.Forecaster(seed=0).fit(series).report("report.html", horizon=24)',
        },
    }


def _checks(residual: np.ndarray) -> list[dict[str, Any]]:
    n, z = len(residual), residual / residual.std()
    lags = np.arange(1, 25)
    acf = np.array([z[k:] @ z[:-k] / n for k in lags])
    bound = np.full(len(lags), 1.96 / np.sqrt(n))
    power = 2.0 * np.abs(np.fft.rfft(z)[1:]) ** 2 / n**2
    period = n / 12.0 / np.arange(1, len(power) + 1)
    normal = np.sort(np.random.default_rng(0).normal(size=(400, n)), axis=1)
    low, high = np.quantile(normal, [0.025, 0.975], axis=0)
    said = np.linspace(0.05, 0.95, 19)
    found = said + 0.03 * np.sin(9.0 * said)
    rows = [
        ("residual autocorrelation", "bad", 0.0004, "Neighbouring months still err together.", "acf"),
        ("residual periodogram", "doubtful", 0.03, "A period near 3 months may be left over.", "periodogram"),
        ("normal residuals", "good", 0.4, "The residuals look normal.", "qq"),
        ("calibration on months left out", "none", None, "Too few months were left out to tell.", "calibration"),
    ]
    plots = [
        (lags, acf, -bound, bound),
        (period, power, 0.0 * power, 0.0 * power + 0.09),
        (normal.mean(axis=0), np.sort(z), low, high),
        (said, found, said - 0.08, said + 0.08),
    ]
    return [
        {
            "name": name,
            "statistic": 0.12,
            "p": p,
            "p_corrected": None if p is None else min(1.0, 4 * p),
            "verdict": verdict,
            "sentence": sentence,
            "plot": {"kind": kind}
            | {key: list(map(float, values)) for key, values in zip(("x", "y", "low", "high"), plot, strict=True)},
        }
        for (name, verdict, p, sentence, kind), plot in zip(rows, plots, strict=True)
    ]


def _weights() -> list[dict[str, Any]]:
    formulas = "Lin,SE,SE,SE,Lin * Lin,SE * Lin,Per0,Lin * Per0,SE * Per0,SE * Per0,Lin * SE * Per0,Step * SE,Per1"
    kept = {0: 2.61, 1: 0.33, 7: 0.94}
    rows = [(formula, kept.get(i, 0.01 + 0.004 * i), i in kept) for i, formula in enumerate(formulas.split(","))]
    return [
        {"formula": formula, "before": 0.6, "after": after, "low": 0.6 * after, "high": 1.4 * after, "kept": stays}
        for formula, after, stays in rows
    ]


def _record() -> list[dict[str, Any]]:
    rows = [
        (1, "tried", "13 candidates", None, "from the data: periods of 12.0 and 6.0 months"),
        (1, "kept", "Lin", 88.2, "removing it costs 88.2 nats"),
        (1, "dropped", "Per1", -0.4, "explains nothing that Per0 does not"),
        (2, "merged", "SE", 0.2, "twins of nearly the same length"),
        (2, "grew", "Lin * Per0", 41.7, "the yearly pattern grows"),
    ]
    return [dict(zip(("round", "action", "formula", "gain", "reason"), row, strict=True)) for row in rows]


def table() -> dict[str, Any]:
    """A made-up table of two inputs: a curve of one, and what the two do together."""
    rng = np.random.default_rng(1)
    cement, age = rng.uniform(100.0, 540.0, 200), rng.uniform(1.0, 365.0, 200)
    fitted = 0.08 * cement + 8.0 * np.log(age) + 0.00002 * (cement - 300.0) * age
    observed = fitted + rng.normal(scale=4.0, size=200)
    grid, days = np.linspace(100.0, 540.0, 24), np.linspace(1.0, 365.0, 40)
    curve = 8.0 * np.log(days) - 35.0
    both = 0.0002 * (grid[None, :] - 320.0) * (days[:, None] - 180.0)
    numbers = {"x": [], "label": [], "mean": [], "low": [], "high": [], "running": [], "residual": []}
    effects = [
        {
            "column": "age",
            "x": days.tolist(),
            "mean": curve.tolist(),
            "low": (curve - 3.0).tolist(),
            "high": (curve + 3.0).tolist(),
        },
        {"columns": ["cement", "age"], "x": grid.tolist(), "y": days.tolist(), "z": both.tolist()},
    ]
    words = [
        ("A rising curve of age", "Strength rises with age, fast at first and then slowly."),
        ("An interaction of cement and age", "Much cement pays off more at a high age."),
    ]
    sizes = [
        {"share": 0.71, "cumulative": 0.71, "sd": 9.0, "error_before": 16.7, "error_after": 8.7},
        {"share": 0.2, "cumulative": 0.91, "sd": 4.8, "error_before": 8.7, "error_after": 4.7},
    ]
    components = [
        _part(*pair, "Beyond the data it goes back to the mean.", effect=effect) | size | numbers
        for pair, effect, size in zip(words, effects, sizes, strict=True)
    ]
    story = series()
    return story | {
        "title": "Strength of concrete",
        "subtitle": "",
        "kind": "table",
        "target": {"name": "strength", "unit": "MPa", "scale": "additive"},
        "axes": [
            {"name": "cement", "kind": "number", "unit": "kg", "low": 100.0, "high": 540.0, "spacing": 0.0},
            {"name": "age", "kind": "number", "unit": "days", "low": 1.0, "high": 365.0, "spacing": 0.0},
        ],
        "data": {"rows": 200, "sentence": "200 rows, 2 inputs, nothing missing."},
        "summary": ["Two components explain 91 % of the variation in strength."],
        "series": {"y": observed.tolist(), "mean": fitted.tolist()},
        "components": components,
    }


def classes() -> dict[str, Any]:
    """The same table, told as the chance of a strong sample."""
    story = table()
    fitted = np.array(story["series"]["mean"])
    chance = 1.0 / (1.0 + np.exp(-(fitted - fitted.mean()) / 6.0))
    strong = (np.array(story["series"]["y"]) > fitted.mean()).astype(int)
    return story | {
        "title": "Is the sample strong?",
        "kind": "classes",
        "target": {"name": "strong", "unit": "", "scale": "odds"},
        "series": {"y": strong.tolist(), "mean": chance.tolist()},
    }
