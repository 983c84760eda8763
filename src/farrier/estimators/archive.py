"""The container of a model file: a zip whose header lists every other member with its checksum.

    header.json      {"name": "farrier model", "format": 3, "farrier": "0.3.0", "model": "Regressor",
                      "members": {"model.json": sha256, "arrays/0.npy": sha256 ...}, "digest": sha256 of all the rest}
    model.json       a tree of plain values, deflated
    arrays/0.npy     arrays in numpy's format, stored as they are

Sizes that the zip declares are limited before anything is read, and compared with the bytes that were read.
"""

import hashlib
import io
import json
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

NAME = "farrier model"
"""The name in the header of a model file."""
FORMAT = 3
"""The format number. It rises when older versions of Farrier cannot read new files. Format 1, of Farrier 0.1.0, could
run code; format 2, of Farrier 0.2.0, named types of that version."""
HEADER = "header.json"
"""The member that lists all others."""
MOST_MEMBERS = 200_000
"""Most members of a file; a panel has about ten for each series. By judgement."""
MOST_BYTES = 8 * 2**30
"""Most bytes of all members together. By judgement: more than a fit can hold in memory."""
MOST_TEXT = 512 * 2**20
"""Most bytes of a JSON member. By judgement: the tree of 10,000 series has about a fifth of that."""
MOST_INFLATED = 100
"""Largest ratio of the size of a member to its packed size. By judgement: trees of large panels reach about 30."""
FREE_BYTES = 2**20
"""Members up to this size, in bytes, may have any ratio. By judgement."""
VERSION = re.compile(r"[0-9A-Za-z.+!-]{1,40}")
"""The text of a version of Farrier."""

DAMAGE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ArithmeticError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""The exceptions that reading a damaged zip may raise; RecursionError and NotImplementedError are RuntimeErrors."""


class RefusedError(ValueError):
    """A file that Farrier does not read. The message says why and what to do."""


def pack(model: str, members: Mapping[str, bytes]) -> bytes:
    """The bytes of a file with the given members; the same members give the same bytes."""
    header = {"name": NAME, "format": FORMAT, "farrier": version("farrier"), "model": model}
    header |= {"members": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}}
    header |= {"digest": digest_of(header)}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, data in {HEADER: json.dumps(header, indent=1).encode(), **members}.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED if name.endswith(".json") else zipfile.ZIP_STORED
            info.external_attr = 0o644 << 16
            file.writestr(info, data)
    return packed.getvalue()


def unpack(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header and the other members; raises RefusedError or one of DAMAGE if the file cannot be read."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise RefusedError(f"path: {str(path)!r} is not a regular file: name a file that Farrier saved")
    # read everything at once: later exceptions come from the content, not from the disk
    with open(path, "rb") as opened:
        whole = opened.read(MOST_BYTES)
    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        entries = _checked_entries(file, len(whole))
        header = parse(_read(file, entries[HEADER]))
        _check_format(path, header)
        if digest_of({key: value for key, value in header.items() if key != "digest"}) != header["digest"]:
            raise ValueError("the digest of the header is wrong")
        expected = header["members"]
        if set(entries) != {HEADER, *expected}:
            raise ValueError("the members are not those of the header")
        members = {name: _read(file, entries[name]) for name in expected}
    if any(hashlib.sha256(data).hexdigest() != expected[name] for name, data in members.items()):
        raise ValueError("the checksum of a member is wrong")
    return header, members


def digest_of(header: Mapping[str, Any]) -> str:
    """The checksum of a header, and so of the checksums in it."""
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()


def parse(data: bytes) -> Any:
    """Parsed JSON; ValueError for keys that come twice, and for NaN and infinity."""
    return json.loads(data, object_pairs_hook=_once_each, parse_constant=_refuse_constant)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an entry comes twice")
    return found


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


def _checked_entries(file: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    infos = file.infolist()
    if len(infos) > MOST_MEMBERS or sum(info.file_size for info in infos) > MOST_BYTES:
        raise ValueError("the file is larger than any model")
    # the sizes of members that share bytes exceed the size of the file
    if sum(info.compress_size for info in infos) > size:
        raise ValueError("members overlap")
    for info in infos:
        plain = info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size
        if info.flag_bits & 1 or not (plain or info.compress_type == zipfile.ZIP_DEFLATED):
            raise ValueError("a member is encrypted or packed in a way that Farrier does not write")
        if info.file_size > max(FREE_BYTES, MOST_INFLATED * info.compress_size):
            raise ValueError("a member is packed too tightly")
        if info.filename.endswith(".json") and info.file_size > MOST_TEXT:
            raise ValueError("a tree is too large")
    found = {info.filename: info for info in infos}
    if len(found) != len(infos):
        raise ValueError("a member comes twice")
    return found


def _read(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with file.open(info) as opened:
        data = opened.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise ValueError("the size of a member is wrong")
    return data


def _check_format(path: Path, header: Any) -> None:
    written, by = header["format"], header["farrier"]
    if type(written) is not int or type(by) is not str or not VERSION.fullmatch(by):
        raise TypeError("the header has no version of Farrier")
    if written == 1:
        raise RefusedError(
            f"path: {path.name!r} was saved by Farrier {by} in a format that could run code, which is no longer read: "
            "fit again and save"
        )
    if written == 2:
        raise RefusedError(
            f"path: {path.name!r} was saved by Farrier {by} in a format that is no longer read: fit again and save"
        )
    if written > FORMAT:
        raise RefusedError(
            f"path: {path.name!r} was saved by Farrier {by}, in a format that Farrier {version('farrier')} does not "
            "know yet: upgrade Farrier"
        )
    if written != FORMAT or header["name"] != NAME:
        raise ValueError("the header is not that of a model")
