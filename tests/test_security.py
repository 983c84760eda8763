"""Nothing in data, models or reports is run: no code can run text, and an audit hook of Python sees none run."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import farrier

SOURCE = Path(farrier.__file__).parent
FORBIDDEN = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "pickle.load", "pickle.loads"}
"""Functions that run text or bytes."""
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "code", "ctypes"}
"""Modules that run what they read, or that step out of Python."""
MAY_START_PROCESSES = {"cli/compare.py", "fleet/pool.py"}
"""Files that start processes; they start this Python with fixed arguments."""


def name_of(node: ast.expr) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_function_runs_text(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            assert name_of(node.func) not in FORBIDDEN, f"line {node.lineno}"
            for option in node.keywords:
                allowed = isinstance(option.value, ast.Constant) and option.value.value is False
                assert option.arg not in ("shell", "allow_pickle") or allowed, f"line {node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
            assert not names & MODULES, f"line {node.lineno}"
            if "subprocess" in names:
                assert path.relative_to(SOURCE).as_posix() in MAY_START_PROCESSES


HOOKED = """
import sys
from pathlib import Path
import numpy as np, farrier
from farrier.datasets import choose_columns, read_table

folder = Path(sys.argv[1])
rows = "".join(f"{i},{i * i % 7}\\n" for i in range(20))
(folder / "data.csv").write_text("=cmd,__import__('os').system('x')\\n" + rows)
chosen = choose_columns(read_table(folder / "data.csv"))
model = farrier.Regressor().fit(chosen.X, chosen.y)
model.describe(title="<script>", target_name=chosen.target)
model.save(folder / "model.farrier")


def work():
    table = choose_columns(read_table(folder / "data.csv"))
    again = farrier.load(folder / "model.farrier")
    again.predict(table.X)
    str(again.explain())
    again.report(folder / "report.html")


work()  # what libraries load or compile, they do once
seen = []
watched = ("exec", "compile", "import", "os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess", "socket",
           "pickle", "marshal", "ctypes")
sys.addaudithook(lambda event, details: seen.append((event, details)) if event.startswith(watched) else None)
work()
print(sorted({event for event, _ in seen}))
exec("1")
print(seen[-1][0])
"""


def test_reading_loading_and_reporting_run_nothing(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", HOOKED, str(tmp_path)], capture_output=True, text=True, timeout=120, env=os.environ
    )
    assert ran.stdout.splitlines() == ["[]", "exec"], ran.stderr
