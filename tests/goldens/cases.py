"""The fits whose results are kept, and what is kept of each.

    python -m tests.goldens.cases            # compare with the files in kept/, to nine digits
    python -m tests.goldens.cases --write    # make the files again: only where a change of results is meant

A golden holds predictions, components and the record of the search of one small fit: one for every path through the
engines (paths.py), and five whose sentences are kept too. Other instructions round differently, and a search multiplies
what rounding does, so machine.json says with which ones they were made. To see what another machine would give:

    OPENBLAS_CORETYPE=SkylakeX python -m tests.goldens.cases
    NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL" python -m tests.goldens.cases
"""

import json
import platform
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg  # loads its BLAS
from threadpoolctl import threadpool_info

from tests.goldens.paths import PATHS

FOLDER = Path(__file__).parent / "kept"


def airline() -> dict[str, Any]:
    """Monthly airline passengers, 144 rows."""
    import farrier

    air = farrier.datasets.load("airline")
    model = farrier.Regressor().fit(air.X, air.y)
    return kept(model, np.concatenate([air.X[::11], air.X[-1] + np.arange(1, 25)[:, None] / 12.0]))


def co2() -> dict[str, Any]:
    """Carbon dioxide at Mauna Loa: the last twenty years of months, as a forecaster sees them."""
    import farrier

    series = farrier.datasets.load("co2")
    labels, y = list(series.labels)[-240:], series.y[-240:]
    forecaster = farrier.Forecaster().fit(labels, y)
    ahead = forecaster.forecast(12)
    model = forecaster.model_
    return kept(model, series.X[-240::17]) | {
        "forecast": {name: [float(v) for v in ahead[name]] for name in ("mean", "median", "low_95", "high_95")}
    }


def table() -> dict[str, Any]:
    """A made table of 90 rows: a straight effect, a curve, an input without effect."""
    import farrier

    generator = np.random.default_rng(5)
    X = generator.uniform(-2.0, 2.0, (90, 3))
    y = 3.0 * X[:, 0] + 2.0 * np.sin(2.0 * X[:, 1]) + 0.3 * generator.standard_normal(90)
    return kept(farrier.Regressor().fit(X, y), X[::7])


def classes() -> dict[str, Any]:
    """Two classes, 100 rows: the odds follow the sum of two inputs."""
    import farrier

    generator = np.random.default_rng(6)
    X = generator.standard_normal((100, 2))
    labels = (X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.5 * generator.standard_normal(100) > 0.5).astype(int)
    model = farrier.Classifier().fit(X, labels)
    return kept(model, X[::7]) | {"probability": model.predict_proba(X[::7])[:, 1].tolist()}


def outliers() -> dict[str, Any]:
    """A line and a cycle with outliers, by Student's t, 80 rows."""
    import farrier

    generator = np.random.default_rng(7)
    x = np.arange(80.0)[:, None]
    y = 0.05 * x[:, 0] + np.sin(2.0 * np.pi * x[:, 0] / 12.0) + 0.1 * generator.standard_normal(80)
    y[[9, 33, 34, 60]] += [4.0, -5.0, 3.0, 6.0]
    model = farrier.Regressor(likelihood="student-t").fit(x, y)
    return kept(model, np.arange(0.0, 100.0, 7.0)[:, None])


def path(name: str) -> Callable[[], dict[str, Any]]:
    """The case of a path."""

    def case() -> dict[str, Any]:
        model, X = PATHS[name]()
        found = kept(model, X)
        del found["sentences"], found["parts"]
        return found

    return case


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    **{case.__name__: case for case in (airline, co2, table, classes, outliers)},
    **{name: path(name) for name in PATHS},
}


