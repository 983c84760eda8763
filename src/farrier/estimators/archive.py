"""The container of a model file: a zip whose header names every other member with its checksum.

    header.json      {"name": "farrier model", "format": 2, "farrier": "0.2.0", "model": "Regressor",
                      "members": {"model.json": sha256, "arrays/0.npy": sha256 ...}, "digest": sha256 of all the rest}
    model.json       a tree of plain values, deflated
    arrays/0.npy     arrays in numpy's format, stored as they are

Nothing that a zip declares is believed: sizes are limited before anything is read, and compared with what was read.
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
"""What the header of a model file says that it is."""
FORMAT = 2
"""Raised when an older Farrier could not read what a newer one writes. 1 was Farrier 0.1.0, which ran code."""
HEADER = "header.json"
MOST_MEMBERS = 200_000
"""Members of a file; a panel has about ten a series. By judgement."""
MOST_BYTES = 8 * 2**30
"""All members together. By judgement: more than a fit can hold in memory."""
MOST_TEXT = 512 * 2**20
"""One JSON member, in bytes. By judgement: the tree of 10,000 series is about a fifth of that."""
MOST_INFLATED = 100
"""How many times its packed size a member may have; trees of large panels reach about 30."""
FREE_BYTES = 2**20
"""A member of this size may be inflated from anything."""
VERSION = re.compile(r"[0-9A-Za-z.+!-]{1,40}")

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
"""What reading a zip that somebody damaged may raise; RecursionError and NotImplementedError are RuntimeErrors."""


class RefusedError(ValueError):
    """A file that is not read, with the whole line that says why and what to do."""


def pack(model: str, members: Mapping[str, bytes]) -> bytes:
    """The bytes of a file of the given members; the same members give the same bytes."""
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
    """The header and the other members; RefusedError or one of DAMAGE where the file is no model that can be read."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise RefusedError(f"path: {str(path)!r} is no regular file: name a file that Farrier saved")
    # read at once: what is raised after this is said of the content, not of the disk
    with open(path, "rb") as opened:
        whole = opened.read(MOST_BYTES)
    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        entries = _checked_entries(file, len(whole))
        header = parse(_read(file, entries[HEADER]))
        _check_format(path, header)
        if digest_of({key: value for key, value in header.items() if key != "digest"}) != header["digest"]:
            raise ValueError("the header does not have its digest")
        expected = header["members"]
        if set(entries) != {HEADER, *expected}:
            raise ValueError("there are other members than the header names")
        members = {name: _read(file, entries[name]) for name in expected}
    if any(hashlib.sha256(data).hexdigest() != expected[name] for name, data in members.items()):
        raise ValueError("a member does not have its checksum")
    return header, members


def digest_of(header: Mapping[str, Any]) -> str:
    """The checksum of a header, and so of the checksums in it."""
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()


def parse(data: bytes) -> Any:
    """JSON without doubled keys or numbers that JSON does not have."""
    return json.loads(data, object_pairs_hook=_once_each, parse_constant=_refuse_constant)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an entry comes twice")
    return found


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _checked_entries(file: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    infos = file.infolist()
    if len(infos) > MOST_MEMBERS or sum(info.file_size for info in infos) > MOST_BYTES:
        raise ValueError("there is more in it than a model has")
    # members that share bytes would be more than the file
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
        raise ValueError("a member has another size than it says")
    return data


def _check_format(path: Path, header: Any) -> None:
    written, by = header["format"], header["farrier"]
    if type(written) is not int or type(by) is not str or not VERSION.fullmatch(by):
        raise TypeError("the header does not say who wrote it")
    if written == 1:
        raise RefusedError(
            f"path: {path.name!r} was saved by Farrier {by} in a format that could run code, which is no longer read: "
            "fit again and save"
        )
    if written > FORMAT:
        raise RefusedError(
            f"path: {path.name!r} was saved by Farrier {by}, in a format that Farrier {version('farrier')} does not "
            "know yet: upgrade Farrier"
        )
    if written != FORMAT or header["name"] != NAME:
        raise ValueError("the header is not that of a model")
