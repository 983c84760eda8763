"""The pages hold the figures of the committed lines, and README those of the present version alone."""

import json
from importlib.metadata import version

import pytest
from benchmarks.cli import RESULTS
from benchmarks.record import Clock, Recorder, present, version_of
from examples.__main__ import words

from benchmarks import pages, readme

NOW = version("farrier")


@pytest.mark.parametrize(("path", "text"), pages.made(RESULTS).items(), ids=lambda one: getattr(one, "name", ""))
def test_a_page_has_the_figures_of_the_lines(path, text):
    assert path.read_text(encoding="utf-8") == text, "run python -m benchmarks pages"


def test_the_output_in_the_readme_is_that_of_the_command():
    page = readme.PAGE.read_text(encoding="utf-8")
    assert words(readme.with_output(page)) == words(page), "run python -m benchmarks pages"


def series(name, method, rmse, made_by=NOW):
    """A line of the suite `timeseries`."""
    line = {"settings": {"series": name, "method": method}, "seed": 0, "figures": {"rmse": rmse}}
    return line | {"versions": {"farrier": made_by}}


def written(path, lines):
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_lines_of_another_version_are_no_figures_of_the_readme(tmp_path):
    path = tmp_path / "timeseries.jsonl"
    written(path, [series("airline", "farrier", 14.62), series("wheat", "farrier", 42.75, "0.1.0")])
    assert "1.00 (airline) to 1.00 (airline) times; geometric mean 1.00, larger on 0 of 1" in readme.table(tmp_path)
    written(path, [series("wheat", "farrier", 42.75, "0.1.0")])
    assert "(wheat)" not in readme.table(tmp_path)
    assert present(path) == []


def test_the_row_that_is_furthest_behind_comes_first(tmp_path):
    written(tmp_path / "timeseries.jsonl", [series("airline", "farrier", 2.0 * 14.62)])
    structure = {"settings": {"structure": "SE", "ratio": 1.0}, "seed": 0, "versions": {"farrier": NOW}}
    for recall, first in ((0.9, "last tenth"), (0.1, "precision and recall")):
        written(tmp_path / "recovery.jsonl", [structure | {"figures": {"precision": 1.0, "recall": recall}}])
        rows = readme.table(tmp_path).splitlines()
        assert len(rows) == 6
        assert first in rows[4]


def test_a_line_of_another_version_is_measured_again(tmp_path):
    record = Recorder("timeseries", tmp_path)
    record.add({"series": "airline"}, 0, {"rmse": 1.0}, Clock())
    assert record.done({"series": "airline"}, 0)
    path = tmp_path / "timeseries.jsonl"
    path.write_text(path.read_text().replace(f'"farrier": "{NOW}"', '"farrier": "0.1.0"'))
    assert not record.done({"series": "airline"}, 0)


def test_versions_are_named_once_in_order():
    lines = [series("a", "m", 1.0, one) for one in ("0.2.0", "0.1.0", "0.2.0")]
    assert version_of(lines) == "0.1.0, 0.2.0"


def test_a_page_without_its_marks_is_refused():
    with pytest.raises(ValueError, match="marks of 'figures' exactly once"):
        readme.between("nothing", "figures", "new")


def test_the_middle_of_a_forecast_is_left_out():
    months = [f"1961-{month:02d} {month}\n" for month in range(1, 10)]
    said = readme.shortened("".join(["text\n", *months, "after\n"]))
    assert said == "".join(["text\n", *months[:3], "...\n", months[-1], "after\n"])
