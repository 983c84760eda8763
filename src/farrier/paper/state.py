"""The state of a posterior of the paper's algorithm, for model files (model/state.py)."""

from dataclasses import dataclass

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.pool import stack
from farrier.paper.prediction import InBlocks


@dataclass(frozen=True, eq=False)
class Stochastic:
    """The kernels, draws of their weights, and q(u) at the inducing points of each kernel."""

    kernels: tuple[Kernel, ...]
    inputs: int
    weights: np.ndarray
    Z: np.ndarray
    q_mean: np.ndarray
    q_root: np.ndarray

    @classmethod
    def of(cls, blocks: InBlocks) -> "Stochastic":
        """The state of a posterior."""
        one = blocks.posterior
        if not isinstance(one, MultiSVGP):
            raise TypeError(f"{type(one).__name__} cannot be written to a file: save another model")
        arrays = (np.asarray(array) for array in (one.weights, one.Z, one.q_mean, one.q_root))
        return cls(tuple(one.pool), one.pool.inputs, *arrays)

    def posterior(self) -> InBlocks:
        """The posterior."""
        m, M = len(self.kernels), self.Z.shape[1]
        shapes = self.weights.shape[1:], self.Z.shape, self.q_mean.shape, self.q_root.shape
        if shapes != ((m,), (m, M, self.inputs), (m, M), (m, M, M)):
            raise ValueError("the inducing points, the kernels and the weights of a posterior do not match")
        return InBlocks(
            MultiSVGP(stack(self.kernels, self.inputs), self.weights, self.Z, self.q_mean, self.q_root)  # pyright: ignore[reportArgumentType]
        )
