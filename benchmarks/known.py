"""Suite `known`: are the parts of made tables named right, and do the shares of the variance hold the truth?

The tables are those of known_tables.py. A table is right if the components act on exactly the sets of inputs of its
effects, and each is called what it is. A share is right if the true Sobol index lies in its 95 % interval; shares of
effects of three inputs are not told, and those of inputs without effect have no interval to be in.
"""

import argparse
import re
from typing import Any

from benchmarks.known_tables import KINDS, Table, made
from benchmarks.record import Clock, Recorder, tell
from farrier import Regressor
from farrier.kernels.algebra import Kernel

DESCRIPTION = "made tables of known structure: parts named right, and shares of the variance inside their intervals"
SLACK = 0.005
"""Distance of a true share from its interval that is rounding: shares are told in per cent."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)), help="tables of each kind")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit and read; a table that is in the record is not run again."""
    everything: list[dict[str, Any]] = []
    for kind in arguments.kinds:
        for seed in arguments.seeds:
            if record.done({"kind": kind}, seed):
                continue
            clock = Clock()
            figures = measure(made(kind, seed))
            record.add({"kind": kind}, seed, figures, clock)
            everything.append(figures)
            inside = f"{figures['inside']} of {figures['shares']} shares inside"
            tell(f"{kind} {seed}: {'right' if figures['right'] else 'WRONG'}, {inside}: {figures['found']}")
    if everything:
        right = sum(one["right"] for one in everything)
        inside, shares = (sum(one[name] for one in everything) for name in ("inside", "shares"))
        tables = f"parts named right in {right} of {len(everything)} tables"
        print(f"{tables}; {inside} of {shares} shares in their intervals")


def measure(table: Table) -> dict[str, Any]:
    """The figures of one table."""
    model = Regressor().fit(table.X, table.y)
    explained, columns = model.explain(), model.result_.columns
    frame = explained.to_frame()
    words = {
        formula: f"{title} {sentence}"
        for formula, title, sentence in zip(frame["formula"], frame["component"], frame["sentence"], strict=True)
    }
    acting = [_acting(kernel, columns) for kernel in model.pool_]
    said = {one: words[kernel.formula(columns)] for one, kernel in zip(acting, model.pool_, strict=True)}
    right = sorted(acting) == sorted(effect.inputs for effect in table.effects)
    right = right and all(re.search(effect.shape, said[effect.inputs]) for effect in table.effects)
    shares = explained.variance_shares()
    told = {} if shares is None else {tuple(one["inputs"]): one for one in shares["shares"]}
    known = [(value, told[one]) for one, value in table.shares.items() if one in told]
    inside = sum(one["low"] - SLACK <= value <= one["high"] + SLACK for value, one in known)
    return {
        "right": bool(right),
        "inside": inside,
        "shares": len([one for one in table.shares if len(one) < 3]),
        "found": " + ".join(row.formula for row in model.components_),
    }


def _acting(kernel: Kernel, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The inputs of a component, in their order."""
    used = {int(d) for factor in kernel.products()[0] for d in factor.positions(len(columns))}
    return tuple(columns[d] for d in sorted(used))
