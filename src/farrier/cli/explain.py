"""`farrier explain`: the components in words, a forecast, how good such forecasts were in the past, the report."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from farrier.cli.screen import live, note, say, table
from farrier.cli.source import Source, fit
from farrier.cli.writing import check_out
from farrier.explain.many_classes import ClassExplanations, write_pages
from farrier.series.backtests import origins
from farrier.series.observed import beside

if TYPE_CHECKING:
    from farrier.explain.explanation import Explanation

LEVELS = (80, 95)
"""The levels of the intervals of a forecast, in per cent."""


def explain(
    source: Source,
    settings: dict[str, Any],
    horizon: int | None,
    path: Path | None,
    *,
    backtest: bool,
    quiet: bool,
    as_json: bool,
    command: str = "",
) -> None:
    """Fit a model, and print its explanation; `command` is what the user typed, for the report."""
    check_out(path)
    for option, asked in (("--horizon", horizon), ("--backtest", backtest)):
        if asked and source.chosen.axis is None:
            raise source.without_times(option)
    if horizon:
        source.future(horizon)  # raises before the work begins if it goes past the calendar, or is not in the file
    if source.chosen.axis is not None:
        settings = {"floor": "auto"} | settings
    series = source.observed() if backtest else None
    if series is not None:
        origins(len(series.present), horizon=horizon or None)  # raises before the work begins if rows are too few
    with live(quiet=quiet) as screen:
        screen.doing("loading")
        model = fit(source, settings | {"progress": screen})
        past = None
        if series is not None:
            from farrier.estimators.backtesting import backtest_of

            past = backtest_of(series, settings, None, horizon or None, search_again=False, progress=screen)
        screen.doing("explaining")
        if source.regressors:
            later = source.future(horizon or len(source.later))[1] if source.later else None
            model.context_ = replace(model.context_, later=later)
        for one in vars(model).get("models_", [model]):  # three or more classes have a model each
            one.context_ = replace(one.context_, command=command, steps=horizon)
        ahead = forecast_rows(source, model, horizon or 0)
        explanation = model.explain()
        if isinstance(explanation, ClassExplanations):
            screen.doing("writing the reports")
            _each_class(source, explanation, path, quiet=quiet, as_json=as_json)
            return
        story = explanation.to_dict(horizon=horizon, backtest=past) if as_json or path is not None else {}
        if as_json:
            from farrier.explain.report import plain

            text = json.dumps(plain(story | {"forecast": ahead}, "story"), indent=2, allow_nan=False)
        else:
            text = _text(source, explanation, story.get("checks"))
        if path is not None:
            from farrier.explain import report

            screen.doing("writing the report")
            report.write(story, path)
    if as_json:
        sys.stdout.write(text + "\n")
    else:
        say(text)
        print_forecast(ahead)
        if past is not None:
            say(f"\n{past}")
    if path is not None and as_json:
        if not quiet:
            note(f"the report is {path}")
    elif path is not None:
        say(f"\nThe report is {path}: open it in a browser.")


def _each_class(
    source: Source, explanation: ClassExplanations, path: Path | None, *, quiet: bool, as_json: bool
) -> None:
    """Print the explanation of three or more classes, and write their reports."""
    if as_json:
        from farrier.explain.report import plain

        sys.stdout.write(json.dumps(plain(explanation.to_dict(), "story"), indent=2, allow_nan=False) + "\n")
    else:
        say(f"{source.title}\n{explanation.sentence}\n\n{explanation}")
    if path is None:
        return
    write_pages(explanation, path)
    if not as_json:
        say(f"\nThe reports are linked from {path}: open it in a browser.")
    elif not quiet:
        note(f"the reports are linked from {path}")


def _text(source: Source, explanation: "Explanation", checks: list[dict[str, Any]] | None) -> str:
    """The explanation with its title, and the checks that failed."""
    from farrier.explain.residual_checks import about_checks
    from farrier.explain.sentences import WIDTH

    unit = f" ({source.unit})" if source.unit else ""
    made = [asdict(check) for check in explanation.checks()] if checks is None else checks
    said = [fill(one, WIDTH) for one in about_checks((one["verdict"], one["sentence"]) for one in made)]
    return "\n\n".join([f"{source.title}{unit}\n{explanation.findings.setting.sentence()}", str(explanation), *said])


def forecast_rows(source: Source, model: Any, horizon: int) -> list[dict[str, Any]]:
    """One row for each future step: its time, the median, the prediction intervals, and the mean."""
    axis = source.chosen.axis
    if not horizon or axis is None:
        return []
    from farrier.explain.context import labels_of

    future, X = source.future(horizon)
    ends = [0.5 + sign * level / 200 for level in LEVELS for sign in (-1, 1)]
    names = ["median", *(f"{end}_{level}" for level in LEVELS for end in ("low", "high")), "mean"]
    columns = [*model.predict_quantiles(X, [0.5, *ends]).T, model.predict(X)]
    return [
        beside({axis.name: label}, {name: float(value) for name, value in zip(names, values, strict=True)})
        for label, *values in zip(labels_of(axis, future.numbers, future.labels), *columns, strict=True)
    ]


def print_forecast(rows: list[dict[str, Any]]) -> None:
    """Print the median and the intervals as a table, rounded to a tenth of the width of the intervals."""
    if not rows:
        return
    from farrier.explain.numbers import fixed, table_decimals

    places = table_decimals(*([row[name] for row in rows] for name in ("low_80", "high_80")))
    say("\nForecast: the median, with the intervals that hold 80 and 95 % of new values:\n")
    shown = [{name: value for name, value in row.items() if name != "mean"} for row in rows]
    table([{k: v if isinstance(v, str) else fixed(v, places) for k, v in row.items()} for row in shown])
