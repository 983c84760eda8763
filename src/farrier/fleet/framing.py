"""Where a message ends in a stream: two sizes of 8 bytes, then so many bytes. Imports nothing that is slow to load."""

import struct
from typing import IO

SIZES = struct.Struct("<QQ")
"""The first bytes of a message: the sizes of its tree and of its arrays, in bytes."""


def receive(stream: IO[bytes]) -> bytes | None:
    """The next message of a stream; None at its end, also in the middle of a message."""
    head = stream.read(SIZES.size)
    if len(head) < SIZES.size:
        return None
    size = sum(SIZES.unpack(head))
    body = stream.read(size)
    return head + body if len(body) == size else None
