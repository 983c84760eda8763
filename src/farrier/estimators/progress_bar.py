"""A bar that shows how far a fit is and how long it will still take: `progress=True`, and the command line.

    growing the structure ━━━━━━━━━━╸              43 %, about 8 s left

At a terminal and in a notebook the line is updated; elsewhere each new phase has a line of its own.
"""

import math
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress import Progress as Line
from rich.table import Column
from rich.text import Text

from farrier.data.progress import Progress

WIDE = 72
"""Fewest columns of a terminal that gets a bar as well as words and numbers, by judgement."""
BAR = 24
"""Columns of the bar, by judgement."""
OTHERS = 30
"""Columns of the other parts: the spinner, spaces, "99 %, about 59 min left"."""


class Bar:
    """Shows `Progress` until `stop`. Call it with each message."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = Console(stderr=True, highlight=False) if console is None else console
        self.updates = self.console.is_terminal or self.console.is_jupyter
        """Whether there is a line that is updated."""
        self._line: Line | None = None
        self._said: set[str] = set()

    def __call__(self, progress: Progress) -> None:
        """Show the state of a fit."""
        steps = f"{progress.step} of {progress.steps}" if progress.steps else ""
        done = progress.done
        if progress.steps and math.isnan(done):
            done = progress.step / progress.steps
        self.doing(progress.phase, steps, done=done, left=progress.left)

    def doing(self, phase: str, steps: str = "", *, done: float = math.nan, left: float = math.nan) -> None:
        """Show a phase, its steps, the part that is done and the seconds that are left, where they are known."""
        if not self.updates:
            if phase not in self._said:
                self._said.add(phase)
                self.console.print(f"{phase} ...", markup=False)
            return
        if self._line is None:
            self._line = Line(*_columns(self.console.width), console=self.console, transient=True)
            self._line.add_task(phase, total=None, steps="", ends=math.nan)
            self._line.start()
        known, task = not math.isnan(done), self._line.tasks[0]
        # an update to None would leave the total as it was
        task.total = 1.0 if known else None
        completed = done if known else 0.0
        room = self.console.width - OTHERS - len(steps) - (BAR if self.console.width >= WIDE else 0)
        phase = phase if len(phase) <= room else f"{phase[: max(room - 1, 0)]}\N{HORIZONTAL ELLIPSIS}"
        self._line.update(task.id, description=phase, steps=steps, completed=completed, ends=perf_counter() + left)

    def refresh(self) -> None:
        """Draw the line now; else it is drawn ten times a second."""
        if self._line is not None:
            self._line.refresh()

    def stop(self) -> None:
        """Remove the line."""
        if self._line is not None:
            self._line.stop()
            self._line = None


class TimeLeft(ProgressColumn):
    """The part that is done and about how long the rest takes, which counts down between two messages."""

    def render(self, task: Task) -> Text:
        """The numbers, or the time so far if there is no estimate."""
        if task.total is None:
            return Text(f"{task.elapsed or 0.0:.0f} s")
        done = f"{100.0 * task.completed:.0f} %"
        said = in_words(task.fields["ends"] - perf_counter())
        return Text(f"{done}, {said}" if said else done, no_wrap=True)


def in_words(seconds: float) -> str:
    """About how long, as "about 8 s left"; nothing if it is not known."""
    if math.isnan(seconds):
        return ""
    if seconds < 1.5:
        return "a moment left"
    if seconds < 90.0:
        return f"about {seconds:.0f} s left"
    minutes = seconds / 60.0
    return f"about {minutes:.0f} min left" if minutes < 90.0 else f"about {minutes / 60.0:.1f} h left"


def _columns(width: int) -> list[ProgressColumn]:
    phase = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
    steps = TextColumn("{task.fields[steps]}", markup=False, table_column=Column(no_wrap=True))
    bar = [BarColumn(bar_width=BAR)] if width >= WIDE else []
    return [SpinnerColumn(), phase, steps, *bar, TimeLeft(Column(no_wrap=True))]
