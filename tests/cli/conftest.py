"""Fixtures of all tests of the command line."""

import os

import pytest

from farrier.cli.app import app, spread
from tests.cli.made_files import monthly, text_of


@pytest.fixture
def run(capsys):
    """Run the command in this process: its exit code, and what it printed to either side."""

    def command(*arguments):
        with pytest.raises(SystemExit) as ended:
            app(args=spread([str(argument) for argument in arguments]))
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return command


@pytest.fixture
def sales(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text(text_of("month,sales", monthly()))
    return path


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    """`--quiet` changes the environment of this process."""
    monkeypatch.setenv("PYTHONWARNINGS", os.environ.get("PYTHONWARNINGS", ""))
