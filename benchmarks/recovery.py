"""Does the search find what is there, and nothing else?

Data from known sums of products (structures.py), one setting for all, precision and recall of the parts that explain.
"""

import argparse
from statistics import mean

from benchmarks.record import Clock, Recorder, tell
from benchmarks.structures import ROWS, STRUCTURES, draw, precision_and_recall
from farrier.estimators.regressor import Regressor

DESCRIPTION = "precision and recall of the parts found in data of known structure"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4], help="data")
    parser.add_argument("--ratios", type=float, nargs="+", default=[10.0, 1.0, 0.1], help="signal-to-noise ratios")
    parser.add_argument("--structures", nargs="+", choices=STRUCTURES, default=list(STRUCTURES), metavar="NAME")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit every structure at every ratio with every seed."""
    for ratio in arguments.ratios:
        scores: list[tuple[float, float]] = []
        for name in arguments.structures:
            for seed in arguments.seeds:
                clock = Clock()
                problem = draw(name, ratio, seed)
                model = Regressor(scale="identity").fit(problem.X, problem.y)
                score = precision_and_recall(model.pool_, problem.parts, problem.X.shape[1] > 1)
                scores.append(score)
                found = " + ".join(kernel.formula() for kernel in model.pool_)
                figures = {"precision": score[0], "recall": score[1], "found": found}
                record.add({"structure": name, "ratio": ratio, "rows": ROWS}, seed, figures, clock)
                tell(f"{name} at {ratio:g}, seed {seed}: precision {score[0]:.2f}, recall {score[1]:.2f}: {found}")
        averages = [mean(score[k] for score in scores) for k in (0, 1)]
        tell(
            f"signal-to-noise {ratio:g}: precision {averages[0]:.3f}, recall {averages[1]:.3f} over {len(scores)} fits"
        )
