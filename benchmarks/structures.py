"""Known structures, data drawn from them, and the match between what was drawn and what was found.

Every part is drawn on its own and scaled to unit variance over the rows, so that each is there to be found; then noise
is added at a signal-to-noise ratio (of variances). A found part matches a true one when it has the same kinds of
factors (smooth and rough count as one kind) on the same inputs, a period within 5 %, a time of change within 3 % of
the range, and a lengthscale within a factor of 4. A smooth factor much longer than the data changes nothing and is
left out.
With several inputs a part is a set of inputs: what matters is which act alone and which together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import (
    CentredPeriodic,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    Step,
    StepUntil,
)

ROWS = 200
SPAN = 10.0
PERIOD = 1.3
SMOOTH = (SquaredExponential, Matern12, Matern32, Matern52, RationalQuadratic)
LONG = 1.5
"""A smooth factor of more than this many ranges is constant over the data."""


def _per() -> Kernel:
    return CentredPeriodic(PERIOD, 0.8)


def _step() -> Step:
    return Step(6.2, 0.02)


STRUCTURES: dict[str, tuple[Kernel, ...]] = {
    "SE": (SquaredExponential(1.0),),
    "Per": (_per(),),
    "Lin + Per": (Linear(5.0), _per()),
    "SE + Per": (SquaredExponential(2.0), _per()),
    "SE * Per": (SquaredExponential(3.0) * _per(),),
    "Lin * Per + SE": (Linear(-2.0) * _per(), SquaredExponential(2.0)),
    "Lin + SE * Per + short SE": (Linear(5.0), SquaredExponential(4.0) * _per(), SquaredExponential(0.25)),
    "change of level": (_step(),),
    "change of regime": ((1 - _step()) * SquaredExponential(1.0), _step() * _per()),
    "two of four inputs": (SquaredExponential(1.0, dims=0), SquaredExponential(1.0, dims=2)),
    "interaction": (SquaredExponential(np.array([1.0, 1.0]), dims=(0, 1)),),
}


@dataclass(frozen=True)
class Problem:
    """Rows drawn from a known structure."""

    X: np.ndarray
    y: np.ndarray
    parts: tuple[Kernel, ...]


def draw(name: str, ratio: float, seed: int, rows: int = ROWS) -> Problem:
    """Rows from a structure of the table, with noise."""
    parts = STRUCTURES[name]
    generator = np.random.default_rng([seed, *name.encode()])
    several = any(factor.dims for kernel in parts for factor in kernel.products()[0])
    X = generator.normal(size=(rows, 4)) if several else np.linspace(0.0, SPAN, rows)[:, None]
    signal = np.zeros(rows)
    for kernel in parts:
        K = kernel.gram(X, X)
        values = generator.multivariate_normal(np.zeros(rows), K, method="eigh")
        signal += (values - values.mean()) / values.std()
    noise = generator.normal(size=rows) * signal.std() / np.sqrt(ratio)
    return Problem(X, signal + noise, parts)


def matches(found: Kernel, true: Kernel, several: bool) -> bool:
    """Whether a found part is a true one."""
    if several:
        return _inputs(found) == _inputs(true)
    one, other = _kinds(found), _kinds(true)
    if sorted(one) != sorted(other):
        return False
    close = {"period": 0.05, "smooth": np.log(4.0), "from": 0.03 * SPAN, "until": 0.03 * SPAN}
    return all(abs(one[kind] - other[kind]) <= close[kind] for kind in one if kind in close)


def precision_and_recall(found: Sequence[Kernel], true: Sequence[Kernel], several: bool) -> tuple[float, float]:
    """The part of the found that is true, and of the true that is found; nothing found is no wrong one."""
    left = list(true)
    hits = 0
    for kernel in found:
        match = next((one for one in left if matches(kernel, one, several)), None)
        if match is not None:
            left = [one for one in left if one is not match]
            hits += 1
    return hits / len(found) if found else 1.0, hits / len(true)


def _kinds(kernel: Kernel) -> dict[str, float]:
    """The kinds of factors of a product, numbered where there are several, with the number that tells them apart."""
    kinds: dict[str, float] = {}
    for factor in kernel.products()[0]:
        numbers = {name: float(np.ravel(value)[0]) for name, value in factor.parameters().items()}
        if isinstance(factor, SMOOTH):
            if numbers["lengthscale"] < LONG * SPAN:
                kinds["smooth"] = float(np.log(numbers["lengthscale"]))
        elif isinstance(factor, CentredPeriodic | Periodic):
            kinds["period"] = float(np.log(numbers["period"]))
        elif isinstance(factor, Step):
            kinds["from"] = numbers["location"]
        elif isinstance(factor, StepUntil):
            kinds["until"] = numbers["location"]
        elif isinstance(factor, Linear):
            kinds[f"line {sum(kind.startswith('line') for kind in kinds)}"] = 0.0
    return kinds


def _inputs(kernel: Kernel) -> frozenset[int]:
    return frozenset(
        int(d) for factor in kernel.products()[0] for d in (range(4) if factor.dims is None else factor.dims)
    )
