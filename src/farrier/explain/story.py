"""The story of a result: one plain dictionary of text, numbers and lists that holds everything the report shows.

    story(model.result_, Context(title="Sales"), horizon=12)

This file puts it together. sentences.py writes the words from the facts of findings.py, residual_checks.py makes the
checks, curves.py computes what the plots show. Unknown values are None, an empty list or an empty text.
"""

import platform
import re
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import distributions, version
from typing import Any

from farrier.explain import calendar_words, sentences
from farrier.explain.backtest import Backtest
from farrier.explain.context import Context
from farrier.explain.curves import Curves, Rows, effects, fit_of
from farrier.explain.expectation import expectation, forecast_stays, sharing, structures
from farrier.explain.facts import Estimate, Facts, Level
from farrier.explain.findings import Findings, findings
from farrier.explain.notes import about_columns
from farrier.explain.numbers import capital, count, per_cent
from farrier.explain.parts import scale_of
from farrier.explain.phrases import amount
from farrier.explain.report import plain
from farrier.explain.residual_checks import model_checks
from farrier.explain.variance import variance_of
from farrier.inference.weight_priors import starting_weight
from farrier.model.result import Result
from farrier.search.beliefs import PRIOR_SCALE
from farrier.search.rows import REST_WEIGHT

SUBTITLES = {
    "multiplicative": "Components multiply: each is a factor, and its size is relative.",
    "transformed": "Components add up on the scale of the {transform}: sizes are those{where}.",
    "odds": "Components add up to a score; the higher it is, the more likely is {name}.",
}
"""The line below the title, by the scale of the target."""


def story(
    result: Result,
    context: Context | None = None,
    *,
    title: str | None = None,
    horizon: int | None = None,
    found: Findings | None = None,
    backtest: Backtest | None = None,
) -> dict[str, Any]:
    """The story of a result, with a forecast of `horizon` steps if the rows are a series.

    By default the forecast covers a sixth of the number of rows if their times are evenly spaced, else nothing. Pass
    `found` if the findings have been computed already, and `backtest` for a section about past forecasts.
    """
    found = found or findings(result, context)
    setting = found.setting
    rows = Rows.of(result, setting, setting.horizon(horizon))
    target = asdict(setting.target)
    subtitle = SUBTITLES.get(target["scale"], "").format(
        transform=_scale(result.explained.component_scale.transform.name), where=scale_of(setting.target), **target
    )
    curves, steps = fit_of(result, rows), len(rows.x) - len(rows.y)
    stays = forecast_stays(result, setting, curves["future"]) if steps else found.stays
    shared = structures(result, rows.inputs[-1:] if steps else None) if setting.kind == "series" else []
    whole = {
        "title": title or setting.title or ("" if target["name"] == "y" else capital(target["name"])),
        "subtitle": subtitle,
        "kind": setting.kind,
        "target": target,
        "axes": [asdict(axis) for axis in setting.axes.values()],
        "columns": []
        if result.table is None
        else [{"name": one.name, "role": one.role, "note": one.note} for one in result.table.columns],
        "data": {"rows": len(setting.order), "sentence": setting.sentence()},
        "summary": sentences.summary(found.facts, setting.axes, setting.target, found.noise, setting.count, stays=stays)
        + found.about_rounds
        + found.about_outliers,
        # the columns have a section of their own
        "notes": [note for note in found.notes if note not in about_columns(result)],
        "expect": expectation(result, found, curves),
        "shared": sharing(shared),
        "structures": shared,
        "rounds": [
            {
                "name": {"yearly": "year", "weekly": "week", "daily": "day"}[one.name],
                "sentence": calendar_words.together(one, setting.target),
                "profile": _levels(one.profile),
            }
            for one in found.rounds
        ],
        "series": curves,
        "components": _components(result, found, rows),
        "variance": variance_of(result) if setting.kind == "table" else None,
        "outliers": found.outlying.to_dict(),
        "checks": [asdict(check) for check in model_checks(result, setting)],
        "backtest": None if backtest is None else backtest.to_dict(),
        "weights": _weights(result, found),
        "record": _record(result),
        "repeat": _repeat(result, setting.command),
    }
    return plain(whole, "story")


def _scale(name: str) -> str:
    """The name of a scale in a sentence: 'logarithms', 'logit from 0 to 50000'."""
    return name if any(one.isdigit() for one in name) else f"{name}s"


