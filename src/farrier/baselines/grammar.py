"""The moves of a search over kernels: the grammar of Duvenaud et al. (2013) and Lloyd et al. (2014).

For every subexpression S of a kernel, with base kernels B (SE, Per, Lin on one input each) and the constant 1:

    S -> S + B, S + 1, S * B, S * (B + 1)      B -> B'      S + T -> S,  S * T -> S
    S -> CP(S, S), CW(S, S), CW(S, 1), CW(1, S)      WN -> WN * Lin

S * (B + 1) and changepoints are for one input; changepoints are tried on the whole signal and on its terms. Expressions
that equal a simpler one, such as SE * SE, are left out. `Starts` draws starting values of new hyperparameters.
"""

from collections.abc import Callable, Iterator

import numpy as np

from farrier.baselines.terms import Level, Switch, Window, levelled, sum_of, terms_of, written
from farrier.kernels.algebra import Base, Kernel, Product, Sum
from farrier.kernels.registry import Linear, Periodic, SquaredExponential, Step, White
from farrier.search.periods import find_periods


class Starts:
    """Starting values of new kernels: from the data at the first attempt, then random."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self._low, self._range = X.min(axis=0), np.maximum(np.ptp(X, axis=0), 1e-6)
        self._step = [float(np.median(np.append(np.diff(np.unique(column)), 0.0))) for column in X.T]
        self._periods = find_periods(X[:, 0], y, 3) if X.shape[1] == 1 else []

    def bases(self, attempt: int, generator: np.random.Generator) -> list[Base]:
        """One kernel of each family on each input."""
        found: list[Base] = []
        for d, (low, extent) in enumerate(zip(self._low, self._range, strict=True)):
            dims = None if len(self._range) == 1 else (d,)
            shortest = max(2.0 * self._step[d], extent / 200.0)
            lengthscale, period = np.exp(generator.uniform(np.log(shortest), np.log(extent), 2))
            location = low + extent * generator.uniform(-0.5, 1.0)
            if attempt < len(self._periods):
                period = self._periods[attempt]
            if attempt == 0:
                lengthscale, location = extent / 5.0, low
            found += [SquaredExponential(lengthscale, dims), Periodic(period, 1.0, dims), Linear(location, dims=dims)]
        return found

    def gates(self, attempt: int, generator: np.random.Generator) -> tuple[Step, Window]:
        """The gate of a changepoint, and that of a change window."""
        low, extent = float(self._low[0]), float(self._range[0])
        place = 0.5 if attempt == 0 else generator.uniform(0.1, 0.9)
        step = Step(low + place * extent, extent / 50.0)
        return step, Window(low + 0.75 * place * extent, extent / 4.0, extent / 50.0)


def variations(
    kernel: Kernel, starts: Starts, attempt: int, generator: np.random.Generator, *, changes: bool, noise: bool
) -> dict[str, Kernel]:
    """The kernels one move away, by formula; the same formulas in the same order at every attempt."""
    bases = starts.bases(attempt, generator)
    found: dict[str, Kernel] = {}
    moved = list(_rewritten(kernel, lambda node: _moves(node, bases, noise=noise)))
    if changes:
        moved += _changed(kernel, *starts.gates(attempt, generator))
    for candidate in moved:
        candidate = levelled(candidate)
        formula = written(candidate)
        if formula != written(kernel) and formula not in found and not _redundant(candidate):
            found[formula] = candidate
    return found


def signal_and_noise(kernel: Kernel) -> tuple[list[Kernel], list[Kernel]]:
    """The terms of a kernel without white noise, and those with it."""
    noise = [term for term in terms_of(kernel) if _has_noise(term)]
    return [term for term in terms_of(kernel) if not _has_noise(term)], noise


def _has_noise(kernel: Kernel) -> bool:
    return any(isinstance(factor, White) for factors in kernel.products() for factor in factors)


def _moves(node: Kernel, bases: list[Base], *, noise: bool) -> Iterator[Kernel]:
    """The results of one move on a subexpression itself."""
    if isinstance(node, Level):
        return
    if isinstance(node, White):
        if noise:
            yield from (Product((node, base)) for base in bases if isinstance(base, Linear))
        return
    signal, white = signal_and_noise(node)
    yield from (Sum((node, new)) for new in (*bases, Level(0.1)))
    if signal:
        for base in bases:
            yield sum_of([Product((sum_of(signal), base)), *white])
            if base.dims is None:
                yield sum_of([Product((sum_of(signal), Sum((base, Level(1.0))))), *white])
    if isinstance(node, Base):
        yield from (base for base in bases if type(base) is not type(node) or base.dims != node.dims)
    if isinstance(node, Sum):
        yield from (sum_of([t for t in node.terms if t is not term]) for term in signal)
    if isinstance(node, Product):
        kept = [f for f in node.factors if not isinstance(f, Level)]
        if len(kept) > 1:
            yield from (Product(tuple(f for f in node.factors if f is not factor)) for factor in kept)


def _changed(kernel: Kernel, step: Step, window: Window) -> Iterator[Kernel]:
    """The kernel with a changepoint or window in the whole signal, or in one term of it."""
    signal, white = signal_and_noise(kernel)
    if not signal:
        return
    parts = [signal] if len(signal) == 1 else [signal, *([term] for term in signal)]
    for part in parts:
        inner, rest = sum_of(part), [term for term in signal if not any(term is one for one in part)]
        for change in (
            Switch(step, inner, inner),
            Switch(window, inner, inner),
            Switch(window, inner, Level(0.1)),
            Switch(window, Level(0.1), inner),
        ):
            yield sum_of([change, *rest, *white])


def _rewritten(kernel: Kernel, moves: Callable[[Kernel], Iterator[Kernel]]) -> Iterator[Kernel]:
    """The kernel with one move applied to one of its subexpressions, or to itself."""
    yield from moves(kernel)
    if isinstance(kernel, Sum):
        for i, term in enumerate(kernel.terms):
            for new in _rewritten(term, moves):
                yield Sum((*kernel.terms[:i], new, *kernel.terms[i + 1 :]))
    elif isinstance(kernel, Product):
        for i, factor in enumerate(kernel.factors):
            for new in _rewritten(factor, moves):
                yield Product((*kernel.factors[:i], new, *kernel.factors[i + 1 :]))
    elif isinstance(kernel, Switch):
        yield from (Switch(kernel.gate, new, kernel.after) for new in _rewritten(kernel.before, moves))
        yield from (Switch(kernel.gate, kernel.before, new) for new in _rewritten(kernel.after, moves))


def _redundant(kernel: Kernel) -> bool:
    """Whether a smaller expression is equal: SE * SE, noise times all but lines, Lin + Lin, 1 + 1, WN + WN."""
    if isinstance(kernel, Switch):
        return _redundant(kernel.before) or _redundant(kernel.after)
    if isinstance(kernel, Sum):
        names = [written(term) for term in kernel.terms]
        alone = [name for name in names if name in ("1", "WN") or (name.startswith("Lin") and "*" not in name)]
        return len(alone) > len(set(alone)) or any(map(_redundant, kernel.terms))
    if isinstance(kernel, Product):
        kept = [factor for factor in kernel.factors if not isinstance(factor, Level)]
        smooth = [written(factor) for factor in kept if isinstance(factor, SquaredExponential)]
        white = [factor for factor in kept if isinstance(factor, White)]
        muted = bool(white) and any(not isinstance(factor, White | Linear) for factor in kept)
        return len(smooth) > len(set(smooth)) or len(white) > 1 or muted or any(map(_redundant, kept))
    return False
