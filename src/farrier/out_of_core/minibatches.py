"""Minibatches of a table that is read in blocks, for the paper's algorithm (paper/batches.py).

An epoch meets every row once. The rows of each block are dealt at random into parts. Parts are read in rounds: one of
each block, the blocks in random order, then the next of each. At most `held_rows` rows are in memory at a time. They
are mixed and cut into minibatches; what a cut leaves over goes to the next ones. So the rows of a minibatch come from
many places of the table, even if the table is sorted, and memory does not grow with its rows.

The order depends on the seed and the blocks alone, not on who reads them.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, final

import jax.numpy as jnp
import numpy as np

from farrier.estimators.large_tables import Reading
from farrier.model.target_scale import TargetScale
from farrier.out_of_core.blocks import Block
from farrier.out_of_core.memory import held_rows
from farrier.out_of_core.rows import EncodedRows, inputs_of, usable
from farrier.paper.batches import InOrder, RowSource, StepRows, padded
from farrier.paper.objective import Batch

PARTS = 64
"""Parts that are held at once, if possible of as many blocks. [parts; by judgement]"""
PIECE = 1024
"""Rows at which the bound is computed at once. [rows; by judgement]"""


@final
class Minibatches(RowSource):
    """The rows of a table in random order, epoch after epoch."""

    whole = False

    def __init__(self, table: EncodedRows, seed: int) -> None:
        self.count = table.count
        self._table = table
        self._seed = seed
        self._mixed = self._mixtures()
        self._left = next(self._mixed)

    def rows(self, steps: int, size: int) -> StepRows:
        """The rows of the next steps, `size` for each; each row stands for its share of all rows."""
        X, z = self._left
        while len(z) < steps * size:
            more_X, more_z = next(self._mixed)
            X, z = np.concatenate([X, more_X]), np.concatenate([z, more_z])
        taken, self._left = (X[: steps * size], z[: steps * size]), (X[steps * size :], z[steps * size :])
        X, z = (jnp.asarray(array.reshape(steps, size, *array.shape[1:])) for array in taken)
        return InOrder(Batch(X, z, jnp.full((steps, size), self.count / size)))

    def batches(self) -> Iterator[Batch]:
        """All rows, each once, in the order of the table."""
        for X, z in self._table.map(_pair):
            for start in range(0, len(z), PIECE):
                yield padded(X[start : start + PIECE], z[start : start + PIECE])

    def _mixtures(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows of many places of the table, mixed, again and again."""
        table = self._table
        blocks = table.source.blocks
        size = max(held_rows(len(table.source.columns)) // PARTS, 1)
        epoch = 0
        while True:
            random = np.random.default_rng([self._seed, epoch])
            order = _order([block.count for block in blocks], size, random)
            while group := list(islice(order, PARTS)):
                wanted: dict[int, list[int]] = {}
                for place, part in group:
                    wanted.setdefault(place, []).append(part)
                chosen = [blocks[place] for place in wanted]
                parts = {block.number: own for block, own in zip(chosen, wanted.values(), strict=True)}
                more = table.source.target, table.reading, table.scale, parts, size, (self._seed, epoch)
                found = list(table.runner.map(_dealt, chosen, *more))
                X, z = np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])
                if len(z):
                    mixed = random.permutation(len(z))
                    yield X[mixed], z[mixed]
            epoch += 1


def _order(counts: list[int], size: int, random: np.random.Generator) -> Iterator[tuple[int, int]]:
    """The parts of all blocks, (place of the block, number of the part), in rounds."""
    parts = np.array([_parts(count, size) for count in counts])
    for number in range(int(parts.max())):
        yield from ((int(place), number) for place in random.permutation(np.flatnonzero(parts > number)))


def _parts(count: int, size: int) -> int:
    """The number of parts of a block."""
    return max(-(-count // size), 1)


def _dealt(
    block: Block,
    cells: dict[str, Any],
    target: str,
    reading: Reading,
    scale: TargetScale,
    parts: dict[int, list[int]],
    size: int,
    seed: tuple[int, int],
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of some parts of a block, on the scale of the model."""
    y, rows = usable(cells.pop(target), target)
    mixed = np.random.default_rng([*seed, 1 + block.number]).permutation(rows)
    dealt = np.array_split(mixed, _parts(block.count, size))
    some = np.concatenate([dealt[part] for part in parts[block.number]])
    return inputs_of(cells, some, reading), scale.forward(y[some])


def _pair(X: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X, z
