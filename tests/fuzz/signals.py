"""Signals: `farrier forecast` interrupted at a random moment, with an output file that already exists.

Afterwards the file is the old one, whole, or the new one, whole, and standard error holds no traceback of
Farrier. A reader that closes its end of the pipe counts as a signal. Ctrl-C before Python has reached the command line
shows a message of Python's own, which Farrier cannot change.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.fuzz.odd_values import pick
from tests.fuzz.outcomes import SECONDS, FailureError, Tally, judged

SIGNALS = ("INT", "INT", "TERM", "HUP", "KILL", "PIPE")
OLD = "old\n"
COMMAND_LINE = os.path.join("farrier", "cli", "app.py")
"""In every traceback from the first import of the command line on."""
LONGEST_WAIT = 2.5
"""Seconds after the start within which the signal is sent; a whole run takes about as long."""
NAMED = ("--kernels", "paper", "--method", "exact", "--scale", "identity", "--quiet")


def run(count: int, seed: int, folder: Path) -> Tally:
    """Interrupt `count` commands."""
    tally = Tally("signals")
    source = folder / "sales.csv"
    source.write_text("t,y\n" + "".join(f"{i},{np.sin(i) + 0.1 * i:.4f}\n" for i in range(16)))
    for i in range(count):
        random = np.random.default_rng([seed, i])
        place = folder / f"{i}"
        place.mkdir()
        name, wait = str(pick(random, SIGNALS)), float(random.uniform(0.0, LONGEST_WAIT))
        outcome, about = judged(lambda a=source, b=place, c=name, d=wait: interrupted(a, b, c, d))
        tally.add(outcome, f"seed {seed}, {name} after {wait:.2f} s: {about}")
    return tally


def interrupted(source: Path, folder: Path, name: str, wait: float) -> None:
    """Start the command, interrupt it, and check what is left."""
    target = folder / "out.csv"
    target.write_text(OLD)
    command = [sys.executable, "-m", "farrier.cli.app", "forecast", str(source), "--horizon", "3", *NAMED]
    if name != "PIPE":
        command += ["--out", str(target)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ)
    assert process.stdout is not None
    try:
        if name == "PIPE":
            process.stdout.close()
            process.stdout = None
        else:
            _wait(process, wait)
            process.send_signal(getattr(signal, f"SIG{name}"))
        _, said = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise FailureError("hang", f"{name} did not end it") from None
    finally:
        process.kill()
        process.wait()
    _check(target, said.decode(errors="replace"))


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _check(target: Path, said: str) -> None:
    if "Traceback" in said and ("KeyboardInterrupt" not in said or COMMAND_LINE in said):
        raise FailureError("traceback", said[-300:])
    left = sorted(path.name for path in target.parent.iterdir())
    if target.name not in left:
        raise FailureError("lost output", f"left {left}")
    text = target.read_text()
    if text != OLD and (not text.startswith("t,mean,median,") or len(text.splitlines()) != 4):
        raise FailureError("lost output", text[:100])
