"""Damaged model files, and what loading them gives: one clear error, or a model with the same predictions.

    python -m tests.estimators.damaged_files --count 10000

Three levels of damage. `raw`: the bytes of the file (bits flipped, cut, pieces repeated, members swapped). `redone`: a
member is changed and the checksums of the header are made again. `forged`: a member is changed and every checksum is
made again, also those within the tree; such a file is a valid file of slightly different numbers, and only the
model's own predictions tell. Raw and redone files must give the same bits or an error. A forged file may differ by the
tolerance of the predictions that it holds.
"""

import argparse
import hashlib
import io
import json
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import farrier
from farrier.estimators import archive, files
from farrier.estimators.self_checks import TOLERANCE

Random = np.random.Generator
ODD = (None, True, -1, 0, 7, 2**40, -(2**70), 0.0, -1.5, 1e300, "", "nan", "Linear", "x" * 50, [], {}, [[]], [1.5])
"""Values to put where others were."""


def tiny_models() -> dict[str, Any]:
    """Models of different tiers and kinds, each fitted in less than a second."""
    X = 2000.0 + (np.arange(24)[:, None] + 0.5) / 12.0
    noise = 0.2 * np.random.default_rng(0).normal(size=24)
    y = 6.0 + (X[:, 0] - 2000.0) + np.sin(2 * np.pi * X[:, 0]) + noise
    kernels: Any = ["Lin", "Per0"]
    days = pd.date_range("2020-01-01", periods=24, freq="D")
    known = farrier.Regressor().fit(X, y)
    known.explain()
    months = [f"{2000 + i // 12}-{i % 12 + 1:02d}" for i in range(24)]
    return {
        "exact": farrier.Regressor(kernels, iterations=10).fit(X, y),
        "collapsed, log": farrier.Regressor(kernels, method="collapsed", scale="log", iterations=10).fit(X, y),
        "series": farrier.Forecaster(kernels, iterations=10).fit(months, y),
        "pandas": farrier.Forecaster(kernels, iterations=10).fit(pd.Series(y, days.tz_localize("Europe/Berlin"))),
        "polars": farrier.Forecaster(kernels, iterations=10).fit(
            pl.DataFrame({"t": pl.Series(days).dt.replace_time_zone("Asia/Tokyo"), "y": y})
        ),
        "panel": farrier.Forecaster(kernels, iterations=10).fit(
            pd.DataFrame({"unique_id": [1] * 24 + [2] * 24, "ds": [*days, *days], "y": [*y, *y[::-1]]})
        ),
        "pool": farrier.Forecaster().fit(months, y),
        "explained": known,
        "classes": farrier.Classifier(kernels).fit(X, np.where(y > y.mean(), "high", "low")),
        "counts": farrier.Regressor(kernels, likelihood="poisson", iterations=10).fit(X, np.round(np.exp(0.2 * y))),
    }


def predicted(model: Any) -> np.ndarray:
    """Three predictions."""
    if isinstance(model, farrier.Forecaster):
        return np.asarray(model.forecast(3)["mean"])
    predict = model.predict_proba if isinstance(model, farrier.Classifier) else model.predict
    return predict(np.array([[2000.4], [2001.7], [2002.3]]))


def damaged(whole: bytes, random: Random) -> tuple[str, bytes]:
    """The name of a damage, and the file with it."""
    ways = [
        ("raw", _flip),
        ("raw", _cut),
        ("raw", _repeat),
        ("raw", _swap_members),
        ("raw", _drop_or_double),
        ("redone", _change_bits),
        ("redone", _change_json),
        ("redone", _swap_contents),
        ("forged", _change_bits),
        ("forged", _change_json),
        ("forged", _swap_contents),
        ("forged", _change_array_header),
    ]
    level, way = ways[random.integers(len(ways))]
    if level == "raw":
        return level, way(whole, random)
    members = way(_members(whole), random)
    return level, archive.pack("Regressor", _resealed(members) if level == "forged" else members)


def _members(whole: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        return {info.filename: file.read(info) for info in file.infolist() if info.filename != archive.HEADER}


def _resealed(members: dict[str, bytes]) -> dict[str, bytes]:
    """With the checksums within the tree made again, where there still is a tree."""
    try:
        tree = json.loads(members[files.TREE])
        for i, entry in enumerate(tree["arrays"]):
            entry["sha256"] = hashlib.sha256(members[f"arrays/{i}.npy"]).hexdigest()
        del tree["sha256"]
        return {**members, files.TREE: files.sealed(tree)}
    except (KeyError, TypeError, ValueError, AttributeError):
        return members


def _flip(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.integers(1, 4)):
        changed[random.integers(len(changed))] ^= 1 << int(random.integers(8))
    return bytes(changed)


def _cut(data: bytes, random: Random) -> bytes:
    start, end = sorted(random.integers(len(data) + 1, size=2).tolist())
    return (data[:start], data[start:], data[:start] + data[end:])[random.integers(3)]


def _repeat(data: bytes, random: Random) -> bytes:
    start, end = sorted(random.integers(len(data) + 1, size=2).tolist())
    return data[:end] + data[start:]


def _zip(members: list[tuple[str, bytes]], random: Random) -> bytes:
    made = io.BytesIO()
    kind = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)[random.integers(3)]
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", kind) as file:
        warnings.simplefilter("ignore")  # names that come twice
        for name, data in members:
            file.writestr(name, data)
    return made.getvalue()


