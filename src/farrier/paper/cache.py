"""Compiled programs, kept between runs in the user's cache folder.

Compiling takes seconds and gives the same result every time, so a second run need not. A program that sets its own
compilation cache keeps it, and FARRIER_CACHE=off keeps nothing.
"""

import os
import sys
from pathlib import Path

import jax


def folder() -> Path:
    """Where compiled programs are kept: the place that the operating system has for such things."""
    if chosen := os.environ.get("FARRIER_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "farrier" / "compiled"


def keep_compiled_programs() -> None:
    """Switch the cache on, unless someone has chosen otherwise."""
    if os.environ.get("FARRIER_CACHE") == "off" or jax.config.jax_compilation_cache_dir:  # pyright: ignore[reportAttributeAccessIssue]
        return
    try:
        folder().mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
