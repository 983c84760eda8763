"""The uncertainty and the importance of each component.

- 95 % intervals of the hyperparameters, from Laplace's approximation.
- The evidence that is lost without the component, the others fitted again.
- The leave-one-out error with the largest components, one more at a time. In closed form: with a = C^-1 y, the residual
  of row n predicted from all other rows is a_n / (C^-1)_nn.
"""

from dataclasses import dataclass

import numpy as np

from farrier.inference.exact import leave_one_out
from farrier.kernels.algebra import Kernel
from farrier.search.scoring import HIGHER_NOISES, Evaluator
from farrier.search.series_changes import is_change
from farrier.search.structure import Structure

Z95 = 1.96
"""The 97.5 % quantile of a standard normal."""


@dataclass(frozen=True)
class Appraisal:
    """One entry for each survivor (a component that the search kept), in the order of the structure."""

    low: tuple[Kernel, ...]
    """Kernels with the lower ends of the 95 % intervals of their hyperparameters."""
    high: tuple[Kernel, ...]
    """Kernels with the upper ends."""
    losses: tuple[float | None, ...]
    """The log evidence that is lost without each survivor, in nats."""
    errors: tuple[float, ...]
    """The leave-one-out error with the first 0, 1, 2 ... components of `order`, on the scale of the model."""
    order: tuple[int, ...]
    """The survivors by `sizes`, largest first; those without evidence come last."""
    sizes: tuple[float, ...]
    """The standard deviation over the rows of each survivor's posterior mean, on the scale of the model."""


def appraise(search: Evaluator, structure: Structure, *, gaussian: bool = True) -> Appraisal:
    """The appraisal of a structure on the rows of the search; where y is not Gaussian, without leave-one-out errors."""
    errors = [float(search.y.std())] if gaussian else []
    if structure.model is None or not structure.parts:
        return Appraisal((), (), (), tuple(errors), (), ())
    search.tell("appraising the components", structure.score)
    sizes = tuple(float(size) for size in search.sizes(structure))
    losses = tuple(float(loss) for loss in search.refitted_losses(structure))
    # what others could take the place of comes last, so that it does not count for them
    order = tuple(sorted(range(len(sizes)), key=lambda i: (losses[i] < 0.0, -sizes[i])))
    if gaussian:
        grams, total = search.covariance.grams(structure.model.pool), np.zeros((len(search.y), len(search.y)))
        if search.of_series and any(is_change(part.kernel) for part in structure.parts):
            # a change is not centred: the level, which is the last component, is fitted with it
            total += float(structure.model.prior.quantile(0.5)[-1]) ** 2
        for i in order:
            total = total + structure.parts[i].weight ** 2 * grams[i]
            errors.append(left_out_error(total, search.spread(structure), search.y))
    return Appraisal(*intervals(structure), losses, tuple(errors), order, sizes)


def left_out_error(K: np.ndarray, noise: np.ndarray, y: np.ndarray) -> float:
    """The root mean square leave-one-out residual, at the multiple of the rows' noise of highest evidence for K."""
    best, error = -np.inf, float(y.std())
    for multiple in HIGHER_NOISES:
        C = K + np.diag(multiple * noise)
        found = leave_one_out(C, y)
        if found is not None and found[0] > best:
            best, error = found[0], float(np.sqrt(np.mean(found[1] ** 2)))
    return error


def intervals(structure: Structure) -> tuple[tuple[Kernel, ...], tuple[Kernel, ...]]:
    """Kernels with the lower and with the upper ends of the 95 % intervals of all hyperparameters."""
    mode, count = structure.at_mode(), len(structure.parts)
    pool = mode.model.pool
    deviations = mode.deviations[len(pool) + 1 :]
    ends = [pool.with_unbounded(pool.unbounded + sign * Z95 * deviations) for sign in (-1.0, 1.0)]
    low, high = (tuple(end[i] for i in range(count)) for end in ends)
    return low, high
