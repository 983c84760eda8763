"""Laws of the bar: the phase, what is done and the time left on one line; lines of their own where nobody looks."""

import io
import re

import pytest
from rich.console import Console

from farrier.data.progress import Progress
from farrier.estimators.progress_bar import Bar, in_words


def shown(width, *messages, terminal=True):
    """All that a bar writes for some messages, without the codes of the terminal."""
    file = io.StringIO()
    bar = Bar(Console(file=file, force_terminal=terminal, width=width, highlight=False))
    for message in messages:
        bar(message)
        if bar.updates:
            bar.refresh()
    bar.stop()
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", file.getvalue())


GROWING = Progress("growing the structure", 3, 0, 1.5, 0.43, 8.4)
FOLDS = Progress("forecasting from past origins", 2, 3, 0.0)


def test_a_terminal_gets_phase_part_and_time_left_on_one_line():
    text = shown(100, GROWING)
    assert re.search(r"growing the structure +━+.* 43 %, about 8 s left", text)


def test_steps_are_a_part_too():
    assert re.search(r"forecasting from past origins 2 of 3 .* 67 %", shown(100, FOLDS))


def test_what_has_no_estimate_shows_the_time_so_far():
    text = shown(100, GROWING, Progress("explaining", 0, 0, 0.0))
    assert re.search(r"explaining .* \d+ s", text)
    assert "explaining  ━━━━━━━━━━━━━━━━━━━━━━━━ 0 %" not in text


@pytest.mark.parametrize("width", [30, 40, 60, 80])
def test_a_narrow_terminal_gets_lines_that_fit(width):
    text = shown(width, GROWING, FOLDS)
    assert all(len(line) <= width for line in re.split(r"[\r\n]", text))
    # the phase is cut, the numbers are not
    assert "43 %, about 8 s left" in text


def test_elsewhere_each_phase_has_one_line():
    text = shown(80, GROWING, GROWING, FOLDS, GROWING, terminal=False)
    assert text == "growing the structure ...\nforecasting from past origins ...\n"


def test_times_are_said_roughly():
    said = [in_words(seconds) for seconds in (float("nan"), 0.4, 12.3, 200.0, 9000.0)]
    assert said == ["", "a moment left", "about 12 s left", "about 3 min left", "about 2.5 h left"]
