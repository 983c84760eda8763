"""The command line: `run SUITE` measures and appends JSON lines, `table SUITE` shows them as Markdown, `figure SUITE`
draws the paper's figures from them, `pages` writes the figures of README.md, docs/evaluation.md and
docs/reproducing-the-paper.md from them.

A suite is a module with a DESCRIPTION, `configure(parser)` for its own options and `run(arguments, record)`.
"""

import argparse
import faulthandler
import signal
from pathlib import Path

from benchmarks import (
    beside,
    bound,
    calendar_suite,
    calibration,
    calibration_table,
    classification,
    competition_table,
    competitions,
    drivers,
    explanations,
    fleet,
    forecasters,
    forecasts,
    gefcom,
    growth,
    horseshoe,
    huge,
    implicit,
    intermittent,
    kills,
    known,
    learn_priors,
    nudges,
    origins,
    pages,
    pictures,
    plain,
    plain_tables,
    progress,
    reach,
    recovery,
    reproduction,
    rows,
    sampling,
    series_times,
    speed,
    start,
    table,
    table_times,
    tables,
    timeseries,
    truth,
    uci,
    weights,
)
from benchmarks.record import Recorder, commit, tell

SUITES = {
    "weights": weights,
    "bound": bound,
    "speed": speed,
    "start": start,
    "timeseries": timeseries,
    "nudges": nudges,
    "forecasts": forecasts,
    "forecasters": forecasters,
    "competitions": competitions,
    "origins": origins,
    "calendar": calendar_suite,
    "drivers": drivers,
    "explanations": explanations,
    "intermittent": intermittent,
    "truth": truth,
    "plain": plain,
    "plain-tables": plain_tables,
    "progress": progress,
    "calibration": calibration,
    "recovery": recovery,
    "uci": uci,
    "tables": tables,
    "table-times": table_times,
    "series-times": series_times,
    "known": known,
    "gefcom": gefcom,
    "classification": classification,
    "implicit": implicit,
    "rows": rows,
    "fleet": fleet,
    "kills": kills,
    "huge": huge,
    "reach": reach,
    "reproduction": reproduction,
    "sampling": sampling,
    "horseshoe": horseshoe,
    "growth": growth,
}
OWN_TABLES = {
    **dict.fromkeys(beside.SUITES, beside.tables),
    "competitions": competition_table.tables,
    "calibration": calibration_table.tables,
    "horseshoe": horseshoe.tables,
    "intermittent": intermittent.tables,
}
"""Suites with tables of their own; most stand beside published numbers."""
RESULTS = Path(__file__).parent / "results"
GRACE = 30
"""Seconds between asking a run to stop and ending the process, for compiled code that does not listen."""


class TimeLimitError(BaseException):
    """The run took longer than --time-limit. No Exception: a suite that records failures must not take it for one."""


def main(words: list[str] | None = None) -> int:
    """Run one command; the exit code is 0, or 1 if it ran out of time."""
    arguments = _parser().parse_args(words, argparse.Namespace(results=RESULTS))
    if arguments.command == "learn-priors":
        print(f"written: {learn_priors.run(arguments)}")
        return 0
    if arguments.command == "pages":
        for path in pages.write(arguments.results):
            print(f"written: {path}")
        return 0
    if arguments.command == "figure":
        for path in pictures.PICTURES[arguments.name](arguments.results, arguments.data_dir):
            print(f"written: {path}")
        return 0
    if arguments.command == "table":
        path = arguments.results / f"{arguments.name}.jsonl"
        own = OWN_TABLES.get(arguments.name) if path.exists() and not arguments.each_seed else None
        print(own(path) if own else table.markdown(path, each_seed=arguments.each_seed))
        return 0
    tell(f"suite {arguments.name}, commit {commit()}")
    _limit_time(arguments.time_limit)
    try:
        SUITES[arguments.name].run(arguments, Recorder(arguments.name, arguments.results))
    except TimeLimitError:
        tell(f"stopped: not done within {arguments.time_limit} s; try a larger --time-limit or fewer --seeds")
        return 1
    finally:
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
    return 0


def _limit_time(seconds: int) -> None:
    def stop(number: int, frame: object) -> None:
        raise TimeLimitError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(seconds + GRACE, exit=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures what Farrier claims. Each run appends JSON lines to results/SUITE.jsonl.",
        epilog="Example: python -m benchmarks run weights --seeds 0 1, then python -m benchmarks table weights",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="measure one suite", description="Measures one suite.")
    suites = run.add_subparsers(dest="name", required=True, metavar="SUITE")
    for name, suite in SUITES.items():
        options = suites.add_parser(
            name,
            help=suite.DESCRIPTION,
            description=suite.DESCRIPTION,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        suite.configure(options)
        options.add_argument("--time-limit", type=int, default=1200, metavar="S", help="stop after so many seconds")
        _add_results(options)
    show = commands.add_parser("table", help="show the JSON lines of a suite as a Markdown table")
    show.add_argument("name", choices=SUITES, metavar="SUITE", help=", ".join(SUITES))
    draw = commands.add_parser("figure", help="draw the paper's figures from the JSON lines of a suite")
    draw.add_argument("name", choices=pictures.PICTURES, metavar="SUITE", help=", ".join(pictures.PICTURES))
    draw.add_argument(
        "--data-dir", type=Path, default=None, help="the folder that holds timeseries/, where data are drawn"
    )
    _add_results(draw)
    learn = commands.add_parser("learn-priors", help="learn the priors of the structural model from many series")
    learn_priors.configure(learn)
    every = commands.add_parser(
        "pages", help="write the figures of README.md, docs/evaluation.md and docs/reproducing-the-paper.md"
    )
    _add_results(every)
    show.add_argument("--each-seed", action="store_true", help="one row for each seed instead of medians over seeds")
    _add_results(show)
    return parser


def _add_results(parser: argparse.ArgumentParser) -> None:
    text = "where the JSON lines and pictures are (default: benchmarks/results)"
    parser.add_argument("--results", type=Path, default=argparse.SUPPRESS, metavar="DIR", help=text)
