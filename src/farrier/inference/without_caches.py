"""A base class of posteriors, which leaves cached factors out when an object is copied to another process."""

from dataclasses import fields
from typing import Any, cast


class WithoutCaches:
    """A dataclass with cached properties that are cheaper to compute again than to send to another process."""

    def __getstate__(self) -> dict[str, Any]:
        """The fields only."""
        return {field.name: getattr(self, field.name) for field in fields(cast(Any, self))}
