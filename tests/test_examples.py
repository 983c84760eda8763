"""The pages of the examples hold what the examples print; `python -m examples` writes them."""

from pathlib import Path

import pytest
from examples.__main__ import FOLDER, NAMES, main, output, with_output, words

PAGE = "# Title\n\nBefore.\n\n```\nold 1.5\n```\n\nAfter.\n"


def test_the_page_of_the_airline_example_is_not_stale():
    assert main(["--check", "airline"]) == 0


def test_every_example_has_a_page_with_one_block():
    for name in NAMES:
        page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        assert with_output(page, "new\n") != page


def test_the_check_fails_where_a_word_differs_and_passes_where_a_number_does(monkeypatch, tmp_path):
    monkeypatch.setattr("examples.__main__.FOLDER", tmp_path)
    page = tmp_path / "airline.md"
    page.write_text(PAGE)
    monkeypatch.setattr("examples.__main__.output", lambda name: "old\n1.62\n")
    assert main(["--check", "airline"]) == 0
    monkeypatch.setattr("examples.__main__.output", lambda name: "other 1.5\n")
    assert main(["--check", "airline"]) == 1
    assert page.read_text() == PAGE
    assert main(["airline"]) == 0
    assert page.read_text() == PAGE.replace("old 1.5", "other 1.5")


def test_numbers_are_masked_and_words_are_not():
    assert words("It grows by 12.1 %\n  (9.7 to 1,400.6).") == words("It grows by 3 % (8 to 2.05).")
    assert words("It grows by 3 %.") != words("It falls by 3 %.")


def test_an_example_that_fails_is_no_output(tmp_path, monkeypatch):
    monkeypatch.setattr("examples.__main__.FOLDER", tmp_path)
    Path(tmp_path / "broken.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(Exception, match="exit status 3"):
        output("broken")


def test_an_unknown_example_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["airlines"])
    assert "there is no example 'airlines'" in capsys.readouterr().err