def _entries(whole: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        return [(info.filename, file.read(info)) for info in file.infolist()]


def _swap_members(whole: bytes, random: Random) -> bytes:
    entries = _entries(whole)
    i, j = random.choice(len(entries), 2, replace=False).tolist()
    (one, first), (other, second) = entries[i], entries[j]
    entries[i], entries[j] = (one, second), (other, first)
    return _zip(entries, random)


def _drop_or_double(whole: bytes, random: Random) -> bytes:
    entries = _entries(whole)
    i = int(random.integers(len(entries)))
    return _zip(entries[:i] + entries[i + 1 :] if random.integers(2) else [*entries, entries[i]], random)


def _change_bits(members: dict[str, bytes], random: Random) -> dict[str, bytes]:
    name = str(random.choice(list(members)))
    return {**members, name: _flip(members[name], random)}


def _swap_contents(members: dict[str, bytes], random: Random) -> dict[str, bytes]:
    one, other = (str(name) for name in random.choice(list(members), 2, replace=False))
    return {**members, one: members[other], other: members[one]}


def _change_array_header(members: dict[str, bytes], random: Random) -> dict[str, bytes]:
    name = str(random.choice([name for name in members if name.endswith(".npy")]))
    changes = ((b"<f8", b"|O8"), (b"<f8", b"<i8"), (b"False", b"True "), (b"(", b"(1, "), (b"NUMPY\x01", b"NUMPY\x03"))
    old, new = changes[random.integers(len(changes))]
    data = members[name].replace(old, new, 1)
    tree = members[files.TREE]
    if random.integers(2):  # the description goes along with it
        tree = tree.replace(old, new)
    return {**members, name: data, files.TREE: tree}


def _change_json(members: dict[str, bytes], random: Random) -> dict[str, bytes]:
    """One entry of the tree dropped, doubled, moved, or replaced by something odd."""
    tree = json.loads(members[files.TREE])
    places = list(_places(tree))
    holder, key = places[random.integers(len(places))]
    match random.integers(5):
        case 0:
            del holder[key]
        case 1 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
            holder[key] = holder[key] * float(random.choice([1 + 1e-15, 1 + 1e-6, 2.0, -1.0]))
        case 2:
            other, name = places[random.integers(len(places))]
            holder[key] = json.loads(json.dumps(other[name]))
        case 3 if isinstance(holder, dict):
            holder[f"{key}x"] = holder.pop(key)
        case _:
            holder[key] = ODD[random.integers(len(ODD))]
    return {**members, files.TREE: json.dumps(tree, separators=(",", ":")).encode()}


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])


@dataclass
class Result:
    """How many files gave what, and those that gave anything else."""

    counts: Counter[tuple[str, str]]
    wrong: list[str]


def run(count: int, seed: int, folder: Path, models: dict[str, Any]) -> Result:
    """Damage files of some models, and load them."""
    random = np.random.default_rng(seed)
    result = Result(Counter(), [])
    saved = {name: (files.packed(model), predicted(model)) for name, model in models.items()}
    path = folder / "damaged.farrier"
    for i in range(count):
        name = list(saved)[i % len(saved)]
        whole, expected = saved[name]
        level, data = damaged(whole, random)
        path.write_bytes(data)
        outcome = _outcome(path, level, expected)
        result.counts[level, outcome] += 1
        if outcome not in ("error", "same bits", "within the tolerance"):
            result.wrong.append(f"file {i} ({name}, {level}): {outcome}")
    return result


def _outcome(path: Path, level: str, expected: np.ndarray) -> str:
    try:
        model = farrier.load(path)
    except ValueError as error:
        clear = type(error) is ValueError and str(error).startswith("path: ") and "\n" not in str(error)
        return "error" if clear else f"{type(error).__name__}: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    try:
        found = predicted(model)
    except BaseException as error:
        return f"loaded, then {type(error).__name__}: {error}"
    if found.shape == expected.shape and found.tobytes() == expected.tobytes():
        return "same bits"
    difference = float(np.max(np.abs(found - expected), initial=0.0)) if found.shape == expected.shape else np.inf
    # extrapolation may enlarge what the rows of the fit allow
    if level == "forged" and difference <= 10 * TOLERANCE * (np.ptp(expected) + 1.0):
        return "within the tolerance"
    return f"predictions differ by {difference:g}"


def main() -> int:
    """The long run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        result = run(options.count, options.seed, Path(folder), tiny_models())
    for (level, outcome), number in sorted(result.counts.items()):
        print(f"{number:7d}  {level:8s} {outcome}")
    print(f"{options.count} files in {time.perf_counter() - begin:.0f} s, {len(result.wrong)} wrong")
    print("\n".join(result.wrong[:20]))
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
