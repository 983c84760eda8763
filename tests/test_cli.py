"""The command line prints results, says what is wrong in one line, and ends with the right code."""

import json
import subprocess
import sys

import pytest


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "farrier.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)


def test_datasets_lists_the_bundled_series():
    result = run("datasets")
    assert result.returncode == 0
    assert "airline" in result.stdout
    assert "co2" in result.stdout


def test_explain_prints_components_and_a_forecast():
    result = run("explain", "airline", "--horizon", "2", "--iterations", "20", "--inducing", "8", "--quiet")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "144 rows, 1949-01 to 1960-12" in result.stdout
    assert "component" in result.stdout
    assert "Lin: a line." in result.stdout
    assert "1961-02" in result.stdout


def test_explain_as_json_is_json(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("time,y\n" + "\n".join(f"{i},{i * i % 7}" for i in range(20)))
    result = run("explain", str(path), "--horizon", "3", "--iterations", "20", "--inducing", "5", "--json")
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["rows"] == 20
    assert [row["time"] for row in told["forecast"]] == ["20", "21", "22"]
    assert len(told["components"]["formula"]) == 24


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", "airlin"), "did you mean 'airline'?"),
        (("explain", "missing.csv"), "there is no file 'missing.csv'"),
        (("explain", "airline", "--prior", "lasso", "--quiet"), "'prior' parameter of Regressor"),
        (("explain", "airline", "--inducing", "1000", "--quiet"), "inducing=1000 is more than the 144 rows"),
    ],
)
def test_bad_input_gives_one_line_and_code_two(arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
