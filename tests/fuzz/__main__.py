"""The long run: `make fuzz`, or `python -m tests.fuzz --files 4000 --arrays 4000 --methods 1000 --models 1900
--signals 100 --fleets 80`.

It can be run in parts: `--files 0 --arrays 500 --first 1500 --methods 0 --models 0 --signals 0 --fleets 0`.

Prints one row for each kind of input: how many were tried, gave a result, were refused in one clear line, and failed.
Each failure names its seed and number. The exit code is 1 if there is any.
"""

import argparse
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

DEFAULTS = {"files": 4000, "arrays": 4000, "methods": 1000, "models": 1900, "signals": 100, "fleets": 80}
"""Inputs of each kind, 11,080 together; about 30 minutes on one processor."""
IN_PARTS = ("files", "arrays", "methods")
"""Kinds of which a part can be tried: each input depends on the seed and on its number only."""
SHOWN = 50
"""Most failures of a kind that are printed."""


def main() -> int:
    """Try all kinds, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, count in DEFAULTS.items():
        parser.add_argument(f"--{name}", type=int, default=count, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first file, array, method")
    options = parser.parse_args()
    print("| input | tried | a result | one clear line | anything else |\n|---|---|---|---|---|", flush=True)
    begin, failures = time.perf_counter(), 0
    for name in [name for name in DEFAULTS if getattr(options, name)]:
        with tempfile.TemporaryDirectory() as folder:
            words = (getattr(options, name), options.seed, Path(folder))
            parts = (options.first,) if name in IN_PARTS else ()
            tally = import_module(f"tests.fuzz.{name}").run(*words, *parts)
        failures += len(tally.failures)
        print(tally.row(), flush=True)
        for failure in tally.failures[:SHOWN]:
            print(failure, file=sys.stderr, flush=True)
    print(f"\n{time.perf_counter() - begin:.0f} s, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
