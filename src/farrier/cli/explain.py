"""`farrier explain`: the components in words, a forecast, the report."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farrier.cli.screen import decimals, live, note, say, table
from farrier.cli.source import Source, fit
from farrier.cli.writing import check_out

if TYPE_CHECKING:
    from farrier.explain.explanation import Explanation

LEVELS = (80, 95)
"""The levels of the intervals of a forecast, in per cent."""


def explain(
    source: Source, settings: dict[str, Any], horizon: int | None, path: Path | None, *, quiet: bool, as_json: bool
) -> None:
    """Fit a model, and print its explanation."""
    check_out(path)
    if horizon and source.chosen.axis is None:
        raise ValueError("--horizon: this table has no times: name their column with --time, or leave --horizon out")
    if horizon and source.chosen.axis is not None:
        source.chosen.axis.future(horizon)  # raises before the work begins if they go past the calendar
    with live(quiet=quiet) as screen:
        screen.doing("loading")
        model = fit(source, settings | {"progress": screen})
        screen.doing("explaining")
        ahead = forecast_rows(source, model, horizon or 0)
        explanation = model.explain()
        story = explanation.to_dict(horizon=horizon) if as_json or path is not None else {}
        if as_json:
            from farrier.explain.report import plain

            text = json.dumps(plain(story | {"forecast": ahead}, "story"), indent=2, allow_nan=False)
        else:
            text = _text(source, explanation)
        if path is not None:
            from farrier.explain import report

            screen.doing("writing the report")
            report.write(story, path)
    if as_json:
        sys.stdout.write(text + "\n")
    else:
        say(text)
        print_forecast(ahead)
    if path is not None and as_json:
        if not quiet:
            note(f"the report is {path}")
    elif path is not None:
        say(f"\nThe report is {path}: open it in a browser.")


def _text(source: Source, explanation: "Explanation") -> str:
    unit = f" ({source.unit})" if source.unit else ""
    return f"{source.title}{unit}\n{explanation.findings.setting.sentence()}\n\n{explanation}"


def forecast_rows(source: Source, model: Any, horizon: int) -> list[dict[str, Any]]:
    """One row for each future step: its time, the mean and the prediction intervals."""
    axis = source.chosen.axis
    if not horizon or axis is None:
        return []
    from farrier.explain.context import labels_of

    future = axis.future(horizon)
    X = future.numbers[:, None]
    ends = [0.5 + sign * level / 200 for level in LEVELS for sign in (-1, 1)]
    names = [f"{end}_{level}" for level in LEVELS for end in ("low", "high")]
    columns = [model.predict(X), *model.predict_quantiles(X, ends).T]
    return [
        {axis.name: label} | {name: float(value) for name, value in zip(["mean", *names], values, strict=True)}
        for label, *values in zip(labels_of(axis, future.numbers, future.labels), *columns, strict=True)
    ]


def print_forecast(rows: list[dict[str, Any]]) -> None:
    """Print the forecast as a table, rounded to a tenth of the width of the intervals."""
    if not rows:
        return
    places = decimals(min(row["high_80"] - row["low_80"] for row in rows))
    say("\nForecast, with the intervals that hold 80 and 95 % of new values:\n")
    table([{k: v if isinstance(v, str) else f"{v:.{places}f}" for k, v in row.items()} for row in rows])
