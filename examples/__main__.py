"""Write what the examples print into the .md files beside them, or check that it is there.

    python -m examples                      run every example and write its .md
    python -m examples airline              this one only
    python -m examples --check airline      write nothing; exit with 1 if the .md is stale

The output is the block between the two lines of three backticks; the text around it stays. The check compares words
only: on another processor the numbers differ in their third digit, and so the lines break elsewhere.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_")))
BLOCK = re.compile(r"(?<=^```\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def output(name: str) -> str:
    """What an example prints."""
    return subprocess.run(
        [sys.executable, FOLDER / f"{name}.py"], stdout=subprocess.PIPE, check=True, text=True, encoding="utf-8"
    ).stdout


def with_output(page: str, printed: str) -> str:
    """The text of a .md file with another output in its block."""
    if len(BLOCK.findall(page)) != 1:
        raise ValueError("an example's .md needs exactly one block between lines of three backticks")
    return BLOCK.sub(lambda _: printed, page)


def words(page: str) -> str:
    """The text with every number masked and every run of spaces and line ends as one space."""
    return " ".join(re.sub(r"\d[\d.,]*\d|\d", "#", page).split())


def main(arguments: list[str] | None = None) -> int:
    """Write or check the files; 1 if one is stale."""
    parser = argparse.ArgumentParser(prog="python -m examples", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"among {', '.join(NAMES)}; all if none is given")
    parser.add_argument("--check", action="store_true", help="write nothing, exit with 1 if a file is stale")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.names if name not in NAMES]:
        parser.error(f"there is no example {unknown[0]!r}: choose among {', '.join(NAMES)}")
    stale = 0
    for name in asked.names or NAMES:
        path = FOLDER / f"{name}.md"
        page = path.read_text(encoding="utf-8")
        made = with_output(page, output(name))
        if asked.check and words(made) != words(page):
            stale = 1
            print(f"{path.name} is stale: run python -m examples {name}", file=sys.stderr)
        if not asked.check:
            path.write_text(made, encoding="utf-8")
            print(f"{path.name} written")
    return stale


if __name__ == "__main__":
    sys.exit(main())
