"""Atomic writing of files.

The content is written to a temporary file in the same folder, which then replaces the target in one step. A reader sees
the old file or the new one, never a part; a failure leaves the old one. A symbolic link is kept, and its target is
written. An existing file keeps its permissions, and its owner if the system allows that. Paths that are not regular
files (/dev/null, a pipe, a terminal) are written to and never replaced.
"""

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

STREAMS = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/[^/]+/fd/\d+")
"""Names of open streams, which the shell may have redirected to a regular file."""


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write text (as UTF-8) or bytes to `path`, and return the path."""
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    if is_stream(path):
        _write_into(path, data)
        return path
    target = target_of(path)
    if target.is_dir():
        raise IsADirectoryError(f"path: {str(path)!r} is a folder: give the name of a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"path: there is no folder {str(target.parent)!r} to write {target.name!r} to: create it first"
        )
    _replace(target, data)
    return path


def target_of(path: Path) -> Path:
    """The target of a symbolic link, which need not exist; other paths are returned as they are."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def is_stream(path: Path) -> bool:
    """Whether a path can be written to but must not be replaced: a device, a pipe, a terminal."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    if stat.S_ISDIR(mode):
        return False
    return not stat.S_ISREG(mode) or STREAMS.fullmatch(os.path.abspath(path)) is not None


def _write_into(path: Path, data: bytes) -> None:
    # no O_CREAT and no O_TRUNC: the device or stream is neither created nor emptied
    with open(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as file:
        file.write(data)


def _replace(target: Path, data: bytes) -> None:
    before = os.stat(target) if target.exists() else None
    mode = 0o666 if before is None else stat.S_IMODE(before.st_mode)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with open(draft, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            _keep_owner_and_mode(draft, before)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def _keep_owner_and_mode(draft: Path, before: os.stat_result) -> None:
    now = os.stat(draft)
    if os.name == "posix" and (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        # only root may change the owner; other users may only choose one of their groups
        for owner in (before.st_uid, -1):
            with suppress(PermissionError):
                os.chown(draft, owner, before.st_gid)
                break
    # after chown, which clears some of the mode bits
    os.chmod(draft, stat.S_IMODE(before.st_mode))
