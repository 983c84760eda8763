"""Packages that only some of Farrier needs: an extra installs them, and what needs them says so if they are missing."""

from importlib.util import find_spec


class MissingExtraError(ImportError, ValueError):
    """Packages of an extra are not installed. It is a ValueError, too: what was asked for is not possible here."""


def require(extra: str, what: str, *packages: str) -> None:
    """Raise MissingExtraError, of one line with the command that installs the extra, if a package is not installed."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f'{what} needs packages that are not installed ({", ".join(missing)}): pip install "farrier[{extra}]"'
        )
