"""What posteriors share: they are kept as their fields, and make everything else again where it is needed."""

from dataclasses import fields
from typing import Any, cast


class WithoutCaches:
    """A dataclass whose cached factors and features are not worth sending to another process."""

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone."""
        return {field.name: getattr(self, field.name) for field in fields(cast(Any, self))}
