"""The text of a file from its bytes: the encoding is found from the bytes, and files that are not text are refused.

UTF-8 and UTF-16 are recognised for certain. Bytes that are neither are read as Windows-1252, which contains Latin-1:
letters of names may then be wrong in rare files, numbers and dates are not.
"""

import codecs
import re

MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""Byte order marks at the start of a file, and the codecs that read the file."""
NAMES = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Windows-1252"}
"""The names of encodings that the user is told; UTF-8 goes without saying."""
SAMPLE = 4096
"""The number of bytes from which UTF-16 without a byte order mark is recognised; by judgement."""

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


def decode(data: bytes) -> tuple[str, str]:
    """The text, and the name of its encoding if it is not UTF-8. ValueError if the bytes are not text."""
    codec = next((codec for mark, codec in MARKS.items() if data.startswith(mark)), None) or _without_mark(data)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        if codec != "utf-8":
            raise ValueError(str(error)) from None
        codec = "cp1252"
        text = data.decode(codec, errors="replace")
    text = text.rstrip("\x1a\x00")  # the end of a file on old systems
    control = _CONTROL.search(text)
    if control is not None:
        line = text.count("\n", 0, control.start()) + 1
        raise ValueError(f"control character {ord(control[0]):#04x} in line {line}")
    return text, NAMES.get(codec, "")


def _without_mark(data: bytes) -> str:
    """UTF-16 if every second byte of a sample is mostly zero, else UTF-8."""
    sample = data[:SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 4 <= len(sample) or min(even, odd) * 10 > max(even, odd):
        return "utf-8"
    return "utf-16-le" if odd > even else "utf-16-be"