def kept(model: Any, X: np.ndarray) -> dict[str, Any]:
    """What is kept of a fitted model; predictions are at the rows of X."""
    parts = model.decompose(X)
    found = {
        "components": [
            {name: getattr(row, name) for name in ("formula", "weight", "sd", "share", "evidence", "period")}
            for row in model.components_
        ],
        "parts": {"names": list(parts.names), "mean": parts.mean.tolist(), "sd": parts.sd.tolist()},
        "record": [[d.round, d.action, d.formula, d.gain, d.reason] for d in model.record_],
        "elbo": model.elbo_,
        "scale": model.transform_,
        "tier": model.tier_,
        "sentences": str(model.explain()),
    }
    if hasattr(model, "classes_"):
        return found | {"probability": model.predict_proba(X)[:, 1].tolist()}
    mean, sd = model.predict(X, return_std=True)
    quantiles = model.predict_quantiles(X, [0.025, 0.5, 0.975])
    return found | {"mean": mean.tolist(), "sd": sd.tolist(), "quantiles": quantiles.tolist()}


def machine() -> dict[str, str]:
    """What digits depend on: the processor, the libraries of linear algebra, and the instructions that numpy uses.

    Processors of one name may have other instructions. Libraries that other modules load do not count.
    """
    blas = sorted(
        f"{one['internal_api']} {one['version']} {one.get('architecture')}, {one['num_threads']} threads"
        for one in threadpool_info()
        if one["user_api"] == "blas"
    )
    instructions: Any = np.show_config(mode="dicts")
    cpu = (
        re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
        if Path("/proc/cpuinfo").exists()
        else None
    )
    return {
        "cpu": cpu[1] if cpu else platform.processor(),
        "instructions": " ".join(instructions["SIMD Extensions"]["found"]),
        "blas": ", ".join(dict.fromkeys(blas)),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def place(name: str) -> Path:
    """The file of a case."""
    return FOLDER / f"{re.sub('[^a-z]+', '-', name.lower())}.json"


def rounded(found: Any) -> Any:
    """The same with numbers of twelve digits."""
    if isinstance(found, dict):
        return {name: rounded(one) for name, one in found.items()}
    if isinstance(found, list | tuple):
        return [rounded(one) for one in found]
    return float(f"{found:.12g}") if isinstance(found, float) else found


def golden(name: str) -> dict[str, Any]:
    """What was kept of a case."""
    return json.loads(place(name).read_text())


def differences(found: Any, expected: Any, rtol: float, place: str = "") -> list[str]:
    """Where two of them differ: text at all, numbers by more than `rtol` of the larger of one and their size."""
    if isinstance(expected, dict):
        if set(found) != set(expected):
            return [f"{place}: {sorted(set(found) ^ set(expected))}"]
        return [line for key in expected for line in differences(found[key], expected[key], rtol, f"{place}.{key}")]
    if isinstance(expected, list):
        if len(found) != len(expected):
            return [f"{place}: {len(found)} entries, {len(expected)} expected"]
        pairs = enumerate(zip(found, expected, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, rtol, f"{place}[{i}]")]
    if isinstance(expected, float) and isinstance(found, float):
        near = found == expected or abs(found - expected) <= rtol * max(1.0, abs(expected))
        return [] if near else [f"{place}: {found!r}, {expected!r} expected"]
    return [] if found == expected else [f"{place}: {found!r}, {expected!r} expected"]


def main() -> int:
    """Compare, or write; the exit code is the number of cases that differ."""
    chosen = [name for name in sys.argv[1:] if name in CASES] or list(CASES)
    stamp, changed = FOLDER / "machine.json", 0
    if "--write" in sys.argv:
        FOLDER.mkdir(exist_ok=True)
        stamp.write_text(json.dumps(machine(), indent=1) + "\n")
    elif json.loads(stamp.read_text()) != machine():
        print(f"made on another machine: {stamp.read_text()}so the last digits may differ from those of {machine()}")
    for name in chosen:
        found = json.loads(json.dumps(CASES[name]()))
        if "--write" in sys.argv:
            place(name).write_text(json.dumps(rounded(found)) + "\n")
            continue
        lines = differences(found, golden(name), 1e-9)
        changed += bool(lines)
        print(f"{name}: {'the same' if not lines else f'{len(lines)} differences'}", *lines[:12], sep="\n  ")
    return changed


if __name__ == "__main__":
    sys.exit(main())
