"""Who works on the blocks: this process, several by joblib, or the workers of a Dask cluster, which may die.

`map` gives the results in the order of the blocks, whoever computed them. Dask computes again what was lost with a
worker. Where a process of joblib dies, the blocks that have no result yet are given to new ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, final

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from farrier.out_of_core.blocks import Block, DaskBlock
from farrier.out_of_core.sources import Source

TRIES = 3
"""Times that processes of joblib may die before the fit fails; by judgement."""


class Runner(Protocol):
    """Works on blocks."""

    def map(self, function: Callable[..., Any], blocks: Sequence[Block], *arguments: Any) -> Iterator[Any]:
        """function(block, cells, *arguments) for every block, in their order."""
        ...


def runner_for(source: Source, client: Any = None, jobs: int = 1) -> Runner:
    """The runner of a table: a Dask client if one is given, or is active and the table is Dask's."""
    if client is None and isinstance(source.blocks[0], DaskBlock):
        client = _active_client()
    if client is not None:
        return DaskRunner(client)
    return Here() if jobs == 1 else Processes(jobs)


def _active_client() -> Any:
    """The Dask client that is active; None if there is none."""
    if find_spec("distributed") is None:
        return None
    try:
        return import_module("distributed").default_client()
    except ValueError:
        return None


@final
@dataclass(frozen=True)
class Here:
    """This process, one block after the other."""

    def map(self, function: Callable[..., Any], blocks: Sequence[Block], *arguments: Any) -> Iterator[Any]:
        """function(block, cells, *arguments) for every block, in their order."""
        return (_apply(block, function, arguments) for block in blocks)


@final
@dataclass(frozen=True)
class Processes:
    """Processes of joblib, or what the user has set by `joblib.parallel_config`."""

    jobs: int

    def map(self, function: Callable[..., Any], blocks: Sequence[Block], *arguments: Any) -> Iterator[Any]:
        """function(block, cells, *arguments) for every block, in their order."""
        done = 0
        for tries in range(TRIES):
            work = (delayed(_apply)(block, function, arguments) for block in blocks[done:])
            try:
                for found in Parallel(n_jobs=self.jobs, return_as="generator")(work):
                    done += 1
                    yield found
            except TerminatedWorkerError:
                if tries == TRIES - 1:
                    raise
                continue
            return


@final
@dataclass(frozen=True, eq=False)
class DaskRunner:
    """The workers of a Dask cluster."""

    client: Any

    def map(self, function: Callable[..., Any], blocks: Sequence[Block], *arguments: Any) -> Iterator[Any]:
        """function(block, cells, *arguments) for every block, in their order."""
        # a task, not scattered data: Dask makes it again on another worker if the first one dies
        shared = self.client.submit(_same, (function, arguments), pure=False)
        futures = [self._submitted(block, shared) for block in blocks]
        try:
            while futures:
                yield futures[0].result()
                futures.pop(0)  # the cluster forgets the result
        finally:
            self.client.cancel(futures)

    def _submitted(self, block: Block, shared: Any) -> Any:
        if isinstance(block, DaskBlock):
            lazy = import_module("dask").delayed(_apply_to_parts, pure=False)
            return self.client.compute(lazy(list(block.parts), block.number, block.count, shared))
        return self.client.submit(_apply_shared, block, shared, pure=False)


def _same(value: Any) -> Any:
    return value


def _apply(block: Block, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(block, block.cells(), *arguments)


def _apply_shared(block: Block, shared: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    return _apply(block, *shared)


def _apply_to_parts(parts: list[Any], number: int, count: int, shared: tuple[Any, tuple[Any, ...]]) -> Any:
    function, arguments = shared
    return function(DaskBlock(number, (), count), DaskBlock.of(*parts), *arguments)
