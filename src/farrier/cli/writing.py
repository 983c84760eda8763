"""The checks of `--out`."""

import os
from pathlib import Path

from farrier.data.writing import is_stream, target_of


def check_out(path: Path | None, data: str | None = None) -> None:
    """Raise ValueError, before the work begins, if the path cannot be written to, or is that of the data."""
    if path is None:
        return
    if data is not None and path.exists() and Path(data).exists() and path.samefile(data):
        raise ValueError(f"--out: {str(path)!r} holds the data: choose another")
    if path.is_dir():
        raise ValueError(f"--out: {str(path)!r} is a folder: name a file in it")
    if is_stream(path):
        if not os.access(path, os.W_OK):
            raise ValueError(f"--out: {str(path)!r} cannot be written to: choose another")
        return
    folder = target_of(path).parent
    if not folder.is_dir():
        raise ValueError(f"--out: there is no folder {str(folder)!r}: create it first")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"--out: the folder {str(folder)!r} cannot be written to: choose another")


def check_folder(path: Path) -> None:
    """Raise ValueError, before the work begins, if a folder cannot be created or written to."""
    if path.exists() and not path.is_dir():
        raise ValueError(f"--out: {str(path)!r} is a file: name a folder")
    folder = path if path.exists() else path.parent
    if not folder.is_dir():
        raise ValueError(f"--out: there is no folder {str(folder)!r}: create it first")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"--out: the folder {str(folder)!r} cannot be written to: choose another")
