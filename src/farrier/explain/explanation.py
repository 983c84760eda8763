"""`Explanation`, the result of `model.explain()`: the components as text, a table, Markdown, or the whole story.

print(model.explain())
model.explain().to_frame()
"""

from html import escape
from typing import Any

import numpy as np

from farrier.explain import sentences
from farrier.explain.backtest import Backtest
from farrier.explain.checks import Check
from farrier.explain.context import Context
from farrier.explain.findings import Findings, findings
from farrier.explain.frames import to_frame
from farrier.explain.numbers import capital, known, per_cent, sized
from farrier.explain.residual_checks import model_checks
from farrier.explain.story import story
from farrier.explain.variance import variance_of
from farrier.model.result import Result


class Explanation:
    """The components of a fitted model in plain English, largest first."""

    def __init__(self, result: Result, context: Context | None = None) -> None:
        self.result = result
        self.findings: Findings = findings(result, context)

    def __str__(self) -> str:
        found = self.findings
        axes, target = found.setting.axes, found.setting.target
        rows, told = found.setting.count, [*found.about_rounds, *found.about_outliers]
        given = found.facts, axes, target, found.noise, rows, found.rest_share, told, found.notes
        return sentences.text(*given, stays=found.stays, rest=found.rest)

    def __repr__(self) -> str:
        return str(self)

    def __len__(self) -> int:
        return len(self.findings.facts)

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(part)}</p>" for part in str(self).split("\n\n"))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def to_dict(
        self, *, title: str | None = None, horizon: int | None = None, backtest: Backtest | None = None
    ) -> dict[str, Any]:
        """The story: everything that the report shows, in text, numbers and lists."""
        return story(self.result, title=title, horizon=horizon, found=self.findings, backtest=backtest)

    def checks(self) -> list[Check]:
        """The checks of the residuals and of the intervals; none for classes and counts."""
        return model_checks(self.result, self.findings.setting)

    def variance_shares(self) -> dict[str, Any] | None:
        """How much of the variance of a table's function each input and each interaction of two carries.

        `shares` has one entry each, largest first: inputs, value and the ends of the 95 % interval, low and high. With
        `rest`, the share of all other interactions, they add up to one. `sentence` says it in words. None if the rows
        are no table with Gaussian noise.
        """
        return variance_of(self.result)

    def to_frame(self, like: Any = None) -> Any:
        """One row for each component, in a frame of the same kind as `like`.

        Without `like`: a frame of pandas or polars, whichever is installed, or a dictionary of columns.
        """
        return to_frame(self._columns(), like)

    def to_markdown(self) -> str:
        """The explanation with headings and a table, for a README or a notebook."""
        found = self.findings
        setting = found.setting
        heading = setting.title or ("The explanation" if setting.target.name == "y" else capital(setting.target.name))
        summary = sentences.summary(
            found.facts, setting.axes, setting.target, found.noise, setting.count, stays=found.stays
        )
        lines = [f"# {heading}", setting.sentence(), " ".join([*summary, *found.about_rounds, *found.about_outliers])]
        if found.facts:
            lines.append(self._table())
        for i, facts in enumerate(found.facts, 1):
            said = [words(facts, setting.axes, setting.target) for words in (sentences.sentence, sentences.future)]
            flag = sentences.flag(facts)
            lines.append(f"## {i}. {sentences.title(facts, setting.axes, setting.target)}")
            lines.append(" ".join(said) + (f" *{flag}*" if flag else ""))
        return "\n\n".join([*lines, *found.notes]) + "\n"

    def _columns(self) -> dict[str, list[Any]]:
        found = self.findings
        axes, target = found.setting.axes, found.setting.target
        columns: dict[str, list[Any]] = {
            "component": [sentences.title(facts, axes, target) for facts in found.facts],
            "formula": [facts.formula for facts in found.facts],
        }
        for name in ("share", "cumulative", "sd", "evidence", "error_before", "error_after"):
            values = [getattr(facts, name) for facts in found.facts]
            columns[name] = [np.nan if value is None else value for value in values]
        columns |= {
            "weight": [facts.weight.value for facts in found.facts],
            "weight_low": [facts.weight.low for facts in found.facts],
            "weight_high": [facts.weight.high for facts in found.facts],
        }
        periods = [[f.period for f in facts.factors if f.period is not None] for facts in found.facts]
        columns["period"] = [found[0].value if found else np.nan for found in periods]
        columns["sentence"] = [sentences.sentence(facts, axes, target) for facts in found.facts]
        return columns

    def _table(self) -> str:
        head = ("", "Component", "Share", "Together", "Error", "Evidence")
        rows = [head, ("---:", "---", "---:", "---:", "---:", "---:")]
        columns = self._columns()
        for i, name in enumerate(columns["component"]):
            error, evidence = columns["error_after"][i], columns["evidence"][i]
            share, together = per_cent(columns["share"][i]), per_cent(columns["cumulative"][i])
            relative = self.findings.setting.target.scale == "multiplicative"
            said = (
                sized(error, relative=relative) if known(error) else "",
                f"{evidence:.1f}" if known(evidence) else "",
            )
            rows.append((str(i + 1), name.replace("|", "\\|"), share, together, *said))
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
