"""Messages between processes: the sizes, a tree of plain values as JSON, then the arrays in numpy's format.

    | 8 bytes: size of the tree | 8 bytes: size of the arrays | tree | arrays |

The values are those that model files may hold (estimators/encoding.py), so that a message cannot run code.
"""

import json
from typing import Any

from farrier.estimators.array_members import array_of, description, member
from farrier.estimators.encoding import Decoder, Encoder
from farrier.fleet.framing import SIZES


def pack(value: Any) -> bytes:
    """The message that holds a value."""
    encoder = Encoder()
    node = encoder.node(value)
    members = [member(array) for array in encoder.arrays]
    arrays = [
        description(array, data) | {"size": len(data)} for array, data in zip(encoder.arrays, members, strict=True)
    ]
    tree = json.dumps({"value": node, "arrays": arrays}).encode()
    return b"".join([SIZES.pack(len(tree), sum(map(len, members))), tree, *members])


def unpack(message: bytes) -> Any:
    """The value of a message."""
    size, _ = SIZES.unpack_from(message)
    place = SIZES.size + size
    tree = json.loads(message[SIZES.size : place])
    arrays = []
    for described in tree["arrays"]:
        end = place + described.pop("size")
        arrays.append(array_of(message[place:end], described))
        place = end
    return Decoder(arrays).value(tree["value"])
