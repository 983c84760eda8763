"""What posteriors of a pool share: they are kept as their fields, and make everything else again where it is needed."""

from dataclasses import fields
from functools import cached_property
from typing import Any, cast

from farrier.evaluation.products import HostPool
from farrier.evaluation.slots import SlotPool


class Kept:
    """A dataclass with a pool of kernels, whose factors and features are not worth keeping."""

    pool: SlotPool

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone."""
        return {field.name: getattr(self, field.name) for field in fields(cast(Any, self))}

    @cached_property
    def _host(self) -> HostPool:
        return HostPool.of(self.pool)
