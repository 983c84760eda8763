"""Runs tests against one mutant: in a fork of a process that has loaded the libraries but nothing of Farrier.

The child finds the changed module in place of the file. It ends at the first test that fails, and by itself after its
time limit. Nothing is written into the source.
"""

import ast
import contextlib
import importlib.abc
import importlib.machinery
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

LIBRARIES = (
    *("numpy", "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "scipy.fft"),
    *("jax", "jaxtyping", "beartype"),
)
"""Loaded once, before processes are forked: what the core and tests/conftest.py import."""
PLUGINS = ("-p", "pytest_timeout")
"""The only plugin of pytest that is loaded, for its option in pyproject.toml: the others take a second to import."""
MEMORY = 4 * 2**30
"""Bytes that a mutant may take beyond what is there: a loop that appends for ever ends early. By judgement."""
KILLED, SURVIVED, OUT_OF_TIME = 1, 0, 2
"""What the exit code of a child says."""


class Changed(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Finds one module, with other code than that of its file."""

    def __init__(self, module: str, path: Path, tree: ast.Module) -> None:
        super().__init__(module, str(path))
        self.tree = tree

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:
        if fullname != self.name:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=self.path)

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.tree, self.path, "exec")


class Chosen:
    """A plugin of pytest that keeps the tests that were chosen, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.order = {test: i for i, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order), key=lambda item: self.order[item.nodeid]
        )


def killed(changed: Changed, tests: Sequence[str], seconds: float) -> int:
    """Whether one of the tests fails with the changed module, or takes more processor time than `seconds`."""
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))
    words = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--timeout=0", *PLUGINS, *files]

    def judge() -> int:
        sys.meta_path.insert(0, changed)
        return SURVIVED if pytest.main(words, plugins=[Chosen(tests)]) == pytest.ExitCode.OK else KILLED

    return in_fork(judge, seconds)


def in_fork(call: Callable[[], int], seconds: float) -> int:
    """The exit code that `call` gives in a child process without output."""
    process = os.fork()
    if process == 0:
        _limit(seconds)
        with open(os.devnull, "w") as nothing, contextlib.suppress(BaseException):
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
            os._exit(int(call()))
        os._exit(KILLED)
    until = time.monotonic() + 60 + 20 * seconds
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            break
        if time.monotonic() > until:  # a mutant that waits for ever uses no processor time
            os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
    return OUT_OF_TIME if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _limit(seconds: float) -> None:
    """Limit the processor time and the memory of this process."""
    spent = time.process_time()
    whole = int(spent + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
