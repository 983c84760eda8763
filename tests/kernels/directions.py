"""Directions in the numbers of a model, a field at a time: where derivatives are held against finite differences."""

import equinox as eqx
import jax
import numpy as np

from farrier.evaluation.slots import NUMBERS
from farrier.kernels.parameters import packed, unpacked

LEAVES = [("noise",), *(("prior", name) for name in ("mu_tau", "v_tau", "mu", "v")), *(("pool", n) for n in NUMBERS)]


def along_block(model, leaf, rng):
    """A random direction in the numbers of one field, zero in all others."""

    def block(tree):
        for name in leaf:
            tree = getattr(tree, name)
        return tree

    zeros = unpacked(np.zeros(len(packed(model))), model)
    moved = eqx.tree_at(block, zeros, rng.standard_normal(np.shape(block(zeros))))
    return np.concatenate([np.ravel(one) for one in jax.tree.leaves(moved)])
