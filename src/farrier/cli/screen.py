"""The output of the command line: results on standard output, everything else on standard error.

`Live` shows the progress: at a terminal a bar with the time left, elsewhere a line for each new phase. `ends_cleanly`
turns exceptions into one line and an exit code: 0 done, 1 the fit failed, 2 the input or an option is wrong, 130
stopped by Ctrl-C.
"""

import functools
import math
import os
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from farrier.data.progress import Progress
from farrier.estimators.progress_bar import Bar

SETTING = re.compile(r"\b(kernels|likelihood|method|prior|scale)='([^']*)'")
"""An argument in an error, which is an option here."""
TRACEBACK = "FARRIER_TRACEBACK"
"""The environment variable that, if set, makes errors show Python's traceback."""

GAP = 2
"""The number of spaces between the columns of a table, as rich prints them."""
LONGEST = 100
"""Most characters of a word or of a text in quotes on standard error; by judgement."""

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def say(text: str = "") -> None:
    """Print text of the result; at a narrow terminal its paragraphs are wrapped again, so that words stay whole."""
    out.print(rewrapped(text, out.width) if out.is_terminal else text, markup=False, soft_wrap=True)


def note(text: str) -> None:
    """Print a message on standard error: at a terminal wrapped between words, elsewhere as one line."""
    err.print(shortened(f"farrier: {text}"), markup=False, soft_wrap=not err.is_terminal)


def rewrapped(text: str, width: int) -> str:
    """Text whose paragraphs were wrapped for wider lines, wrapped for this width; other lines are wrapped alone."""
    if max(map(len, text.splitlines()), default=0) <= width:
        return text
    from farrier.explain.sentences import WIDTH

    lines: list[str] = []
    above = ""
    for line in text.split("\n"):
        # a line that had no room for the next word goes on in the next line
        if above.strip() and line.strip() and len(above) + 1 + len(line.split()[0]) > WIDTH:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
        above = line
    return "\n".join(_filled(line, width) for line in lines)


def _filled(line: str, width: int) -> str:
    number = re.match(r"\d+\. ", line)
    indent = " " * (len(number[0]) if number else len(line) - len(line.lstrip()))
    if len(line) <= width:
        return line
    filled = textwrap.fill(
        line.replace(" %", "\N{NO-BREAK SPACE}%"),
        width,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return filled.replace("\N{NO-BREAK SPACE}%", " %")


def shortened(text: str) -> str:
    """One line in which long words, and long texts in quotes, are cut."""
    cut = re.compile(rf"(?P<quote>['\"])(?:(?!(?P=quote)).){{{LONGEST},}}(?P=quote)|\S{{{LONGEST},}}")
    return cut.sub(lambda found: f"{found[0][: LONGEST // 2]}...", " ".join(text.split()))


def ends_cleanly(command: Callable[..., None]) -> Callable[..., None]:
    """The command with exceptions turned into one line and an exit code, and warnings into lines, or none if quiet."""

    @functools.wraps(command)
    def guarded(*arguments: Any, **options: Any) -> None:
        try:
            with _warnings(quiet=options.get("quiet", False)):
                command(*arguments, **options)
        except KeyboardInterrupt:
            note("stopped")
            raise typer.Exit(130) from None
        except (BrokenPipeError, typer.Exit):
            raise
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            note(_words(error))
            raise typer.Exit(_code(error)) from None

    return guarded


@contextmanager
def _warnings(*, quiet: bool) -> Iterator[None]:
    """Show each warning as one line without its place in the code, or, if quiet, none, also in other processes."""
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore")
            os.environ["PYTHONWARNINGS"] = "ignore"  # for the processes that fit many series
        warnings.showwarning = lambda message, *place, **options: note(f"warning: {message}")
        yield


def _code(error: Exception) -> int:
    failed = isinstance(error, ArithmeticError) or type(error).__name__ == "LinAlgError"
    return 2 if isinstance(error, ValueError | OSError) and not failed else 1


def _words(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, ValueError | OSError | ArithmeticError):
        return SETTING.sub(r"--\1 \2", text)
    if isinstance(error, MemoryError):
        return "there is not enough memory: try fewer rows, or --method collapsed"
    return f"something went wrong inside ({type(error).__name__}: {text}); {TRACEBACK}=1 shows where"


class Live:
    """Shows the progress. Call it with a `farrier.data.progress.Progress`, or use `doing`."""

    def __init__(self, bar: Bar | None = None) -> None:
        self._bar = bar

    def __call__(self, progress: Progress) -> None:
        if self._bar is not None:
            self._bar(progress)

    @property
    def updates(self) -> bool:
        """Whether there is a line that is updated."""
        return self._bar is not None and self._bar.updates

    def doing(self, phase: str, steps: str = "", *, done: float = math.nan, left: float = math.nan) -> None:
        """Show the phase, its steps, the part that is done and the seconds left, where they are known."""
        if self._bar is not None:
            self._bar.doing(phase, steps, done=done, left=left)

    def done(self, text: str) -> None:
        """Print a line that stays."""
        if self._bar is not None:
            err.print(shortened(text), markup=False, soft_wrap=True)


@contextmanager
def live(*, quiet: bool) -> Iterator[Live]:
    """Show the progress on standard error until the work is done."""
    bar = None if quiet else Bar(err)
    try:
        yield Live(bar)
    finally:
        if bar is not None:
            bar.stop()


def table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows as a table; all columns are right-aligned except the first and those without a name.

    A terminal that is too narrow gets several tables, each with the first column.
    """
    # a program that reads the output needs whole lines
    wide = out if out.is_terminal else Console(highlight=False, width=200)
    for i, names in enumerate(blocks(rows, wide.width)):
        grid = Table(box=None, pad_edge=False, header_style="bold")
        for k, name in enumerate(names):
            grid.add_column(name, justify="right" if k and name else "left", no_wrap=bool(name))
        for row in rows:
            grid.add_row(*(str(row[name]) for name in names))
        if i:
            wide.print()
        wide.print(grid)


def blocks(rows: Sequence[Mapping[str, Any]], width: int) -> list[list[str]]:
    """The names of the columns of each table that fits the width: the first column, and the others in their order."""
    first, *others = rows[0]
    sizes = {name: max(len(name), *(len(str(row[name])) for row in rows)) for name in rows[0]}
    found: list[list[str]] = [[first]]
    room = width - sizes[first]
    for name in others:
        if len(found[-1]) > 1 and sizes[name] + GAP > room:
            found.append([first])
            room = width - sizes[first]
        found[-1].append(name)
        room -= sizes[name] + GAP
    return found
