"""Fitted models as files.

    model.save("sales.farrier")
    model = farrier.load("sales.farrier")

A file is a zip of two members: `header.json` says which format it is and which version of Farrier wrote it, and
`model.pickle` holds the model. Unpickling runs whatever the file tells it to: load only files that you trust.
"""

import copy
import io
import json
import os
import pickle
import secrets
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

FORMAT = 1
"""Raised when an older Farrier could not read what a newer one writes."""
HEADER, MODEL = "header.json", "model.pickle"


def save(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a model to `path`, replacing what was there in one step; its callback for progress is left out."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"path: there is no folder {str(path.parent)!r} to write {path.name!r} to: make it first"
        )
    kept = copy.copy(model)
    if "progress" in vars(kept):
        kept.progress = None
    header = {"format": FORMAT, "farrier": version("farrier"), "model": type(model).__name__}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(HEADER, json.dumps(header))
        file.writestr(MODEL, pickle.dumps(kept, protocol=5))
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        draft.write_bytes(packed.getvalue())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that `save` wrote. Load only files that you trust: a file can hold code, which runs."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"path: there is no file {str(path)!r}: check the name and the folder")
    try:
        with zipfile.ZipFile(path) as file:
            header, packed = json.loads(file.read(HEADER)), file.read(MODEL)
            written, by = int(header["format"]), str(header["farrier"])
    except (zipfile.BadZipFile, zipfile.LargeZipFile, KeyError, ValueError, TypeError, OSError) as error:
        raise ValueError(
            f"path: {path.name!r} is no model that Farrier saved, or it is damaged: save it again"
        ) from error
    if written > FORMAT:
        raise ValueError(
            f"path: {path.name!r} was saved by Farrier {by}, in a format that Farrier {version('farrier')} does not "
            "know yet: upgrade Farrier"
        )
    try:
        return pickle.loads(packed)
    except Exception as error:
        raise ValueError(
            f"path: {path.name!r} was saved by Farrier {by} and cannot be read by Farrier {version('farrier')}: "
            "load it with the version that saved it, or fit again"
        ) from error
