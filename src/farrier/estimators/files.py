"""Fitted models as files.

    model.save("sales.farrier")
    model = farrier.load("sales.farrier")

A file is a zip of JSON and plain arrays (archive.py): the state of the model (states.py), written by encoding.py.
Loading runs no code from the file, which holds numbers, text, times and kernels alone. A file also holds some
predictions of the model. Loading computes them again and compares, which detects changed numbers even if all checksums
were replaced.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from farrier.data.extras import MissingExtraError
from farrier.data.writing import write_whole
from farrier.estimators import archive, encoding
from farrier.estimators.archive import RefusedError
from farrier.estimators.array_members import array_of, description, member
from farrier.estimators.encoding import Decoder, Encoder
from farrier.estimators.self_checks import check, checks_of
from farrier.estimators.states import model_from, model_state

TREE = "model.json"
"""The member that holds everything except the larger arrays."""
DAMAGE = (*archive.DAMAGE, *encoding.DAMAGE)
"""The exceptions that reading a damaged file may raise."""


def save(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a model to `path` in one step, without its progress callback."""
    return write_whole(path, packed(model))


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that `save` wrote. No code from the file is run."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"path: there is no file {str(path)!r}: check the name and the folder")
    try:
        _, members = archive.unpack(path)
        return decoded(members)
    except RefusedError as error:
        raise ValueError(str(error)) from error
    except MissingExtraError as error:
        raise MissingExtraError(f"path: {path.name!r} cannot be read here: {error}") from None
    except ImportError as error:
        raise ValueError(f"path: {path.name!r} holds times of {error.name}: install {error.name}") from error
    except DAMAGE as error:
        raise ValueError(
            f"path: {path.name!r} is not a model that Farrier can read, or it is damaged: copy it again from where it "
            "was saved, or fit again and save"
        ) from error


def packed(model: Any) -> bytes:
    """The bytes of a model's file."""
    members = encoded(model)
    # check that the file can be read before it is written
    _built(members)
    return archive.pack(type(model).__name__, members)


def encoded(model: Any) -> dict[str, bytes]:
    """The members of a model's file, except the header."""
    encoder = Encoder()
    tree = {"model": encoder.node(model_state(model))}
    checks = Encoder(arrays=encoder.arrays)
    tree |= {"checks": [checks.node(one) for one in checks_of(model)]}
    arrays = {f"arrays/{i}.npy": member(array) for i, array in enumerate(encoder.arrays)}
    described = zip(encoder.arrays, arrays.values(), strict=True)
    tree |= {"arrays": [description(array, data) for array, data in described]}
    return {TREE: sealed(tree), **arrays}


def sealed(tree: Mapping[str, Any]) -> bytes:
    """The tree as JSON, with its checksum."""
    return _text({**tree, "sha256": hashlib.sha256(_text(tree)).hexdigest()})


def decoded(members: Mapping[str, bytes]) -> Any:
    """The model of these members, after its predictions are checked; raises one of DAMAGE if something does not fit."""
    model, checks = _built(members)
    check_is_fitted(model)
    check(model, checks)
    return model


def _built(members: Mapping[str, bytes]) -> tuple[Any, list[Any]]:
    tree = archive.parse(members[TREE])
    if tree.pop("sha256") != hashlib.sha256(_text(tree)).hexdigest():
        raise ValueError("the checksum of the tree is wrong")
    if set(tree) != {"model", "checks", "arrays"} or len(members) != 1 + len(tree["arrays"]):
        raise ValueError("the tree has the wrong parts")
    arrays = [array_of(members[f"arrays/{i}.npy"], entry) for i, entry in enumerate(tree["arrays"])]
    checks = [Decoder(arrays).value(entry) for entry in tree["checks"]]
    return model_from(Decoder(arrays).value(tree["model"])), checks


def _text(tree: Mapping[str, Any]) -> bytes:
    return json.dumps(tree, allow_nan=False, separators=(",", ":")).encode()