def _components(result: Result, found: Findings, rows: Rows) -> list[dict[str, Any]]:
    setting = found.setting
    curves = Curves.of(result, found.named, rows)
    effect = effects(result, found)
    entries = []
    for place, (i, facts) in enumerate(zip(found.named, found.facts, strict=True)):
        words = {
            "title": sentences.title(facts, setting.axes, setting.target),
            "sentence": sentences.sentence(facts, setting.axes, setting.target),
            "future_sentence": sentences.future(facts, setting.axes, setting.target),
            "flag": sentences.flag(facts),
            "shape": sentences.shape(facts, setting.axes, setting.target),
        }
        numbers = ("share", "cumulative", "sd", "swing", "evidence", "error_before", "error_after")
        entries.append(
            words
            | {"formula": facts.formula, "kernel": _rounded(repr(result.pool[i])), "rest": False}
            | {name: getattr(facts, name) for name in numbers}
            | {"weight": asdict(facts.weight), "period": _period(facts)}
            | {"profile": _levels(facts.profile)}
            | curves.of_component(place)
            | {"effect": effect[place]}
        )
    if found.others and found.rest_share is not None:
        entries.append(_rest(result, found, curves))
    return entries


def _rest(result: Result, found: Findings, curves: Curves) -> dict[str, Any]:
    """The sum of all kernels that are not named, as a last component."""
    share, many = per_cent(found.rest_share or 0.0), found.others
    who = f"{count(many)} further candidates add together" if many > 1 else "one further candidate adds"
    said = f"What {who}, none of them worth a sentence. It carries {share} of the variance."
    ahead = "It keeps a forecast from hanging on the named components being exactly right"
    end = curves.end_of_rest()
    if end is not None:
        by = amount(abs(end), found.setting.target)
        ahead += f": at the end of this one it {'adds' if end > 0 else 'takes off'} {by}"
    return {
        "title": capital(found.rest),
        "sentence": said,
        "future_sentence": f"{ahead}.",
        "flag": "",
        "shape": "",
        "formula": f"{many} kernel{'s' if many > 1 else ''}",
        "kernel": "",
        "rest": True,
        "share": found.rest_share,
        "cumulative": found.explained,
        "sd": curves.size_of_rest(),
        "swing": curves.swing_of_rest(),
        "evidence": None,
        "error_before": None,
        "error_after": None,
        "weight": None,
        "period": None,
        "profile": [],
        **curves.of_component(len(found.named)),
        "effect": None,
    }


def _levels(profile: Sequence[Level]) -> list[dict[str, Any]]:
    return [{"name": level.name} | asdict(level.value) for level in profile]


def _period(facts: Facts) -> dict[str, float] | None:
    periods: list[Estimate] = [factor.period for factor in facts.factors if factor.period is not None]
    return asdict(periods[0]) if periods else None


def _weights(result: Result, found: Findings) -> list[dict[str, Any]]:
    """The weight of every candidate before and after the fit; named components come first."""
    fitted = result.explained
    candidates = [i for i in range(len(fitted.kernels)) if i != fitted.level]
    given = starting_weight(len(candidates))
    low, after, high = (fitted.weights(level) for level in (0.025, 0.5, 0.975))
    rows = []
    for i in candidates:
        searched = PRIOR_SCALE if i < fitted.survivors else REST_WEIGHT
        rows.append(
            {
                "formula": fitted.kernels[i].formula(result.names),
                "before": (given if fitted.appraisal is None else searched) * fitted.scale.sd,
                "after": float(after[i]),
                "low": float(low[i]),
                "high": float(high[i]),
                "kept": i in found.named,
            }
        )
    return sorted(rows, key=lambda row: (not row["kept"], -row["after"]))


def _record(result: Result) -> list[dict[str, Any]]:
    """How the explanation was found."""
    return [
        {
            "round": int(decision.round),
            "action": decision.action,
            "formula": decision.formula,
            "gain": float(decision.gain),
            "reason": decision.reason,
        }
        for decision in result.record
    ]


def _repeat(result: Result, command: str) -> dict[str, Any]:
    """What is needed to repeat the fit."""
    recipe = result.recipe
    settings = {name: value for name, value in recipe.settings.items() if name != "random_state"}
    packages = {name: version(name) for name in ("farrier", "jax", "numpy") if any(distributions(name=name))}
    return {
        "settings": {name: value for name, value in settings.items() if value is not None},
        "versions": packages | {"python": platform.python_version()},
        "seconds": result.seconds,
        "seed": recipe.seed,
        "command": command,
        "code": recipe.code,
    }


def _rounded(kernel: str) -> str:
    return re.sub(r"\d+\.\d+(?:e-?\d+)?", lambda match: f"{float(match[0]):.6g}", kernel)
